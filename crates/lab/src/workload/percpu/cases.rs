//! What `bench percpu` does: its cases, and the requests that they are made of.

use crate::named::named;
use crate::workload::SplitMix;
use freehold::units::Align;
use freehold_trace::percpu::Op;
use std::ops::Range;

/// Objects that are live in a churn.
pub const LIVE: u32 = 200_000;
/// Requests right after many frees that are timed apart, and one by one.
pub const FIRST: usize = 1000;
/// Pieces that the replacements of a churn are timed in: a round is one of them.
const PIECES: usize = 10;

named! {
    /// An order of freeing.
    Order {
        InOrder "in-order" "As allocated."
        Alternating "alternating"
            "Every even object, then every odd one: the posting does not say what its alternating order was."
        Reverse "reverse" "The last one first."
        Random "random" "Shuffled; the posting has no such column."
    }
}

impl Order {
    /// What was allocated in the order in which it is freed.
    pub fn arrange<T: Copy>(self, allocated: &[T]) -> Vec<T> {
        let mut order = allocated.to_vec();
        match self {
            Self::InOrder => {}
            Self::Alternating => {
                order =
                    allocated.iter().step_by(2).chain(allocated.iter().skip(1).step_by(2)).copied().collect();
            }
            Self::Reverse => order.reverse(),
            Self::Random => SplitMix::new(20_170_719).shuffle(&mut order),
        }
        order
    }
}

/// What workloads are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Objects of a size placed, and freed in every order.
    Fill(&'static [Size]),
    /// What is held while all objects of a size are live; nothing is timed.
    Footprint(&'static [Size]),
    /// A steady state of random sizes of at most so many bytes.
    Churn(u32),
    /// Holes that a free leaves unknown.
    StaleHint,
    /// Half of all freed, and as many placed again.
    MassFree(&'static [Size]),
    /// Most groups of objects deleted.
    Deletion,
}

impl Kind {
    /// Whether it is done with as many objects as are asked for; the others are as they were measured on a kernel.
    pub fn is_sized(&self) -> bool {
        !matches!(self, Self::StaleHint | Self::Deletion)
    }
}

/// The sizes of the seed's table; counters of 4 bytes lie dense, larger objects at multiples of 8.
pub const SEED: &[Size] =
    &[Size::new(4, 4), Size::new(16, 8), Size::new(64, 8), Size::new(128, 8), Size::new(1024, 8)];
/// The size that the second version of the table has more.
pub const SEED_V2: &[Size] = &[Size::new(256, 8)];
/// The sizes of the table with second halves filled.
pub const SECOND_HALF: &[Size] = &[
    Size::new(4, 4).second_half(),
    Size::new(16, 8).second_half(),
    Size::new(64, 8).second_half(),
    Size::new(256, 8).second_half(),
    Size::new(1024, 8).second_half(),
];
/// The worst case: objects of 4 bytes at multiples of 8.
pub const ALIGNED: Size = Size::new(4, 8);

/// Objects of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Bytes of each object.
    pub bytes: u32,
    /// What each offset is a multiple of, in bytes: a power of two.
    pub align_bytes: u32,
    /// Whether the units' second halves are filled before.
    pub second_half: bool,
}

impl Size {
    /// `bytes` at a multiple of `align_bytes`, which is a power of two, in empty units.
    pub const fn new(bytes: u32, align_bytes: u32) -> Self {
        Self { bytes, align_bytes, second_half: false }
    }

    const fn second_half(self) -> Self {
        Self { second_half: true, ..self }
    }

    /// Whether an allocator that keeps gaps walks over one for every object.
    pub fn leaves_gaps(&self) -> bool {
        self.align_bytes > self.bytes.next_multiple_of(4)
    }

    /// A request for an object that can wait.
    pub fn alloc(&self, object: u32) -> Op {
        let align = Align::new(self.align_bytes.into()).unwrap_or_default();
        Op::Alloc { object, size_bytes: self.bytes.into(), align, atomic: false }
    }

    /// The same for several.
    pub fn allocs(&self, objects: Range<u32>) -> Vec<Op> {
        objects.map(|object| self.alloc(object)).collect()
    }
}

/// Frees them.
pub fn frees(objects: Range<u32>) -> Vec<Op> {
    objects.map(|object| Op::Free { object }).collect()
}

/// Small objects fill the units; every eighth is kept, and in each chunk all of the first block. Then as many are
/// placed as fit in some of the holes.
///
/// Linux does not find such holes: a free in any block but the first does not raise the chunk's hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaleHint {
    /// Objects of 4 bytes at first.
    pub objects: u32,
    /// Objects placed in the holes.
    pub refilled: u32,
}

impl StaleHint {
    /// What was measured on a kernel: a million objects, half a million placed again.
    pub const MEASURED: Self = Self { objects: 1_000_000, refilled: 500_000 };

