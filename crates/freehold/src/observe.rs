//! The statistics of spaces, maps, domains and memory as gauges of a page of metrics.
//!
//! ```
//! use freehold::observe::{self, MapStats};
//! use freehold::percpu::registry::Registry;
//! use freehold::rcu::Domain;
//! use freehold::{maple::MapleTree, vmalloc::VirtualMemory};
//! use std::sync::Arc;
//!
//! let registry = Registry::new();
//! let vm = Arc::new(VirtualMemory::builder().reserve(1 << 30).build()?);
//! let map = Arc::new(MapleTree::<u64>::new());
//! map.store(0..=9, 1)?;
//!
//! let counted = Arc::clone(&vm);
//! observe::register(&registry, "memory", &[], move || counted.stats())?;
//! let counted = Arc::clone(&map);
//! observe::register(&registry, "map", &[("of", "ids")], move || MapStats::of(&counted))?;
//! observe::register(&registry, "rcu", &[], || Domain::global().stats())?;
//!
//! let text = registry.render();
//! assert!(text.contains("# TYPE memory_resident_bytes gauge\n"));
//! assert!(text.contains("map_entries{of=\"ids\"} 1\n"));
//! assert!(text.contains("rcu_reading 0\n"));
//!
//! assert!(observe::remove::<MapStats>(&registry, "map", &[("of", "ids")]));
//! assert!(!registry.render().contains("map_entries"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::maple::{MapleTree, StoredValue};
use crate::percpu::heap::HeapStats;
use crate::percpu::registry::{Registry, RegistryError};
use crate::rcu::{self, BacklogStats};
use crate::{kva, vmalloc};
use std::format;

/// Statistics that are a list of numbers with names.
pub trait Figures {
    /// The names. They end with their unit, if they have one.
    const NAMES: &'static [&'static str];

    /// Writes the numbers, in the order of the names. Cost: constant for each.
    fn write(&self, values: &mut [f64]);
}

/// Shows the statistics that `read` returns as gauges, each under its name behind `prefix` and `_`. `read` is called once for
/// each page, under no lock of the registry. All are registered or none.
///
/// Cost: as [`Registry::observe_all`]. A page costs what `read` does: see the `stats()` of the type.
///
/// # Errors
/// See [`RegistryError`].
pub fn register<F: Figures>(
    registry: &Registry,
    prefix: &str,
    labels: &[(&str, &str)],
    read: impl Fn() -> F + Send + Sync + 'static,
) -> Result<(), RegistryError> {
    registry.observe_all(prefix, labels, F::NAMES, move |values| read().write(values))
}

/// Removes the gauges of [`register`] from the pages, and drops its closure. Returns whether there was one. Cost: as
/// [`Registry::remove`] for each.
pub fn remove<F: Figures>(registry: &Registry, prefix: &str, labels: &[(&str, &str)]) -> bool {
    let removed = F::NAMES.iter().map(|name| registry.remove(&format!("{prefix}_{name}"), labels));
    removed.fold(false, |any, one| any | one)
}

/// The statistics of a map that threads share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MapStats {
    /// Entries.
    pub entries: u64,
    /// Bytes of memory for nodes.
    pub index_bytes: usize,
    /// What waits for readers.
    pub backlog: BacklogStats,
}

impl MapStats {
    /// Those of a map. Cost: constant, under the writer's lock.
    #[must_use]
    pub fn of<E: StoredValue>(map: &MapleTree<E>) -> Self {
        Self { entries: map.len(), index_bytes: map.bytes(), backlog: map.backlog() }
    }
}

/// The numbers of a type, by name.
macro_rules! figures {
    ($($type:ty { $($name:literal: $value:expr),* $(,)? })*) => {$(
        impl Figures for $type {
            const NAMES: &'static [&'static str] = &[$($name),*];

            fn write(&self, values: &mut [f64]) {
                let value: &[fn(&Self) -> f64] = &[$($value),*];
                values.iter_mut().zip(value).for_each(|(place, value)| *place = value(self));
            }
        }
    )*};
}

