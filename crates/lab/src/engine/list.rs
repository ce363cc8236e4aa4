//! The one list of engines. A new engine is a file with its [`Engine`](freehold_trace::kva::Engine) and an entry
//! here.

use super::listed::{Listed, engines, facts};
use super::outside::Library;
use super::{BySizeEngine, KernelEngine, OneTree, SpaceEngine};
use Takes::{Any, BestFit, Highest, KernelsChoice, Lowest, LowestUpToPageAlignment};
use freehold::kva::Placement as B;
use freehold::units::{Align, Span};
use freehold_linux::kva::Placement as Rb;
use freehold_linux::kva::rbtree::{HotAndLazy, HotBlock, LazyFixups, Plain, Policy};
use freehold_rivals::kva::{
    BTreeMapSpace, Buddy, Floor, GapList, Mmap, Naive, OffsetAllocator, RangeAlloc, RangemapGaps, Splay,
    VmAllocator,
};
use freehold_trace::kva::{Answer, Driver, Engine, Session, Space};

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

facts! { KvaFacts, Kva: Space => dyn Session, Answer,
    |facts, scene| (facts.make)(&scene.layout, scene.granule);
    const VARIANTS: &'static [EngineEntry] = VARIANTS;
    const FLOOR: Option<EngineEntry> = Some(FLOOR);

    fn outside(library: &Library) -> Option<Self> {
        // No list makes it: its library does.
        let make: Make = |_, _| Err("it is made by its library".to_owned());
        library.takes().map(|takes| Self { takes, linear: true, make })
    }

    fn start_outside(library: &'static Library, scene: &Space) -> Result<Box<dyn Session>, String> {
        library.kva(scene)
    }

    fn repeats(&self, first: &[Answer], second: &[Answer]) -> bool {
        self.takes.repeats(first, second)
    }
}

/// What is said of an engine whose work grows with a logarithm.
const fn quick(takes: Takes, make: Make) -> KvaFacts {
    KvaFacts { takes, linear: false, make }
}

/// Of one that looks at everything.
const fn linear(takes: Takes, make: Make) -> KvaFacts {
    KvaFacts { linear: true, ..quick(takes, make) }
}

