//! The cases of trees of ranges: what the kernel's own benches and tests do, by their names, and what they lack.
//!
//! ```text
//!   slot k     16 k         16 k + 7  16 k + 8      16 k + 15
//!              [     a range       ]  [       a gap         ]
//! ```
//!
//! A range is named by its slot. What a case leaves behind is taken away by one store of nothing over everything.
//!
//! Source: the names and the subjects of the kernel's tests and benches of its maple tree.

use super::requests::{ObjectOp, replace};
use super::{Before, Benched, Body, CaseInfo, Params, Refusal, Suited, no_units};
use crate::engine::maple::EngineEntry;
use crate::failure::Failure;
use crate::family::{Family, Tree};
use crate::workload::SplitMix;
use crate::workload::maple::Kind as Bench;
use freehold::units::Bytes;
use freehold_trace::maple::{End, Op, Step, StoreCall, TreeFlags, Value};

/// From one slot to the next.
const STRIDE: u64 = 16;
/// Indexes of a range.
const LEN: u64 = 8;
/// Operations of one kind in a row.
const ROW: u32 = 64;
/// Ranges that a walk goes through.
const WALKED: u64 = 64;
/// Ranges of the tree that the kernel's bench copies.
const FORKED: u32 = 135;
/// Most slots that a store covers.
const SPANNED: u64 = 64;
/// Most stores of a transaction.
const TOGETHER: u64 = 8;

cases! { Tree, TreeKind, Bench:
    "bench_slot_store" "kernel bench: a range grows into its gap, and shrinks again"
        stress SlotStore (sized: true);
    "bench_node_store" "kernel bench: a range comes beside another, and is erased"
        stress NodeStore (sized: true);
    "bench_awalk" "kernel bench: the highest gap of 1..=8 below a random index" stress Awalk (sized: true);
    "bench_walk" "kernel bench: a cursor is put on a random index" stress Walk (sized: true);
    "bench_load" "kernel bench: a random index is looked up" stress Load (sized: true);
    "bench_forking" "kernel bench: 135 ranges copied, all of the copy stored over, the copy destroyed"
        stress Forking;
    "bench_mt_for_each" "kernel bench: 64 ranges in order, each looked for from the root"
        stress MtForEach (sized: true);
    "bench_mas_for_each" "kernel bench: the same by a cursor" stress MasForEach (sized: true);
    "bench_mas_prev" "kernel bench: the same downwards" stress MasPrev (sized: true);
    "check_mas_store_gfp" "kernel test: a store over exactly a range, by one of the three calls of a cursor"
        stress MasStoreGfp (sized: true);
    "check_seq" "kernel test: n ranges in order, then erased in that order" stress Seq (sized: true);
    "check_rev_seq" "kernel test: n ranges from the last on, then erased in that order"
        stress RevSeq (sized: true);
    "check_alloc_range"
        "kernel test: the lowest gap of 1..=16 from a random index on is taken; two random indexes erased"
        stress AllocRange (sized: true, refusal: Refusal::Allowed);
    "check_alloc_rev_range" "kernel test: the same with the highest gap below it"
        stress AllocRevRange (sized: true, refusal: Refusal::Allowed);
    "alloc_cyclic"
        "kernel test: the next free of 2n indexes from a random one on, and round; two random ones erased"
        stress AllocCyclic (sized: true, refusal: Refusal::Allowed);
    "lookup" "an index within a random range is looked up" bench Bench::Lookup;
    "iterate" "one range of going through all in order, in a `for` loop" bench Bench::Iterate;
    "iterate-two" "the same of two maps of two types, in two loops of one function" bench Bench::IterateTwo;
    "insert-seq" "ranges with gaps between, in order, into an empty map" bench Bench::InsertSeq;
    "insert-dense" "ranges without gaps, in order, into an empty map" bench Bench::InsertDense;
    "insert-random" "ranges with gaps between, in random order, into an empty map" bench Bench::InsertRandom;
    "range-store" "1..=64 indexes anywhere, cutting and covering what is there"
        stress RangeStore (sized: true) bench Bench::RangeStore;
    "overwrite" "a store over exactly a range" stress Overwrite (sized: true) bench Bench::Overwrite;
    "erase" "64 random ranges erased, then stored again; of bench a random half of them"
        stress Erase (sized: true) bench Bench::Erase;
    "gap-search" "1 to 24 free indexes above or below a random place, where one range of 64 is missing"
        bench Bench::GapSearch;
    "gap-misaligned"
        "8 free indexes at a multiple of 16 from a random place on: every gap but the last is misaligned"
        bench Bench::GapMisaligned;
    "spanning" "a store over 1..=64 slots, then a range for each of them" stress Spanning (sized: true);
    "transaction"
        "an unmapping in the middle of three ranges, and up to 8 stores anywhere, as one; half are undone"
        stress Transaction (sized: true);
    "dup" "the tree copied, 64 stores into the copy, the copy destroyed; a loop for each range"
        stress Dup (sized: true) bench Bench::Dup;
    "mix" "80 % look-ups, 10 % stores, 10 % erases at random places, half of which hold a range"
        bench Bench::Mix;
    "mixed" "one of all the stress cases at random, and stores that are refused"
        stress Mixed (sized: true, refusal: Refusal::Allowed);
    "footprint" "bytes of a map of one to four ranges" bench Bench::Footprint;
}

