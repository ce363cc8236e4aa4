//! What `bench percpu` does, asked of a stage, whoever has it.

use super::order::{ORDERS, Order};
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

/// The sizes of the seed's table; counters of 4 bytes lie dense, larger objects at multiples of 8.
pub const SEED: &[Size] =
    &[Size::new(4, 4), Size::new(16, 8), Size::new(64, 8), Size::new(128, 8), Size::new(1024, 8)];
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

    /// As people write it: bytes and alignment.
    pub fn label(&self) -> String {
        format!("{}/{}", self.bytes, self.align_bytes)
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

    fn allocs(&self, objects: Range<u32>) -> Vec<Op> {
        objects.map(|object| self.alloc(object)).collect()
    }
}

fn frees(objects: Range<u32>) -> Vec<Op> {
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
    fn keeps(object: u32, offset_bytes: u64) -> bool {
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
    const IN_GROUP: u32 = Self::GROUP_BYTES.len() as u32;
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

/// Who runs operations, and knows where objects are.
pub trait Stage {
    /// Runs operations, all of which must succeed; timed under that name. A `pair` is two of them.
    ///
    /// # Errors
    /// Some of them failed.
    fn run(&mut self, timed: Option<(&'static str, Option<&'static str>)>, ops: &[Op]) -> Result<(), String>;

    /// Runs operations one by one: the first of them, the longest, and one of them in the mean are timed.
    ///
    /// # Errors
    /// Some of them failed.
    fn each(&mut self, ops: &[Op]) -> Result<(), String>;

    /// Where a live object starts in its units, in bytes.
    fn offset_bytes(&self, object: u32) -> Option<u64>;

    /// Does the work that operations left for later.
    fn balance(&mut self);

    /// Looks at what is taken now, under that name.
    ///
    /// # Errors
    /// An object is where it may not be.
    fn look(&mut self, at: &'static str) -> Result<(), String>;
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
    fn piece(&self) -> usize {
        if let Self::Churn(churn) = self { (churn.pairs.len() / 2).div_ceil(PIECES).max(1) } else { 1 }
    }

    /// What comes before the rounds.
    ///
    /// # Errors
    /// An operation fails, or an object is where it may not be.
    pub fn prepare(&self, stage: &mut dyn Stage, objects: u32, unit_bytes: u32) -> Result<(), String> {
        match self {
            Self::Fill(size) => {
                size.fill_second_halves(stage, objects, unit_bytes)?;
                stage.run(None, &size.allocs(0..objects))?;
                stage.look("full")?;
                stage.run(None, &Order::Random.arrange(&frees(0..objects)))?;
                stage.look("empty")
            }
            Self::Churn(churn) => stage.run(None, &churn.first),
            Self::StaleHint(work) => {
                let size = Size::new(4, 1);
                stage.run(None, &size.allocs(0..work.objects))?;
                let goes = |&object: &u32| {
                    stage.offset_bytes(object).is_some_and(|at| !StaleHint::keeps(object, at))
                };
                let freed: Vec<u32> = (0..work.objects).filter(goes).collect();
                stage.run(None, &freed.iter().map(|&object| Op::Free { object }).collect::<Vec<_>>())?;
                stage.look("free")?;
                let again = freed.iter().take(work.refilled as usize).map(|&object| size.alloc(object));
                stage.run(None, &again.collect::<Vec<_>>())?;
                stage.look("alloc")
            }
            Self::MassFree(_) => Ok(()),
            Self::Deletion(work, balanced) => {
                let sized = (0..work.groups * Deletion::IN_GROUP).zip(Deletion::GROUP_BYTES.iter().cycle());
                let made: Vec<Op> = sized.map(|(object, &bytes)| Size::new(bytes, 1).alloc(object)).collect();
                stage.run(None, &made)?;
                if !balanced {
                    stage.look("alloc")?;
                }
                let goes = (0..work.groups).filter(|group| !group.is_multiple_of(work.one_in));
                let groups = goes.map(|group| group * Deletion::IN_GROUP);
                let groups = groups.map(|first| frees(first..first + Deletion::IN_GROUP));
                if !balanced {
                    stage.run(None, &groups.flatten().collect::<Vec<_>>())?;
                    return stage.look("free");
                }
                for group in groups {
                    stage.run(None, &group)?;
                    stage.balance();
                }
                stage.look("balance")
            }
        }
    }

    /// A round.
    ///
    /// # Errors
    /// An operation fails, or an object is where it may not be.
    pub fn round(&self, stage: &mut dyn Stage, objects: u32, round: usize) -> Result<(), String> {
        match self {
            Self::Fill(size) => {
                let (allocs, frees) = (size.allocs(0..objects), frees(0..objects));
                for order in ORDERS {
                    stage.run(Some(("alloc", None)), &allocs)?;
                    stage.run(Some(("free", Some(order.name()))), &order.arrange(&frees))?;
                }
                Ok(())
            }
            Self::Churn(churn) => {
                let pairs = churn.pairs.chunks(2 * self.piece()).nth(round).unwrap_or_default();
                stage.run(Some(("pair", None)), pairs)
            }
            Self::MassFree(size) => {
                stage.run(None, &size.allocs(0..objects))?;
                let mixed = Order::Random.arrange(&frees(0..objects));
                let (freed, _) = mixed.split_at(mixed.len() / 2);
                stage.run(Some(("free", None)), freed)?;
                // As many again, by the names that are free now.
                let again: Vec<Op> = freed.iter().map(|op| size.alloc(op.object())).collect();
                let (early, late) = again.split_at(FIRST.min(again.len()));
                stage.each(early)?;
                stage.run(Some(("all, each", None)), late)?;
                stage.look("refilled")
            }
            Self::StaleHint(_) | Self::Deletion(..) => Ok(()),
        }
    }
}

impl Size {
    /// Objects that fill so many units that `objects` more fit in their first halves; none if those are not filled.
    fn fillers(&self, objects: u32, unit_bytes: u32) -> u32 {
        if !self.second_half {
            return 0;
        }
        let stride = self.bytes.next_multiple_of(self.align_bytes);
        let units = objects.div_ceil((unit_bytes / 2 / stride).max(1));
        units * (unit_bytes / stride)
    }

    /// Fills units, and frees what is in their first halves.
    fn fill_second_halves(&self, stage: &mut dyn Stage, objects: u32, unit_bytes: u32) -> Result<(), String> {
        let fillers = objects..objects + self.fillers(objects, unit_bytes);
        stage.run(None, &self.allocs(fillers.clone()))?;
        let mut freed = frees(fillers);
        freed.retain(|op| stage.offset_bytes(op.object()) < Some(u64::from(unit_bytes / 2)));
        stage.run(None, &freed)
    }
}
