//! Under limits of addresses and of data the default reservation is smaller, and visibly so. One test, as limits are the process's.
#![cfg(all(target_os = "linux", not(miri)))]
#![allow(clippy::unwrap_used, reason = "a test stops at once")]
#![allow(unsafe_code, reason = "limits are set")]

use freehold_vmalloc::{BuildError, VirtualMemory, Zero};

const GIB: u64 = 1 << 30;

/// Bytes of what is mapped now, and what of it is data.
fn used() -> (u64, u64) {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let figures: Vec<u64> = pages.split_whitespace().map(|pages| pages.parse().unwrap()).collect();
    (figures[0] * 4096, figures[5] * 4096)
}

/// Sets the limits of this process on addresses and on data.
fn limit(addresses: u64, data: u64) {
    for (resource, bytes) in [(libc::RLIMIT_AS, addresses), (libc::RLIMIT_DATA, data)] {
        let limit = libc::rlimit { rlim_cur: bytes, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: sets a limit of this process.
        assert_eq!(unsafe { libc::setrlimit(resource, &raw const limit) }, 0);
    }
}

fn reserved(memory: &VirtualMemory) -> u128 {
    memory.stats().addresses.size_bytes()
}

#[test]
fn the_default_reservation_fits_limits_and_another_one_is_refused_by_name() {
    let build = || VirtualMemory::builder().build();
    assert_eq!(reserved(&build().unwrap()), 64 << 30);
    let (mapped, data) = used();
    for (addresses, data) in [(mapped + 8 * GIB, u64::MAX), (u64::MAX, data + 8 * GIB)] {
        limit(addresses, data);
        let memory = build().unwrap();
        // A quarter of what is left, or half of it.
        assert!((GIB.into()..=2 << 30).contains(&reserved(&memory)), "{}", reserved(&memory));
        assert_eq!(memory.alloc(8192, Zero::Yes).unwrap()[5000], 0);
        let refused = VirtualMemory::builder().reserve(16 << 30).build().unwrap_err();
        let is_named =
            matches!(refused, BuildError::NoAddresses { reserve_bytes, .. } if reserve_bytes == 16 << 30);
        assert!(
            is_named
                && refused.to_string().contains("16 GiB of addresses")
                && refused.to_string().contains("`reserve`")
        );
    }
    let (mapped, _) = used();
    limit(mapped + (1 << 20), u64::MAX);
    assert!(matches!(build(), Err(BuildError::NoAddresses { .. })));
}
