//! What each engine can be asked. `tests/features.rs` asks every engine for every feature and compares.

/// Whether an engine can put a region at an address that the caller names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FixedPlace {
    /// At any free address.
    Yes,
    /// Where one of its own blocks lies.
    OwnBlocks,
    /// Nowhere, for a reason worth telling if there is one.
    No(&'static str),
}

impl FixedPlace {
    /// As the table has it.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::OwnBlocks => "own blocks",
            Self::No("") => "no",
            Self::No(reason) => reason,
        }
    }
}

/// One engine's features, all its placements together.
#[derive(Clone, Copy, Debug)]
pub struct Features {
    /// The engine's name.
    pub engine: &'static str,
    /// Requests aligned beyond a page.
    pub alignment: bool,
    /// Requests within any window.
    pub window: bool,
    /// Regions at a fixed place.
    pub fixed_place: FixedPlace,
    /// From the highest address down.
    pub top_down: bool,
    /// Several areas at one base.
    pub congruent: bool,
    /// Which address it takes.
    pub policy: &'static str,
    /// What a free must be given.
    pub free_needs: &'static str,
    /// What it keeps and what an allocation costs.
    pub structure: &'static str,
}

/// Every engine of the bench, in the order of the list.
pub const FEATURES: &[Features] = &[
    Features {
        engine: "rbtree",
        alignment: true,
        window: true,
        fixed_place: FixedPlace::Yes,
        top_down: true,
        congruent: true,
        policy: "lowest, highest, best fit, linux",
        free_needs: "address",
        structure: "red-black tree, log F",
    },
    Features {
        engine: "btree",
        alignment: true,
        window: true,
        fixed_place: FixedPlace::Yes,
        top_down: true,
        congruent: true,
        policy: "lowest, highest, best fit",
        free_needs: "address",
        structure: "B+tree, log F",
    },
    Features {
        engine: "range-map",
        alignment: true,
        window: true,
        fixed_place: FixedPlace::Yes,
        top_down: false,
        congruent: false,
        policy: "lowest",
        free_needs: "address",
        structure: "one maple tree, log N; aligned O(F)",
    },
    Features {
        engine: "gap-list",
        alignment: true,
        window: true,
        fixed_place: FixedPlace::Yes,
        top_down: false,
        congruent: false,
        policy: "next from a cache",
        free_needs: "address",
        structure: "busy list, O(N)",
    },
    Features {
        engine: "splay",
        alignment: true,
        window: true,
        fixed_place: FixedPlace::Yes,
        top_down: false,
        congruent: false,
        policy: "lowest",
        free_needs: "address",
        structure: "splay tree, log F amortised, one may take F",
    },
    Features {
        engine: "btreemap-first-fit",
        alignment: true,
        window: true,
        fixed_place: FixedPlace::Yes,
        top_down: false,
        congruent: false,
        policy: "lowest",
        free_needs: "address",
        structure: "BTreeMap, O(F)",
    },
    Features {
        engine: "btreemap-best-fit",
        alignment: true,
        window: true,
        fixed_place: FixedPlace::Yes,
        top_down: false,
        congruent: false,
        policy: "best",
        free_needs: "address",
        structure: "BTreeMap + BTreeSet, log F; constrained O(F)",
    },
    Features {
        engine: "rangemap",
        alignment: true,
        window: true,
        fixed_place: FixedPlace::Yes,
        top_down: false,
        congruent: false,
        policy: "lowest, by the caller",
        free_needs: "range",
        structure: "BTreeMap of busy ranges, O(F)",
    },
    Features {
        engine: "vm-allocator",
        alignment: true,
        window: false,
        fixed_place: FixedPlace::No("also where busy"),
        top_down: false,
        congruent: false,
        policy: "first match",
        free_needs: "range",
        structure: "AVL tree without maxima, O(N)",
    },
    Features {
        engine: "range-alloc",
        alignment: true,
        window: false,
        fixed_place: FixedPlace::No(""),
        top_down: false,
        congruent: false,
        policy: "best",
        free_needs: "range",
        structure: "vector, O(F) both ways",
    },
    Features {
        engine: "offset-allocator",
        alignment: false,
        window: false,
        fixed_place: FixedPlace::No(""),
        top_down: false,
        congruent: false,
        policy: "class of size",
        free_needs: "handle",
        structure: "256 lists, O(1); 32 bits",
    },
    Features {
        engine: "buddy_system_allocator",
        alignment: true,
        window: false,
        fixed_place: FixedPlace::OwnBlocks,
        top_down: false,
        congruent: false,
        policy: "class of size",
        free_needs: "size, alignment",
        structure: "BTreeSet per 2^k, log F; rounds up to 2^k",
    },
    Features {
        engine: "mmap",
        alignment: false,
        window: false,
        fixed_place: FixedPlace::No("not by safe calls"),
        top_down: false,
        congruent: false,
        policy: "the kernel's",
        free_needs: "range",
        structure: "system calls; at most vm.max_map_count",
    },
];

impl Features {
    /// The features of the engine of that name.
    #[must_use]
    pub fn of(engine: &str) -> Option<&'static Self> {
        FEATURES.iter().find(|features| features.engine == engine)
    }

    /// What it cannot do, and how its answers differ from the lowest address.
    #[must_use]
    pub fn lacks(&self) -> String {
        let mut lacks = Vec::new();
        if !self.alignment {
            lacks.push("alignment");
        }
        if !self.window {
            lacks.push("windows");
        }
        if self.fixed_place != FixedPlace::Yes {
            lacks.push("fixed places");
        }
        if !self.policy.contains("lowest") {
            lacks.push("lowest address");
        }
        lacks.join(", ")
    }
}