    /// Whether the object that is at this offset is kept.
    pub fn keeps(object: u32, offset_bytes: u64) -> bool {
        object.is_multiple_of(8) || offset_bytes < 4096
    }
}

/// Groups of objects, of which most are deleted: the memory controllers of the patches of 2021, that empty chunks
/// which are not quite empty. One group's objects lie together, as they were made together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// Groups made.
    pub groups: u32,
    /// One group of so many is kept.
    pub one_in: u32,
}

impl Deletion {
    /// What was measured on a kernel: 11000 groups, 10 of 11 deleted.
    pub const MEASURED: Self = Self { groups: 11_000, one_in: 11 };

    /// Sizes of a group's objects in bytes, about those of a memory controller: its statistics, those per node, and
    /// reference counts.
    pub const GROUP_BYTES: [u32; 6] = [2240, 1024, 512, 64, 8, 8];

    /// Objects of a group.
    pub const IN_GROUP: u32 = Self::GROUP_BYTES.len() as u32;
}

/// Objects of random sizes, and replacements.
#[derive(Clone, Debug)]
pub struct Churn {
    /// Requests for the objects that are live at first.
    pub first: Vec<Op>,
    /// A random object's free and a request for another in its stead, in turn.
    pub pairs: Vec<Op>,
    /// Pages that the live objects would fill at the end without any gap.
    pub ideal_pages: u64,
}

impl Churn {
    /// `live` objects of 4 to `most_bytes` bytes, and so many replacements.
    pub fn new(most_bytes: u32, live: u32, replacements: u32) -> Self {
        let mut random = SplitMix::new(20_190_301);
        let mut sizes = vec![0; live as usize];
        let mut alloc = |random: &mut SplitMix, object: u32| {
            let size_bytes = 4 + random.uniform(u64::from(most_bytes - 3));
            sizes[object as usize] = size_bytes;
            Op::Alloc { object, size_bytes, align: Align::ONE, atomic: false }
        };
        let first = (0..live).map(|object| alloc(&mut random, object)).collect();
        let mut pairs = Vec::new();
        for _ in 0..replacements {
            let object = random.uniform(u64::from(live)) as u32;
            pairs.extend([Op::Free { object }, alloc(&mut random, object)]);
        }
        let live_bytes: u64 = sizes.iter().map(|size| size.next_multiple_of(4)).sum();
        Self { first, pairs, ideal_pages: live_bytes.div_ceil(4096) }
    }
}

/// What is done: a case of some size.
#[derive(Clone, Debug)]
pub enum Work {
    /// Objects of a size, in each order once a round. The chunks stay, so that neither the making of chunks nor the first
    /// touch of their maps is in the figures; the first round, which is not timed, has both.
    Fill(Size),
    /// A piece of the replacements in each round.
    Churn(Churn),
    /// Objects are freed by where they are.
    StaleHint(StaleHint),
    /// Objects of a size, half of them freed at random, and as many placed again: what frees put off is paid there.
    MassFree(Size),
    /// The groups are deleted one by one, and the work that this leaves is done after each, if it says so.
    Deletion(Deletion, bool),
}

impl Work {
    /// Objects are named below this, for cases of `objects` of one size, in units of so many bytes.
    pub fn names(&self, objects: u32, unit_bytes: u32) -> u32 {
        match self {
            Self::Fill(size) => objects + size.fillers(objects, unit_bytes),
            Self::MassFree(_) => objects,
            Self::Churn(churn) => churn.first.len() as u32,
            Self::StaleHint(work) => work.objects,
            Self::Deletion(work, _) => work.groups * Deletion::IN_GROUP,
        }
    }

    /// Rounds that there are, if that many are asked for.
    pub fn rounds(&self, asked: usize) -> usize {
        match self {
            Self::Fill(_) | Self::MassFree(_) => asked,
            Self::Churn(churn) => (churn.pairs.len() / 2).div_ceil(self.piece()),
            Self::StaleHint(_) | Self::Deletion(..) => 0,
        }
    }

    /// Whether each round begins on a fresh engine.
    pub fn is_fresh(&self) -> bool {
        matches!(self, Self::MassFree(_))
    }

    /// Pairs of a round of a churn.
    pub fn piece(&self) -> usize {
        if let Self::Churn(churn) = self { (churn.pairs.len() / 2).div_ceil(PIECES).max(1) } else { 1 }
    }
}

impl Size {
    /// Objects that fill so many units that `objects` more fit in their first halves; none if those are not filled.
    pub fn fillers(&self, objects: u32, unit_bytes: u32) -> u32 {
        if !self.second_half {
            return 0;
        }
        let stride = self.bytes.next_multiple_of(self.align_bytes);
        let units = objects.div_ceil((unit_bytes / 2 / stride).max(1));
        units * (unit_bytes / stride)
    }
}
