//! `guard`: entering and leaving what readers hold, alone.

use super::{Bench, SUITE};
use crate::concurrent::place::cpu_ns;
use crate::concurrent::{FLOOR, Who};
use freehold_rcu::{Domain, Reader};
use freehold_rivals::concurrent::{Epoch, EpochHandle, Guards, RwLocked, Seize};
use std::hint::black_box;

/// A guard on the global domain, through a thread-local.
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
pub(super) trait Loop {
    fn enter_many(&self, count: usize);
}

impl<G: Guards> Loop for G {
    fn enter_many(&self, count: usize) {
        let handle = self.handle();
        (0..count).for_each(|_| G::enter(&handle));
    }
}

/// One of them.
type Make = fn() -> Box<dyn Loop>;

/// Everything with guards.
pub(super) const GUARDS: [(Who, Make); 7] = [
    (Who::default("rcu"), || Box::new(Global)),
    (Who::ours("rcu", Some("handle")), || Box::new(Handle(Domain::global()))),
    (Who::other("crossbeam-epoch", None), || Box::new(Epoch)),
    (Who::other("crossbeam-epoch", Some("handle")), || Box::<EpochHandle>::default()),
    (Who::other("seize", None), || Box::<Seize>::default()),
    (Who::other("rwlock", None), || Box::<RwLocked>::default()),
    (Who::other(FLOOR, None), || Box::new(Nothing)),
];

/// The workload.
pub(super) fn run(bench: &mut Bench) -> anyhow::Result<()> {
    let wanted = GUARDS.into_iter().filter(|(who, _)| bench.options.wants(who));
    let guards: Vec<_> = wanted.map(|(who, make)| (who, make())).collect();
    let count = bench.amount.operations;
    let keys = guards.iter().map(|(who, _)| [who.key(SUITE, "guard", "enter and leave")]).collect();
    bench
        .time("guard", keys, [count], |_, at| Ok([cpu_ns(|| guards[at].1.enter_many(count))? / count as f64]))
}
