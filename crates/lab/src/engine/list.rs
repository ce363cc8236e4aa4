//! The one list of engines. A new engine is a file with its [`Engine`](freehold_trace::kva::Engine) and a line
//! here.

use super::{OneTree, Session, SpaceEngine, VARIANTS};
use crate::failure::Failure;
use freehold::kva::{BTree, BySize, RbTree, btree, by_size, rbtree};
use freehold::units::{Align, Span};
use freehold_rivals::kva::{
    BTreeMapSpace, Buddy, GapList, Mmap, Naive, OffsetAllocator, RangeAlloc, RangemapGaps, Splay, VmAllocator,
};
use freehold_trace::kva::{Answer, Driver, Engine};

type Make = fn(&[Span], Align) -> Result<Box<dyn Session>, String>;

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
    #[must_use]
    pub fn reach(self, layout: &[Span]) -> Vec<Span> {
        match self {
            Self::KernelsChoice => vec![Span::ALL],
            _ => layout.to_vec(),
        }
    }

    /// Whether two fresh engines may give these answers to the same operations.
    #[must_use]
    pub fn repeats(self, first: &[Answer], second: &[Answer]) -> bool {
        let alike = |(a, b): (&Answer, &Answer)| matches!((a, b), (Answer::At(_), Answer::At(_))) || a == b;
        match self {
            Self::KernelsChoice => first.len() == second.len() && first.iter().zip(second).all(alike),
            _ => first == second,
        }
    }
}

/// Where an engine is compared without being named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Compared {
    /// In every comparison.
    Always,
    /// In `bench` alone.
    InBench,
    /// Nowhere: it is a model, or says little beside another.
    IfNamed,
}

/// An engine that the lab can drive.
#[derive(Clone, Copy, Debug)]
pub struct EngineEntry {
    /// The engine's name.
    pub engine: &'static str,
    /// Its placement, where it has several.
    pub placement: Option<&'static str>,
    /// What it is, in a line.
    pub about: &'static str,
    /// Which addresses it takes.
    pub takes: Takes,
    /// Whether an allocation's work grows with the number of blocks or regions, not with its logarithm.
    pub linear: bool,
    /// Where it is compared when nobody says which engines.
    pub compared: Compared,
    /// Makes one for a layout and a granule.
    pub make: Make,
}

/// What most of the list have in common.
const LISTED: EngineEntry = EngineEntry {
    engine: "",
    placement: None,
    about: "",
    takes: Takes::Any,
    linear: false,
    compared: Compared::InBench,
    make: |_, _| Err("it is no engine".to_owned()),
};

