//! One type under one system, in a process of its own, since filters stay.
//!
//! ```text
//!   make | round 0 | round 1 | round 2        each round: the requests that were served, contents checked
//!   another system's answers throughout, or no calls but those that the crate's documentation lists
//!   always: refused throughout; late: from round 1 on; while: in round 1; once: the first call of round 1; first: that of all
//! ```

use super::types::{TYPES, Type};
use crate::failure::{Failure, usage};
use crate::named::named;
use freehold_harness::filter::allow_crate;
use freehold_harness::memory::POKES;
use freehold_harness::supervisor::answered;
use freehold_harness::systems::{Refusable, System, prepare_refusals, pretend, refuse};
use std::fmt;
use std::str::FromStr;

named! {
    /// When a call is refused.
    When {
        Always "always" "From before it is made."
        Late "late" "From the second round on."
        While "while" "In the second round."
        Once "once" "The first call of the second round."
        First "first" "The first call of all. Where that makes it fail, it is made again."
    }
}

/// Numbers of errors by which calls are refused: `ENOSYS`, `EPERM`, `EINVAL`.
pub(super) const ERRORS: [i32; 3] = [38, 1, 22];

/// What the row is called of processes that may make no other calls than they are said to need.
pub(super) const EXACTLY: &str = "no-other-calls";

/// What a process runs under.
#[derive(Clone, Copy, Debug)]
pub enum Under {
    /// The answers of a system.
    System(System),
    /// A call that is refused with the number of an error.
    Refused(Refusable, i32, When),
    /// The calls alone that the type's crate is said to need.
    Exactly,
}

impl fmt::Display for Under {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(system) => f.write_str(&system.name()),
            Self::Exactly => f.write_str(EXACTLY),
            Self::Refused(call, errno, when) => write!(f, "{}/{errno}/{}", call.name, when.name()),
        }
    }
}

impl FromStr for Under {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        if let Some(system) = System::ALL.into_iter().find(|system| system.name() == text) {
            return Ok(Self::System(system));
        }
        if text == EXACTLY {
            return Ok(Self::Exactly);
        }
        let mut parts = text.split('/');
        let mut next = || parts.next().unwrap_or_default();
        let (call, errno, when) = (next(), next(), next());
        let call = Refusable::ALL.into_iter().find(|refusable| refusable.name == call);
        match (call, errno.parse(), When::named(when)) {
            (Some(call), Ok(errno), Some(when)) => Ok(Self::Refused(call, errno, when)),
            _ => usage(format!("there is no system {text:?}")),
        }
    }
}

/// Requests that were served in each round, and calls that were answered otherwise than the kernel does.
pub(super) type Served = ([u64; 3], u64);

/// Runs a type, and says what it served in each round, and how many calls were answered. A type that cannot be made serves nothing.
///
/// # Errors
/// There is no such type; the kernel has no filters; what was served is wrong.
pub fn run(name: &str, under: Under) -> anyhow::Result<String> {
    let Some(Type { make, of, .. }) = TYPES.into_iter().find(|known| known.name == name) else {
        return usage(format!("there is no type {name:?}"));
    };
    let lacking = |error| Failure::Lacking(format!("no filter of system calls: {error}"));
    let mut when = None;
    match under {
        Under::System(system) => pretend(system).map_err(lacking)?,
        Under::Exactly => {
            anyhow::ensure!(allow_crate(of, &POKES).map_err(lacking)?, "no calls are listed for {of}");
        }
        Under::Refused(call, errno, at) => {
            prepare_refusals(call, errno).map_err(lacking)?;
            when = Some(at);
        }
    }
    match when {
        Some(When::Always) => refuse(u32::MAX),
        Some(When::First) => refuse(1),
        _ => {}
    }
    let made = make().or_else(|reason| if when == Some(When::First) { make() } else { Err(reason) });
    let mut running = match made {
        Ok(running) => running,
        Err(reason) => return Ok(format!("0 0 0 {} {reason}", answered())),
    };
    let mut served = [0; 3];
    for (number, served) in served.iter_mut().enumerate() {
        if number == 1 && when.is_some() {
            wait_for_threads();
        }
        match (when, number) {
            (Some(When::Late | When::While), 1) => refuse(u32::MAX),
            (Some(When::Once), 1) => refuse(1),
            (Some(When::While | When::Once), 2) => refuse(0),
            _ => {}
        }
        *served = running().map_err(|wrong| anyhow::anyhow!("round {number}: {wrong}"))?;
    }
    let [first, second, third] = served;
    Ok(format!("{first} {second} {third} {}", answered()))
}

/// Waits until the threads that the type has made sleep, as far as the system tells. A thread that begins protects a stack of its
/// own for signals, and ends the process if that is refused: the standard library's call, not the type's.
fn wait_for_threads() {
    let sleeps = |task: std::io::Result<std::fs::DirEntry>| {
        let stat = task.and_then(|task| std::fs::read_to_string(task.path().join("stat")));
        stat.is_ok_and(|stat| stat.rsplit(") ").next().is_some_and(|state| state.starts_with('S')))
    };
    let mut quiet = 0;
    for _ in 0..1000 {
        let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return };
        // This thread alone runs.
        quiet = if tasks.map(sleeps).filter(|sleeps| !sleeps).count() <= 1 { quiet + 1 } else { 0 };
        if quiet == 5 {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}
