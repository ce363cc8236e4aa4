//! Figures that a closure of the user's reads, several at once.

use super::text::try_push;
use crate::OutOfMemory;
use std::boxed::Box;
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

/// The groups that were read for one page.
#[derive(Debug, Default)]
pub(super) struct ReadGroups(Vec<(Arc<Group>, Vec<f64>)>);

impl ReadGroups {
    /// The value of a figure. Calls the user's closure for the first figure of its group, so no lock is held.
    pub(super) fn value(&mut self, observed: &Observed) -> Result<f64, OutOfMemory> {
        let known = self.0.iter().position(|(group, _)| Arc::ptr_eq(group, &observed.group));
        let at = match known {
            Some(at) => at,
            None => {
                // What the closure does not write is shown as no number.
                let mut values = Vec::new();
                values.try_reserve_exact(observed.group.count).map_err(|_| OutOfMemory)?;
                values.resize(observed.group.count, f64::NAN);
                (observed.group.read)(&mut values);
                try_push(&mut self.0, (Arc::clone(&observed.group), values))?;
                self.0.len() - 1
            }
        };
        Ok(self.0[at].1[observed.index])
    }
}

/// The observed figures of a family, with their labels.
pub(super) type ObservedSeries = Vec<(String, Observed)>;
