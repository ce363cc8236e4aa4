//! Synthetic workloads in their steady state.

use super::Workload;
use super::random::SplitMix;
use super::recipe::{END_PAGE, LOW_PAGE};
use crate::engine::SpaceEngine;
use freehold::kva::{Placement, RbTree};
use freehold::units::{Align, Span};
use freehold_trace::kva::{Answer, Driver, Op};

const PAGE: u64 = Align::PAGE.bytes();
/// Largest size of an object in pages.
const SIZES: u64 = 64;

/// `n` live objects of 1..=64 pages, and `pairs` times one of them freed and another allocated.
///
/// The state to start from is the one after `2n` such pairs under lowest-address placement. It is set up by
/// placing each object where it then lies, so that an engine too slow to churn for itself starts from the same
/// state as all others.
///
/// # Errors
/// `n` objects do not fit.
pub fn churn(n: u64, pairs: u64, seed: u64) -> anyhow::Result<Workload> {
    let objects = u32::try_from(n)?;
    let space = Span::from_size(LOW_PAGE * PAGE, (END_PAGE - LOW_PAGE) * PAGE);
    let space = space.ok_or_else(|| anyhow::anyhow!("the space is no span"))?;
    let mut random = SplitMix::new(seed);
    let tree =
        SpaceEngine::<RbTree>::new(&[space], Align::PAGE, Placement::Lowest).map_err(anyhow::Error::msg)?;
    let mut driver = Driver::new(tree);
    let mut sizes: Vec<u64> = Vec::with_capacity(objects as usize);
    for object in 0..objects {
        let op = random_alloc(object, &mut random);
        sizes.push(size_of_op(&op));
        anyhow::ensure!(driver.run(&op, &mut ()) != Answer::NoRoom, "{n} objects do not fit");
    }
    for op in pairs_of(2 * n, objects, &mut random) {
        if let Op::Alloc { object, size_bytes, .. } = op
            && let Some(size) = sizes.get_mut(object as usize)
        {
            *size = size_bytes;
        }
        driver.run(&op, &mut ());
    }
    let mut placed: Vec<(Span, u32)> = (0..objects)
        .zip(&sizes)
        .filter_map(|(object, &size)| Some((Span::from_size(driver.start_of(object)?, size)?, object)))
        .collect();
    placed.sort_unstable();
    Ok(Workload {
        name: "churn".to_owned(),
        file: None,
        description: format!("{n} live objects of 1..=64 pages, {pairs} times one freed and one allocated"),
        layout: vec![space],
        granule: Align::PAGE,
        setup: placed.into_iter().map(|(span, object)| Op::alloc_at(object, span)).collect(),
        ops: pairs_of(pairs, objects, &mut random).collect(),
        at_ns: None,
        objects,
        n: Some(n),
        skipped: Vec::new(),
    })
}

fn random_alloc(object: u32, random: &mut SplitMix) -> Op {
    Op::alloc(object, (1 + random.uniform(SIZES)) * PAGE)
}

fn size_of_op(op: &Op) -> u64 {
    match op {
        Op::Alloc { size_bytes, .. } => *size_bytes,
        _ => 0,
    }
}

/// Frees of random objects, each followed by an allocation in its place.
fn pairs_of(pairs: u64, objects: u32, random: &mut SplitMix) -> impl Iterator<Item = Op> {
    (0..pairs).flat_map(move |_| {
        let object = random.uniform(u64::from(objects)) as u32;
        [Op::Free { object }, random_alloc(object, random)]
    })
}
