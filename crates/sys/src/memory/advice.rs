//! Advice to the kernel about the size of pages, and the node of their memory.

use super::{Reservation, refuse};
use crate::SysError;
use std::ops::Range;

impl Reservation {
    /// Disables huge pages in a part, so that a write to a page brings in no neighbours.
    ///
    /// # Errors
    /// `EINVAL` if the kernel is built without huge pages.
    #[doc(alias = "MADV_NOHUGEPAGE")]
    pub fn without_huge_pages(&self, range: Range<usize>) -> Result<(), SysError> {
        self.advise_huge_pages(range, false)
    }

    /// Enables huge pages in a part, as far as the system's setting allows.
    ///
    /// # Errors
    /// `EINVAL` if the kernel is built without huge pages.
    #[doc(alias = "MADV_HUGEPAGE")]
    pub fn with_huge_pages(&self, range: Range<usize>) -> Result<(), SysError> {
        self.advise_huge_pages(range, true)
    }

    fn advise_huge_pages(&self, range: Range<usize>, wanted: bool) -> Result<(), SysError> {
        let start = self.check(&range, "madvise")?;
        refuse("madvise")?;
        #[cfg(not(any(miri, not(target_os = "linux"))))]
        {
            let advice = if wanted { libc::MADV_HUGEPAGE } else { libc::MADV_NOHUGEPAGE };
            // SAFETY: the range is part of this reservation, and its users see no difference.
            unsafe { super::system::advise(start, range.len(), advice) }?;
        }
        let _ = (start, wanted);
        Ok(())
    }

    /// Prefers a NUMA node for the memory of a part; without `node`, or once the node has no memory left, the process's
    /// own policy applies. Pages that have memory keep it.
    ///
    /// # Errors
    /// As `mbind(2)`: `EINVAL` for a node that does not exist, `ENOSYS` if the kernel has no nodes.
    #[doc(alias = "MPOL_PREFERRED")]
    pub fn prefer_node(&self, range: Range<usize>, node: Option<u32>) -> Result<(), SysError> {
        let start = self.check(&range, "mbind")?;
        refuse("mbind")?;
        if node.is_some_and(|node| node >= NODES) {
            return Err(SysError::invalid("mbind"));
        }
        #[cfg(not(any(miri, not(target_os = "linux"))))]
        {
            let mut nodes = [0u64; NODES as usize / 64];
            let mode = node.map_or(libc::MPOL_DEFAULT, |node| {
                nodes[node as usize / 64] = 1 << (node % 64);
                libc::MPOL_PREFERRED
            });
            let most = if node.is_some() { NODES as usize + 1 } else { 0 };
            // SAFETY:
            // - The range is part of this reservation, and its users see no difference.
            // - The mask has the given length.
            let failed = unsafe {
                libc::syscall(libc::SYS_mbind, start.as_ptr(), range.len(), mode, nodes.as_ptr(), most, 0)
            };
            if failed != 0 {
                return Err(SysError::last("mbind"));
            }
        }
        let _ = start;
        Ok(())
    }

    /// Bytes of a part that have huge pages, as in `/proc/self/smaps`. A mapping across an end of the part counts
    /// whole.
    ///
    /// # Errors
    /// As `open(2)` and `read(2)`.
    ///
    /// # Cost
    /// A visit of each page table of the process.
    #[doc(alias = "AnonHugePages")]
    pub fn huge_page_bytes(&self, range: Range<usize>) -> Result<u64, SysError> {
        let first = self.check(&range, "read")?.addr().get() as u64;
        let part = first..first + range.len() as u64;
        crate::mappings::huge_page_bytes(&part)
    }
}

/// Nodes that a kernel can have.
const NODES: u32 = 1024;
