//! What runs while it is recorded: a command, or the machine as it is.

use super::failure::Failure;
use freehold_harness::child::{Child, Ended};
use freehold_harness::signals::{Signal, Signals};
use std::ffi::OsString;
use std::time::{Duration, Instant};

/// How often a command is asked whether it has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// Bytes of a workload's name at most: a line of the trace has it.
const LONGEST_NAME: usize = 4096;

/// What runs meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Workload {
    /// The machine as it is, for so long.
    For(Duration),
    /// A command, until it ends.
    Command(Vec<OsString>),
    /// The machine as it is, until a signal.
    UntilSignal,
}

impl Workload {
    /// As a recording names it: of a long command the first part.
    #[must_use]
    pub fn name(&self) -> String {
        self.name_of("the machine")
    }

    /// The same where the machine as it is would be more than what is recorded.
    pub(crate) fn name_of(&self, what: &str) -> String {
        match self {
            Self::For(time) => format!("{what}, for {} s", time.as_secs_f64()),
            Self::Command(words) => {
                let mut name = words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
                name.truncate(name.floor_char_boundary(LONGEST_NAME));
                name
            }
            Self::UntilSignal => format!("{what}, until a signal"),
        }
    }

    /// The command, if there is one. It waits.
    pub(crate) fn hold(&self) -> Result<Option<Child>, Failure> {
        match self {
            Self::Command(words) => Ok(Some(Child::hold(words)?)),
            Self::For(_) | Self::UntilSignal => Ok(None),
        }
    }

    /// Runs it to its end, or until a signal. The first signal goes to the command, which may end in its own way; a second one kills it.
    pub(crate) fn run(
        &self,
        mut child: Option<Child>,
        signals: &Signals,
    ) -> Result<(Option<Ended>, Option<Signal>), Failure> {
        if let Some(child) = &mut child {
            child.release();
            child.executed().map_err(Failure::command(&self.name()))?;
        }
        let (started, mut first) = (Instant::now(), None);
        loop {
            let pause = match (&mut child, self) {
                (Some(child), _) => match child.ended()? {
                    Some(ended) => return Ok((Some(ended), first)),
                    None => PAUSE,
                },
                (None, Self::For(time)) => time.saturating_sub(started.elapsed()),
                (None, _) => Duration::from_secs(1),
            };
            if pause.is_zero() {
                return Ok((None, None));
            }
            let Some(signal) = signals.wait(pause)? else { continue };
            let Some(child) = &child else { return Ok((None, Some(signal))) };
            // A command that has just ended is asked for above.
            let _ = child.signal(if first.is_none() { signal } else { Signal::KILL });
            first = first.or(Some(signal));
        }
    }
}
