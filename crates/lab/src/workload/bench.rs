//! The workloads of `freehold bench kva`: steady states of all sizes, and the cases of the kernel's own test as
//! far as they concern address space.
//!
//! Sized workloads allocate and free in batches, so that each kind can be timed in a loop of its own. The others
//! alternate, and are timed as pairs. A guard page is part of every size of the kernel's cases, as it is there.

use super::random::SplitMix;
use super::recipe::LOW_PAGE;
use super::synthetic::{Churned, churned, random_alloc, whole_space};
use freehold::units::{Align, Span};
use freehold_trace::kva::Op;

const PAGE: u64 = Align::PAGE.bytes();
/// Operations of one kind in a row.
const BATCH: u64 = 64;
/// Operations of one kind in a row of a burst.
const BURST: u64 = 256;
/// Junk areas freed before `full_fit`: what two CPUs make of it.
const FULL_FIT_HOLES: u64 = 16_384;
/// Areas kept before `long_busy_list`.
const LONG_BUSY_LIST: u64 = 15_000;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BenchCase {
    /// Its name.
    pub name: &'static str,
    /// Whether it comes in all sizes.
    pub sized: bool,
    /// What it is, in a line.
    pub about: &'static str,
}

const fn sized(name: &'static str, about: &'static str) -> BenchCase {
    BenchCase { name, sized: true, about }
}

const fn fixed(name: &'static str, about: &'static str) -> BenchCase {
    BenchCase { name, sized: false, about }
}

/// Every workload.
pub const CASES: [BenchCase; 13] = [
    sized("churn", "n live objects of 1..=64 pages; 64 random ones freed, 64 others allocated"),
    sized("holes", "n one-page holes; 64 times two pages, which fit in none, then freed"),
    sized("zone", "churn, each request in a random window of 1/64 of the used span"),
    sized("aligned", "churn of 1..=10 pages aligned to 1..=1024 pages"),
    sized(
        "aligned-2m",
        "n objects churned without alignment; 64 of 1..=64 pages aligned to 2 MiB, then freed",
    ),
    sized("burst", "n objects churned; 256 of one size, drawn anew for each burst, then freed in that order"),
    sized("seqfill", "n single pages into an empty space, then freed in that order"),
    fixed("fix_size", "kernel test: 1 page"),
    fixed("full_fit", "kernel test: 1 page, beside 16384 holes of that size"),
    fixed("long_busy_list", "kernel test: 100 pages and 1 page, beside 15000 single pages"),
    fixed("random_size", "kernel test: 1..=100 pages"),
    fixed("fix_align", "kernel test: 5 pages aligned to 32 KiB"),
    fixed("random_size_align", "kernel test: 1..=10 pages aligned to up to 4 MiB"),
];

/// A workload to run round after round.
#[derive(Clone, Debug)]
pub struct BenchWorkload {
    /// Which it is.
    pub case: BenchCase,
    /// Live objects, holes, or pages to fill; `None` where nothing is live.
    pub n: Option<u64>,
    /// The space.
    pub layout: [Span; 1],
    /// Sets the state up by placing each object at its address.
    pub placed: Vec<Op>,
    /// Sets up a like state without fixed addresses.
    pub natural: Vec<Op>,
    /// The operations; when they are through, they start again.
    pub ops: Vec<Op>,
    /// After so many operations nothing is half done.
    pub period: usize,
    /// Operations in a round, a multiple of the period.
    pub round: usize,
    /// Objects are named below this.
    pub objects: u32,
}

