//! The cases of the percpu family: what the posting of 2017 measured, what its followers found, and what befalls an
//! allocator between requests, as operations without end.
//!
//! Where objects lie only the engine knows, so that a case leaves its holes by the order in which it asks. Between
//! batches the work that operations left is done now and then, which moves pages and chunks from under the next.

use super::requests::{Draw, replace, together};
use super::setup::Before;
use super::{Benched, Body, CaseInfo, Params, Refusal, Suited};
use crate::engine::percpu::Scene;
use crate::failure::Failure;
use crate::family::Percpu;
use crate::workload::SplitMix;
use crate::workload::percpu::{ALIGNED, Deletion, Kind as Bench, Order, SECOND_HALF, SEED, Size};
use freehold::percpu::{Config, MAX_UNIT_BYTES, MIN_UNIT_BYTES, PAGE_BYTES};
use freehold::units::{Align, Bytes};
use freehold_trace::percpu::{Op, Session};

/// Operations of one kind in a row.
const ROW: u32 = 64;
/// Groups of objects that come and go together.
const GROUPS: u32 = 11;
/// The largest object in bytes.
const MOST_BYTES: u64 = 32 << 10;
/// Units, if nobody says how large they are.
const UNIT: Bytes = Bytes(256 << 10);
/// Work that was left is done before each so many batches.
const BALANCED: usize = 8;
/// Memory ends for so many batches, and then is there again for as many.
const STARVED: usize = 4;
/// Pages that there are more of when memory is about to end.
const SPARE_PAGES: u64 = 3;

cases! { Percpu, PercpuKind, Bench:
    "seed" "objects of each of the posting's sizes, freed in every order" bench Bench::Fill(SEED);
    "in-order" "n objects of one of the posting's sizes, then freed in that order"
        stress InOrder (sized: true);
    "alternating" "the same, every other object freed first" stress Alternating (sized: true);
    "reverse" "the same, freed from the last one on" stress Reverse (sized: true);
    "random" "the same, freed in a random order" stress Random (sized: true);
    "second-half" "64 objects of one of these sizes in the first half of what n of 4 bytes fill"
        stress SecondHalf (sized: true) bench Bench::Fill(SECOND_HALF);
    "aligned" "n objects of 4 bytes aligned to 8, whose gaps fit none, then freed"
        stress Aligned (sized: true) bench Bench::Fill(&[ALIGNED, Size::new(4, 64)]);
    "footprint" "bytes of metadata for an object, by size"
        bench Bench::Footprint(&[SEED[0], SEED[1], SEED[2], SEED[3], SEED[4], ALIGNED]);
    "aligned-churn" "churn of 4..=256 bytes aligned to 4..=4096" stress AlignedChurn (sized: true);
    "churn-4-64" "n live objects of 4..=64 bytes; 64 random ones freed, 64 others allocated"
        stress ChurnSmall (sized: true) bench Bench::Churn(64);
    "churn-4-1024" "the same with 4..=1024 bytes" stress ChurnLarge (sized: true) bench Bench::Churn(1024);
    "mixed" "the same with 1..=32768 bytes, small ones more often, some aligned to up to 4096"
        stress Mixed (sized: true);
    "atomic" "the same with 4..=256 bytes, half of which cannot wait for memory"
        stress Atomic (sized: true, refusal: Refusal::Allowed);
    "stale-hint" "8n objects of 4 bytes of which n stay; then n in their holes, and freed"
        stress StaleHint (sized: true) bench Bench::StaleHint;
    "mass-free" "a random half of all objects freed, as many placed again: what the first of them pay"
        bench Bench::MassFree(&[Size::new(4, 4), Size::new(64, 8)]);
    "deletion" "groups of six objects, one of eleven kept; then eleven groups made and deleted"
        stress Deletion (sized: true) bench Bench::Deletion;
    "starved" "mixed, with memory that ends, and is there again"
        stress Starved (sized: true, refusal: Refusal::Allowed);
}

use PercpuKind as Kind;

impl Suited for Percpu {
    type Kind = Kind;
    const CASES: &'static [CaseInfo<Self>] = CASES;
    const WORK: &'static str = "what an operation looks at: chunks, blocks, words of bits or entries";
    const GROWS: &'static [Kind] = &[Kind::ChurnSmall];

    fn before(kind: Kind, params: &Params) -> Before<Op> {
        let count = params.n;
        let small = |object, _: &mut SplitMix| request(object, 4, 4);
        match kind {
            Kind::SecondHalf => Before::holes(1, count, 2, small),
            Kind::StaleHint => Before::holes(count, 1, 8, small),
            Kind::Deletion => {
                let run = Deletion::GROUP_BYTES.len() as u32;
                Before::holes(count.div_ceil(run * GROUPS), run, GROUPS, |object, _| grouped(object))
            }
            kind => draw(kind).map_or(Before::kept(0, small), |draw| Before::churned(count, draw)),
        }
    }

