//! An allocator of address ranges from outside.

use super::{Library, Outside, Source, Spoken};
use freehold::units::Span;
use freehold_harness::outside::{self, status, what};
use freehold_trace::kva::{Answer, Op, Session, Space};

/// Areas at a common base are no request of the header.
#[derive(Debug, Default)]
struct Ranges;

impl Spoken for Ranges {
    type Op = Op;
    type Answer = Answer;

    fn ask(op: &Op) -> outside::Op {
        match *op {
            Op::Alloc { object, size_bytes, align, window } => outside::Op {
                what: what::ALLOC,
                object,
                size: size_bytes,
                align: align.bytes(),
                first: window.first(),
                last: window.last(),
                value: 0,
            },
            Op::Free { object } => outside::Op { what: what::FREE, object, ..outside::Op::default() },
            Op::Congruent { object, .. } => outside::Op { object, ..outside::Op::default() },
        }
    }

    fn told(&mut self, op: &Op, answer: &outside::Answer) -> Answer {
        match (op, answer.status) {
            (Op::Alloc { .. }, status::DONE) => Answer::At(answer.first),
            (Op::Alloc { .. }, status::NO_ROOM) => Answer::NoRoom,
            (Op::Free { .. }, status::DONE) => Answer::Freed,
            (Op::Free { .. }, status::NOT_LIVE) => Answer::NotLive,
            _ => Answer::Unsupported,
        }
    }
}

impl Session for Outside<Ranges> {}

impl Library {
    /// An engine for a space.
    pub(in crate::engine) fn kva(&self, space: &Space) -> Result<Box<dyn Session>, String> {
        if let Source::Guest(make) = &self.source {
            return make(space);
        }
        let span = |span: &Span| outside::Span { first: span.first(), last: span.last() };
        let spans = space.layout.iter().map(span).collect();
        let scene = outside::Scene { spans, granule: space.granule.bytes(), unit_bytes: 0 };
        Ok(Box::new(Outside { wire: self.start(&scene)?, spoken: Ranges }))
    }
}
