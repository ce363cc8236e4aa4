//! An allocator of per-CPU objects from outside.

use super::{Library, Outside, Spoken};
use crate::engine::percpu::Scene;
use freehold_harness::outside::{self, status, what};
use freehold_trace::percpu::{Answer, Footprint, Op, Session};
use std::collections::HashMap;

/// The chunks in the order in which they first held an object, by the engine's numbers; and how many objects are live.
#[derive(Debug, Default)]
struct Chunks {
    numbers: HashMap<u32, u32>,
    live: u64,
}

impl Spoken for Chunks {
    type Op = Op;
    type Answer = Answer;

    fn ask(op: &Op) -> outside::Op {
        match *op {
            Op::Alloc { object, size_bytes, align, atomic } => outside::Op {
                what: what::ALLOC,
                object,
                size: size_bytes,
                align: align.bytes(),
                first: 0,
                last: u64::MAX,
                value: u64::from(atomic),
            },
            Op::Free { object } => outside::Op { what: what::FREE, object, ..outside::Op::default() },
        }
    }

    fn told(&mut self, op: &Op, answer: &outside::Answer) -> Answer {
        match (op, answer.status) {
            (Op::Alloc { .. }, status::DONE) => {
                self.live += 1;
                let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
                let chunk = *self.numbers.entry(answer.chunk).or_insert(next);
                Answer::At { chunk, offset_bytes: answer.first }
            }
            (Op::Alloc { .. }, status::NO_ROOM) => Answer::NoRoom,
            (Op::Free { .. }, status::DONE) => {
                self.live = self.live.saturating_sub(1);
                Answer::Freed
            }
            (Op::Free { .. }, status::NOT_LIVE) => Answer::NotLive,
            _ => Answer::Unsupported,
        }
    }
}

impl Session for Outside<Chunks> {
    fn footprint(&self) -> Footprint {
        let chunks = self.spoken.numbers.len() as u64;
        let metadata_bytes = self.wire.bytes() as u64;
        Footprint { chunks, objects: self.spoken.live, metadata_bytes, ..Footprint::default() }
    }
}

impl Library {
    /// An engine for chunks.
    pub(in crate::engine) fn percpu(&self, scene: &Scene) -> Result<Box<dyn Session>, String> {
        let unit_bytes = scene.config.unit_bytes.into();
        let scene = outside::Scene { spans: Vec::new(), granule: 1, unit_bytes };
        Ok(Box::new(Outside { wire: self.start(&scene)?, spoken: Chunks::default() }))
    }
}
