//! `guard`: entering and leaving what readers hold, alone, and what a writer pays for it.

use super::{Bench, SUITE};
use crate::concurrent::place::cpu_ns;
use crate::concurrent::{FLOOR, Who};
use freehold_rcu::{Domain, Reader};
use freehold_rivals::concurrent::{Epoch, EpochHandle, Guards, RwLocked, Seize};
use std::hint::black_box;
use std::sync::LazyLock;

/// Enters and leaves so often. The loop is of the guard's own type, so that each is not called through a table.
type Loop = Box<dyn Fn(usize)>;

/// Guards of ours: what a thread enters through, and how.
fn looped<H: 'static>(handle: fn() -> H, enter: impl Fn(&H) + 'static) -> Loop {
    Box::new(move |count| {
        let handle = handle();
        (0..count).for_each(|_| enter(&handle));
    })
}

/// A domain of its own.
static PRIVATE: Domain = Domain::new();
/// One whose readers issue fences, so that a writer needs no barrier.
static FENCED: LazyLock<Domain> = LazyLock::new(Domain::fenced);

/// Guards of others.
fn others<G: Guards + Default + 'static>() -> Loop {
    let guards = G::default();
    Box::new(move |count| {
        let handle = guards.handle();
        (0..count).for_each(|_| G::enter(&handle));
    })
}

/// Everything with guards: ours through a thread-local, in a domain of its own, and by a handle.
pub(super) const GUARDS: [(Who, fn() -> Loop); 9] = [
    (Who::default("rcu"), || looped(|| (), |()| drop(black_box(freehold_rcu::read())))),
    (Who::ours("rcu").variant("private"), || looped(|| &PRIVATE, |domain| drop(black_box(domain.read())))),
    (Who::ours("rcu").variant("fenced"), || looped(|| &*FENCED, |domain| drop(black_box(domain.read())))),
    (Who::ours("rcu").variant("handle"), || {
        let enter =
            |reader: &Option<Reader<'static>>| drop(reader.as_ref().map(|reader| black_box(reader.read())));
        looped(|| Domain::global().reader().ok(), enter)
    }),
    (Who::other("crossbeam-epoch"), others::<Epoch>),
    (Who::other("crossbeam-epoch").variant("handle"), others::<EpochHandle>),
    (Who::other("seize"), others::<Seize>),
    (Who::other("rwlock"), others::<RwLocked>),
    // What the loop costs.
    (Who::other(FLOOR), || looped(|| (), |&nothing| black_box(nothing))),
];

/// The workload.
pub(super) fn run(bench: &mut Bench) -> anyhow::Result<()> {
    let guards: Vec<_> = bench.wanted(GUARDS).into_iter().map(|(who, make)| (who, make())).collect();
    let count = bench.amount.operations;
    let keys = guards.iter().map(|(who, _)| [who.key(SUITE, "guard", "enter and leave")]).collect();
    bench.time("guard", keys, [count], |_, at| Ok([cpu_ns(|| guards[at].1(count))? / count as f64]))?;
    grace_periods(bench)
}

/// What a change costs that drops a value promptly, beside the change: a grace period in which nobody reads.
fn grace_periods(bench: &mut Bench) -> anyhow::Result<()> {
    let of = |variant| Who::ours("rcu").variant(variant);
    let domains = bench.wanted([(of("private"), &PRIVATE), (of("fenced"), &*FENCED)]);
    let count = (bench.amount.operations / 1000).max(1);
    let keys = domains.iter().map(|(who, _)| [who.key(SUITE, "guard", "grace period")]).collect();
    bench.time("grace period", keys, [count], |_, at| {
        let mut ended = Ok(());
        let ns = cpu_ns(|| (0..count).for_each(|_| ended = ended.and(domains[at].1.synchronize())))?;
        ended.map_err(|refused| anyhow::anyhow!("{refused}"))?;
        Ok([ns / count as f64])
    })
}