use TreeKind as Kind;

impl ObjectOp for Op {
    /// The range in the slot.
    fn free(slot: u32) -> Self {
        Self::Erase { index: first_of(slot) }
    }
}

impl Suited for Tree {
    type Kind = Kind;
    const CASES: &'static [CaseInfo<Self>] = CASES;
    const WORK: &'static str = "nodes that an operation takes, of engines with nodes";
    const GROWS: &'static [Kind] = &[Kind::Mixed];

    fn before(kind: Kind, params: &Params) -> Before<Op> {
        match kind {
            Kind::Seq | Kind::RevSeq | Kind::AllocCyclic => Before::kept(0, insert),
            Kind::Forking => Before::kept(FORKED, insert),
            Kind::Walk | Kind::Load | Kind::MtForEach | Kind::MasForEach | Kind::MasPrev => {
                Before::kept(params.n, insert)
            }
            _ => Before::churned(params.n, insert),
        }
    }

    fn row(body: &Body<Self>) -> u32 {
        match body.info.kind {
            Kind::Seq | Kind::RevSeq | Kind::Dup => body.params.n,
            Kind::Erase => ROW.min(body.params.n.div_ceil(2)),
            _ => 1,
        }
    }

    /// They name slots of the setup, or where there is none what would be its slots.
    fn names(body: &Body<Self>) -> u32 {
        if matches!(body.info.kind, Kind::Seq | Kind::RevSeq) { body.params.n } else { 0 }
    }

    fn turn(body: &Body<Self>, row: u32, ops: &mut Vec<Op>, random: &mut SplitMix) {
        match body.info.kind {
            Kind::Seq => body.sequence(ops, row, |at, _| at, random),
            Kind::RevSeq => body.sequence(ops, row, |at, row| row - 1 - at, random),
            Kind::Erase => replace(ops, (body.first, body.params.n), row, random, insert),
            Kind::Dup => body.copied(ops, random),
            kind => body.one(kind, ops, random),
        }
    }

    fn clear() -> Option<Op> {
        Some(Op::Store { first: 0, last: u64::MAX, value: Value::Null })
    }

    /// Trees that give out gaps.
    fn scene(unit: Option<Bytes>) -> anyhow::Result<TreeFlags> {
        no_units(unit)?;
        Ok(TreeFlags { alloc: true, rcu: false })
    }

    /// Without names all but the model, which the answers are held against.
    fn stressed(names: &[String]) -> Result<Vec<EngineEntry>, Failure> {
        let mut engines = Self::engines(names)?;
        engines.retain(|entry| !names.is_empty() || entry.map.is_some());
        Ok(engines)
    }
}

impl Body<Tree> {
    /// Ranges in that order into a tree without them, erased in the same order.
    fn sequence(&self, ops: &mut Vec<Op>, row: u32, order: fn(u32, u32) -> u32, random: &mut SplitMix) {
        let slots = (0..row).map(|at| self.first + order(at, row));
        ops.extend(slots.clone().map(|slot| insert(slot, random)));
        ops.extend(slots.map(Op::free));
    }

