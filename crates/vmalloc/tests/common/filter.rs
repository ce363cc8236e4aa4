//! A filter that refuses kinds of advice on pages.
#![allow(unsafe_code, reason = "a filter is installed")]

pub(crate) const GUARD_INSTALL: i32 = 102;

pub(crate) const LOAD: u16 = 0x20;
pub(crate) const IF_EQUAL: u16 = 0x15;
pub(crate) const RETURN: u16 = 0x06;

pub(crate) fn step(code: u16, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter { code, jt, jf, k }
}

/// Refuses these kinds of advice to this thread from now on, as kernels do that do not know them.
pub(crate) fn refuse(advice: [i32; 2]) {
    install(&[
        step(LOAD, 0, 0, 0),
        step(IF_EQUAL, 0, 4, libc::SYS_madvise as u32),
        // The low half of the third argument.
        step(LOAD, 0, 0, 32),
        step(IF_EQUAL, 1, 0, advice[0] as u32),
        step(IF_EQUAL, 0, 1, advice[1] as u32),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EINVAL as u32),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]);
}

/// Installs a filter for this thread: a program of such steps.
pub(crate) fn install(program: &[libc::sock_filter]) {
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
    // SAFETY: the filter lives for the call, and lets all calls through but some that have a fallback.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, 2, &raw const filter), 0);
    }
}
