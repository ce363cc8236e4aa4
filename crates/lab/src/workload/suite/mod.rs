//! The cases of `stress`, and of what else runs them. Of address ranges the suite of the talk: the cases of the
//! kernel's own test of vmalloc, as far as they concern address space, and what they lack (`body`, `pcpu`). Of per-CPU
//! objects what the posting of 2017 measured, and what its followers found (`percpu`). Of trees of ranges what the
//! kernel's tests and benches do, and what they lack (`tree`).
//!
//! ```text
//!   a case      setup ............ body, `loops` times ............ teardown
//!               its own objects    what is measured                 the same objects, freed
//!
//!   one by one  [case][case][case] ...               each in a fresh space or all in one: that is its caller's
//!   interleaved [case.][.case][..case].              several CPUs' cases in one space, a batch of each in turn
//! ```
//!
//! A [`Case`] yields operations batch by batch and names its objects itself; it never looks at answers, so that
//! every engine gets the same requests. A request that is refused leaves a name without an object, whose free is
//! answered [`NotLive`](freehold_trace::kva::Answer::NotLive).
//!
//! Names, masks and parameters are the kernel's. Its areas end with a guard page, which is address space and part of
//! the sizes here. Of its cases these are left out: `kvfree_rcu` (256, 512) and `no_block_alloc` (2048) ask for one
//! page as `fix_size` does, and differ in who frees it and under which lock; `vm_map_ram` (1024) moves a pointer
//! within a block of its own, and asks for address space once in as many loops as the block has pages, for an
//! aligned block, as `fix_align` does.
//!
//! Source: the talk's test suite, and what its successor in the kernel's tree is known to ask for.

/// The one list of cases of a family, an entry each: its name, what it is, what it is to `stress` and what else holds for it there,
/// and what it is to `bench`. The doc of a kind is what the entry says.
macro_rules! cases {
    ($visible:vis $family:ty, $kinds:ident, $benched:ty: $(
        $name:literal $about:literal
            $(stress $kind:ident $(($($holds:ident: $value:expr),*))?)? $(bench $bench:expr)?;
    )*) => {
        /// Which case of `stress` it is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $kinds { $($(#[doc = $about] $kind,)?)* }

        /// The cases of `stress`.
        $visible const CASES: &[CaseInfo<$family>] = &[$($(CaseInfo {
            $($($holds: $value,)*)?
            ..CaseInfo::of($kinds::$kind, $name)
        },)?)*];

        /// The workloads of `bench`.
        pub const BENCHED: &[Benched<$benched>] =
            &[$($(Benched { name: $name, kind: $bench },)?)*];
    };
}

mod body;
mod case;
mod interleaved;
mod pcpu;
mod percpu;
mod requests;
mod setup;
mod tree;

pub use case::{Batch, Body, Case, MOST_N, Params, Phase};
pub use interleaved::{Interleaved, Turn};
pub use percpu::{BENCHED as PERCPU_BENCHED, PercpuKind};
pub use requests::ObjectOp;
pub(super) use requests::{Pairs, random_alloc};
pub use setup::Before;
pub use tree::{BENCHED as MAPS_BENCHED, TreeKind};

use super::SplitMix;
use crate::engine::Listed;
use crate::failure::{Failure, unknown, usage};
use crate::family::{Family, Kva};
use freehold::units::Bytes;
use std::fmt::Debug;

/// A family with cases.
pub trait Suited: Family<Op: ObjectOp> + PartialEq {
    /// Which case it is.
    type Kind: Copy + Debug + PartialEq + 'static;
    /// Every case.
    const CASES: &'static [CaseInfo<Self>];
    /// What [`Family::work`] adds up, in words.
    const WORK: &'static str;
    /// Those that are run at growing sizes.
    const GROWS: &'static [Self::Kind];

    /// What is there before a case.
    fn before(kind: Self::Kind, params: &Params) -> Before<Self::Op>;

    /// Loops that are done in a row: first all their allocations, then all their frees, or the other way round.
    fn row(body: &Body<Self>) -> u32;

    /// How many objects are the body's own.
    fn names(body: &Body<Self>) -> u32;

    /// Appends a turn of so many loops, which leaves nothing half done.
    fn turn(body: &Body<Self>, row: u32, ops: &mut Vec<Self::Op>, random: &mut SplitMix);

    /// What takes away all that a case left behind, if one operation can; otherwise the setup's objects are freed.
    fn clear() -> Option<Self::Op> {
        None
    }

    /// What engines are made for; in units of that size, where there are units.
    ///
    /// # Errors
    /// A unit that cannot be.
    fn scene(unit: Option<Bytes>) -> anyhow::Result<Self::Scene>;

    /// The engines of these names; without names those that are worth the time.
    ///
    /// # Errors
    /// A name that is no engine's.
    fn stressed(names: &[String]) -> Result<Vec<Listed<Self::Facts>>, Failure> {
        Self::engines(names)
    }

    /// What befalls the engine before batch `at` of a case, beside its operations; whether the engine can take it.
    fn befall(kind: Self::Kind, at: usize, session: &mut Self::Session) -> bool {
        let _ = (kind, at, session);
        true
    }

    /// Ends what befell the engine.
    fn relieve(session: &mut Self::Session) {
        let _ = session;
    }
}

/// Refuses a size of units where there are none.
fn no_units(unit: Option<Bytes>) -> Result<(), Failure> {
    match unit {
        Some(_) => usage("--unit: only per-CPU memory has units"),
        None => Ok(()),
    }
}

