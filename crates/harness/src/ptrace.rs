//! Stops of a child, and of all processes and threads that it makes, at some system calls.
//!
//! ```text
//!   task      mmap(..) --- Call ...... runs ...... Return --- other calls run without a stop ---> Exiting
//!                            |          ^            |
//!   tracer    next ----------+-- resume +-- next ----+-- resume
//! ```
//!
//! - A task is stopped at each event that [`Tracer::next`] returns, and goes on by [`Tracer::resume`]. [`Event::Gone`] alone is no stop.
//! - No event is lost. Events of one task come in order; of two tasks in any order, unless the caller resumes the second after the first
//!   has stopped again.
//! - The filter that stops tasks stays with them: they cannot do these calls after their tracer has ended. So they are killed then.
//! - Programs that get other rights when they are executed (set-user-ID) do not get them.
//!
//! Cost: two stops for a call that is watched, some 20 microseconds; nothing for other calls.
//!
//! Source: the manuals of ptrace(2) and seccomp(2).

use crate::child::{self, Child, Ended};
use crate::filter;
use crate::last;
use crate::signals::Signal;
use freehold_sys::SysError;
use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsString;
use std::marker::PhantomData;
use std::ptr;
use std::time::Duration;

/// A request of `ptrace`, whose type is not the same in all C libraries.
#[cfg(target_env = "musl")]
type TraceRequest = libc::c_int;
#[cfg(not(target_env = "musl"))]
type TraceRequest = libc::c_uint;

/// `PTRACE_GET_SYSCALL_INFO` (Linux 5.3), the words that it writes, and its kinds of stops.
const GET_SYSCALL_INFO: TraceRequest = 0x420e;
const INFO_WORDS: usize = 11;
const INFO_EXIT: u64 = 2;
const INFO_SECCOMP: u64 = 3;

/// Which threads are waited for: those that this thread traces or made, of all kinds.
const WAIT: libc::c_int = libc::__WALL | libc::__WNOTHREAD;

/// How often, and how long each time, a task whose maker has not said so is waited for before it is taken as it is.
const PATIENCE: (u32, Duration) = (50, Duration::from_millis(1));

/// Why a task stopped, or that it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// At a system call that is watched, before it is done.
    Call {
        /// Its number, such as `SYS_mmap`.
        number: libc::c_long,
        /// Its arguments.
        args: [u64; 6],
        /// It is a call of another architecture, such as a 32-bit program's: its number means another call.
        is_foreign: bool,
    },
    /// A call has returned, with a value or a negative error number.
    Return(i64),
    /// The task has made another one, which has not run yet.
    Made(u32),
    /// The task runs another program. It has the number of its process from now on; the other threads of the process are gone.
    Executed {
        /// The task's number before.
        before: u32,
    },
    /// The task is about to end, in this way. It still has its memory.
    Exiting(Ended),
    /// The task has ended. Its number may be another's from now on.
    Gone(Ended),
}

/// An event, and whose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The task's number (thread id).
    pub task: u32,
    /// What happened.
    pub event: Event,
}

/// How far a task goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// To the return of the call at which it is stopped.
    Return,
    /// To the next event of another kind.
    Next,
}

/// The tracer of a child and all that it makes. It stays on the thread that made it, as the kernel wants.
#[derive(Debug)]
pub struct Tracer {
    child: Child,
    tasks: BTreeSet<libc::pid_t>,
    /// Tasks that are stopped before their first instruction, and that no `Made` has named so far.
    early: BTreeSet<libc::pid_t>,
    /// Tasks that ended before a `Made` has named them.
    gone: BTreeSet<libc::pid_t>,
    told: VecDeque<Stop>,
    _not_send: PhantomData<*const ()>,
}

impl Tracer {
    /// Starts a command, and stops it and all that it makes at these calls. It waits until [`Tracer::release`].
    ///
    /// # Errors
    /// As [`Child::hold`]; this user or a container may not trace its own children, or the kernel is older than Linux 5.3.
    pub fn hold(command: &[OsString], calls: &[libc::c_long]) -> Result<Self, SysError> {
        let child = Child::with_filter(command, &mut filter::stopping(calls)?)?;
        let pid = child.pid().cast_signed();
        let options = libc::PTRACE_O_TRACESECCOMP
            | libc::PTRACE_O_TRACESYSGOOD
            | libc::PTRACE_O_TRACECLONE
            | libc::PTRACE_O_TRACEFORK
            | libc::PTRACE_O_TRACEVFORK
            | libc::PTRACE_O_TRACEEXEC
            | libc::PTRACE_O_TRACEEXIT
            | libc::PTRACE_O_EXITKILL;
        // SAFETY: the request takes numbers.
        if unsafe { libc::ptrace(libc::PTRACE_SEIZE, pid, 0_usize, options as usize) } != 0 {
            let error = last("ptrace");
            let _ = child.signal(Signal::KILL);
            return Err(error);
        }
        Ok(Self {
            child,
            tasks: BTreeSet::from([pid]),
            early: BTreeSet::new(),
            gone: BTreeSet::new(),
            told: VecDeque::new(),
            _not_send: PhantomData,
        })
    }

