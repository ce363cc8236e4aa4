//! Any bytes as operations on an engine, with the work of each counted: what the search for worse sequences plays, and the fuzz
//! target.
//!
//! A string may be played again and again, on the same structure, so that one string is a sequence at any n.

use freehold::kva::{AddressSpace, Placement, Request};
use freehold::maple::{self, WordMap};
use freehold::percpu::{self, ChunkSet, Config, Offset, PAGE_BYTES};
use freehold::units::{Align, Span, Tally, Work};

/// Bytes of an operation.
pub const OP_BYTES: usize = 2;

/// An engine that suffers strings.
pub trait Strings {
    /// Makes an operation; `round` is how often the string was played before. Returns its work.
    fn apply(&mut self, op: [u8; OP_BYTES], round: u64) -> u64;

    /// Checks every invariant.
    ///
    /// # Errors
    /// The one that is broken.
    fn validate(&self) -> Result<(), String>;
}

/// Makes an engine.
pub type Make = fn() -> Result<Box<dyn Strings>, String>;

/// An engine, and the bound of any string on it.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// The name of its family.
    pub family: &'static str,
    /// Makes it.
    pub make: Make,
    /// Whether what was suffered up to some operation is within the documented bounds.
    pub within: fn(&Suffered) -> bool,
}

/// The engines that strings are played on.
pub const SUBJECTS: [Subject; 3] = [
    // O(log n) amortized: nothing may be owed at any time. To learn an alignment visits each leaf once.
    Subject { family: "kva", make: Kva::make, within: |suffered| suffered.total <= 4 * suffered.logs() + 64 },
    // A single operation is at most linear in the pages, of which an operation adds 16.
    Subject {
        family: "percpu",
        make: Percpu::make,
        within: |suffered| suffered.worst <= 32 * suffered.ops + 64,
    },
    // A store splits nodes on one path, and makes few more than it fills.
    Subject {
        family: "maple",
        make: Maple::make,
        within: |suffered| suffered.total <= 2 * suffered.ops + 16,
    },
];

/// What a string did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Suffered {
    /// The most work of a single operation.
    pub worst: u64,
    /// The work of all.
    pub total: u64,
    /// How many there were.
    pub ops: u64,
}

impl Suffered {
    /// As many operations of logarithmic cost.
    fn logs(&self) -> u64 {
        self.ops * (u64::from(self.ops.max(1).ilog2()) + 1)
    }
}

/// Plays a string until so many operations are done, and tells `each` what was suffered up to every one of them. An empty string does
/// nothing.
///
/// # Errors
/// The engine cannot be made, an invariant is broken at the end, or `each` stops it.
pub fn play(
    make: Make,
    string: &[u8],
    ops: u64,
    mut each: impl FnMut(&Suffered) -> Result<(), String>,
) -> Result<Suffered, String> {
    let mut engine = make()?;
    let mut suffered = Suffered::default();
    let (operations, _) = string.as_chunks::<OP_BYTES>();
    let endless = (0..).flat_map(|round| operations.iter().map(move |&op| (round, op)));
    for (round, op) in endless.take(if operations.is_empty() { 0 } else { ops as usize }) {
        let work = engine.apply(op, round);
        suffered.worst = suffered.worst.max(work);
        suffered.total += work;
        suffered.ops += 1;
        each(&suffered)?;
    }
    engine.validate()?;
    Ok(suffered)
}

/// The live object that a byte names: the bytes are spread over all.
fn named(byte: u8, live: usize) -> Option<usize> {
    (live > 0).then(|| usize::from(byte) * live / 256)
}

/// A space of 2^44 granules.
struct Kva {
    space: AddressSpace<()>,
    live: Vec<u64>,
}

impl Kva {
    const LOG2_SIZE: u32 = 44;

    fn make() -> Result<Box<dyn Strings>, String> {
        let span = Span::from_size(0, 1 << Self::LOG2_SIZE).ok_or("no such space")?;
        let space =
            AddressSpace::new(span, Align::ONE, Placement::Lowest).map_err(|error| error.to_string())?;
        Ok(Box::new(Self { space, live: Vec::new() }))
    }

    fn window(first: u64, last: u64) -> Span {
        Span::new(first, last).unwrap_or(Span::ALL)
    }

    fn request([kind, detail]: [u8; OP_BYTES]) -> Request {
        let (few, log2) = (u64::from(detail & 15), u32::from(detail >> 4));
        match kind & 7 {
            // Small sizes, sixteen alignments.
            0 | 1 => Request::new(1 + few).align_bytes(1 << log2),
            // Long ones, a granule short or not.
            2 => Request::new((2 << (log2 * 2)) - few.min(1)),
            // In the lower part of the space, and above.
            3 => Request::new(1 + few).window(Self::window(0, 4096 << log2)),
            _ => Request::new(1 + few).align_bytes(1 << log2).window(Self::window(1 << (2 * log2), u64::MAX)),
        }
    }
}