impl BenchWorkload {
    /// Makes it: `n` counts for sized cases only; `operations` in a round, about, and `rounds` of them.
    ///
    /// # Errors
    /// It does not fit in the space.
    pub fn new(case: BenchCase, n: u64, operations: usize, rounds: usize) -> anyhow::Result<Self> {
        let length = Length { operations, rounds };
        match case.name {
            "churn" => churn(case, n, length, random_alloc, |op, _| op),
            "aligned" => churn(case, n, length, aligned_alloc, |op, _| op),
            "zone" => churn(case, n, length, random_alloc, in_a_zone),
            "holes" => {
                let batch = |objects: u32, _: &mut SplitMix| batch(objects, BATCH, |object| pages(object, 2));
                holes(case, n, 1, length, batch)
            }
            "aligned-2m" => beside_churned(case, n, length, |objects, random| {
                batch(objects, BATCH, |object| aligned(object, 1 + random.uniform(64), 512))
            }),
            "burst" => beside_churned(case, n, length, |objects, random| {
                let size = 1 + random.uniform(16);
                batch(objects, BURST, |object| pages(object, size))
            }),
            "seqfill" => {
                beside(case, Some(n), State::default(), length, |_, _| batch(0, n, |object| pages(object, 1)))
            }
            "full_fit" => holes(case, FULL_FIT_HOLES, 2, length, |objects, _| pair(pages(objects, 2))),
            "long_busy_list" => long_busy_list(case, length),
            "random_size" => beside(case, None, State::default(), length, |objects, random| {
                pair(pages(objects, 2 + random.uniform(100)))
            }),
            "fix_align" => {
                beside(case, None, State::default(), length, |objects, _| pair(aligned(objects, 6, 8)))
            }
            "random_size_align" => beside(case, None, State::default(), length, random_size_align),
            _ => beside(case, None, State::default(), length, |objects, _| pair(pages(objects, 2))),
        }
    }

    /// The pieces of `ops` that are the `count` operations from the `from`th on.
    #[must_use]
    pub fn pieces(&self, from: usize, count: usize) -> Vec<&[Op]> {
        let mut pieces = Vec::new();
        let (mut at, mut left) = (from % self.ops.len().max(1), count);
        while left > 0 {
            let end = self.ops.len().min(at + left);
            let Some(piece) = self.ops.get(at..end).filter(|piece| !piece.is_empty()) else { break };
            left -= piece.len();
            pieces.push(piece);
            at = 0;
        }
        pieces
    }
}

#[derive(Clone, Copy)]
struct Length {
    operations: usize,
    rounds: usize,
}

/// How to set up what is there before the first operation.
#[derive(Default)]
struct State {
    placed: Vec<Op>,
    natural: Vec<Op>,
    objects: u32,
    random: Option<SplitMix>,
}

fn pages(object: u32, size_pages: u64) -> Op {
    Op::alloc(object, size_pages * PAGE)
}

fn aligned(object: u32, size_pages: u64, align_pages: u64) -> Op {
    let align = Align::new(align_pages * PAGE).unwrap_or(Align::PAGE);
    Op::Alloc { object, size_bytes: size_pages * PAGE, align, window: Span::ALL }
}

/// 1..=10 pages aligned to 1..=1024 pages.
fn aligned_alloc(object: u32, random: &mut SplitMix) -> Op {
    let size = 1 + random.uniform(10);
    aligned(object, size, 1 << random.uniform(11))
}

/// One allocation, freed at once.
fn pair(alloc: Op) -> Vec<Op> {
    let object = match alloc {
        Op::Alloc { object, .. } | Op::Congruent { object, .. } | Op::Free { object } => object,
    };
    vec![alloc, Op::Free { object }]
}

/// `count` allocations, named from `objects` on, then freed in that order.
fn batch(objects: u32, count: u64, mut alloc: impl FnMut(u32) -> Op) -> Vec<Op> {
    let names = objects..objects.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
    let mut ops: Vec<Op> = names.clone().map(&mut alloc).collect();
    ops.extend(names.map(|object| Op::Free { object }));
    ops
}

fn random_size_align(objects: u32, random: &mut SplitMix) -> Vec<Op> {
    let drawn = random.uniform(256);
    pair(aligned(objects, drawn % 10 + 2, ((1 << (drawn % 23)) / PAGE).max(1)))
}

/// What leaves nothing behind, over and over beside a state.
fn beside(
    case: BenchCase,
    n: Option<u64>,
    state: State,
    length: Length,
    mut once: impl FnMut(u32, &mut SplitMix) -> Vec<Op>,
) -> anyhow::Result<BenchWorkload> {
    let mut random = state.random.unwrap_or_else(|| SplitMix::new(20_190_909));
    let first = once(state.objects, &mut random);
    let period = first.len();
    let mut ops = first;
    while ops.len() + period <= length.operations {
        ops.extend(once(state.objects, &mut random));
    }
    let most = u32::try_from(period / 2)?;
    Ok(BenchWorkload {
        case,
        n,
        layout: [whole_space()?],
        placed: state.placed,
        natural: state.natural,
        round: ops.len(),
        ops,
        period,
        objects: state.objects.saturating_add(most),
    })
}

