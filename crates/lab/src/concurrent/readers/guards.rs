//! `guard`: entering and leaving what readers hold, alone.

use super::{Bench, SUITE};
use crate::concurrent::place::cpu_ns;
use crate::concurrent::{FLOOR, Who};
use freehold_rcu::{Domain, Reader};
use freehold_rivals::concurrent::{Epoch, EpochHandle, Guards, RwLocked, Seize};
use std::hint::black_box;

/// Ours, through a thread-local.
pub(super) const RCU: &str = "rcu";
/// `crossbeam-epoch`, through a thread-local.
pub(super) const EPOCH: &str = "crossbeam-epoch";

/// A guard on the global domain.
struct Global;

impl Guards for Global {
    type Handle<'a> = ();

    fn handle(&self) {}

    #[inline]
    fn enter((): &()) {
        drop(black_box(freehold_rcu::read()));
    }
}

/// A guard of a handle.
struct Handle(&'static Domain);

impl Guards for Handle {
    type Handle<'a> = Option<Reader<'static>>;

    fn handle(&self) -> Option<Reader<'static>> {
        self.0.reader().ok()
    }

    #[inline]
    fn enter(handle: &Option<Reader<'static>>) {
        if let Some(reader) = handle {
            drop(black_box(reader.read()));
        }
    }
}

/// No guard: what the loop costs.
struct Nothing;

impl Guards for Nothing {
    type Handle<'a> = ();

    fn handle(&self) {}

    #[inline]
    fn enter((): &()) {
        black_box(());
    }
}

/// Guards in a loop, so that each is not called through a table.
trait Loop {
    fn enter_many(&self, count: usize);
}

impl<G: Guards> Loop for G {
    fn enter_many(&self, count: usize) {
        let handle = self.handle();
        (0..count).for_each(|_| G::enter(&handle));
    }
}

/// Everything with guards.
pub const GUARDS: [Who; 7] = [
    Who::default(RCU),
    Who::ours(RCU, Some("handle")),
    Who::other(EPOCH, None),
    Who::other(EPOCH, Some("handle")),
    Who::other("seize", None),
    Who::other("rwlock", None),
    Who::other(FLOOR, None),
];

/// The workload.
pub(super) fn run(bench: &mut Bench) -> anyhow::Result<()> {
    let makes: [Box<dyn Loop>; 7] = [
        Box::new(Global),
        Box::new(Handle(Domain::global())),
        Box::new(Epoch),
        Box::<EpochHandle>::default(),
        Box::<Seize>::default(),
        Box::<RwLocked>::default(),
        Box::new(Nothing),
    ];
    let guards: Vec<_> = GUARDS.iter().zip(makes).filter(|(who, _)| bench.wants(who)).collect();
    let count = bench.amount.operations;
    let rounds = bench.rounds("guard", guards.len(), |_, at| {
        Ok(cpu_ns(|| guards[at].1.enter_many(count))? / count as f64)
    })?;
    for ((who, _), rounds_ns) in guards.iter().zip(&rounds) {
        bench.time(who.key(SUITE, "guard", "enter and leave"), rounds_ns, count * rounds_ns.len());
    }
    Ok(())
}