impl Strings for Kva {
    fn apply(&mut self, op: [u8; OP_BYTES], _: u64) -> u64 {
        let mut tally = Tally::default();
        if op[0] & 7 > 4 {
            if let Some(at) = named(op[1], self.live.len()) {
                let freed = self.space.free_probed(self.live.swap_remove(at), &mut tally);
                debug_assert!(freed.is_ok(), "it is live");
            }
        } else if let Ok(span) = self.space.alloc_probed(&Self::request(op), (), &mut tally) {
            self.live.push(span.first());
        }
        tally.steps()
    }

    fn validate(&self) -> Result<(), String> {
        let whole = self.space.validate().map_err(|broken| broken.to_string());
        if self.space.len() != self.live.len() {
            return Err(format!("{} regions, but {} are live", self.space.len(), self.live.len()));
        }
        whole
    }
}

/// Chunks of 16 pages.
struct Percpu {
    set: ChunkSet,
    live: Vec<Offset>,
}

impl Percpu {
    fn make() -> Result<Box<dyn Strings>, String> {
        let config = Config::new(16 * PAGE_BYTES, 1);
        let set = ChunkSet::new(config).map_err(|error| error.to_string())?;
        Ok(Box::new(Self { set, live: Vec::new() }))
    }

    fn request([kind, detail]: [u8; OP_BYTES]) -> percpu::Request {
        let size = u64::from(detail) + 1;
        match kind & 7 {
            0 | 1 => percpu::Request::new(4 * size).align(4 << (kind >> 3 & 7)),
            2 => percpu::Request::new(16 * size).align(4 << (kind >> 3 & 7)),
            3 => percpu::Request::new(128 * size),
            _ => percpu::Request::new(64 * size).align(u64::from(PAGE_BYTES) >> (kind >> 3 & 3)).atomic(),
        }
    }
}

impl Strings for Percpu {
    fn apply(&mut self, op: [u8; OP_BYTES], _: u64) -> u64 {
        let mut tally = Tally::default();
        if op[0] & 7 > 4 {
            if let Some(at) = named(op[1], self.live.len()) {
                let freed = self.set.free_probed(self.live.swap_remove(at), &mut tally);
                debug_assert!(freed.is_ok(), "it is live");
            }
            if op[0] == u8::MAX {
                self.set.trim();
            }
        } else if let Ok(offset) = self.set.alloc_probed(&Self::request(op), &mut tally) {
            self.live.push(offset);
        }
        tally.of(Work::ChunkVisited) + tally.of(Work::BlockVisited)
    }

    fn validate(&self) -> Result<(), String> {
        if self.set.len() != self.live.len() as u64 {
            return Err(format!("{} objects, but {} are live", self.set.len(), self.live.len()));
        }
        self.set.validate().map_err(|broken| broken.to_string())
    }
}

/// A map. Its work is the nodes that it takes: it has no probe.
struct Maple {
    map: WordMap<u32>,
}

impl Maple {
    /// Indexes that a string is about; when it is played again, the next ones.
    const ROUND: u64 = 1 << 16;

    fn make() -> Result<Box<dyn Strings>, String> {
        Ok(Box::new(Self { map: WordMap::new() }))
    }
}

impl Strings for Maple {
    fn apply(&mut self, [kind, detail]: [u8; OP_BYTES], round: u64) -> u64 {
        let before = self.map.nodes_taken();
        let first = round * Self::ROUND + u64::from(detail) * 16 + u64::from(kind >> 4);
        let last = first + (u64::from(kind >> 4) << (kind & 7));
        // Neighbours differ, so that equal ones do not pass for one range.
        let value = u32::from(detail) << 8 | u32::from(kind);
        match kind & 15 {
            0..6 => drop(self.map.store(first..=first, value)),
            6..10 => drop(self.map.store(first..=last, value)),
            10 => drop(self.map.remove_range(first..=last)),
            11 => drop(self.map.insert(first..=last, value)),
            12 => drop(self.map.alloc_lowest(&maple::Request::new(u64::from(detail) + 1), 1)),
            _ => drop(self.map.erase(first)),
        }
        self.map.nodes_taken() - before
    }

    fn validate(&self) -> Result<(), String> {
        self.map.validate().map_err(|broken| broken.to_string())
    }
}
