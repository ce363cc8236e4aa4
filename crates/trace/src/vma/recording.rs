//! Recorded events of address spaces, as operations on them.
//!
//! What is said of a call depends on what was before: `brk` on where the heap ended, the kind of a shared mapping
//! without a file on how many there were.

use super::trees::tree_call;
use super::{Action, Backing, Call, Caller, Errno, Event, Events, Kind, Kinds, Mapping, Op, Shown};
use crate::{TraceError, TraceHeader, mt};
use freehold_units::Span;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// `MAP_*` and `MREMAP_*` bits.
mod flags {
    pub(super) const SHARED: u64 = 1;
    pub(super) const SHARED_VALIDATE: u64 = 3;
    pub(super) const TYPE: u64 = 0xf;
    pub(super) const FIXED: u64 = 0x10;
    pub(super) const REMAP_FIXED: u64 = 2;
    pub(super) const REMAP_KEEP: u64 = 4;
}

/// What `mprotect` says of addresses that are not mapped.
const ENOMEM: Errno = Errno(12);

/// Numbers of spaces that a file may leave out.
const MOST_HOLES: u64 = 1 << 10;

/// The highest number of a space that an event has.
fn highest_space(event: &Event) -> u32 {
    let new = match event.action {
        Action::Exec { new_space } | Action::Fork { new_space, .. } => new_space,
        _ => 0,
    };
    new.max(event.space.unwrap_or(0))
}

/// A recording, ready to replay.
#[derive(Clone, Debug)]
pub struct Recording {
    /// What the file says of itself.
    pub header: TraceHeader,
    /// What areas are when they come.
    pub kinds: Kinds,
    /// The operations.
    pub ops: Vec<Op>,
    /// When each happened, in nanoseconds since the start.
    pub at_ns: Vec<u64>,
    /// Events that are no operation, and why.
    pub skipped: BTreeMap<&'static str, u64>,
}

impl Recording {
    /// Reads a trace of calls.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(file: &Path) -> Result<Self, TraceError> {
        let mut events = Events::open(file)?;
        let mut read = Self::of(events.header());
        let mut reader = Reader { page_bytes: events.header().page_bytes, ..Reader::default() };
        let mut highest = (0, 0);
        while let Some(event) = events.next().transpose()? {
            let space = highest_space(&event);
            if space > highest.0 {
                highest = (space, events.line());
            }
            match reader.read(event.space, &event.action) {
                Ok(op) => op.into_iter().for_each(|op| read.push(event.stamp.at_ns, op)),
                Err(why) => read.skip(why),
            }
        }
        let (space, line) = highest;
        // Each has memory of its own.
        if u64::from(space) > events.line() + MOST_HOLES {
            let reason = format!("mm is {space}, and spaces are numbered from 0 without holes");
            return Err(TraceError::at(file, line, reason));
        }
        Ok(Self { kinds: reader.kinds, ..read })
    }

    /// Reads what was traced of the functions of the kernel's trees. It names no tree. A task without threads has one address space,
    /// so its tree is the task's.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read_trees(file: &Path) -> Result<Self, TraceError> {
        let mut events = mt::Events::open(file)?;
        let (mut read, mut trees) = (Self::of(events.header()), HashMap::new());
        while let Some(event) = events.next().transpose()? {
            match tree_call(&event) {
                Ok(call) => {
                    let next = trees.len() as u32;
                    let space = *trees.entry(event.stamp.tid).or_insert(next);
                    if space == next {
                        read.push(event.stamp.at_ns, Op { space, call: Call::Exec });
                    }
                    read.push(event.stamp.at_ns, Op { space, call });
                }
                Err(why) => read.skip(why),
            }
        }
        Ok(read)
    }

    fn of(header: &TraceHeader) -> Self {
        let (header, kinds, skipped) = (header.clone(), Kinds::default(), BTreeMap::new());
        Self { header, kinds, ops: Vec::new(), at_ns: Vec::new(), skipped }
    }

    fn push(&mut self, at_ns: u64, op: Op) {
        self.ops.push(op);
        self.at_ns.push(at_ns);
    }

    fn skip(&mut self, why: &'static str) {
        *self.skipped.entry(why).or_default() += 1;
    }
}

/// What a recording has told so far.
#[derive(Default)]
struct Reader {
    page_bytes: u64,
    kinds: Kinds,
    /// Where the heap of each space ends.
    breaks: HashMap<u32, u64>,
    /// Mappings with a content of their own, so far.
    own: u32,
}

