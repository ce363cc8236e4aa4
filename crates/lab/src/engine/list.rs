//! The one list of engines. A new engine is a file with its [`Engine`](freehold_trace::kva::Engine) and an entry
//! here.

use super::{Compared, FLOOR, Listed, OneTree, Session, Space, SpaceEngine, VARIANTS, listed::facts};
use freehold::kva::{BTree, BySize, RbTree, btree, by_size, rbtree};
use freehold::units::{Align, Span};
use freehold_rivals::kva::{
    BTreeMapSpace, Buddy, GapList, Mmap, Naive, OffsetAllocator, RangeAlloc, RangemapGaps, Splay, VmAllocator,
};
use freehold_trace::kva::{Answer, Driver, Engine};

/// Makes an engine for a layout and a granule.
pub type Make = fn(&[Span], Align) -> Result<Box<dyn Session>, String>;

/// Which of the addresses that fit an engine takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// The exact lowest, for every request.
    Lowest,
    /// The exact lowest, for alignments up to a page.
    LowestUpToPageAlignment,
    /// The exact highest, for every request.
    Highest,
    /// The lowest in the smallest block that has one, for every request.
    BestFit,
    /// Any.
    Any,
    /// Any that the kernel has in this process, in the layout or not, and another in each run.
    KernelsChoice,
}

impl Takes {
    /// Where answers may lie, for a layout.
    pub fn reach(self, layout: &[Span]) -> Vec<Span> {
        match self {
            Self::KernelsChoice => vec![Span::ALL],
            _ => layout.to_vec(),
        }
    }

    /// Whether two fresh engines may give these answers to the same operations.
    pub fn repeats(self, first: &[Answer], second: &[Answer]) -> bool {
        let alike = |(a, b): (&Answer, &Answer)| matches!((a, b), (Answer::At(_), Answer::At(_))) || a == b;
        match self {
            Self::KernelsChoice => first.len() == second.len() && first.iter().zip(second).all(alike),
            _ => first == second,
        }
    }
}

/// What is said of an allocator of address ranges.
#[derive(Clone, Copy, Debug)]
pub struct KvaFacts {
    /// Which addresses it takes.
    pub takes: Takes,
    /// Whether an allocation's work grows with the number of blocks or regions, not with its logarithm.
    pub linear: bool,
    /// Makes one.
    pub make: Make,
}

facts! { KvaFacts, Kva: Space => dyn Session, Answer, |facts, scene| (facts.make)(&scene.layout, scene.granule);
    const VARIANTS: &'static [EngineEntry] = VARIANTS;
    const FLOOR: Option<EngineEntry> = Some(FLOOR);

    fn repeats(&self, first: &[Answer], second: &[Answer]) -> bool {
        self.takes.repeats(first, second)
    }
}

impl EngineEntry {
    const fn linear(mut self) -> Self {
        self.facts.linear = true;
        self
    }
}

/// An entry of the list.
pub(super) const fn engine(name: &'static str, about: &'static str, takes: Takes, make: Make) -> EngineEntry {
    Listed::new(name, about, KvaFacts { takes, linear: false, make })
}