figures! {
    kva::Stats {
        "regions": |stats| stats.regions as f64,
        "busy_bytes": |stats| stats.busy_bytes as f64,
        "free_blocks": |stats| stats.free_blocks as f64,
        "free_bytes": |stats| stats.free_bytes as f64,
        "largest_free_bytes": |stats| stats.largest_free_bytes as f64,
        "fragmentation": |stats| stats.fragmentation(),
        "index_bytes": |stats| (stats.free_index_bytes + stats.busy_index_bytes) as f64,
    }
    kva::pooled::Stats {
        "slabs": |stats| stats.slabs as f64,
        "extents": |stats| stats.extents as f64,
        "blocks": |stats| stats.blocks as f64,
        "held_bytes": |stats| stats.held_bytes as f64,
        "ready_bytes": |stats| stats.ready_bytes as f64,
        "resident_bytes": |stats| stats.resident_bytes as f64,
        "purging_bytes": |stats| stats.purging_bytes as f64,
        "unused_bytes": |stats| stats.unused_bytes as f64,
        "index_bytes": |stats| stats.index_bytes as f64,
    }
    vmalloc::Stats {
        "blocks": |stats| of_zones(stats, |space| space.blocks),
        "held_bytes": |stats| of_zones(stats, |space| space.held_bytes),
        "index_bytes": |stats| of_zones(stats, |space| space.index_bytes as u64),
        // The first zone has the addresses of all.
        "committed_bytes": |stats| stats.zones.first().map_or(0.0, |zone| zone.committed_bytes as f64),
        "vector_bytes": |stats| stats.lending.vector_bytes as f64,
        "pending_release_bytes": |stats| stats.lending.pending_release_bytes as f64,
        "resident_bytes": |stats| stats.residency.resident_bytes as f64,
        "dropped_bytes": |stats| stats.residency.dropped_bytes as f64,
        "quarantine_bytes": |stats| stats.residency.quarantine_bytes as f64,
        "purged_bytes": |stats| stats.residency.purged_bytes as f64,
        "cleared_bytes": |stats| stats.scrub.cleared_bytes as f64,
        "refused_calls": |stats| stats.mapping.refused as f64,
    }
    rcu::DomainStats {
        "slots": |stats| stats.slots as f64,
        "registered": |stats| stats.registered as f64,
        "reading": |stats| stats.reading as f64,
        "oldest_epochs": |stats| stats.oldest.map_or(0.0, |oldest| stats.epoch.saturating_sub(oldest) as f64),
        "grace_periods": |stats| stats.grace_periods as f64,
        "refused_barriers": |stats| stats.refused_barriers as f64,
    }
    MapStats {
        "entries": |stats| stats.entries as f64,
        "index_bytes": |stats| stats.index_bytes as f64,
        "backlog_held": |stats| stats.backlog.held as f64,
        "backlog_limit": |stats| stats.backlog.limit as f64,
        "retired": |stats| stats.backlog.retired as f64,
        "reclaimed": |stats| stats.backlog.reclaimed as f64,
        "refused": |stats| stats.backlog.refused as f64,
    }
    BacklogStats {
        "held": |stats| stats.held as f64,
        "limit": |stats| stats.limit as f64,
        "retired": |stats| stats.retired as f64,
        "reclaimed": |stats| stats.reclaimed as f64,
        "refused": |stats| stats.refused as f64,
    }
    HeapStats {
        "objects": |stats| stats.placed.saturating_sub(stats.kept) as f64,
        "kept_objects": |stats| stats.kept as f64,
        "chunk_bytes": |stats| stats.chunk_bytes as f64,
        "free_bytes": |stats| stats.free_bytes as f64,
        "metadata_bytes": |stats| stats.metadata_bytes as f64,
        "capacity_bytes": |stats| stats.capacity_bytes as f64,
    }
}

/// A figure of the spaces of all zones. Addresses that a pool has are held in the pool's zone alone.
fn of_zones(stats: &vmalloc::Stats, figure: impl Fn(&kva::pooled::Stats) -> u64) -> f64 {
    stats.zones.iter().map(|zone| figure(&zone.space) as f64).sum()
}
