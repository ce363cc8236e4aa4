//! Changes of processes' address spaces, as operations on maps of areas, and their answers.

use crate::named::named;
use freehold_units::Span;
use std::collections::BTreeMap;
use std::fmt;

/// An operation on an address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// The space, by its number in the recording.
    pub space: u32,
    /// The call.
    pub call: Call,
}

impl Op {
    /// The name of the call.
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

/// A call that had an effect, or a search. Spans are of whole pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the doc of a call explains its fields")]
pub enum Call {
    /// `mmap` of an area, whose `kind` is a number. `replaces`: it may replace areas that are there.
    Map { span: Span, kind: u64, replaces: bool, by: Caller },
    /// `munmap`, or `brk` downwards.
    Unmap { span: Span, by: Caller },
    /// `mprotect`, with `PROT_*` bits. Unless the `whole` span was mapped, it stops at the first hole.
    Protect { span: Span, prot: u32, whole: bool },
    /// `madvise`, with a `MADV_*` number.
    Advise { span: Span, advice: u32 },
    /// `mremap`: areas are moved, shrunk or grown. `replaces`: areas at the new place may be replaced. `keeps`: the old place stays
    /// mapped.
    Remap { from: Span, to: Span, replaces: bool, keeps: bool },
    /// The kernel's search for the highest or lowest gap of `size` bytes, and its result.
    Search { size: u64, window: Span, highest: bool, found: Option<u64> },
    /// A store of the kernel's tree: a word over a range, or `None` to erase it. Equal neighbours do not merge.
    Store { span: Span, value: Option<u64> },
    /// A look-up of the word at an index.
    Load { index: u64 },
    /// A walk to the first range that ends at an index or above.
    Find { index: u64 },
    /// The space is copied; the copy gets the number `into`.
    Fork { into: u32 },
    /// A program is started: an empty space appears.
    Exec,
    /// The space is destroyed.
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
    /// A difference from the recording.
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
    /// Whether the kernel's space cannot have been like this.
    pub fn contradicts(self) -> bool {
        self != Self::Nothing
    }
}

/// The number of faults that contradict the recording.
pub fn contradictions(faults: &BTreeMap<Fault, u64>) -> u64 {
    faults.iter().filter(|(fault, _)| fault.contradicts()).map(|(_, number)| number).sum()
}

/// The answer of a map of areas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The number of areas within the span of the call.
    pub met: u32,
    /// Their bytes within that span.
    pub met_bytes: u64,
    /// The place that a search found, the word that a look-up found, or the first index that a walk found.
    pub found: Option<u64>,
    /// The difference from the recording.
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
