//! Every string of a few operations on units of eight pages, on every percpu engine of the list beside the model.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use crate::model::{percpu_listing, percpu_step, tiny_scene};
use freehold::units::Align;
use freehold_lab::engine::percpu::{ENGINES, EngineEntry};
use freehold_lab::family::{Judge, PercpuJudge};
use freehold_trace::percpu::{Op, Session};

/// Operations in a string.
const LENGTH: usize = 5;

/// The operations that may come next: objects around a block and around a unit, and each object freed.
fn alphabet(objects: u32) -> Vec<Op> {
    let mut ops = Vec::new();
    for (size_bytes, align, atomic) in [
        (4, 4, false),
        (12, 8, false),
        (4092, 4, false),
        (4100, 64, true),
        (12_288, 4096, false),
        (28_672, 4, false),
        (32_768, 4, false),
    ] {
        let align = Align::new(align).unwrap();
        ops.push(Op::Alloc { object: objects, size_bytes, align, atomic });
    }
    ops.extend((0..objects).map(|object| Op::Free { object }));
    ops
}

struct Search<'a> {
    entry: &'a EngineEntry,
    ops: Vec<Op>,
    strings: u64,
}

impl Search<'_> {
    fn extend(&mut self, session: &dyn Session, checker: &PercpuJudge, objects: u32) {
        if self.ops.len() == LENGTH {
            self.strings += 1;
            return;
        }
        for op in alphabet(objects) {
            let mut session = session.duplicate().unwrap();
            let mut checker = checker.clone();
            self.ops.push(op);
            if let Err(reason) = percpu_step(&mut checker, session.as_mut(), self.entry, &op, true) {
                panic!("{}: {reason}\nat the end of:\n{}", self.entry.engine, percpu_listing(&self.ops));
            }
            self.extend(session.as_ref(), &checker, objects + u32::from(!op.is_free()));
            self.ops.pop();
        }
    }
}

#[test]
fn every_short_string_is_served_right() {
    for entry in ENGINES {
        for which in [0, 1, 2, 3] {
            let scene = tiny_scene(which);
            let session = (entry.make)(&scene.config, scene.balances).unwrap();
            let mut search = Search { entry, ops: Vec::new(), strings: 0 };
            search.extend(session.as_ref(), &PercpuJudge::new(entry, &scene), 0);
            assert!(search.strings > 40_000, "{}: only {} strings", entry.engine, search.strings);
        }
    }
}