    /// The slots' first index and last index.
    fn ends(&self) -> (u64, u64) {
        let last_slot = self.first.saturating_add(self.params.n.max(1) - 1);
        (first_of(self.first), first_of(last_slot) + STRIDE - 1)
    }

    /// Any slot from which `slots` more follow, if there are so many; its first index.
    fn slot(&self, random: &mut SplitMix, slots: u64) -> u64 {
        let from = u64::from(self.params.n).saturating_sub(slots).max(1);
        first_of(self.first) + STRIDE * random.uniform(from)
    }

    fn index(&self, random: &mut SplitMix) -> u64 {
        let (low, high) = self.ends();
        low + random.uniform(high - low + 1)
    }

    /// One loop of a case.
    fn one(&self, kind: Kind, ops: &mut Vec<Op>, random: &mut SplitMix) {
        let low = self.ends().0;
        let slot = self.slot(random, 0);
        let last = slot + LEN - 1;
        let value = draw(random);
        match kind {
            Kind::SlotStore => ops.extend([
                Op::Store { first: slot, last: last + 2, value },
                Op::Store { first: last + 1, last: last + 2, value: Value::Null },
            ]),
            Kind::NodeStore => ops.extend([
                Op::Insert { first: last + 1, last: last + 2, value },
                Op::Erase { index: last + 1 },
            ]),
            Kind::Awalk => {
                let size = 1 + random.uniform(LEN);
                ops.push(Op::EmptyArea { end: End::Highest, min: low, max: slot + STRIDE - 1, size });
            }
            Kind::Walk => ops.extend([Op::CursorSet { index: self.index(random) }, Op::CursorWalk]),
            Kind::Load => ops.push(Op::Load { index: self.index(random) }),
            Kind::MtForEach => ops.extend((0..WALKED).map(|at| {
                // Where the range before ended.
                let index = if at == 0 { slot } else { slot + STRIDE * (at - 1) + LEN };
                Op::Find { index, max: u64::MAX, after: at > 0 }
            })),
            Kind::MasForEach => {
                ops.push(Op::StepMany { step: Step::Find, index: slot, limit: u64::MAX, most: Some(WALKED) });
            }
            Kind::MasPrev => {
                ops.push(Op::StepMany { step: Step::Prev, index: slot, limit: 0, most: Some(WALKED) });
            }
            Kind::Forking => in_copy(ops, |ops| {
                ops.push(Op::StoreMany { first: low, stride: STRIDE, len: LEN, count: FORKED.into(), value });
            }),
            Kind::AllocRange | Kind::AllocRevRange | Kind::AllocCyclic => self.alloc(kind, ops, random),
            Kind::RangeStore => ops.push(self.range_store(random)),
            Kind::Overwrite => ops.push(Op::Store { first: slot, last, value }),
            Kind::MasStoreGfp => {
                let calls = [StoreCall::Store, StoreCall::StoreGfp, StoreCall::Preallocated];
                let call = calls.get(random.uniform(3) as usize).copied().unwrap_or(StoreCall::Store);
                ops.push(Op::CursorStore { call, first: slot, last, value });
            }
            Kind::Spanning => {
                let count = (1 + random.uniform(SPANNED)).min(self.params.n.into());
                let first = self.slot(random, count);
                ops.push(Op::Store { first, last: first + STRIDE * count - 1, value });
                ops.push(Op::StoreMany { first, stride: STRIDE, len: STRIDE, count, value: draw(random) });
            }
            Kind::Transaction => self.transaction(ops, random),
            Kind::Mixed => self.mixed(ops, random),
            // Those that are done in rows.
            Kind::Seq | Kind::RevSeq | Kind::Erase | Kind::Dup => {}
        }
    }

