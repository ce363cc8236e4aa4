//! Guards of readers, alone.

use crossbeam_epoch::{Collector, LocalHandle};
use parking_lot::RwLock;
use std::fmt;

/// What a thread begins and ends reading with.
pub trait Guards: Sync {
    /// What one thread enters through, made once.
    type Handle<'a>
    where
        Self: 'a;

    /// This thread's.
    fn handle(&self) -> Self::Handle<'_>;

    /// Enters and leaves.
    fn enter(handle: &Self::Handle<'_>);
}

/// `crossbeam_epoch::pin`, whose handle is a thread-local.
#[derive(Clone, Copy, Debug, Default)]
pub struct Epoch;

impl Guards for Epoch {
    type Handle<'a> = ();

    fn handle(&self) {}

    #[inline]
    fn enter((): &()) {
        drop(std::hint::black_box(crossbeam_epoch::pin()));
    }
}

/// A handle of a `crossbeam_epoch::Collector`.
#[derive(Debug, Default)]
pub struct EpochHandle(Collector);

impl Guards for EpochHandle {
    type Handle<'a> = LocalHandle;

    fn handle(&self) -> LocalHandle {
        self.0.register()
    }

    #[inline]
    fn enter(handle: &LocalHandle) {
        drop(std::hint::black_box(handle.pin()));
    }
}

/// `seize::Collector::enter`.
#[derive(Default)]
pub struct Seize(seize::Collector);

impl fmt::Debug for Seize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seize").finish_non_exhaustive()
    }
}

impl Guards for Seize {
    type Handle<'a> = &'a seize::Collector;

    fn handle(&self) -> &seize::Collector {
        &self.0
    }

    #[inline]
    fn enter(handle: &&seize::Collector) {
        drop(std::hint::black_box(handle.enter()));
    }
}

/// The reader's side of a `parking_lot::RwLock`.
#[derive(Debug, Default)]
pub struct RwLocked(RwLock<()>);

impl Guards for RwLocked {
    type Handle<'a> = &'a RwLock<()>;

    fn handle(&self) -> &RwLock<()> {
        &self.0
    }

    #[inline]
    fn enter(handle: &&RwLock<()>) {
        drop(std::hint::black_box(handle.read()));
    }
}
