//! The scrub layer: guarantees zeros where they were requested.
//!
//! # Contract
//! - A decommitted block is zero already (V2). A resident one is cleared when it is handed out, if zeros were
//!   requested.
//! - In a pool that zeroes, slots are cleared after they were dropped, in batches ([dropped]). Free slots are zero
//!   (V3).
//! - Only pages that have memory are written, if the system tells which. It is asked about a long block until all of
//!   its pages have memory: then the block is populated, until it is decommitted, and written whole. A later holder may
//!   use a quarter more of its slot, and of that, too, all is written.

mod dropped;

use crate::builder::Builder;
use crate::error::{AllocError, BuildError};
use crate::lock::lock;
use crate::mapping::Mapping;
use crate::residency::{Residency, count};
use crate::zone::{Held, Zones};
use freehold_kva::{self as kva, Request};
use freehold_sys::{PageScan, SysError};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

/// Minimum length of a block whose resident pages are looked up before it is cleared.
pub(crate) const SCAN_FROM_BYTES: usize = 256 << 10;

/// The content of memory when it is handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Zero {
    /// Zeros.
    Yes,
    /// Anything that was in this memory before, for callers that overwrite it.
    No,
}

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Scrub {
    pub(crate) residency: Residency,
    /// Borrowed by one purge or clearing at a time; others open their own.
    scan: Mutex<Option<PageScan>>,
    /// Times that the system was asked which pages have memory.
    pub(crate) scans: AtomicU64,
    /// Bytes of dropped slots that were cleared.
    pub(crate) cleared_bytes: AtomicU64,
}

impl Scrub {
    pub(crate) fn new(asked: &Builder) -> Result<Self, BuildError> {
        Ok(Self {
            residency: Residency::new(asked)?,
            scan: Mutex::new(None),
            scans: AtomicU64::new(0),
            cleared_bytes: AtomicU64::new(0),
        })
    }

    #[inline]
    pub(crate) fn zones(&self) -> &Zones {
        &self.residency.zones
    }

    #[inline]
    pub(crate) fn mapping(&self) -> &Mapping {
        &self.zones().mapping
    }

    /// A block of `len` bytes, whole pages.
    #[inline(never)]
    pub(crate) fn alloc(&self, len: usize, zero: Zero) -> Result<Held, AllocError> {
        let zone = self.zones().blocks();
        let held = match self.zones().sizes.is_large(len) {
            false => self.residency.alloc(zone, len as u64, len)?,
            true => self.residency.alloc_large(zone, len)?,
        };
        Ok(self.cleared(held, zero))
    }

    /// As [`Scrub::alloc`], where the request allows it.
    pub(crate) fn alloc_request(&self, request: &Request, zero: Zero) -> Result<Held, AllocError> {
        let len = usize::try_from(request.size_bytes).ok().and_then(|len| self.zones().sizes.pages(len));
        let len = len.ok_or(kva::AllocError::SizeOverflow)?;
        let mut request = *request;
        request.size_bytes = len as u64;
        let held = self.residency.alloc_request(self.zones().blocks(), &request, len)?;
        Ok(self.cleared(held, zero))
    }

    /// Clears a block that has to be zero and may hold anything.
    fn cleared(&self, mut held: Held, zero: Zero) -> Held {
        if held.is_resident && zero == Zero::Yes {
            let len = held.pages.len();
            let space = &self.zones().blocks().space;
            if len < SCAN_FROM_BYTES || space.is_populated(held.position) {
                held.pages.zero(0..len);
            } else if self.clear_resident(&mut held) {
                space.set_populated(held.position, true);
            }
        }
        held
    }

    /// Clears the pages that have memory; all of them if the system does not tell which. Returns whether all have
    /// memory then.
    #[cold]
    fn clear_resident(&self, held: &mut Held) -> bool {
        let len = held.pages.len();
        let start = self.mapping().offset_of(&held.pages);
        let mut cleared = 0;
        let scanned = self.borrow_scan().and_then(|mut scan| {
            let scanned = self.resident(&mut scan, start..start + len, |run| {
                cleared += run.len();
                held.pages.zero(run.start - start..run.end - start);
            });
            self.return_scan(scan);
            scanned
        });
        if scanned.is_err() {
            held.pages.zero(0..len);
        }
        scanned.is_err() || cleared == len
    }

    /// The kept page map, or a new one if that is borrowed.
    pub(crate) fn borrow_scan(&self) -> Result<PageScan, SysError> {
        match lock(&self.scan).take() {
            Some(scan) => Ok(scan),
            None => PageScan::open(),
        }
    }

    pub(crate) fn return_scan(&self, scan: PageScan) {
        lock(&self.scan).replace(scan);
    }

    /// Finds the pages of a range that have memory. Calls `found` with each run.
    pub(crate) fn resident(
        &self,
        scan: &mut PageScan,
        range: Range<usize>,
        found: impl FnMut(Range<usize>),
    ) -> Result<(), SysError> {
        count(&self.scans, 1);
        self.mapping().resident(scan, range, found)
    }

    /// Bytes of the whole mapping that have memory.
    pub(crate) fn resident_bytes(&self, scan: &mut PageScan) -> Result<u64, SysError> {
        count(&self.scans, 1);
        self.mapping().resident_bytes(scan, 0..self.mapping().len())
    }
}
