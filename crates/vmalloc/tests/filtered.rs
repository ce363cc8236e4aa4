//! Where a filter refuses guard marks and decommits, as emulators lack both. One test, as the filter is its thread's for ever.
#![cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
#![allow(clippy::unwrap_used, reason = "a test stops at once")]
#![allow(unsafe_code, reason = "a filter is installed")]

use freehold_vmalloc::{Guard, SlotLayout, VirtualMemory};

/// Refuses `MADV_DONTNEED` and `MADV_GUARD_INSTALL`.
fn refuse() {
    const LOAD: u16 = 0x20;
    const IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    let program = [
        step(LOAD, 0, 0, 0),
        step(IF_EQUAL, 0, 4, libc::SYS_madvise as u32),
        // The low half of the third argument.
        step(LOAD, 0, 0, 32),
        step(IF_EQUAL, 1, 0, 102),
        step(IF_EQUAL, 0, 1, libc::MADV_DONTNEED as u32),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EINVAL as u32),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
    // SAFETY: the filter lives for the call, and lets all calls through but two that have a fallback.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, 2, &raw const filter), 0);
    }
}

#[test]
fn slots_whose_rest_is_protected_are_guarded_whole_when_they_are_dropped() {
    refuse();
    let vm = VirtualMemory::builder().reserve(64 << 20).catch_use_after_free(0).build().unwrap();
    let pool = vm.slots(&SlotLayout::new(16 << 10).count(32).accessible(4096)).unwrap();
    for _ in 0..3 {
        let mut slot = pool.get().unwrap();
        assert!(slot.len() == 4096 && slot.iter().all(|&byte| byte == 0));
        slot.fill(1);
        slot.set_accessible(16 << 10).unwrap();
        assert!(slot[4096..].iter().all(|&byte| byte == 0));
        slot.fill(1);
        slot.set_accessible(8192).unwrap();
    }
    assert_eq!(vm.stats().mapping.guards, Some(Guard::Protected));
}
