//! Every string of a few operations on a space of six pages, on every engine that the model can follow.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use crate::model::{Model, followed, listing};
use freehold::units::{Align, Span};
use freehold_lab::engine::EngineEntry;
use freehold_trace::kva::{Answer, Op, Session};

const PAGE: u64 = 4096;
fn pages(first: u64, pages: u64) -> Span {
    Span::from_size(first * PAGE, pages * PAGE).unwrap()
}

/// A space of six pages.
fn layout() -> [Span; 1] {
    [pages(2, 6)]
}

/// The operations that may come next: each kind of allocation, and each object freed.
fn alphabet(objects: u32) -> Vec<Op> {
    let mut ops = Vec::new();
    for (size, align, window) in [
        (1, 1, Span::ALL),
        (2, 1, Span::ALL),
        (3, 1, Span::ALL),
        (1, 2, Span::ALL),
        (2, 4, Span::ALL),
        (1, 1, pages(4, 2)),
        (2, 2, pages(3, 4)),
        (2, 1, pages(3, 2)),
    ] {
        let align = Align::new(align * PAGE).unwrap();
        ops.push(Op::Alloc { object: objects, size_bytes: size * PAGE, align, window });
    }
    ops.extend((0..objects).map(|object| Op::Free { object }));
    ops
}

struct Search<'a> {
    entry: &'a EngineEntry,
    /// Operations in a string.
    length: usize,
    ops: Vec<Op>,
    strings: u64,
}

impl Search<'_> {
    /// An engine that cannot be copied, brought to where it is.
    fn replayed(&self) -> Box<dyn Session> {
        let mut session = (self.entry.make)(&layout(), Align::PAGE).unwrap();
        session.run(&self.ops, &mut vec![Answer::default(); self.ops.len()]);
        session
    }

    fn extend(&mut self, session: &dyn Session, model: &Model, objects: u32) {
        if self.ops.len() == self.length {
            self.strings += 1;
            return;
        }
        for op in alphabet(objects) {
            let mut session = session.duplicate().unwrap_or_else(|| self.replayed());
            let mut model = model.clone();
            let objects = objects + u32::from(!op.is_free());
            self.ops.push(op.clone());
            let stepped = model.step(session.as_mut(), self.entry.takes, &op);
            if let Err(reason) = stepped.and_then(|()| model.look(session.as_ref())) {
                panic!("{}: {reason}\nat the end of:\n{}", self.entry.label(), listing(&self.ops));
            }
            self.extend(session.as_ref(), &model, objects);
            self.ops.pop();
        }
    }
}

fn agree(length: usize) {
    for entry in followed() {
        let session = (entry.make)(&layout(), Align::PAGE).unwrap();
        let model = Model::new(&layout(), Align::PAGE).unwrap();
        let mut search = Search { entry, length, ops: Vec::new(), strings: 0 };
        search.extend(session.as_ref(), &model, 0);
        let least = alphabet(0).len().pow(u32::try_from(length).unwrap()) as u64;
        assert!(search.strings > least, "{}: only {} strings", entry.label(), search.strings);
    }
}

#[test]
fn every_short_string_agrees_with_brute_force() {
    agree(5);
}

#[test]
#[ignore = "it takes minutes; a step of .ci/run with DEEP=1"]
fn every_longer_string_agrees_with_brute_force() {
    agree(6);
}
