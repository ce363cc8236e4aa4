//! BPF maps: memory that the kernel allocates when a program asks, and frees when it lets go. No BPF program is loaded.
//!
//! An array of more than some 32 KiB is an area of the kernel's virtual memory. A hash table with a value for each CPU allocates a per-CPU
//! object for each of its entries.
//!
//! Source: the manual of bpf(2).

use crate::last;
use freehold_sys::SysError;
use std::os::fd::{FromRawFd, OwnedFd};

const MAP_CREATE: libc::c_int = 0;
const ARRAY: u32 = 2;
const PERCPU_HASH: u32 = 5;

/// A map. Its memory is freed after it is dropped, by a thread of the kernel.
#[derive(Debug)]
pub struct Map {
    _descriptor: OwnedFd,
}

impl Map {
    /// An array of `bytes` in all, in values of 8.
    ///
    /// # Errors
    /// This user may not, the kernel has no BPF, or memory is lacking.
    pub fn array(bytes: u32) -> Result<Self, SysError> {
        Self::new([ARRAY, 4, 8, bytes / 8])
    }

    /// A hash table of so many entries, each with 8 bytes for each CPU.
    ///
    /// # Errors
    /// As [`Map::array`].
    pub fn percpu_hash(entries: u32) -> Result<Self, SysError> {
        Self::new([PERCPU_HASH, 4, 8, entries])
    }

    /// Makes a map of this type, size of a key, size of a value, and number of entries.
    fn new(fields: [u32; 4]) -> Result<Self, SysError> {
        // SAFETY: the call reads as many bytes as it is told there are.
        let made = unsafe { libc::syscall(libc::SYS_bpf, MAP_CREATE, fields.as_ptr(), size_of_val(&fields)) };
        match i32::try_from(made) {
            // SAFETY: the call has just made the descriptor, and nothing else has it.
            Ok(made) if made >= 0 => Ok(Self { _descriptor: unsafe { OwnedFd::from_raw_fd(made) } }),
            _ => Err(last("bpf")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_made() {
        match Map::array(1 << 16) {
            Ok(_) => assert!(Map::percpu_hash(10).is_ok()),
            Err(error) => eprintln!("not run: no BPF map can be made: {error}"),
        }
        // A map without entries.
        assert!(Map::array(0).is_err());
    }
}