    /// Lets the command execute its program.
    pub fn release(&mut self) {
        self.child.release();
    }

    /// The first process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.pid()
    }

    /// Why its program could not be executed; asked once it is gone.
    ///
    /// # Errors
    /// It could not.
    pub fn executed(&mut self) -> Result<(), SysError> {
        self.child.executed()
    }

    /// The next event; `None` once all tasks are gone. Waits for it.
    ///
    /// # Errors
    /// The kernel does not tell (Linux before 5.3).
    #[allow(clippy::should_implement_trait, reason = "it needs the caller's `resume` between two events")]
    pub fn next(&mut self) -> Result<Option<Stop>, SysError> {
        loop {
            if let Some(stop) = self.told.pop_front() {
                return Ok(Some(stop));
            }
            if self.tasks.is_empty() && self.early.is_empty() {
                return Ok(None);
            }
            let (pid, status) = self.wait()?;
            if let Some(event) = self.event(pid, status)? {
                return Ok(Some(Stop { task: pid.unsigned_abs(), event }));
            }
        }
    }

    /// Lets a task go on from where it stopped. A task that was killed meanwhile is left alone.
    pub fn resume(&self, task: u32, until: Until) {
        let request = match until {
            Until::Return => libc::PTRACE_SYSCALL,
            Until::Next => libc::PTRACE_CONT,
        };
        go_on(task.cast_signed(), request, 0);
    }

    /// Copies 8 bytes of a stopped task's memory. `None` if they are not readable.
    #[must_use]
    pub fn read_word(&self, task: u32, address: u64) -> Option<u64> {
        let mut word = 0_u64;
        let len = size_of::<u64>();
        let local = libc::iovec { iov_base: (&raw mut word).cast(), iov_len: len };
        let there = ptr::without_provenance_mut(usize::try_from(address).ok()?);
        let remote = libc::iovec { iov_base: there, iov_len: len };
        // SAFETY: the call writes to the word, and fails for addresses that are not there.
        let read = unsafe {
            libc::process_vm_readv(task.cast_signed(), &raw const local, 1, &raw const remote, 1, 0)
        };
        (usize::try_from(read) == Ok(len)).then_some(word)
    }

    /// Waits for any task. One whose maker was killed before it could say so is taken after a while.
    fn wait(&mut self) -> Result<(libc::pid_t, libc::c_int), SysError> {
        let mut waited = 0;
        loop {
            let flags = if self.early.is_empty() { WAIT } else { WAIT | libc::WNOHANG };
            let mut status = 0;
            // SAFETY: the call writes to the status.
            match unsafe { libc::waitpid(-1, &raw mut status, flags) } {
                -1 => match last("waitpid") {
                    SysError { errno: libc::EINTR, .. } => {}
                    error => return Err(error),
                },
                0 if waited < PATIENCE.0 => {
                    waited += 1;
                    std::thread::sleep(PATIENCE.1);
                }
                0 => {
                    for task in std::mem::take(&mut self.early) {
                        self.tasks.insert(task);
                        go_on(task, libc::PTRACE_CONT, 0);
                    }
                }
                pid => return Ok((pid, status)),
            }
        }
    }

    /// What a status means; `None` if it is not for the caller, and the task goes on.
    fn event(&mut self, pid: libc::pid_t, status: libc::c_int) -> Result<Option<Event>, SysError> {
        if !libc::WIFSTOPPED(status) {
            self.early.remove(&pid);
            if self.tasks.remove(&pid) {
                return Ok(Some(Event::Gone(Ended::of(status))));
            }
            self.gone.insert(pid);
            return Ok(None);
        }
        let signal = libc::WSTOPSIG(status);
        match status >> 16 {
            libc::PTRACE_EVENT_SECCOMP => return info(pid, INFO_SECCOMP),
            libc::PTRACE_EVENT_CLONE | libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK => {
                return message(pid).map(|made| made.map(|made| self.made(made)));
            }
            libc::PTRACE_EVENT_EXEC => {
                let before = message(pid)?;
                if let Some(before) = before.filter(|&before| before != pid) {
                    self.tasks.remove(&before);
                    self.tasks.insert(pid);
                }
                return Ok(before.map(|before| Event::Executed { before: before.unsigned_abs() }));
            }
            libc::PTRACE_EVENT_EXIT => {
                return message(pid).map(|status| status.map(|status| Event::Exiting(Ended::of(status))));
            }
            // The first stop of a new task.
            libc::PTRACE_EVENT_STOP if signal == libc::SIGTRAP => {
                if self.tasks.contains(&pid) {
                    go_on(pid, libc::PTRACE_CONT, 0);
                } else {
                    self.early.insert(pid);
                }
            }
            // A stopped process stays stopped until it is continued.
            libc::PTRACE_EVENT_STOP => go_on(pid, libc::PTRACE_LISTEN, 0),
            _ if signal == libc::SIGTRAP | 0x80 => return info(pid, INFO_EXIT),
            _ => go_on(pid, libc::PTRACE_CONT, signal),
        }
        Ok(None)
    }

    /// A task has made another one.
    fn made(&mut self, made: libc::pid_t) -> Event {
        if self.gone.remove(&made) {
            let event = Event::Gone(Ended::Signal(libc::SIGKILL));
            self.told.push_back(Stop { task: made.unsigned_abs(), event });
        } else {
            self.tasks.insert(made);
            if self.early.remove(&made) {
                go_on(made, libc::PTRACE_CONT, 0);
            }
        }
        Event::Made(made.unsigned_abs())
    }
}

