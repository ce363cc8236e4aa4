//! The errors of the crate.

use freehold_sys::SysError;
use std::error::Error;
use std::fmt;
use std::time::Duration;

/// There is no memory for a reader's slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no memory for another reader")
    }
}

impl Error for OutOfMemory {}

/// The oldest reader of a domain, which holds back what was retired since it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stalled {
    /// The [name](crate::Domain::name) of the domain.
    pub domain: &'static str,
    /// The system's number of its thread: of the thread that made the guard, if it is one that may move. `None` on
    /// systems without such numbers.
    pub thread: Option<u32>,
    /// It has been reading for at least so long.
    pub inside: Duration,
}

impl fmt::Display for Stalled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the oldest in {} has been reading for {:?} or longer", self.domain, self.inside)?;
        self.thread.map_or(Ok(()), |thread| write!(f, ", on thread {thread}"))
    }
}

/// The reason why a [`Backlog`](crate::Backlog) takes no more records, or reclaims none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BacklogError {
    /// Readers hold back so much that the records would exceed the backlog's limit.
    Full {
        /// Records that wait for readers.
        held: usize,
        /// Records that the backlog may hold.
        limit: usize,
        /// The oldest reader, if it was still there when the error was made.
        oldest: Option<Stalled>,
    },
    /// There is no memory for the records.
    OutOfMemory,
    /// The system refused a barrier that it granted before, as under a filter that was installed later. Nothing is
    /// reclaimed until one of these holds:
    /// - it grants a barrier again;
    /// - every thread and [`Reader`](crate::Reader) that has read has read once more, or has ended.
    ///
    /// To avoid it, call [`Domain::use_fences`](crate::Domain::use_fences) before the filter is installed.
    NoGracePeriod(SysError),
}

/// The advice for a refused barrier.
const NO_BARRIER: &str = "nothing comes back until every thread that has read reads again or ends; `use_fences` before the filter \
    is installed avoids it";

impl fmt::Display for BacklogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { held, limit, oldest } => {
                write!(f, "readers hold back {held} of at most {limit} retired records")?;
                oldest.map_or(Ok(()), |oldest| write!(f, "; {oldest}"))
            }
            Self::OutOfMemory => f.write_str("no memory for records of what is retired"),
            Self::NoGracePeriod(error) => write!(f, "no grace period: {error}; {NO_BARRIER}"),
        }
    }
}

impl Error for BacklogError {}

impl From<SysError> for BacklogError {
    fn from(error: SysError) -> Self {
        Self::NoGracePeriod(error)
    }
}

/// The reason why [`synchronize`](crate::Domain::synchronize) did not wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SynchronizeError {
    /// This thread holds a guard of the domain: it would wait for itself.
    Reading,
    /// Readers were still there when the time was over.
    TimedOut,
    /// The system refused the barrier: see [`BacklogError::NoGracePeriod`].
    NoGracePeriod(SysError),
}

impl fmt::Display for SynchronizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reading => f.write_str("this thread holds a guard, and would wait for itself"),
            Self::TimedOut => f.write_str("readers were still there when the time was over"),
            Self::NoGracePeriod(error) => write!(f, "no grace period: {error}; {NO_BARRIER}"),
        }
    }
}

impl Error for SynchronizeError {}

impl From<SysError> for SynchronizeError {
    fn from(error: SysError) -> Self {
        Self::NoGracePeriod(error)
    }
}
