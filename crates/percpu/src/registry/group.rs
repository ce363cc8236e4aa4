//! Figures that a closure of the user's reads, several at once.

use crate::OutOfMemory;
use std::boxed::Box;
use std::collections::HashMap;
use std::fmt;
use std::string::String;
use std::sync::Arc;
use std::vec::Vec;

/// Writes all figures of a group.
type Read = dyn Fn(&mut [f64]) + Send + Sync;

/// Figures that are read together, so that a page has those of one moment.
pub(super) struct Group {
    read: Box<Read>,
    count: usize,
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group").field("count", &self.count).finish_non_exhaustive()
    }
}

impl Group {
    pub(super) fn new(count: usize, read: impl Fn(&mut [f64]) + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { read: Box::new(read), count })
    }
}

/// One figure of a group.
#[derive(Clone, Debug)]
pub(super) struct Observed {
    pub(super) group: Arc<Group>,
    pub(super) index: usize,
}

/// The groups that were read for one page, by address, and their figures.
#[derive(Debug, Default)]
pub(super) struct ReadGroups(HashMap<usize, (Arc<Group>, Vec<f64>)>);

impl ReadGroups {
    /// The value of a figure. Calls the user's closure for the first figure of its group, so no lock is held. Cost:
    /// constant, besides that call.
    pub(super) fn value(&mut self, observed: &Observed) -> Result<f64, OutOfMemory> {
        let Observed { group, index } = observed;
        // A group that was read is kept, so no other one gets its address.
        let address = Arc::as_ptr(group).addr();
        if let Some((_, values)) = self.0.get(&address) {
            return Ok(values[*index]);
        }
        // What the closure does not write is shown as no number.
        let mut values = Vec::new();
        values.try_reserve_exact(group.count).map_err(|_| OutOfMemory)?;
        values.resize(group.count, f64::NAN);
        self.0.try_reserve(1).map_err(|_| OutOfMemory)?;
        (group.read)(&mut values);
        let value = values[*index];
        self.0.insert(address, (Arc::clone(group), values));
        Ok(value)
    }
}

/// The observed figures of a family, with their labels.
pub(super) type ObservedSeries = Vec<(String, Observed)>;
