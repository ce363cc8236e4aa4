//! One lock split in three: what is busy, what is free, and what was freed and waits, as the talk wishes.
//!
//! ```text
//!   alloc    free: take a range      busy: note it
//!   free     busy: forget it         lazy: put it aside; with enough of it    free: give all of it back at once
//! ```
//!
//! Source: the talk's wish; Linux 5.5 split busy from free, 5.11 gave what is lazy a lock of its own.

use super::engines::{PAGE, Pool, address_space};
use super::lock::{Lock, Used};
use freehold::kva::{AddressSpace, Request};
use freehold::units::Span;
use freehold_sys::topology;
use std::collections::BTreeMap;
use std::mem;

/// Bytes that wait for each doubling of the CPUs, as in Linux.
const LAZY_BYTES: u64 = 32 << 20;

/// Pages that wait before they are given back, as in Linux: 32 MiB for each bit of the number of CPUs.
pub(super) fn lazy_pages() -> u64 {
    let cpus = topology::online_cpus().map_or(1, |cpus| cpus.len().max(1));
    u64::from(cpus.ilog2() + 1) * (LAZY_BYTES / PAGE)
}

/// What was freed and waits.
#[derive(Default)]
pub(super) struct Lazy {
    pub(super) spans: Vec<Span>,
    pub(super) pages: u64,
}

impl Lazy {
    /// Puts a span aside. All of them, once they are so many pages.
    pub(super) fn push(&mut self, span: Span, most: u64) -> Option<Vec<Span>> {
        self.spans.push(span);
        self.pages += span.size_saturating() / PAGE;
        (self.pages > most).then(|| self.take())
    }

    /// All of them.
    pub(super) fn take(&mut self) -> Vec<Span> {
        self.pages = 0;
        mem::take(&mut self.spans)
    }
}

/// The busy ranges, by their first address.
pub(super) type Busy = BTreeMap<u64, Span>;

/// The one that an address is in.
pub(super) fn busy_at(busy: &Busy, address: u64) -> Option<Span> {
    busy.range(..=address).next_back().map(|(_, &span)| span).filter(|span| span.contains(address))
}

/// Gives spans back under the lock of what is free.
pub(super) fn give_back(free: &Lock<AddressSpace<()>>, spans: &[Span]) {
    free.with(|space| {
        for span in spans {
            let freed = space.free(span.first());
            debug_assert!(freed.is_ok(), "what waits is a region of the space");
        }
    });
}

/// The space.
pub(super) struct Split {
    busy: Lock<Busy>,
    free: Lock<AddressSpace<()>>,
    lazy: Lock<Lazy>,
    most: u64,
}

impl Split {
    pub(super) fn new(clock_ns: Option<u64>) -> anyhow::Result<Self> {
        Ok(Self {
            busy: Lock::new(Busy::new(), clock_ns),
            free: Lock::new(address_space()?, clock_ns),
            lazy: Lock::new(Lazy::default(), clock_ns),
            most: lazy_pages(),
        })
    }
}

impl Pool for Split {
    fn alloc_request(&self, request: &Request) -> Option<Span> {
        let take = || self.free.with(|space| space.alloc(request, ()).ok());
        let span = take().or_else(|| {
            // What waits may be what is lacking.
            give_back(&self.free, &self.lazy.with(Lazy::take));
            take()
        })?;
        self.busy.with(|busy| busy.insert(span.first(), span));
        Some(span)
    }

    fn free(&self, first: u64) -> bool {
        let Some(span) = self.busy.with(|busy| busy.remove(&first)) else { return false };
        if let Some(spans) = self.lazy.with(|lazy| lazy.push(span, self.most)) {
            give_back(&self.free, &spans);
        }
        true
    }

    fn locate(&self, address: u64) -> Option<Span> {
        self.busy.with(|busy| busy_at(busy, address))
    }

    fn used(&self) -> Vec<(&'static str, Used)> {
        vec![("busy", self.busy.used()), ("free", self.free.used()), ("lazy", self.lazy.used())]
    }

    fn settle(&self) -> usize {
        give_back(&self.free, &self.lazy.with(Lazy::take));
        self.free.with(|space| space.free_blocks().count())
    }
}
