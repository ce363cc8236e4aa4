//! Places that were missed.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use crate::model::{Looks, run_percpu_ops, tiny_scene};
use freehold::units::{Align, Probe};
use freehold_lab::engine::percpu::{ENGINES, EngineEntry, PercpuFacts};
use freehold_lab::family::{Judge, PercpuJudge};
use freehold_trace::percpu::{Answer, ChunkKey, Driver, Engine, Footprint, Location, Op, PageMap, Session};

fn alloc(object: u32, size_bytes: u64, align: u64, atomic: bool) -> Op {
    Op::Alloc { object, size_bytes, align: Align::new(align).unwrap(), atomic }
}

#[test]
fn places_are_between_objects_and_where_memory_is() {
    let scene = tiny_scene(1);
    let default = ENGINES[0];
    let holding = |entry: &EngineEntry| {
        let mut checker = PercpuJudge::new(entry, &scene);
        for (object, offset_bytes) in [(0, 0), (1, 8192)] {
            let at = Answer::At { chunk: 0, offset_bytes };
            assert_eq!(checker.check(&alloc(object, 4096, 4, false), at), Ok(()));
        }
        checker
    };
    let place = |checker: &PercpuJudge, size, align| {
        let said = checker.clone().check(&alloc(2, size, align, true), Answer::NoRoom).err()?;
        said.rsplit(' ').next().and_then(|start| start.parse::<u64>().ok())
    };
    let without_pages = holding(&default.with(PercpuFacts { knows_pages: false, ..default.facts }));
    assert_eq!(place(&without_pages, 4096, 4096), Some(4096));
    assert_eq!(place(&without_pages, 4100, 4), Some(12_288));
    assert_eq!(place(&without_pages, 20_484, 4), None);
    let pages = vec![true, false, true, false, true, true];
    let mut session = Driver::new(Wasteful { chunks: 0, refuses: true, pages }, false);
    // It numbers its chunk.
    session.run(&alloc(0, 4096, 4, false), &mut ());
    let mut checker = holding(&default);
    checker.see_pages(&session);
    assert_eq!(place(&checker, 4, 4), Some(16_384));
    assert_eq!(place(&checker, 8192, 8), Some(16_384));
    assert_eq!(place(&checker, 8196, 4), None, "pages behind the last have no memory");
}

/// Makes a chunk for every request, or refuses those that cannot wait.
struct Wasteful {
    chunks: u32,
    refuses: bool,
    /// Those of each chunk that have memory.
    pages: Vec<bool>,
}

impl Engine for Wasteful {
    fn alloc(&mut self, _: u64, _: Align, atomic: bool, _: &mut impl Probe) -> Option<Location> {
        self.chunks += u32::from(!self.refuses || self.chunks == 0);
        let chunk = ChunkKey { index: self.chunks - 1, generation: 0 };
        (!atomic).then_some(Location { chunk, offset_bytes: 0 })
    }

    fn free(&mut self, _: Location, _: &mut impl Probe) -> bool {
        true
    }

    fn populated_pages(&self) -> u64 {
        8 * u64::from(self.chunks)
    }

    fn footprint(&self) -> Footprint {
        let chunks = u64::from(self.chunks);
        Footprint { chunks, objects: chunks, free_bytes: chunks * 32_764, ..Footprint::default() }
    }

    fn page_map(&self, number: &dyn Fn(ChunkKey) -> Option<u32>) -> Option<PageMap> {
        let number = |index| number(ChunkKey { index, generation: 0 });
        Some((0..self.chunks).map(|index| (number(index), self.pages.clone())).collect())
    }

    fn page_changes(&self) -> u64 {
        self.chunks.into()
    }

    fn validate(&self) -> Result<(), String> {
        Ok(())
    }
}

fn wasteful(refuses: bool) -> Box<dyn Session> {
    Box::new(Driver::new(Wasteful { chunks: 0, refuses, pages: vec![true; 8] }, false))
}

#[test]
fn a_chunk_for_every_request_and_a_needless_refusal_are_misses() {
    let default = ENGINES[0];
    let hoards = default.with(PercpuFacts { make: |_, _| Ok(wasteful(false)), ..default.facts });
    let refuses = default.with(PercpuFacts { make: |_, _| Ok(wasteful(true)), ..default.facts });
    let alloc = |object, atomic| alloc(object, 4, 4, atomic);
    let says = |entry: &EngineEntry, ops: &[Op]| {
        run_percpu_ops(entry, tiny_scene(1), ops, Looks::AtEach).unwrap_err()
    };
    let made = says(&hoards, &[alloc(0, false), alloc(1, false)]);
    assert!(made.contains("had a chunk made, though there is room in chunk 0 at 4"), "{made}");
    let refused = says(&refuses, &[alloc(0, false), alloc(1, true)]);
    assert!(refused.contains("was refused, though there is room in chunk 0 at 4"), "{refused}");
    // The same where nobody looks at pages, but those with objects have memory: as in `stress`.
    let scene = tiny_scene(1);
    let mut blind = PercpuJudge::new(&default, &scene);
    let at = |chunk| Answer::At { chunk, offset_bytes: 0 };
    assert_eq!(blind.check(&alloc(0, true), at(0)), Ok(()));
    assert!(blind.clone().check(&alloc(1, true), Answer::NoRoom).unwrap_err().contains("was refused"));
    assert!(blind.check(&alloc(1, false), at(1)).unwrap_err().contains("had a chunk made"));
    let page = Op::Alloc { object: 1, size_bytes: 4096, align: Align::PAGE, atomic: true };
    let mut blind = PercpuJudge::new(&default, &scene);
    assert_eq!(blind.check(&alloc(0, true), at(0)), Ok(()));
    assert_eq!(blind.check(&page, Answer::NoRoom), Ok(()), "the next page may be without memory");
    // Another engine than the default one is counted.
    let other = ENGINES[1].with(PercpuFacts { knows_pages: false, ..ENGINES[1].facts });
    let mut checker = PercpuJudge::new(&other, &tiny_scene(1));
    for object in 0..3 {
        let at = Answer::At { chunk: object, offset_bytes: 0 };
        assert_eq!(checker.check(&alloc(object, false), at), Ok(()));
    }
    assert_eq!(checker.missed(), 2);
    // But for one that hardly ever finds a place.
    let other = ENGINES[1].with(PercpuFacts { make: |_, _| Ok(wasteful(false)), ..ENGINES[1].facts });
    let ops: Vec<Op> = (0..200).map(|object| alloc(object, false)).collect();
    assert!(says(&other, &ops).contains("though there was a place"));
}
