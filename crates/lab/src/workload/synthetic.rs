//! Synthetic workloads in their steady state.

use super::Workload;
use super::suite::{CHURN, Case, Pairs, Params, Phase, random_alloc};
use crate::engine::KernelEngine;
use freehold::units::{Align, Span};
use freehold_linux::kva::Placement;
use freehold_linux::kva::rbtree::Plain;
use freehold_trace::kva::{Answer, Driver, Op, Space};

const PAGE: u64 = Align::PAGE.bytes();
/// First page of the space that all synthetic workloads share.
pub const LOW_PAGE: u64 = 17;
/// The page after the last of the space.
pub const END_PAGE: u64 = 1 << 30;
/// Operations of a setup that are run at once.
const BATCH: usize = 4096;

/// What the setup of a case leaves in an empty space under the kernel's placement, which is the lowest address
/// unless there are alignments, and fast where there are.
#[derive(Clone, Debug)]
pub(super) struct Settled {
    /// Places each live object where it lies, in address order.
    pub(super) placed: Vec<Op>,
    /// Brings the same requests about the way they came: for engines that cannot place at a fixed address.
    pub(super) natural: Vec<Op>,
}

/// The space that all synthetic workloads share.
pub const WHOLE: Span = match Span::new(LOW_PAGE * PAGE, END_PAGE * PAGE - 1) {
    Some(space) => space,
    None => panic!("the space is a span"),
};

/// The same to make engines for.
pub fn whole_scene() -> Space {
    Space { layout: vec![WHOLE], granule: Align::PAGE }
}

/// Runs the setup of a case.
pub(super) fn settle(case: &mut Case, keep_natural: bool) -> anyhow::Result<Settled> {
    let tree =
        KernelEngine::<Plain>::new(&[WHOLE], Align::PAGE, Placement::Linux).map_err(anyhow::Error::msg)?;
    let mut driver = Driver::new(tree);
    let mut sizes: Vec<u64> = vec![0; case.objects() as usize];
    let (mut natural, mut ops) = (Vec::new(), Vec::new());
    while case.phase() == Some(Phase::Setup) {
        ops.clear();
        case.next_batch(&mut ops, BATCH);
        for op in &ops {
            if let Op::Alloc { object, size_bytes, .. } = op
                && let Some(size) = sizes.get_mut(*object as usize)
            {
                *size = *size_bytes;
            }
            let answer = driver.run(op, &mut ());
            anyhow::ensure!(answer != Answer::NoRoom, "{} does not fit", case.info().name);
        }
        if keep_natural {
            natural.append(&mut ops);
        }
    }
    let mut placed: Vec<(Span, u32)> = (0..)
        .zip(&sizes)
        .filter_map(|(object, &size)| Some((Span::from_size(driver.start_of(object)?, size)?, object)))
        .collect();
    placed.sort_unstable();
    let placed = placed.into_iter().map(|(span, object)| Op::alloc_at(object, span)).collect();
    Ok(Settled { placed, natural })
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
    let params = Params { n: objects, seed, ..Params::default() };
    let mut case = Case::new(&CHURN, &params, 0);
    let Settled { placed, .. } = settle(&mut case, false)?;
    let mut more = Pairs::new(0, objects, random_alloc);
    let description = format!("{n} live objects of 1..=64 pages, {pairs} times one freed and one allocated");
    let ops = (0..2 * pairs).map(|_| more.next_op(case.random())).collect();
    Ok(Workload {
        setup: placed,
        n: Some(n),
        ..Workload::new("churn", description, whole_scene(), ops, objects)
    })
}
