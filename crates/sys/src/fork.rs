//! Hooks around `fork`, so that no lock is held by a thread that the child does not have.

use crate::SysError;

/// Has `prepare` called before each `fork` of this process, `parent` and `child` after it, on the thread that forks. Hooks
/// stay for the life of the process.
///
/// # Errors
/// No memory for the hooks. On systems without `fork` there is nothing to do, and nothing fails.
#[doc(alias = "pthread_atfork")]
pub fn at_fork(
    prepare: extern "C" fn(),
    parent: extern "C" fn(),
    child: extern "C" fn(),
) -> Result<(), SysError> {
    #[cfg(all(unix, not(miri)))]
    {
        // SAFETY: the hooks are functions, which live as long as the program.
        let errno = unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
        if errno != 0 {
            return Err(SysError { call: "pthread_atfork", errno });
        }
    }
    #[cfg(not(all(unix, not(miri))))]
    let _ = (prepare, parent, child);
    Ok(())
}

#[cfg(all(test, unix, not(miri)))]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

    static CALLS: [AtomicI32; 3] = [const { AtomicI32::new(0) }; 3];

    extern "C" fn prepare() {
        CALLS[0].fetch_add(1, Relaxed);
    }
    extern "C" fn parent() {
        CALLS[1].fetch_add(1, Relaxed);
    }
    extern "C" fn child() {
        CALLS[2].fetch_add(1, Relaxed);
    }

    #[test]
    fn hooks_are_called_on_either_side() {
        at_fork(prepare, parent, child).unwrap();
        let before: Vec<i32> = CALLS.iter().map(|calls| calls.load(Relaxed)).collect();
        // SAFETY: the child compares numbers and exits.
        let pid = unsafe { libc::fork() };
        let now = || CALLS.iter().zip(&before).map(|(calls, before)| calls.load(Relaxed) - before);
        if pid == 0 {
            let right = now().eq([1, 0, 1]);
            // SAFETY: ends the child at once.
            unsafe { libc::_exit(i32::from(!right)) };
        }
        let mut status = 0;
        // SAFETY: it waits for the child that was just made.
        assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
        assert_eq!(status, 0, "the child saw other calls");
        // Other tests of this process may fork as well.
        let calls: Vec<i32> = now().collect();
        assert!(calls[0] >= 1 && calls[1] >= 1, "{calls:?}");
    }
}
