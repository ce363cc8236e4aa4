//! Finds the pages that have memory: one call for a whole range (Linux 6.7), or a word for each page.

use crate::SysError;
use crate::abilities::{Ability, Lacking};
use crate::fork::generation;
use crate::memory::page_bytes;
use std::fs::File;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU32, Ordering};

/// `PAGEMAP_SCAN`, from the manual of pagemap: `_IOWR('f', 16, struct pm_scan_arg)`.
const PAGEMAP_SCAN: u64 = 0xc060_6610;
const PAGE_IS_PRESENT: u64 = 1 << 3;
const PAGE_IS_SWAPPED: u64 = 1 << 4;
const PAGE_IS_PFNZERO: u64 = 1 << 5;
/// Pages with a guard mark, which count as swapped. Kernels before 6.16 cannot distinguish them.
const PAGE_IS_GUARD: u64 = 1 << 8;

/// The argument of the call.
#[repr(C)]
#[derive(Default)]
struct ScanArg {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    vec: u64,
    vec_len: u64,
    max_pages: u64,
    category_inverted: u64,
    category_mask: u64,
    category_anyof_mask: u64,
    return_mask: u64,
}

/// A run of pages in its answer.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Region {
    start: u64,
    end: u64,
    categories: u64,
}

/// Runs that one call can return for a page map that is kept open.
const KEPT_REGIONS: usize = 1024;

const _: () = assert!(size_of::<ScanArg>() == 96 && size_of::<Region>() == 24);

/// Called with each run of pages that has memory, and whether that is present. If not, it is in swap; or, if the kernel
/// cannot distinguish these, the pages have guard marks.
pub(super) type Found<'a> = &'a mut dyn FnMut(Range<usize>, bool);