    fn row(body: &Body<Self>) -> u32 {
        match body.info.kind {
            Kind::InOrder | Kind::Alternating | Kind::Reverse | Kind::Random => body.params.n,
            Kind::Aligned | Kind::StaleHint => body.params.n,
            Kind::Deletion => GROUPS * Deletion::GROUP_BYTES.len() as u32,
            Kind::SecondHalf => ROW,
            _ => ROW.min(body.params.n.div_ceil(2)),
        }
    }

    fn names(body: &Body<Self>) -> u32 {
        if draw(body.info.kind).is_some() { 0 } else { Self::row(body) }
    }

    fn turn(body: &Body<Self>, row: u32, ops: &mut Vec<Op>, random: &mut SplitMix) {
        let (kind, own) = (body.info.kind, body.own);
        if let Some(draw) = draw(kind) {
            return replace(ops, (body.first, body.params.n), row, random, draw);
        }
        let order = match kind {
            Kind::Aligned => return together(ops, own, row, |object| request(object, 4, 8)),
            Kind::StaleHint => return together(ops, own, row, |object| request(object, 4, 4)),
            Kind::Deletion => return together(ops, own, row, grouped),
            Kind::Alternating => Order::Alternating,
            Kind::Reverse => Order::Reverse,
            Kind::Random => Order::Random,
            _ => Order::InOrder,
        };
        let Some(size) = SEED.get(random.uniform(SEED.len() as u64) as usize) else { return };
        let names: Vec<u32> = (own..own + row).collect();
        ops.extend(names.iter().map(|&object| size.alloc(object)));
        ops.extend(order.arrange(&names).into_iter().map(|object| Op::Free { object }));
    }

    fn scene(unit: Option<Bytes>) -> anyhow::Result<Scene> {
        let unit = unit.unwrap_or(UNIT);
        let is_unit = |&bytes: &u32| {
            (MIN_UNIT_BYTES..=MAX_UNIT_BYTES).contains(&bytes) && bytes.is_multiple_of(PAGE_BYTES)
        };
        let none =
            || Failure::Usage(format!("--unit {unit}: a unit is from 32 KiB to 8 MiB, in whole pages"));
        let unit_bytes = u32::try_from(unit.0).ok().filter(is_unit).ok_or_else(none)?;
        // What operations leave is done between batches, which the cases say.
        Ok(Scene { config: Config::new(unit_bytes, 2), balances: false })
    }

    fn befall(kind: Kind, at: usize, session: &mut (dyn Session + 'static)) -> bool {
        let often = matches!(kind, Kind::Deletion | Kind::Atomic);
        if often || at.is_multiple_of(BALANCED) {
            session.balance();
        }
        match (kind, at % (2 * STARVED)) {
            (Kind::Starved, 0) => session.limit_pages(None),
            (Kind::Starved, STARVED) => {
                let most = session.populated_pages() + SPARE_PAGES;
                session.limit_pages(Some(most))
            }
            _ => true,
        }
    }

    fn relieve(session: &mut (dyn Session + 'static)) {
        session.limit_pages(None);
        session.balance();
    }
}

/// What a churned object asks for; `None` where the body has objects of its own.
fn draw(kind: Kind) -> Option<Draw<Op>> {
    Some(match kind {
        Kind::AlignedChurn => |object, random| {
            let size = 4 + random.uniform(253);
            request(object, size, 4 << random.uniform(11))
        },
        Kind::ChurnSmall => |object, random| up_to(object, 64, random),
        Kind::ChurnLarge => |object, random| up_to(object, 1024, random),
        Kind::Mixed | Kind::Starved => mixed,
        Kind::Atomic => atomic,
        _ => return None,
    })
}

fn request(object: u32, size_bytes: u64, align_bytes: u64) -> Op {
    Op::Alloc { object, size_bytes, align: Align::new(align_bytes).unwrap_or_default(), atomic: false }
}

/// 4 bytes up to so many, at any multiple of 4.
fn up_to(object: u32, most: u64, random: &mut SplitMix) -> Op {
    request(object, 4 + random.uniform(most - 3), 4)
}

/// Half of the requests cannot wait.
fn atomic(object: u32, random: &mut SplitMix) -> Op {
    match up_to(object, 256, random) {
        Op::Alloc { object, size_bytes, align, .. } => {
            Op::Alloc { object, size_bytes, align, atomic: random.uniform(2) == 0 }
        }
        free => free,
    }
}

/// Of every order of magnitude as many; a quarter is aligned.
fn mixed(object: u32, random: &mut SplitMix) -> Op {
    let most = 1u64 << random.uniform(1 + u64::from(MOST_BYTES.ilog2()));
    let size = 1 + random.uniform(most);
    let align = if random.uniform(4) == 0 { 1 << random.uniform(13) } else { 1 };
    request(object, size, align)
}

/// An object of a group, of the size that its place in the group has.
fn grouped(object: u32) -> Op {
    let sizes = Deletion::GROUP_BYTES;
    let size = sizes.get(object as usize % sizes.len()).copied().unwrap_or(4);
    request(object, u64::from(size), 8)
}
