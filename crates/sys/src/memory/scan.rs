//! Repeated scans for pages that have memory.

use super::{Reservation, refuse, system};
use crate::SysError;
use std::ops::Range;

/// The process's page map, kept open. One call scans many pages.
///
/// In a process made by `fork`, the first call reopens it, as the older file describes the parent's memory.
#[derive(Debug)]
pub struct PageScan {
    pagemap: system::Pagemap,
}

impl PageScan {
    /// Opens the page map.
    ///
    /// # Errors
    /// As `open(2)`: there is no `/proc`, too many files are open; `ENOMEM`.
    pub fn open() -> Result<Self, SysError> {
        refuse("open")?;
        Ok(Self { pagemap: system::Pagemap::open()? })
    }

    /// As [`Reservation::resident`].
    ///
    /// # Errors
    /// The kernel does not provide it. `found` may have been called.
    pub fn resident(
        &mut self,
        memory: &Reservation,
        range: Range<usize>,
        mut found: impl FnMut(Range<usize>),
    ) -> Result<(), SysError> {
        let start = memory.check(&range, "PAGEMAP_SCAN")?.addr().get();
        refuse("PAGEMAP_SCAN")?;
        let base = memory.base.addr().get();
        let mut run = |run: Range<usize>| found(run.start - base..run.end - base);
        self.pagemap.resident(start..start + range.len(), &mut run)
    }
    /// As [`Reservation::resident_bytes`].
    ///
    /// # Errors
    /// The kernel does not provide it.
    pub fn resident_bytes(&mut self, memory: &Reservation, range: Range<usize>) -> Result<u64, SysError> {
        let start = memory.check(&range, "PAGEMAP_SCAN")?.addr().get();
        refuse("PAGEMAP_SCAN")?;
        self.pagemap.resident_bytes(start..start + range.len())
    }
}