/// Every engine; the first is the default one, and what ratios are to.
pub const ENGINES: &[EngineEntry] = &[
    EngineEntry {
        engine: "btree",
        placement: Some("lowest"),
        about: "free blocks and regions in one B+tree, each child known by its room per class of alignment; exactly the lowest address that fits",
        takes: Takes::Lowest,
        compared: Compared::Always,
        make: |layout, granule| boxed(SpaceEngine::<BTree>::new(layout, granule, btree::Placement::Lowest)),
        ..LISTED
    },
    EngineEntry {
        engine: "btree",
        placement: Some("highest"),
        about: "the same B+tree from the other end; exactly the highest address that fits",
        takes: Takes::Highest,
        compared: Compared::IfNamed,
        make: |layout, granule| boxed(SpaceEngine::<BTree>::new(layout, granule, btree::Placement::Highest)),
        ..LISTED
    },
    EngineEntry {
        engine: "rbtree",
        placement: Some("lowest"),
        about: "free blocks in a red-black tree, each knowing the largest size below it; exactly the lowest address that fits",
        takes: Takes::Lowest,
        compared: Compared::Always,
        make: |layout, granule| boxed(SpaceEngine::<RbTree>::new(layout, granule, rbtree::Placement::Lowest)),
        ..LISTED
    },
    EngineEntry {
        engine: "rbtree",
        placement: Some("linux"),
        about: "the same tree with the kernel's own search, which asks for size + alignment - 1 and so may pass over a lower block",
        takes: Takes::LowestUpToPageAlignment,
        compared: Compared::Always,
        make: |layout, granule| boxed(SpaceEngine::<RbTree>::new(layout, granule, rbtree::Placement::Linux)),
        ..LISTED
    },
    EngineEntry {
        engine: "rbtree",
        placement: Some("highest"),
        about: "the same tree from the other end; exactly the highest address that fits",
        takes: Takes::Highest,
        compared: Compared::IfNamed,
        make: |layout, granule| {
            boxed(SpaceEngine::<RbTree>::new(layout, granule, rbtree::Placement::Highest))
        },
        ..LISTED
    },
    EngineEntry {
        engine: "rbtree",
        placement: Some("best-fit"),
        about: "the red-black tree with its blocks ordered by size as well; the smallest block that fits",
        takes: Takes::BestFit,
        compared: Compared::IfNamed,
        make: |layout, granule| {
            boxed(SpaceEngine::<BySize<RbTree>>::new(layout, granule, by_size::Placement::BestFit))
        },
        ..LISTED
    },
    EngineEntry {
        engine: "btree",
        placement: Some("best-fit"),
        about: "the B+tree with its blocks ordered by size as well; the smallest block that fits",
        takes: Takes::BestFit,
        make: |layout, granule| {
            boxed(SpaceEngine::<BySize<BTree>>::new(layout, granule, by_size::Placement::BestFit))
        },
        ..LISTED
    },
    EngineEntry {
        engine: "range-map",
        about: "one WordMap for both: regions are its entries, free space its gaps; exactly the lowest address that fits",
        takes: Takes::Lowest,
        make: |layout, granule| boxed(OneTree::new(layout, granule)),
        ..LISTED
    },
    EngineEntry {
        engine: "gap-list",
        about: "what Linux had up to 5.1: busy areas in an ordered list, walked from gap to gap, with four cached values",
        linear: true,
        compared: Compared::Always,
        make: |layout, granule| boxed(GapList::new(layout, granule)),
        ..LISTED
    },
    EngineEntry {
        engine: "splay",
        about: "what the talk's speaker tried and left: free blocks in a splay tree, each knowing the largest size below it; exactly the lowest address that fits",
        takes: Takes::Lowest,
        make: |layout, granule| boxed(Splay::new(layout, granule)),
        ..LISTED
    },
    EngineEntry {
        engine: "btreemap-first-fit",
        about: "free blocks in a std BTreeMap, walked from the lowest: what one writes without a special structure",
        takes: Takes::Lowest,
        linear: true,
        compared: Compared::Always,
        make: |layout, granule| boxed(Ok(BTreeMapSpace::first_fit(layout, granule))),
        ..LISTED
    },
    EngineEntry {
        engine: "btreemap-best-fit",
        about: "free blocks in a std BTreeMap by address and in a BTreeSet by size; scans from the smallest that is large enough if there is an alignment or a window",
        takes: Takes::BestFit,
        linear: true,
        make: |layout, granule| boxed(Ok(BTreeMapSpace::best_fit(layout, granule))),
        ..LISTED
    },
    EngineEntry {
        engine: "rangemap",
        about: "busy ranges in a RangeSet of the crate rangemap, first fit over its gaps",
        takes: Takes::Lowest,
        linear: true,
        make: |layout, granule| boxed(RangemapGaps::new(layout, granule)),
        ..LISTED
    },
    EngineEntry {
        engine: "vm-allocator",
        about: "the crate vm-allocator, first match: one tree of free and busy ranges, searched whole",
        linear: true,
        make: |layout, granule| boxed(VmAllocator::new(layout, granule)),
        ..LISTED
    },
    EngineEntry {
        engine: "range-alloc",
        about: "the crate range-alloc: free ranges in a vector, best fit",
        linear: true,
        make: |layout, granule| boxed(RangeAlloc::new(layout, granule)),
        ..LISTED
    },
    EngineEntry {
        engine: "offset-allocator",
        about: "the crate offset-allocator: free blocks in 256 classes of size; no alignments, no windows",
        make: |layout, granule| boxed(OffsetAllocator::new(layout, granule)),
        ..LISTED
    },
    EngineEntry {
        engine: "buddy_system_allocator",
        about: "the crate buddy_system_allocator: blocks of 2^k pages; a request takes a whole one",
        make: |layout, granule| boxed(Buddy::new(layout, granule)),
        ..LISTED
    },
    EngineEntry {
        engine: "mmap",
        about: "the kernel's own address space: mmap and munmap of memory that nothing may touch, at most vm.max_map_count of them",
        takes: Takes::KernelsChoice,
        make: |layout, granule| boxed(Mmap::new(layout, granule)),
        ..LISTED
    },
    EngineEntry {
        engine: "naive",
        about: "a model that looks at everything; for checking, not for speed",
        takes: Takes::Lowest,
        linear: true,
        compared: Compared::IfNamed,
        make: |layout, granule| boxed(Naive::new(layout, granule)),
        ..LISTED
    },
];

pub(super) fn boxed<E: Engine + 'static>(engine: Result<E, String>) -> Result<Box<dyn Session>, String> {
    Ok(Box::new(Driver::new(engine?)))
}

impl EngineEntry {
    /// Name and placement, as users write them.
    #[must_use]
    pub fn label(&self) -> String {
        match self.placement {
            Some(placement) => format!("{}:{placement}", self.engine),
            None => self.engine.to_owned(),
        }
    }
}

/// The engines that `names` ask for, in that order: `rbtree` for every placement of an engine, `rbtree:linux` for
/// one, `rbtree:lowest+hot` for a variant. No names: those that are compared in `place`, in the order of the list.
///
/// # Errors
/// A name that is no engine's.
pub fn find_engines(names: &[String], place: Compared) -> Result<Vec<EngineEntry>, Failure> {
    if names.is_empty() {
        return Ok(ENGINES.iter().filter(|entry| entry.compared <= place).copied().collect());
    }
    let mut wanted: Vec<EngineEntry> = Vec::new();
    for name in names {
        let listed = ENGINES.iter().filter(|entry| entry.engine == name || entry.label() == *name);
        let named: Vec<_> = listed.chain(VARIANTS.iter().filter(|entry| entry.label() == *name)).collect();
        if named.is_empty() {
            let all: Vec<String> = ENGINES.iter().chain(VARIANTS).map(EngineEntry::label).collect();
            return Err(Failure::Usage(format!("no engine {name:?}; there are {}", all.join(", "))));
        }
        for entry in named {
            if wanted.iter().all(|known| known.label() != entry.label()) {
                wanted.push(*entry);
            }
        }
    }
    Ok(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_kernel_may_answer_elsewhere_in_another_run() {
        let (first, moved) = ([Answer::At(1), Answer::Freed], [Answer::At(2), Answer::Freed]);
        let failed = [Answer::NoRoom, Answer::Freed];
        for (takes, may_move) in [(Takes::Any, false), (Takes::KernelsChoice, true)] {
            assert!(takes.repeats(&first, &first));
            assert_eq!(takes.repeats(&first, &moved), may_move);
            assert!(!takes.repeats(&first, &failed) && !takes.repeats(&first, &first[..1]));
        }
    }
}
