use super::TINY;
use freehold_lab::concurrent::memory::engines::{Content, ENTRIES, MEMSET};
use freehold_lab::concurrent::memory::held::{Block, Memory};
use freehold_lab::concurrent::memory::replay::replay;
use freehold_lab::concurrent::memory::{judge, slots, stacks};
use freehold_lab::concurrent::place::cpus;
use freehold_lab::concurrent::{MEMORY, Options, measure_resident};
use freehold_lab::record::{Metric, Results};
use freehold_lab::workload::{Workload, whole_scene};
use freehold_lab::{Progress, promises};
use freehold_trace::kva::Op;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

fn run(workload: &str) -> Results {
    let options = Options { quick: true, workloads: vec![workload.to_owned()], ..Options::default() };
    MEMORY.bench_of(TINY, &options, &mut Progress::default()).unwrap()
}

fn has(results: &Results, workload: &str, op: &str, engine: &str, metric: Metric) -> bool {
    let figure = (workload, op, engine, metric);
    results.records.iter().any(|record| {
        let key = &record.key;
        (key.workload.as_str(), key.op.as_str(), key.engine.as_str(), record.metric) == figure
    })
}

#[test]
fn every_block_slot_and_stack_has_figures_and_all_promises_a_row() {
    let mut rows = 0;
    let mut promised = |results: &Results| {
        rows += results.records.iter().filter(|record| record.key.workload == "promise").count();
    };
    let blocks = run("block");
    for &content in Content::ALL {
        for (who, _) in &ENTRIES {
            let of = |metric| has(&blocks, "block", content.name(), who.engine, metric);
            assert!(of(Metric::Time) && of(Metric::Faults), "{} of {}", content.name(), who.label());
        }
        let zeroed = content == Content::Zeroed;
        assert_eq!(has(&blocks, "block", content.name(), MEMSET.engine, Metric::Time), zeroed);
    }
    promised(&blocks);
    let reset = run("reset");
    for (op, ..) in slots::OPS {
        assert!(
            slots::ENTRIES.iter().all(|(who, _)| has(&reset, "reset", op, who.engine, Metric::Time)),
            "{op}"
        );
    }
    promised(&reset);
    for (workload, op, metric) in
        [("stack", "take and give back", Metric::Time), ("guards", "alive", Metric::Mappings)]
    {
        let stacks = run(workload);
        assert!(stacks::ENTRIES.iter().all(|(who, _)| has(&stacks, workload, op, who.engine, metric)));
        promised(&stacks);
    }
    // That of idle memory is of processes of their own, which a test of the program has.
    assert!(rows + 1 == promises::of("memory").count() || cpus() == 1);
}

#[test]
fn what_is_not_there_is_refused() {
    let refused =
        |options: Options| MEMORY.bench(&options, &mut Progress::default()).unwrap_err().to_string();
    let case = refused(Options { workloads: vec!["pears".to_owned()], ..Options::default() });
    assert!(case.contains("no workload \"pears\"; there are block, reset, stack"), "{case}");
    let sizes = refused(Options { sizes: vec![5], ..Options::default() });
    assert!(sizes.contains("memory has sizes of its own"), "{sizes}");
    let engine = measure_resident("idle:1:1", "pears").unwrap_err().to_string();
    assert!(engine.contains("no engine \"pears\""), "{engine}");
}

/// What is wrong with memory.
#[derive(Clone, Copy, PartialEq)]
enum Lie {
    None,
    /// Every second block is where the first was.
    Overlaps,
    /// So too, but says another address.
    Shares,
    /// Memory that was in use is handed out as zero.
    Dirty,
    /// What is written is gone when it is looked at.
    Forgets,
    /// There is no third block.
    Refuses,
}

struct Liar {
    lie: Lie,
    taken: AtomicU64,
    first: Arc<Mutex<Vec<u8>>>,
}

struct Lent {
    lie: Lie,
    address: u64,
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl Block for Lent {
    fn address(&self) -> u64 {
        self.address
    }

    fn write_every(&mut self, step: usize, value: u8) {
        let value = if self.lie == Lie::Forgets { 0 } else { value };
        self.bytes.lock().unwrap().iter_mut().step_by(step).for_each(|byte| *byte = value);
    }

    fn has_every(&self, step: usize, value: u8) -> bool {
        self.bytes.lock().unwrap().iter().step_by(step).all(|&byte| byte == value)
    }
}

impl Memory for Liar {
    type Block<'a> = Lent;

    fn take(&self, len: usize, zeroed: bool) -> Option<Lent> {
        let lie = self.lie;
        let number = self.taken.fetch_add(1, Ordering::Relaxed);
        let dirty = u8::from(lie == Lie::Dirty && zeroed);
        let (second, own) = (number == 1, Arc::new(Mutex::new(vec![dirty; len])));
        if number == 0 {
            *self.first.lock().unwrap() = vec![0; len];
        }
        let shares = number == 0 || second && lie == Lie::Shares;
        let bytes = if shares { Arc::clone(&self.first) } else { own };
        let place = if second && lie == Lie::Overlaps { 0 } else { number };
        (lie != Lie::Refuses || number < 2).then_some(Lent { lie, address: place * len as u64, bytes })
    }
}

fn liar(lie: Lie) -> Liar {
    Liar { lie, taken: AtomicU64::new(0), first: Arc::default() }
}

#[test]
fn memory_that_is_not_what_it_should_be_is_found() {
    let wrong = |lie| judge::check(&liar(lie), 8192, 1).err().map(|wrong| wrong.to_string());
    assert_eq!(wrong(Lie::None), None);
    assert_eq!(wrong(Lie::Overlaps).unwrap(), "blocks overlap at 0x0");
    assert_eq!(wrong(Lie::Shares).unwrap(), "block Some(0) of 8192 bytes lost what was written");
    assert_eq!(wrong(Lie::Dirty).unwrap(), "a block of 8192 bytes is not zero");
    assert_eq!(wrong(Lie::Forgets).unwrap(), "block Some(0) of 8192 bytes lost what was written");
    assert_eq!(wrong(Lie::Refuses).unwrap(), "a block of 8192 bytes was refused");
}

#[test]
fn areas_that_lose_what_was_written_are_found() {
    let take = |object| Op::alloc(object, 8192);
    let setup = vec![take(0), take(1)];
    let ops = vec![take(2), Op::Free { object: 0 }, Op::Free { object: 2 }];
    let areas = Workload { setup, ..Workload::new("three", "", whole_scene(), ops, 3) };
    let wrong = |lie, judged| {
        let mut ended = false;
        let replayed = replay(&areas, &liar(lie), judged, &mut || ended = true);
        assert_eq!(ended, replayed.is_ok());
        replayed.err().map(|wrong| wrong.to_string())
    };
    assert_eq!(wrong(Lie::None, true), None);
    assert_eq!(wrong(Lie::Shares, true).unwrap(), "area 0 lost what was written");
    assert_eq!(wrong(Lie::Overlaps, true).unwrap(), "blocks overlap at 0x0");
    assert_eq!(wrong(Lie::Refuses, false).unwrap(), "an area of 8192 bytes was refused");
    let twice = Workload { ops: vec![Op::Free { object: 0 }; 2], ..areas.clone() };
    let again = replay(&twice, &liar(Lie::None), false, &mut || ()).unwrap_err().to_string();
    assert_eq!(again, "area 0 is not there");
}