/// Every engine; the first is the default one, and what ratios are to.
pub const ENGINES: &[EngineEntry] = engines! {
    "btree" "lowest" (Always ours)
        "AddressSpace: free blocks and regions in one B+tree, each child known by its room per class of alignment; \
         exactly the lowest address that fits"
        quick(Lowest, |layout, granule| boxed(SpaceEngine::new(layout, granule, B::Lowest)));
    "btree" "highest" (IfNamed ours)
        "the same B+tree from the other end; exactly the highest address that fits"
        quick(Highest, |layout, granule| boxed(SpaceEngine::new(layout, granule, B::Highest)));
    "rbtree" "lowest" (Always ours)
        "free blocks in a red-black tree, each knowing the largest size below it; exactly the lowest \
         address that fits"
        quick(Lowest, |layout, granule| boxed(KernelEngine::<Plain>::new(layout, granule, Rb::Lowest)));
    "rbtree" "linux" (Always linux)
        "the same tree with the kernel's own search, which asks for size + alignment - 1 and so may pass \
         over a lower block"
        quick(LowestUpToPageAlignment, |layout, granule| {
            boxed(KernelEngine::<Plain>::new(layout, granule, Rb::Linux))
        });
    "rbtree" "highest" (IfNamed ours)
        "the same tree from the other end; exactly the highest address that fits"
        quick(Highest, |layout, granule| boxed(KernelEngine::<Plain>::new(layout, granule, Rb::Highest)));
    "rbtree" "best-fit" (IfNamed ours)
        "the red-black tree with its blocks ordered by size as well; the smallest block that fits"
        quick(BestFit, |layout, granule| boxed(BySizeEngine::new(layout, granule)));
    "btree" "best-fit" (InBench ours)
        "the B+tree with its blocks ordered by size as well; the smallest block that fits"
        quick(BestFit, |layout, granule| boxed(SpaceEngine::new(layout, granule, B::BestFit)));
    "range-map" (InBench)
        "one WordMap for both: regions are its entries, free space its gaps; exactly the lowest address \
         that fits"
        quick(Lowest, |layout, granule| boxed(OneTree::new(layout, granule)));
    "gap-list" (Always estimated)
        "what Linux had up to 5.1: busy areas in an ordered list, walked from gap to gap, with four cached \
         values"
        linear(Any, |layout, granule| boxed(GapList::new(layout, granule)));
    "splay" (InBench estimated)
        "what the talk's speaker tried and left: free blocks in a splay tree, each knowing the largest size \
         below it; exactly the lowest address that fits"
        quick(Lowest, |layout, granule| boxed(Splay::new(layout, granule)));
    "btreemap-first-fit" (Always estimated)
        "free blocks in a std BTreeMap, walked from the lowest: what one writes without a special structure"
        linear(Lowest, |layout, granule| boxed(Ok(BTreeMapSpace::first_fit(layout, granule))));
    "btreemap-best-fit" (InBench estimated)
        "free blocks in a std BTreeMap by address and in a BTreeSet by size; scans from the smallest that \
         is large enough if there is an alignment or a window"
        linear(BestFit, |layout, granule| boxed(Ok(BTreeMapSpace::best_fit(layout, granule))));
    "rangemap" (InBench estimated) "busy ranges in a RangeSet of the crate rangemap, first fit over its gaps"
        linear(Lowest, |layout, granule| boxed(RangemapGaps::new(layout, granule)));
    "vm-allocator" (InBench estimated)
        "the crate vm-allocator, first match: one tree of free and busy ranges, searched whole"
        linear(Any, |layout, granule| boxed(VmAllocator::new(layout, granule)));
    "range-alloc" (InBench) "the crate range-alloc: free ranges in a vector, best fit"
        linear(Any, |layout, granule| boxed(RangeAlloc::new(layout, granule)));
    "offset-allocator" (InBench)
        "the crate offset-allocator: free blocks in 256 classes of size; no alignments, no windows"
        quick(Any, |layout, granule| boxed(OffsetAllocator::new(layout, granule)));
    "buddy_system_allocator" (InBench estimated)
        "the crate buddy_system_allocator: blocks of 2^k pages; a request takes a whole one"
        quick(Any, |layout, granule| boxed(Buddy::new(layout, granule)));
    "mmap" (InBench)
        "the kernel's own address space: mmap and munmap of memory that nothing may touch, at most \
         vm.max_map_count of them"
        quick(KernelsChoice, |layout, granule| boxed(Mmap::new(layout, granule)));
    "naive" (IfNamed estimated) "a model that looks at everything; for checking, not for speed"
        linear(Lowest, |layout, granule| boxed(Naive::new(layout, granule)));
};

/// Our red-black tree with the talk's wishes: for `freehold bench kva --wishes`, and by their full names.
pub const VARIANTS: &[EngineEntry] = engines! {
    "rbtree" "lowest+hot" (IfNamed ours) "the red-black tree, starting at the block that served last"
        quick(Lowest, wished::<HotBlock>);
    "rbtree" "lowest+lazy" (IfNamed ours)
        "the red-black tree, its maxima put right once the search leaves the block"
        quick(Lowest, wished::<LazyFixups>);
    "rbtree" "lowest+hot+lazy" (IfNamed ours) "the red-black tree with both"
        quick(Lowest, wished::<HotAndLazy>);
};

/// The engine that does no work: what is measured of it is the lab's own share of every figure.
pub const FLOOR: EngineEntry = Listed::new(
    "floor",
    "does no work: addresses one behind the other, whatever is asked, and nothing kept of what is live",
    quick(Any, |_, _| boxed(Ok(Floor::default()))),
);

fn wished<P: Policy>(layout: &[Span], granule: Align) -> Result<Box<dyn Session>, String> {
    boxed(KernelEngine::<P>::new(layout, granule, Rb::Lowest))
}

fn boxed<E: Engine + 'static>(engine: Result<E, String>) -> Result<Box<dyn Session>, String> {
    Ok(Box::new(Driver::new(engine?)))
}
