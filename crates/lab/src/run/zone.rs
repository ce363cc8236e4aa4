//! A nested zone: how much of a small range, which some users need, the users of the large range around it take.
//!
//! ```text
//!   outer   |xxxxx.xxx.xx.x...................................|     users without a zone, one after another
//!   zones   [ low ]              [middle]              [ high ]     a part of each is eaten, or none
//!
//!   outer   |..x....x..xx....x...x...x.xx....x....x...x....x..|     the same users, each at a random place
//! ```
//!
//! Users without a zone come two at a time while one of them leaves, so that holes appear while the space fills up.
//! At random places means from a random address upwards, or anywhere if there is nothing above. Whoever fills the
//! space knows nothing of the zones, so that one run tells of all of them.

use crate::engine::EngineEntry;
use crate::named::named;
use crate::workload::SplitMix;
use freehold::units::{Align, Span};
use freehold_rivals::kva::Checker;
use freehold_trace::kva::{Answer, Op, Session, Space};

const PAGE: u64 = Align::PAGE.bytes();
/// Pages of the outer range.
const OUTER_PAGES: u64 = 1 << 16;
/// The zones are this part of the outer range.
const ZONE_PART: u64 = 8;
/// Largest size of a user in pages, with and without a zone.
const LARGEST_PAGES: u64 = 64;
/// Hundredths of the outer range that are asked for in the end.
pub const LOAD_PERCENT: u64 = 50;

named! {
    /// Where users without a zone go.
    Way {
        Sequential "sequential" "Where the engine's placement puts them: one after another."
        Random "random" "From a random address upwards."
    }
}

/// A zone within the outer range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Where it lies.
    pub name: &'static str,
    /// The addresses.
    pub span: Span,
}

/// The outer range and its zones.
#[derive(Clone, Debug)]
pub struct Zones {
    /// The outer range.
    pub outer: Span,
    /// At its low end, in the middle, at its high end.
    pub zones: Vec<Zone>,
    /// What its users do.
    pub ops: Vec<Op>,
}

/// What is left of a zone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Left {
    /// Share of the zone that others have taken.
    pub eaten: f64,
    /// Bytes of its largest free block.
    pub largest_bytes: u64,
}

/// An engine's run.
#[derive(Clone, Debug)]
pub struct ZoneRun {
    /// The engine.
    pub entry: EngineEntry,
    /// What is left in the end, in the order of the zones.
    pub left: Vec<Left>,
    /// Users that found no room.
    pub failures: u64,
}

impl Zones {
    /// The outer range of 256 MiB, and zones of an eighth of it.
    pub fn new(seed: u64) -> Option<Self> {
        Self::sized(OUTER_PAGES, seed)
    }

    /// The same of so many pages.
    pub fn sized(outer_pages: u64, seed: u64) -> Option<Self> {
        let (first, size) = (OUTER_PAGES * PAGE, outer_pages * PAGE);
        let zone_bytes = size / ZONE_PART;
        let zone =
            |name, offset: u64| Some(Zone { name, span: Span::from_size(first + offset, zone_bytes)? });
        let zones = vec![
            zone("low end", 0)?,
            zone("middle", (size - zone_bytes) / 2)?,
            zone("high end", size - zone_bytes)?,
        ];
        Some(Self { outer: Span::from_size(first, size)?, zones, ops: users(outer_pages, seed) })
    }

    /// Fills the outer range; every answer is checked.
    ///
    /// # Errors
    /// The engine gives a wrong answer.
    pub fn run(&self, entry: &EngineEntry, way: Way, seed: u64) -> Result<ZoneRun, String> {
        let mut session = entry.start(&Space { layout: vec![self.outer], granule: Align::PAGE })?;
        let mut checker = Checker::of(&[self.outer]);
        let mut random = SplitMix::new(seed);
        let mut failures = 0;
        for (at, op) in self.ops.iter().enumerate() {
            let placed = match (way, op) {
                (Way::Random, Op::Alloc { object, size_bytes, .. }) => {
                    self.placed_at_random(*object, *size_bytes, &mut random)
                }
                _ => op.clone(),
            };
            let (mut answer, _) = session.run_counted(&placed);
            if answer == Answer::NoRoom && placed != *op {
                answer = session.run_counted(op).0;
            }
            checker.check(op, answer).map_err(|reason| format!("operation {at}: {reason}"))?;
            failures += u64::from(answer == Answer::NoRoom);
        }
        session.validate()?;
        Ok(ZoneRun { entry: *entry, left: self.left(session.as_ref()), failures })
    }

    /// The same request from a random page of the outer range upwards.
    fn placed_at_random(&self, object: u32, size_bytes: u64, random: &mut SplitMix) -> Op {
        let pages = self.outer.size_saturating() / PAGE;
        let first = self.outer.first() + random.uniform(pages) * PAGE;
        let window = Span::new(first, self.outer.last()).unwrap_or(self.outer);
        Op::Alloc { object, size_bytes, align: Align::PAGE, window }
    }

    fn left(&self, session: &dyn Session) -> Vec<Left> {
        let mut free = vec![(0u64, 0u64); self.zones.len()];
        session.free_blocks(&mut |block| {
            for (zone, (sum, largest)) in self.zones.iter().zip(&mut free) {
                let (first, last) =
                    (block.first().max(zone.span.first()), block.last().min(zone.span.last()));
                let bytes = Span::new(first, last).map_or(0, Span::size_saturating);
                *sum += bytes;
                *largest = bytes.max(*largest);
            }
        });
        let left = |(zone, (sum, largest_bytes)): (&Zone, (u64, u64))| {
            let eaten = 1.0 - sum as f64 / zone.span.size_saturating() as f64;
            Left { eaten, largest_bytes }
        };
        self.zones.iter().zip(free).map(left).collect()
    }
}

/// Two users come, one goes, until the range is as full as it shall be.
fn users(outer_pages: u64, seed: u64) -> Vec<Op> {
    let mut random = SplitMix::new(seed);
    let mut ops = Vec::new();
    let mut live: Vec<(u32, u64)> = Vec::new();
    let (mut next, mut asked) = (0, 0);
    while asked * 100 < outer_pages * LOAD_PERCENT {
        if ops.len() % 3 == 2 && !live.is_empty() {
            let (object, pages) = live.swap_remove(random.uniform(live.len() as u64) as usize);
            asked -= pages;
            ops.push(Op::Free { object });
        } else {
            let pages = 1 + random.uniform(LARGEST_PAGES);
            live.push((next, pages));
            asked += pages;
            ops.push(Op::alloc(next, pages * PAGE));
            next += 1;
        }
    }
    ops
}
