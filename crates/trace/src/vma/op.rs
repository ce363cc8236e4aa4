//! What processes do to their address spaces, as operations on maps of areas, and what a map says to them.

use crate::named::named;
use freehold_units::Span;
use std::collections::BTreeMap;
use std::fmt;

/// What happens in an address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// The space, by its number in the recording.
    pub space: u32,
    /// What happens.
    pub call: Call,
}

impl Op {
    /// What the call is called.
    pub fn name(&self) -> &'static str {
        match self.call {
            Call::Remap { .. } => "mremap()",
            Call::Fork { .. } => "fork",
            Call::Exec => "exec",
            Call::Destroy => "exit",
            Call::Map { by: Caller::Break, .. } | Call::Unmap { by: Caller::Break, .. } => "brk()",
            Call::Map { by: Caller::Kernel, .. } | Call::Unmap { by: Caller::Kernel, .. } => "by the kernel",
            Call::Map { .. } => "mmap()",
            Call::Unmap { .. } => "munmap()",
            Call::Protect { .. } => "mprotect()",
            Call::Advise { .. } => "madvise()",
            Call::Search { .. } => "gap search",
            Call::Store { value: Some(_), .. } => "store",
            Call::Store { value: None, .. } => "erase",
            Call::Load { .. } => "look-up",
            Call::Find { .. } => "walk",
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of space {}", self.name(), self.space)
    }
}

/// A call that had an effect, or looked for something. Spans are of whole pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "a call's doc says what is not plain of its fields")]
pub enum Call {
    /// `mmap`: an area of the kind of that number comes; whether it may replace what is there.
    Map { span: Span, kind: u64, replaces: bool, by: Caller },
    /// `munmap`, or `brk` downwards.
    Unmap { span: Span, by: Caller },
    /// `mprotect`, with `PROT_*` bits; if not the `whole` span was mapped, it ends where something is not.
    Protect { span: Span, prot: u32, whole: bool },
    /// `madvise`, with a `MADV_*`.
    Advise { span: Span, advice: u32 },
    /// `mremap`: areas are moved, shrunk or grown; whether what is there may be replaced, and the old place stays mapped.
    Remap { from: Span, to: Span, replaces: bool, keeps: bool },
    /// The kernel looked for the highest or lowest gap of so many bytes, and found that.
    Search { size: u64, window: Span, highest: bool, found: Option<u64> },
    /// The kernel's tree stored a word over a range, or nothing; areas that are alike stay apart.
    Store { span: Span, value: Option<u64> },
    /// The tree was asked for the word at an index.
    Load { index: u64 },
    /// The tree was walked to the first range that ends at an index or above.
    Find { index: u64 },
    /// A copy of the space is made, of that number.
    Fork { into: u32 },
    /// A program is started: a space appears, empty.
    Exec,
    /// The space is gone.
    Destroy,
}

/// Who asked for a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// The program, by `mmap` or `munmap`.
    Program,
    /// The program, by `brk`.
    Break,
    /// The kernel, for a program that it starts or a stack that grows.
    Kernel,
}

named! {
    /// What is not as it was when it was recorded.
    Fault {
        Occupied "mapped where there was a gap" "Something is mapped where there was a gap."
        Nothing "nothing mapped that is unmapped (the kernel does not mind)"
            "Nothing is mapped where something was unmapped: no contradiction, since the kernel answers with \
             success, and programs do it."
        Hole "not all mapped where all was" "Not all is mapped where it all was."
        NoHole "all mapped where not all was" "All is mapped where it was not."
        OtherGap "another gap found than by the kernel" "The kernel found another gap."
        NoSpace "no such space, or one too many" "There is no such space, or there is one already, or a fork would copy more areas than are kept."
    }
}

impl Fault {
    /// Whether the kernel had something else there.
    pub fn contradicts(self) -> bool {
        self != Self::Nothing
    }
}

/// How many of them contradict what was recorded.
pub fn contradictions(faults: &BTreeMap<Fault, u64>) -> u64 {
    faults.iter().filter(|(fault, _)| fault.contradicts()).map(|(_, number)| number).sum()
}

/// What a map of areas says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Areas that were met.
    pub met: u32,
    /// Bytes of them within what the call was about.
    pub met_bytes: u64,
    /// The place found, by a search; of a tree, the word by a look-up, the first index by a walk.
    pub found: Option<u64>,
    /// What is not as it was.
    pub fault: Option<Fault>,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} areas, {} bytes, ", self.met, self.met_bytes)?;
        match self.found {
            Some(found) => write!(f, "{found:#x} found")?,
            None => f.write_str("nothing found")?,
        }
        write!(f, ": {}", self.fault.map_or("as recorded", Fault::name))
    }
}
