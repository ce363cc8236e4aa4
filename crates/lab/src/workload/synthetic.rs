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

/// A space in the steady state of a churn under the kernel's placement, which is the lowest address unless there
/// are alignments, and fast where there are.
#[derive(Clone, Debug)]
pub(super) struct Churned {
    /// The space.
    pub(super) space: Span,
    /// Places each live object where it lies, in address order.
    pub(super) placed: Vec<Op>,
    /// Brings the same requests about the way they came: for engines that cannot place at a fixed address.
    pub(super) natural: Vec<Op>,
    /// Where the random numbers go on.
    pub(super) random: SplitMix,
    /// The address after the highest in use.
    pub(super) top: u64,
}

/// The space that all synthetic workloads share.
pub(super) fn whole_space() -> anyhow::Result<Span> {
    let space = Span::from_size(LOW_PAGE * PAGE, (END_PAGE - LOW_PAGE) * PAGE);
    space.ok_or_else(|| anyhow::anyhow!("the space is no span"))
}

/// `n` live objects as `draw` asks for them, and `2n` times one of them freed and another allocated.
pub(super) fn churned(
    n: u64,
    seed: u64,
    draw: fn(u32, &mut SplitMix) -> Op,
    keep_natural: bool,
) -> anyhow::Result<Churned> {
    let objects = u32::try_from(n)?;
    let space = whole_space()?;
    let mut random = SplitMix::new(seed);
    let tree =
        SpaceEngine::<RbTree>::new(&[space], Align::PAGE, Placement::Linux).map_err(anyhow::Error::msg)?;
    let mut driver = Driver::new(tree);
    let mut sizes: Vec<u64> = vec![0; objects as usize];
    let mut natural = Vec::new();
    let mut play = |op: Op| {
        if let Op::Alloc { object, size_bytes, .. } = op
            && let Some(size) = sizes.get_mut(object as usize)
        {
            *size = size_bytes;
        }
        let answer = driver.run(&op, &mut ());
        if keep_natural {
            natural.push(op);
        }
        anyhow::ensure!(answer != Answer::NoRoom, "{n} objects do not fit");
        Ok(())
    };
    (0..objects).try_for_each(|object| play(draw(object, &mut random)))?;
    pairs_of(2 * n, objects, draw, &mut random).try_for_each(&mut play)?;
    let mut placed: Vec<(Span, u32)> = (0..objects)
        .zip(&sizes)
        .filter_map(|(object, &size)| Some((Span::from_size(driver.start_of(object)?, size)?, object)))
        .collect();
    placed.sort_unstable();
    let top = placed.last().map_or(space.first(), |(span, _)| span.last().saturating_add(1));
    let placed = placed.into_iter().map(|(span, object)| Op::alloc_at(object, span)).collect();
    Ok(Churned { space, placed, natural, random, top })
}

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
    let Churned { space, placed, mut random, .. } = churned(n, seed, random_alloc, false)?;
    Ok(Workload {
        name: "churn".to_owned(),
        file: None,
        description: format!("{n} live objects of 1..=64 pages, {pairs} times one freed and one allocated"),
        layout: vec![space],
        granule: Align::PAGE,
        setup: placed,
        ops: pairs_of(pairs, objects, random_alloc, &mut random).collect(),
        at_ns: None,
        objects,
        n: Some(n),
        skipped: Vec::new(),
    })
}

/// 1..=64 pages anywhere.
pub(super) fn random_alloc(object: u32, random: &mut SplitMix) -> Op {
    Op::alloc(object, (1 + random.uniform(SIZES)) * PAGE)
}

/// Frees of random objects, each followed by an allocation in its place.
fn pairs_of(
    pairs: u64,
    objects: u32,
    draw: fn(u32, &mut SplitMix) -> Op,
    random: &mut SplitMix,
) -> impl Iterator<Item = Op> {
    (0..pairs).flat_map(move |_| {
        let object = random.uniform(u64::from(objects)) as u32;
        [Op::Free { object }, draw(object, random)]
    })
}