/// What a request that is refused says of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It has failed: there is room for every request.
    Fails,
    /// Nothing, if there was indeed no room: some windows are full.
    Allowed,
    /// What the case is about, if there was indeed no room.
    Expected,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaseInfo<F: Suited = Kva> {
    /// Which it is.
    pub kind: F::Kind,
    /// Its name.
    pub name: &'static str,
    /// Its bit in the kernel's `run_test_mask`; `None` for those that the kernel's test lacks.
    pub mask: Option<u32>,
    /// Whether it comes in all sizes.
    pub sized: bool,
    /// Whether its body runs once, whatever the number of loops.
    pub once: bool,
    /// What a refused request says.
    pub refusal: Refusal,
}

/// A workload of `bench`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Benched<K> {
    /// Its name.
    pub name: &'static str,
    /// What is done.
    pub kind: K,
}

impl<F: Suited> CaseInfo<F> {
    /// A case of one size, that the kernel's test lacks.
    const fn of(kind: F::Kind, name: &'static str) -> Self {
        Self { kind, name, mask: None, sized: false, once: false, refusal: Refusal::Fails }
    }

    /// Whether the kernel's `run_test_mask` names it.
    pub fn is_in(&self, mask: u32) -> bool {
        self.mask.is_some_and(|bit| bit & mask != 0)
    }
}

/// The steady state that the others of all sizes start from.
pub(super) const CHURN: CaseInfo = CaseInfo { sized: true, ..CaseInfo::of(Kind::Churn, "churn") };

// The kernel's in the order of their bits, then those that it lacks.
cases! { pub Kva, Kind, Kind:
    "fix_size" "kernel test: 1 page" stress FixSize (mask: Some(1)) bench Kind::FixSize;
    "full_fit" "kernel test: 1 page, beside 16384 holes of that size"
        stress FullFit (mask: Some(2)) bench Kind::FullFit;
    "long_busy_list" "kernel test: 100 pages and 1 page, beside 15000 single pages"
        stress LongBusyList (mask: Some(4)) bench Kind::LongBusyList;
    "random_size" "kernel test: 1..=100 pages" stress RandomSize (mask: Some(8)) bench Kind::RandomSize;
    "fix_align" "kernel test: 5 pages aligned to 32 KiB"
        stress FixAlign (mask: Some(16)) bench Kind::FixAlign;
    "random_size_align" "kernel test: 1..=10 pages aligned to up to 4 MiB"
        stress RandomSizeAlign (mask: Some(32)) bench Kind::RandomSizeAlign;
    "align_shift" "kernel test: 1 page aligned to 2^0..=2^63 bytes, once each"
        stress AlignShift (mask: Some(64), once: true, refusal: Refusal::Expected);
    "pcpu_alloc" "kernel test: the chunks of 35000 per-CPU objects, two areas at one base each, once"
        stress PcpuAlloc (mask: Some(128), once: true);
    "churn" "n live objects of 1..=64 pages; 64 random ones freed, 64 others allocated"
        stress Churn (sized: true) bench Kind::Churn;
    "holes" "n one-page holes; 64 times two pages, which fit in none, then freed"
        stress Holes (sized: true) bench Kind::Holes;
    "zone" "churn, each request in a random window of 1/64 of the used span"
        stress Zone (sized: true, refusal: Refusal::Allowed) bench Kind::Zone;
    "aligned" "churn of 1..=10 pages aligned to 1..=1024 pages"
        stress Aligned (sized: true) bench Kind::Aligned;
    "aligned-5" "churn of 1..=10 pages aligned to 1..=16 pages: five alignments"
        stress Aligned5 (sized: true) bench Kind::Aligned5;
    "aligned-20" "churn of 1..=10 pages aligned to 1..=524288 pages; beyond 1024 each is half as likely as the one before"
        stress Aligned20 (sized: true) bench Kind::Aligned20;
    "aligned-2m" "n objects churned without alignment; 64 of 1..=64 pages aligned to 2 MiB, then freed"
        stress Aligned2m (sized: true) bench Kind::Aligned2m;
    "burst" "n objects churned; 256 of one size, drawn anew for each burst, then freed in that order"
        stress Burst (sized: true) bench Kind::Burst;
    "seqfill" "n single pages into an empty space, then freed in that order"
        stress Seqfill (sized: true) bench Kind::Seqfill;
}

impl CaseInfo {
    /// Whether its body leaves the space another than it found it.
    pub fn churns(&self) -> bool {
        matches!(self.kind, Kind::Churn | Kind::Zone | Kind::Aligned | Kind::Aligned5 | Kind::Aligned20)
    }
}

/// The cases of these names, in the order of `cases`; no names: all of them. `what` is what they are to the user.
///
/// # Errors
/// A name that is no case's.
pub fn find_cases<T: Copy>(
    what: &str,
    names: &[String],
    cases: impl IntoIterator<Item = T>,
    name_of: fn(T) -> &'static str,
) -> Result<Vec<T>, Failure> {
    let cases: Vec<T> = cases.into_iter().collect();
    if let Some(name) = names.iter().find(|name| !cases.iter().any(|&case| name_of(case) == **name)) {
        let all: Vec<&str> = cases.iter().map(|&case| name_of(case)).collect();
        return Err(unknown(what, name, &all));
    }
    let wanted = |case: &T| names.is_empty() || names.iter().any(|name| name == name_of(*case));
    Ok(cases.into_iter().filter(wanted).collect())
}