impl Reader {
    /// The operation that an event is; `None` if it has no effect on areas; otherwise why it is left out.
    fn read(&mut self, space: Option<u32>, action: &Action) -> Result<Option<Op>, &'static str> {
        if let Action::Exec { new_space } = *action {
            return Ok(Some(Op { space: new_space, call: Call::Exec }));
        }
        let space = space.ok_or("event without a space")?;
        let call = match *action {
            Action::Map { len_bytes, prot, flags, backing, offset_bytes, outcome, .. } => {
                let at = outcome.map_err(|_| "mmap that failed")?;
                Some(self.map(at, len_bytes, prot, flags, backing, offset_bytes)?)
            }
            Action::Unmap { address, len_bytes, outcome } => {
                outcome.map_err(|_| "munmap that failed")?;
                Some(Call::Unmap { span: self.pages(address, len_bytes)?, by: Caller::Program })
            }
            Action::Protect { address, len_bytes, prot, outcome } => {
                let span = self.pages(address, len_bytes)?;
                if outcome.is_err_and(|error| error != ENOMEM) {
                    return Err("mprotect that failed");
                }
                Some(Call::Protect { span, prot, whole: outcome.is_ok() })
            }
            Action::Remap { address, old_len_bytes, new_len_bytes, flags, outcome, .. } => {
                let to = outcome.map_err(|_| "mremap that failed")?;
                Some(Call::Remap {
                    from: self.pages(address, old_len_bytes)?,
                    to: self.pages(to, new_len_bytes)?,
                    replaces: flags & flags::REMAP_FIXED != 0,
                    keeps: flags & flags::REMAP_KEEP != 0,
                })
            }
            Action::Break { outcome, .. } => self.brk(space, outcome.map_err(|_| "brk that failed")?)?,
            Action::Advise { address, len_bytes, advice, outcome } => {
                outcome.map_err(|_| "madvise that failed")?;
                Some(Call::Advise { span: self.pages(address, len_bytes)?, advice })
            }
            Action::GapSearch { low, high, len_bytes, align_mask, top_down, align_offset, outcome } => {
                if align_offset & align_mask & !(self.page_bytes - 1) != 0 || align_mask >= self.page_bytes {
                    return Err("search for an aligned gap");
                }
                let window = high.checked_sub(1).and_then(|last| Span::new(low, last));
                let window = window.ok_or("search in no window")?;
                Some(Call::Search { size: len_bytes, window, highest: top_down, found: outcome.ok() })
            }
            Action::KernelMap(mapping) => Some(self.kernel_map(&mapping)?),
            Action::Fork { new_space, .. } => {
                if let Some(&end) = self.breaks.get(&space) {
                    self.breaks.insert(new_space, end);
                }
                Some(Call::Fork { into: new_space })
            }
            Action::Destroy => Some(Call::Destroy),
            Action::Exec { .. } | Action::Thread { .. } | Action::Exit { .. } => None,
        };
        Ok(call.map(|call| Op { space, call }))
    }

    fn map(
        &mut self,
        at: u64,
        len_bytes: u64,
        prot: u32,
        flags: u64,
        backing: Backing,
        offset: u64,
    ) -> Result<Call, &'static str> {
        let span = self.pages(at, len_bytes)?;
        let shared = matches!(flags & flags::TYPE, flags::SHARED | flags::SHARED_VALIDATE);
        let shown = match backing {
            Backing::File(file) => Shown::File(file),
            Backing::Anonymous if !shared => Shown::Memory,
            Backing::Anonymous | Backing::Unknown => Shown::Own(self.own()),
        };
        let kind = self.kinds.number(Kind::new(prot, shared, shown, at, offset));
        let replaces = flags & flags::FIXED != 0;
        Ok(Call::Map { span, kind, replaces, by: Caller::Program })
    }

    fn kernel_map(&mut self, mapping: &Mapping) -> Result<Call, &'static str> {
        let Mapping { address, len_bytes, prot, source, shared, backing, offset_bytes } = *mapping;
        let span = self.pages(address, len_bytes)?;
        let shown = Kind::shown_by_kernel(source, backing, self.own());
        let kind = self.kinds.number(Kind::new(prot, shared, shown, address, offset_bytes));
        Ok(Call::Map { span, kind, replaces: true, by: Caller::Kernel })
    }

    /// The heap ends there now; it was told before where it ended, unless this is the first time.
    fn brk(&mut self, space: u32, end: u64) -> Result<Option<Call>, &'static str> {
        let Some(before) = self.breaks.insert(space, end) else { return Ok(None) };
        let up = |address: u64| address.checked_next_multiple_of(self.page_bytes);
        let (before, end) = up(before).zip(up(end)).ok_or("brk beyond all addresses")?;
        let by = Caller::Break;
        Ok(if let Some(span) = Span::from_size(before, end.saturating_sub(before)) {
            let kind = self.kinds.number(Kind::new(3, false, Shown::Memory, before, 0));
            Some(Call::Map { span, kind, replaces: false, by })
        } else {
            Span::from_size(end, before.saturating_sub(end)).map(|span| Call::Unmap { span, by })
        })
    }

    /// A content that no other mapping has.
    fn own(&mut self) -> u32 {
        self.own += 1;
        self.own
    }

    /// Whole pages.
    fn pages(&self, address: u64, len_bytes: u64) -> Result<Span, &'static str> {
        let bytes = len_bytes.checked_next_multiple_of(self.page_bytes);
        bytes.and_then(|bytes| Span::from_size(address, bytes)).ok_or("call over no addresses")
    }
}
