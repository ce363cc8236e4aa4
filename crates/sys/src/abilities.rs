//! The abilities of this system: each is tried on a scratch page, not believed.
//!
//! An emulator may report success for a call that it ignores. So each trial checks the effect: a guard must fault,
//! decommitted memory must be zero, a barrier must be issued.
//!
//! Cost: some system calls for the first use of an ability, later a load. A failure for lack of memory or files says
//! nothing about the system, and is not remembered.

use crate::fork::{self, get_or_init};
use crate::membarrier::Membarrier;
use crate::{SysError, memory};
use std::fmt;
use std::sync::{Mutex, OnceLock};

/// An ability that a system may lack. Each has a fallback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ability {
    /// Guards that are marks in the page table (Linux 6.13). Without: guards are mappings without access.
    #[doc(alias = "MADV_GUARD_INSTALL")]
    GuardMarks,
    /// Decommitted memory is zero when next read. Without: it keeps its content, and code that needs zeros writes them.
    #[doc(alias = "MADV_DONTNEED")]
    GiveBack,
    /// Barriers on all threads of the process (Linux 4.14). Without: readers fence themselves.
    Barrier,
    /// Barriers that restart sequences (Linux 5.10). Nothing here needs them.
    RestartingBarrier,
    /// One call that finds the pages of a range that have memory (Linux 6.7). Without: a word is read for each page.
    #[doc(alias = "PAGEMAP_SCAN")]
    PageScan,
    /// Mappings that can no longer be changed (Linux 6.10). The trial seals a page, which stays mapped. Nothing here
    /// needs them.
    #[doc(alias = "mseal")]
    Seals,
}

/// The reason why an ability is lacking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lacking {
    /// The call is refused.
    Refused(SysError),
    /// The call says that it succeeded, and has no effect.
    Ignored {
        /// The call, by its name in the manual.
        call: &'static str,
    },
}

impl fmt::Display for Lacking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => write!(f, "{error}"),
            Self::Ignored { call } => write!(f, "{call} succeeds, and does nothing"),
        }
    }
}

impl std::error::Error for Lacking {}

impl From<SysError> for Lacking {
    fn from(error: SysError) -> Self {
        Self::Refused(error)
    }
}

impl Ability {
    /// All abilities.
    pub const ALL: [Self; 6] = [
        Self::GuardMarks,
        Self::GiveBack,
        Self::Barrier,
        Self::RestartingBarrier,
        Self::PageScan,
        Self::Seals,
    ];

    /// Whether this system has the ability, as found at the first try. A filter installed later may refuse it.
    ///
    /// # Errors
    /// The system lacks it, or the trial lacks memory or files.
    pub fn is_there(self) -> Result<(), Lacking> {
        static FOUND: [OnceLock<Result<(), Lacking>>; Ability::ALL.len()] =
            [const { OnceLock::new() }; Ability::ALL.len()];
        static TRYING: Mutex<()> = Mutex::new(());
        let found = &FOUND[self as usize];
        if let Some(found) = found.get() {
            return *found;
        }
        let _trying = fork::lock(|| TRYING.lock());
        match found.get().copied().unwrap_or_else(|| self.attempt()) {
            Err(Lacking::Refused(error)) if !error.is_refusal() => Err(error.into()),
            tried => *get_or_init(found, || tried),
        }
    }

    fn attempt(self) -> Result<(), Lacking> {
        match self {
            Self::Barrier => Ok(Membarrier::memory().map(drop)?),
            Self::RestartingBarrier => Ok(Membarrier::restarting().map(drop)?),
            Self::PageScan => memory::try_page_scan(),
            Self::GuardMarks => memory::try_guard_marks(),
            Self::GiveBack => memory::try_give_back(),
            Self::Seals => memory::try_seals(),
        }
    }
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn an_answer_stays_and_tells_of_the_call() {
        for ability in Ability::ALL {
            let found = ability.is_there();
            assert_eq!(ability.is_there(), found);
            if let Err(lacking) = found {
                eprintln!("{ability:?} is not there: {lacking}");
                assert!(matches!(lacking, Lacking::Refused(error) if error.is_refusal()), "{lacking}");
            }
        }
        assert_eq!(Ability::GiveBack.is_there(), Ok(()), "Linux takes memory back");
        let ignored = Lacking::Ignored { call: "madvise" };
        assert_eq!(ignored.to_string(), "madvise succeeds, and does nothing");
    }
}