/// Every engine; the first is the default one, and what ratios are to.
pub const ENGINES: &[EngineEntry] = &[
    engine(
        "btree",
        "free blocks and regions in one B+tree, each child known by its room per class of \
         alignment; exactly the lowest address that fits",
        Takes::Lowest,
        |layout, granule| boxed(SpaceEngine::<BTree>::new(layout, granule, btree::Placement::Lowest)),
    )
    .placed("lowest")
    .ours(),
    engine(
        "btree",
        "the same B+tree from the other end; exactly the highest address that fits",
        Takes::Highest,
        |layout, granule| boxed(SpaceEngine::<BTree>::new(layout, granule, btree::Placement::Highest)),
    )
    .placed("highest")
    .ours()
    .compared(Compared::IfNamed),
    engine(
        "rbtree",
        "free blocks in a red-black tree, each knowing the largest size below it; exactly the \
         lowest address that fits",
        Takes::Lowest,
        |layout, granule| boxed(SpaceEngine::<RbTree>::new(layout, granule, rbtree::Placement::Lowest)),
    )
    .placed("lowest")
    .ours(),
    engine(
        "rbtree",
        "the same tree with the kernel's own search, which asks for size + alignment - 1 and so \
         may pass over a lower block",
        Takes::LowestUpToPageAlignment,
        |layout, granule| boxed(SpaceEngine::<RbTree>::new(layout, granule, rbtree::Placement::Linux)),
    )
    .placed("linux")
    .ours(),
    engine(
        "rbtree",
        "the same tree from the other end; exactly the highest address that fits",
        Takes::Highest,
        |layout, granule| boxed(SpaceEngine::<RbTree>::new(layout, granule, rbtree::Placement::Highest)),
    )
    .placed("highest")
    .ours()
    .compared(Compared::IfNamed),
    engine(
        "rbtree",
        "the red-black tree with its blocks ordered by size as well; the smallest block that fits",
        Takes::BestFit,
        |layout, granule| {
            boxed(SpaceEngine::<BySize<RbTree>>::new(layout, granule, by_size::Placement::BestFit))
        },
    )
    .placed("best-fit")
    .ours()
    .compared(Compared::IfNamed),
    engine(
        "btree",
        "the B+tree with its blocks ordered by size as well; the smallest block that fits",
        Takes::BestFit,
        |layout, granule| {
            boxed(SpaceEngine::<BySize<BTree>>::new(layout, granule, by_size::Placement::BestFit))
        },
    )
    .placed("best-fit")
    .ours()
    .compared(Compared::InBench),
    engine(
        "range-map",
        "one WordMap for both: regions are its entries, free space its gaps; exactly the lowest \
         address that fits",
        Takes::Lowest,
        |layout, granule| boxed(OneTree::new(layout, granule)),
    )
    .compared(Compared::InBench),
    engine(
        "gap-list",
        "what Linux had up to 5.1: busy areas in an ordered list, walked from gap to gap, with \
         four cached values",
        Takes::Any,
        |layout, granule| boxed(GapList::new(layout, granule)),
    )
    .linear()
    .estimated(),
    engine(
        "splay",
        "what the talk's speaker tried and left: free blocks in a splay tree, each knowing the \
         largest size below it; exactly the lowest address that fits",
        Takes::Lowest,
        |layout, granule| boxed(Splay::new(layout, granule)),
    )
    .estimated()
    .compared(Compared::InBench),
    engine(
        "btreemap-first-fit",
        "free blocks in a std BTreeMap, walked from the lowest: what one writes without a special \
         structure",
        Takes::Lowest,
        |layout, granule| boxed(Ok(BTreeMapSpace::first_fit(layout, granule))),
    )
    .linear()
    .estimated(),
    engine(
        "btreemap-best-fit",
        "free blocks in a std BTreeMap by address and in a BTreeSet by size; scans from the \
         smallest that is large enough if there is an alignment or a window",
        Takes::BestFit,
        |layout, granule| boxed(Ok(BTreeMapSpace::best_fit(layout, granule))),
    )
    .linear()
    .estimated()
    .compared(Compared::InBench),
    engine(
        "rangemap",
        "busy ranges in a RangeSet of the crate rangemap, first fit over its gaps",
        Takes::Lowest,
        |layout, granule| boxed(RangemapGaps::new(layout, granule)),
    )
    .linear()
    .estimated()
    .compared(Compared::InBench),
    engine(
        "vm-allocator",
        "the crate vm-allocator, first match: one tree of free and busy ranges, searched whole",
        Takes::Any,
        |layout, granule| boxed(VmAllocator::new(layout, granule)),
    )
    .linear()
    .estimated()
    .compared(Compared::InBench),
    engine(
        "range-alloc",
        "the crate range-alloc: free ranges in a vector, best fit",
        Takes::Any,
        |layout, granule| boxed(RangeAlloc::new(layout, granule)),
    )
    .linear()
    .compared(Compared::InBench),
    engine(
        "offset-allocator",
        "the crate offset-allocator: free blocks in 256 classes of size; no alignments, no \
         windows",
        Takes::Any,
        |layout, granule| boxed(OffsetAllocator::new(layout, granule)),
    )
    .compared(Compared::InBench),
    engine(
        "buddy_system_allocator",
        "the crate buddy_system_allocator: blocks of 2^k pages; a request takes a whole one",
        Takes::Any,
        |layout, granule| boxed(Buddy::new(layout, granule)),
    )
    .estimated()
    .compared(Compared::InBench),
    engine(
        "mmap",
        "the kernel's own address space: mmap and munmap of memory that nothing may touch, at \
         most vm.max_map_count of them",
        Takes::KernelsChoice,
        |layout, granule| boxed(Mmap::new(layout, granule)),
    )
    .compared(Compared::InBench),
    engine(
        "naive",
        "a model that looks at everything; for checking, not for speed",
        Takes::Lowest,
        |layout, granule| boxed(Naive::new(layout, granule)),
    )
    .linear()
    .estimated()
    .compared(Compared::IfNamed),
];

pub(super) fn boxed<E: Engine + 'static>(engine: Result<E, String>) -> Result<Box<dyn Session>, String> {
    Ok(Box::new(Driver::new(engine?)))
}
