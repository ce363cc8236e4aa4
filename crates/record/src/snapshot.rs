//! What the system said of itself before and after a recording.

use crate::event::Mapping;
use std::collections::BTreeMap;

/// The snapshots of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshots {
    /// Before the events.
    pub start: Snapshot,
    /// After the events.
    pub end: Snapshot,
}

/// One moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// `/proc/vmallocinfo`, in its order.
    pub areas: Option<Vec<Area>>,
    /// `/proc/PID/maps` of each task.
    pub maps: BTreeMap<u32, Vec<Mapping>>,
    /// Objects allocated and freed since boot, by debugfs `percpu_stats`.
    pub objects: Option<(u64, u64)>,
}

/// A line of `/proc/vmallocinfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Area {
    /// The first address.
    pub start: u64,
    /// Bytes, guard page included.
    pub size: u64,
    /// The function that asked for it; empty for lazily freed areas.
    pub caller: String,
    /// Freed lazily and not purged yet.
    pub lazy: bool,
}