/// The same beside `n` churned objects.
fn beside_churned(
    case: BenchCase,
    n: u64,
    length: Length,
    once: impl FnMut(u32, &mut SplitMix) -> Vec<Op>,
) -> anyhow::Result<BenchWorkload> {
    let Churned { placed, natural, random, .. } = churned(n, 107_000, random_alloc, true)?;
    let state = State { placed, natural, objects: u32::try_from(n)?, random: Some(random) };
    beside(case, Some(n), state, length, once)
}

/// The same beside `n` holes of `size` pages between objects of that size.
fn holes(
    case: BenchCase,
    n: u64,
    size: u64,
    length: Length,
    once: impl FnMut(u32, &mut SplitMix) -> Vec<Op>,
) -> anyhow::Result<BenchWorkload> {
    let objects = u32::try_from(2 * n)?;
    let at = |object: u32| Span::from_size((LOW_PAGE + u64::from(object) * size) * PAGE, size * PAGE);
    let odd = (1..objects).step_by(2);
    let placed = odd.filter_map(|object| Some(Op::alloc_at(object, at(object)?))).collect();
    let mut natural: Vec<Op> = (0..objects).map(|object| pages(object, size)).collect();
    natural.extend((0..objects).step_by(2).map(|object| Op::Free { object }));
    beside(case, Some(n), State { placed, natural, objects, random: None }, length, once)
}

fn long_busy_list(case: BenchCase, length: Length) -> anyhow::Result<BenchWorkload> {
    let objects = u32::try_from(LONG_BUSY_LIST)?;
    let natural: Vec<Op> = (0..objects).map(|object| pages(object, 2)).collect();
    let state = State { placed: natural.clone(), natural, objects, random: None };
    beside(case, Some(LONG_BUSY_LIST), state, length, |objects, _| {
        let small = objects + 1;
        vec![pages(objects, 101), pages(small, 2), Op::Free { object: objects }, Op::Free { object: small }]
    })
}

/// A request put into a random window of 1/64 of the span in use.
fn in_a_zone(op: Op, zone: (&mut SplitMix, u64)) -> Op {
    let (random, top) = zone;
    let used = (top / PAGE).saturating_sub(LOW_PAGE);
    let width = (used / 64).max(1);
    let low = LOW_PAGE + random.uniform(used.saturating_sub(width).max(1));
    match (op, Span::from_size(low * PAGE, width * PAGE)) {
        (Op::Alloc { object, size_bytes, align, .. }, Some(window)) => {
            Op::Alloc { object, size_bytes, align, window }
        }
        (op, _) => op,
    }
}

/// `n` churned objects; a batch of random ones freed and as many allocated in their place.
fn churn(
    case: BenchCase,
    n: u64,
    length: Length,
    draw: fn(u32, &mut SplitMix) -> Op,
    constrain: fn(Op, (&mut SplitMix, u64)) -> Op,
) -> anyhow::Result<BenchWorkload> {
    let objects = u32::try_from(n)?;
    let Churned { space, placed, natural, mut random, top } = churned(n, 107_000, draw, true)?;
    let batch = BATCH.min(n.div_ceil(2)) as usize;
    let period = 2 * batch;
    let round = (length.operations / period).max(1) * period;
    let mut ops = Vec::with_capacity(round * length.rounds);
    while ops.len() < round * length.rounds {
        let mut names: Vec<u32> = Vec::with_capacity(batch);
        while names.len() < batch {
            let object = random.uniform(n) as u32;
            if !names.contains(&object) {
                names.push(object);
            }
        }
        ops.extend(names.iter().map(|&object| Op::Free { object }));
        for object in names {
            let op = draw(object, &mut random);
            ops.push(constrain(op, (&mut random, top)));
        }
    }
    Ok(BenchWorkload { case, n: Some(n), layout: [space], placed, natural, ops, period, round, objects })
}