    /// A place taken, and what is at two indexes erased, so that about half of them stay free.
    fn alloc(&self, kind: Kind, ops: &mut Vec<Op>, random: &mut SplitMix) {
        let (low, high) = self.ends();
        let (slot, value, size) = (self.slot(random, 0), draw(random), 1 + random.uniform(STRIDE));
        let indexes = 2 * u64::from(self.params.n);
        ops.push(match kind {
            Kind::AllocRange => Op::AllocRange { end: End::Lowest, size, min: slot, max: high, value },
            Kind::AllocRevRange => {
                Op::AllocRange { end: End::Highest, size, min: low, max: slot + STRIDE - 1, value }
            }
            _ => Op::AllocCyclic { low, high: low + indexes - 1, next: low + random.uniform(indexes), value },
        });
        let within = if kind == Kind::AllocCyclic { indexes } else { high - low + 1 };
        ops.extend([0, 1].map(|_| Op::Erase { index: low + random.uniform(within) }));
    }

    fn range_store(&self, random: &mut SplitMix) -> Op {
        let first = self.index(random);
        Op::Store { first, last: first + random.uniform(64), value: draw(random) }
    }

    /// Half of a range, a whole one and half of the next emptied as one, and the three put back; stores anywhere as
    /// one.
    fn transaction(&self, ops: &mut Vec<Op>, random: &mut SplitMix) {
        let first = self.slot(random, 3);
        let mut commit = || random.uniform(2) == 0;
        let half = first + LEN / 2;
        let unmap = Op::StoreTogether {
            first: half,
            stride: STRIDE,
            len: STRIDE,
            count: 2,
            value: Value::Null,
            commit: commit(),
        };
        let commit = commit();
        let put_back = Op::StoreMany { first, stride: STRIDE, len: LEN, count: 3, value: draw(random) };
        let anywhere = Op::StoreTogether {
            first: self.index(random),
            stride: 1 + random.uniform(STRIDE * SPANNED),
            len: 1 + random.uniform(2 * STRIDE),
            count: 1 + random.uniform(TOGETHER),
            value: draw(random),
            commit,
        };
        ops.extend([unmap, put_back, anywhere]);
    }

    /// The tree copied, and the copy changed.
    fn copied(&self, ops: &mut Vec<Op>, random: &mut SplitMix) {
        in_copy(ops, |ops| ops.extend((0..ROW).map(|_| self.range_store(random))));
    }

    fn mixed(&self, ops: &mut Vec<Op>, random: &mut SplitMix) {
        const KINDS: [Kind; 17] = [
            Kind::SlotStore,
            Kind::NodeStore,
            Kind::Awalk,
            Kind::Walk,
            Kind::Load,
            Kind::MasForEach,
            Kind::MasPrev,
            Kind::MasStoreGfp,
            Kind::AllocRange,
            Kind::AllocRevRange,
            Kind::AllocCyclic,
            Kind::RangeStore,
            Kind::Overwrite,
            Kind::Spanning,
            Kind::Transaction,
            Kind::Erase,
            Kind::Dup,
        ];
        match KINDS.get(random.uniform(KINDS.len() as u64) as usize).copied().unwrap_or(Kind::Load) {
            Kind::Erase => ops.push(Op::Erase { index: self.index(random) }),
            // One in some thousands, since it takes as long as the tree is large.
            Kind::Dup if random.uniform(256) == 0 => self.copied(ops, random),
            Kind::Dup => ops.push(insert_anywhere(self.index(random), random)),
            kind => self.one(kind, ops, random),
        }
    }
}

fn first_of(slot: u32) -> u64 {
    STRIDE * u64::from(slot)
}

/// Any value; two in a row are hardly ever the same, so that no map can merge the ranges.
fn draw(random: &mut SplitMix) -> Value {
    Value::Number(1 + random.uniform(u64::from(u32::MAX)) as u32)
}

/// The range of a slot.
fn insert(slot: u32, random: &mut SplitMix) -> Op {
    let first = first_of(slot);
    Op::Insert { first, last: first + LEN - 1, value: draw(random) }
}

/// A few indexes, where there may be something.
fn insert_anywhere(first: u64, random: &mut SplitMix) -> Op {
    Op::Insert { first, last: first + random.uniform(LEN), value: draw(random) }
}

/// Copies the tree, does something in the copy, and destroys it.
fn in_copy(ops: &mut Vec<Op>, change: impl FnOnce(&mut Vec<Op>)) {
    ops.extend([Op::Duplicate { from: 0, into: 1 }, Op::UseTree { tree: 1 }]);
    change(ops);
    ops.extend([Op::UseTree { tree: 0 }, Op::DestroyTree { tree: 1 }]);
}