/// The bytes of memory that `scan` finds. Excludes guards, unless the kernel cannot distinguish them and the process
/// has pages in swap. An estimate: a page may be swapped in or out meanwhile.
pub(super) fn bytes(scan: impl FnOnce(Found<'_>) -> Result<(), SysError>) -> Result<u64, SysError> {
    let (mut present, mut others) = (0, 0);
    scan(&mut |run, is_present| *if is_present { &mut present } else { &mut others } += run.len() as u64)?;
    Ok(if others > 0 && swaps() { present + others } else { present })
}

/// Calls `found` with each run of pages of `addresses` that has memory. Opens the process's page map for it.
pub(super) fn resident(addresses: Range<usize>, found: Found<'_>) -> Result<(), SysError> {
    either_way(&open()?, &mut [Region::default(); 64], addresses, found)
}

/// The same by the call alone.
pub(super) fn by_call(addresses: Range<usize>, found: Found<'_>) -> Result<(), SysError> {
    scan(&open()?, &mut [Region::default()], &mut addresses.clone(), found)
}

/// The process's page map, kept open, with room for the runs that one call finds.
#[derive(Debug)]
pub(super) struct Pagemap {
    file: File,
    /// The process that the file describes. After a fork, that is the parent.
    process: u64,
    regions: Box<[Region]>,
}

impl Pagemap {
    pub(super) fn open() -> Result<Self, SysError> {
        let mut regions = Vec::new();
        let memory = regions.try_reserve_exact(KEPT_REGIONS);
        memory.map_err(|_| SysError { call: "malloc", errno: libc::ENOMEM })?;
        regions.resize(KEPT_REGIONS, Region::default());
        Ok(Self { process: generation(), file: open()?, regions: regions.into_boxed_slice() })
    }

    pub(super) fn resident(
        &mut self,
        addresses: Range<usize>,
        found: &mut dyn FnMut(Range<usize>),
    ) -> Result<(), SysError> {
        self.runs(addresses, &mut |run, _| found(run))
    }

    fn runs(&mut self, addresses: Range<usize>, found: Found<'_>) -> Result<(), SysError> {
        let now = generation();
        if now != self.process {
            (self.file, self.process) = (open()?, now);
        }
        either_way(&self.file, &mut self.regions, addresses, found)
    }

    pub(super) fn resident_bytes(&mut self, addresses: Range<usize>) -> Result<u64, SysError> {
        bytes(|found| self.runs(addresses, found))
    }
}

/// By the call, or by reading if the call is lacking or refused.
fn either_way(
    pagemap: &File,
    regions: &mut [Region],
    mut addresses: Range<usize>,
    found: Found<'_>,
) -> Result<(), SysError> {
    // If the trial lacked memory or files, try here all the same.
    if !matches!(Ability::PageScan.is_there(), Err(Lacking::Refused(error)) if error.is_refusal()) {
        match scan(pagemap, regions, &mut addresses, found) {
            Err(error) if error.is_refusal() => {}
            scanned => return scanned,
        }
    }
    read(pagemap, addresses, found)
}

/// Opened anew, as after a fork an older handle describes the parent's memory.
fn open() -> Result<File, SysError> {
    File::open("/proc/self/pagemap")
        .map_err(|error| SysError { call: "open", errno: error.raw_os_error().unwrap_or(libc::EIO) })
}

/// By the call. Pages that were only read share the zero page, and are left out, as guards are. `left` is the part that
/// is not scanned yet.
fn scan(
    pagemap: &File,
    regions: &mut [Region],
    left: &mut Range<usize>,
    found: Found<'_>,
) -> Result<(), SysError> {
    /// How often in a row the kernel refused to distinguish guards from swapped pages.
    static REFUSED: AtomicU32 = AtomicU32::new(0);
    // Relaxed, all: a hint. A single refusal may have come from a filter.
    let asks = REFUSED.load(Ordering::Relaxed) < 2;
    if asks {
        match scan_without(PAGE_IS_PFNZERO | PAGE_IS_GUARD, pagemap, regions, left, found) {
            Err(SysError { errno: libc::EINVAL, .. }) => {}
            scanned => {
                REFUSED.store(0, Ordering::Relaxed);
                return scanned;
            }
        }
    }
    scan_without(PAGE_IS_PFNZERO, pagemap, regions, left, found)?;
    // Counted only now: if the call is refused in both forms, that tells nothing about guards.
    REFUSED.fetch_add(u32::from(asks), Ordering::Relaxed);
    Ok(())
}

/// Whether pages of this process are in swap. True if the kernel does not say.
fn swaps() -> bool {
    let status = crate::machine::read("/proc/self/status").unwrap_or_default();
    let swapped = status.lines().find_map(|line| line.strip_prefix("VmSwap:"));
    swapped.is_none_or(|bytes| bytes.trim() != "0 kB")
}

/// By the call, without the pages of some categories.
fn scan_without(
    without: u64,
    pagemap: &File,
    regions: &mut [Region],
    left: &mut Range<usize>,
    found: Found<'_>,
) -> Result<(), SysError> {
    while left.start < left.end {
        let mut arg = ScanArg {
            size: size_of::<ScanArg>() as u64,
            start: left.start as u64,
            end: left.end as u64,
            vec: regions.as_mut_ptr().expose_provenance() as u64,
            vec_len: regions.len() as u64,
            category_inverted: without,
            category_mask: without,
            category_anyof_mask: PAGE_IS_PRESENT | PAGE_IS_SWAPPED,
            return_mask: PAGE_IS_PRESENT | PAGE_IS_SWAPPED,
            ..ScanArg::default()
        };
        // SAFETY: the argument has the layout that the call expects. The call writes to it, and to at most `vec_len`
        // regions.
        let count = unsafe { libc::ioctl(pagemap.as_raw_fd(), PAGEMAP_SCAN as _, &raw mut arg) };
        let count = usize::try_from(count).map_err(|_| SysError::last("PAGEMAP_SCAN"))?;
        let (runs, is_full) = (&regions[..count.min(regions.len())], count >= regions.len());
        // If the answer was full, the walk may have ended before the end of the last run, which would be found twice.
        let end = if is_full { runs.last().map_or(0, |run| run.end as usize) } else { left.end };
        if end <= left.start {
            return Err(SysError::invalid("PAGEMAP_SCAN"));
        }
        left.start = end;
        for run in runs {
            found(run.start as usize..run.end as usize, run.categories & PAGE_IS_PRESENT != 0);
        }
    }
    Ok(())
}

/// By reading a word for each page. The zero page cannot be distinguished from others.
fn read(pagemap: &File, addresses: Range<usize>, found: Found<'_>) -> Result<(), SysError> {
    let page = page_bytes();
    let mut words = [0; 8 * 512];
    let mut at = addresses.start;
    while at < addresses.end {
        let pages = ((addresses.end - at) / page).min(512);
        let part = &mut words[..8 * pages];
        pagemap
            .read_exact_at(part, (at / page * 8) as u64)
            .map_err(|error| SysError { call: "pread", errno: error.raw_os_error().unwrap_or(libc::EIO) })?;
        for (index, word) in part.as_chunks::<8>().0.iter().enumerate() {
            // Bit 63: present; bit 62: swapped; bit 58: a guard, which counts as swapped (reported since Linux 6.15).
            let word = u64::from_ne_bytes(*word);
            if word >> 62 != 0 && word >> 58 & 1 == 0 {
                found(at + index * page..at + (index + 1) * page, word >> 63 != 0);
            }
        }
        at += pages * page;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reservation;

    /// Bytes of all runs.
    fn sum(by: impl FnOnce(Found<'_>) -> Result<(), SysError>) -> usize {
        let mut bytes = 0;
        by(&mut |run, _| bytes += run.len()).unwrap();
        bytes
    }

    #[test]
    fn both_ways_find_the_written_pages() {
        let page = page_bytes();
        let memory = Reservation::new(400 * page).unwrap();
        memory.commit(0..400 * page).unwrap();
        for index in (0..400).step_by(3) {
            // SAFETY: the page is committed.
            unsafe { memory.base().add(index * page).write(1) };
        }
        let first = memory.base().addr().get();
        let pagemap = File::open("/proc/self/pagemap").unwrap();
        let all = first..first + 400 * page;
        assert_eq!(sum(|found| read(&pagemap, all.clone(), found)), 134 * page);
        // More runs than one call returns.
        assert_eq!(sum(|found| resident(all.clone(), found)), 134 * page);
        // A page that was only read: the call leaves it out.
        // SAFETY: the page is committed.
        assert_eq!(unsafe { memory.base().add(page).read_volatile() }, 0);
        let mut few = [Region::default(); 5];
        let by_call = Ability::PageScan.is_there();
        if by_call.is_ok() {
            assert_eq!(sum(|found| scan(&pagemap, &mut few, &mut all.clone(), found)), 134 * page);
        }
        // A guard has no memory, if the kernel can tell.
        // SAFETY: nobody uses the page.
        let guard = unsafe { memory.guard(399 * page..400 * page) }.unwrap();
        assert_eq!(sum(|found| read(&pagemap, all.clone(), found)), 134 * page, "and the page of zeros");
        if by_call.is_ok() {
            assert_eq!(
                sum(|found| scan(&pagemap, &mut few, &mut all.clone(), found)),
                133 * page,
                "{guard:?}"
            );
        }
        memory.unguard(399 * page..400 * page, guard).unwrap();
        let all = first..first + 399 * page;
        let mut kept = Pagemap::open().unwrap();
        for _ in 0..2 {
            assert_eq!(sum(|found| kept.runs(all.clone(), found)), 133 * page);
        }
    }
}