/// Tries whether this process can trace a child, its calls included.
///
/// # Errors
/// Why it cannot.
pub fn try_it() -> Result<(), SysError> {
    // A program that is not there, so that nothing is run: its execution is the call that stops.
    let mut tracer = Tracer::hold(&[OsString::from("/proc/self/none")], &[libc::SYS_execve])?;
    tracer.release();
    let mut stopped = false;
    while let Some(stop) = tracer.next()? {
        stopped |= matches!(stop.event, Event::Call { .. });
        tracer.resume(stop.task, Until::Next);
    }
    match tracer.executed() {
        Err(SysError { errno: libc::ENOENT, .. }) if stopped => Ok(()),
        Err(error) => Err(error),
        Ok(()) => Err(SysError { call: "seccomp", errno: libc::ENOSYS }),
    }
}

/// Sends a signal to a process by its number, from any thread.
///
/// # Errors
/// It is gone, or has become another user's.
pub fn signal(pid: u32, signal: Signal) -> Result<(), SysError> {
    child::send(pid.cast_signed(), signal)
}

/// Lets a task go on. Only that it was killed meanwhile can fail, which its end says.
fn go_on(pid: libc::pid_t, request: TraceRequest, signal: libc::c_int) {
    // SAFETY: these requests take numbers.
    unsafe { libc::ptrace(request, pid, 0_usize, signal as usize) };
}

/// The number of a task, or the status, that a stop carries; `None` if the task was killed meanwhile.
fn message(pid: libc::pid_t) -> Result<Option<libc::pid_t>, SysError> {
    let mut message: libc::c_ulong = 0;
    // SAFETY: the request writes one word.
    let status = unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, pid, 0_usize, &raw mut message) };
    match status {
        // Process numbers are below 2^22, statuses below 2^16.
        0 => Ok(Some(message as libc::pid_t)),
        _ => unless_killed(last("ptrace")),
    }
}

/// The call at which a task is stopped; `None` if it was killed meanwhile, or stopped elsewhere.
fn info(pid: libc::pid_t, kind: u64) -> Result<Option<Event>, SysError> {
    let mut words = [0_u64; INFO_WORDS];
    let bytes = size_of_val(&words);
    // SAFETY: the request writes as many bytes as it is told there are, at most.
    let status = unsafe { libc::ptrace(GET_SYSCALL_INFO, pid, bytes, words.as_mut_ptr()) };
    if status <= 0 {
        return unless_killed(last("ptrace"));
    }
    // One byte of kind, three of nothing, four of architecture; two words of registers; then what the kind has.
    let [head, _, _, first, args @ .., _] = words;
    if head & 0xff != kind {
        go_on(pid, libc::PTRACE_CONT, 0);
        return Ok(None);
    }
    Ok(Some(match kind {
        INFO_EXIT => Event::Return(first.cast_signed()),
        _ => Event::Call {
            number: first.cast_signed() as libc::c_long,
            args,
            is_foreign: (head >> 32) as u32 != filter::ARCH,
        },
    }))
}

fn unless_killed<T>(error: SysError) -> Result<Option<T>, SysError> {
    if error.errno == libc::ESRCH { Ok(None) } else { Err(error) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops at once")]
mod tests;
