//! Which pages have memory: one call for a whole range (Linux 6.7), or a word for each page.

use crate::SysError;
use crate::memory::page_bytes;
use std::fs::File;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

/// `PAGEMAP_SCAN`, from the manual of pagemap: `_IOWR('f', 16, struct pm_scan_arg)`.
const PAGEMAP_SCAN: u64 = 0xc060_6610;
const PAGE_IS_PRESENT: u64 = 1 << 3;
const PAGE_IS_SWAPPED: u64 = 1 << 4;
const PAGE_IS_PFNZERO: u64 = 1 << 5;

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
#[derive(Clone, Copy, Default)]
struct Region {
    start: u64,
    end: u64,
    categories: u64,
}

const _: () = assert!(size_of::<ScanArg>() == 96 && size_of::<Region>() == 24);

/// Calls `found` with each run of pages of `addresses` that has memory.
pub(super) fn resident(addresses: Range<usize>, found: &mut dyn FnMut(Range<usize>)) -> Result<(), SysError> {
    let pagemap = open()?;
    match scan(&pagemap, addresses.clone(), found) {
        Err(SysError { errno: libc::ENOTTY | libc::EINVAL | libc::ENOSYS, .. }) => {
            read(&pagemap, addresses, found)
        }
        scanned => scanned,
    }
}

/// Whether the kernel has the call.
pub(super) fn at_once(addresses: Range<usize>) -> bool {
    open().and_then(|pagemap| scan(&pagemap, addresses, &mut |_| ())).is_ok()
}

/// Opened each time: after a fork an older handle would speak of the parent's memory.
fn open() -> Result<File, SysError> {
    File::open("/proc/self/pagemap")
        .map_err(|error| SysError { call: "open", errno: error.raw_os_error().unwrap_or(libc::EIO) })
}

/// By the call. Pages that were only read share the page of zeros, and are left out.
fn scan(
    pagemap: &File,
    addresses: Range<usize>,
    found: &mut dyn FnMut(Range<usize>),
) -> Result<(), SysError> {
    let mut regions = [Region::default(); 64];
    let mut at = addresses.start;
    while at < addresses.end {
        let mut arg = ScanArg {
            size: size_of::<ScanArg>() as u64,
            start: at as u64,
            end: addresses.end as u64,
            vec: regions.as_mut_ptr().expose_provenance() as u64,
            vec_len: regions.len() as u64,
            category_inverted: PAGE_IS_PFNZERO,
            category_mask: PAGE_IS_PFNZERO,
            category_anyof_mask: PAGE_IS_PRESENT | PAGE_IS_SWAPPED,
            return_mask: PAGE_IS_PRESENT | PAGE_IS_SWAPPED,
            ..ScanArg::default()
        };
        // SAFETY: the argument is what the call expects; it writes to it, and to at most `vec_len` regions.
        let count = unsafe { libc::ioctl(pagemap.as_raw_fd(), PAGEMAP_SCAN as _, &raw mut arg) };
        let count = usize::try_from(count).map_err(|_| SysError::last("PAGEMAP_SCAN"))?;
        for region in &regions[..count] {
            found(region.start as usize..region.end as usize);
        }
        if arg.walk_end as usize <= at {
            return Err(SysError::invalid("PAGEMAP_SCAN"));
        }
        at = arg.walk_end as usize;
    }
    Ok(())
}

/// By reading a word for each page. The page of zeros cannot be told from others.
fn read(
    pagemap: &File,
    addresses: Range<usize>,
    found: &mut dyn FnMut(Range<usize>),
) -> Result<(), SysError> {
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
            // Bit 63: present; bit 62: swapped.
            if u64::from_ne_bytes(*word) >> 62 != 0 {
                found(at + index * page..at + (index + 1) * page);
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
    fn sum(by: impl Fn(&mut dyn FnMut(Range<usize>)) -> Result<(), SysError>) -> usize {
        let mut bytes = 0;
        by(&mut |run| bytes += run.len()).unwrap();
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
        // A page that was read only: the call leaves it out.
        // SAFETY: the page is committed.
        assert_eq!(unsafe { memory.base().add(page).read_volatile() }, 0);
        if scan(&pagemap, all.clone(), &mut |_| ()).is_ok() {
            assert_eq!(sum(|found| scan(&pagemap, all.clone(), found)), 134 * page);
        }
    }
}
