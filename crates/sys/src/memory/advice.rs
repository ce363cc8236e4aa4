//! What the kernel is advised of: the size of pages, and the memory that they are of.

use super::{Reservation, refuse};
use crate::SysError;
use std::ops::Range;

impl Reservation {
    /// Keeps huge pages out of a part, so that a page that is written to brings no neighbours.
    ///
    /// # Errors
    /// `EINVAL` where the kernel is built without huge pages.
    #[doc(alias = "MADV_NOHUGEPAGE")]
    pub fn without_huge_pages(&self, range: Range<usize>) -> Result<(), SysError> {
        self.advise_huge_pages(range, false)
    }

    /// Lets a part have huge pages, as far as the system's setting allows.
    ///
    /// # Errors
    /// `EINVAL` where the kernel is built without huge pages.
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
            // SAFETY: the range is part of this reservation, and the advice changes nothing that its users see.
            unsafe { super::system::advise(start, range.len(), advice) }?;
        }
        let _ = (start, wanted);
        Ok(())
    }

    /// Has the memory of a part come from a node as long as that has some, or from wherever the process's does. Pages that have memory
    /// keep it.
    ///
    /// # Errors
    /// As `mbind(2)`: `EINVAL` for a node that is not there, `ENOSYS` where the kernel knows no nodes.
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
            // SAFETY: the range is part of this reservation, the mask is as long as it says, and users see no difference.
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

    /// Bytes of a part that have huge pages, as `/proc/self/smaps` says. Of a mapping that lies across an end of the part, all.
    ///
    /// # Errors
    /// As `open(2)` and `read(2)`.
    ///
    /// # Cost
    /// A visit of each page table of the process, which are read.
    #[doc(alias = "AnonHugePages")]
    pub fn huge_page_bytes(&self, range: Range<usize>) -> Result<u64, SysError> {
        let first = self.check(&range, "read")?.addr().get() as u64;
        let part = first..first + range.len() as u64;
        crate::mappings::huge_page_bytes(&part)
    }
}

/// Nodes that a kernel can have.
const NODES: u32 = 1024;
