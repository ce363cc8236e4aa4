//! Address spaces of processes: which task is in which, and the calls that change them.

use super::Rows;
use super::cover::{Cover, KERNEL_HALF};
use crate::Error;
use crate::event::{Call, Event, File, Mapping, Source, What};
use crate::folder::{Meta, Origin};
use crate::snapshot::Snapshots;
use freehold_trace::Stamp;
use freehold_trace::vma::{
    Action, Backing, Errno, Event as Row, Mapping as RowMapping, MappingSource, Outcome,
};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Ranges of all processes that are kept at most: each fork copies its parent's.
const MOST_COPIED: usize = 1 << 22;
/// `MREMAP_FIXED` and `MREMAP_DONTUNMAP`: the new address counts.
const NEW_ADDRESS: u64 = 2 | 4;

/// An address space.
struct Space {
    /// Tasks that are in it.
    users: u32,
    /// That its program was started may be told again.
    fresh: bool,
    cover: Cover,
}

struct State<'a> {
    rows: Rows,
    page: u64,
    source: Origin,
    snapshots: &'a Snapshots,
    tasks: HashMap<u32, u32>,
    /// Tasks that ended.
    ended: HashSet<u32>,
    spaces: Vec<Space>,
    files: HashMap<(u64, u64), u32>,
    /// Calls that change mappings in a way that no row says.
    unsaid: BTreeMap<&'static str, u64>,
    /// How many mappings differ from the last snapshot of a process.
    differences: BTreeMap<u32, u64>,
    /// The last snapshot of a process that goes on.
    last: Option<Last>,
    /// Ranges that children have of their parents.
    copied: usize,
}

/// A snapshot that was taken while events came.
struct Last {
    /// When reading it began and ended.
    read: (u64, u64),
    /// What its process had mapped then, and what changed while it was read.
    had: Cover,
    changed: Cover,
}

/// How long after a change its event comes, at most.
const LATE_NS: u64 = 10_000_000;

/// Writes the rows.
pub(super) fn convert(
    snapshots: &Snapshots,
    meta: &Meta,
    events: impl Iterator<Item = Result<Event, Error>>,
    rows: Rows,
) -> Result<Rows, Error> {
    let mut state = State {
        rows,
        page: meta.page_bytes,
        source: meta.source,
        snapshots,
        tasks: HashMap::new(),
        ended: HashSet::new(),
        spaces: Vec::new(),
        files: HashMap::new(),
        unsaid: BTreeMap::new(),
        differences: BTreeMap::new(),
        last: None,
        copied: 0,
    };
    for (&pid, mappings) in &snapshots.start.maps {
        let stamp = Stamp { at_ns: 0, cpu: 0, tid: pid };
        let space = state.exec(stamp)?;
        for mapping in mappings.iter().filter(|mapping| mapping.start < KERNEL_HALF) {
            state.mapping(stamp, space, mapping)?;
        }
    }
    for event in events {
        let event = event?;
        let stamp = state.rows.take(&event)?;
        match meta.snapshot_end.filter(|(begin, _)| event.at >= *begin) {
            Some(read) => state.follow_late(read, event.at, stamp, &event.what)?,
            None => state.follow(stamp, &event.what)?,
        }
    }
    for (&pid, mappings) in &snapshots.end.maps {
        match (&state.last, state.tasks.get(&pid)) {
            (Some(last), _) => {
                state.differences.insert(pid, last.had.differences(mappings, &last.changed));
            }
            (None, Some(&space)) => state.compare(pid, space, mappings),
            (None, None) => {}
        }
    }
    for (call, count) in &state.unsaid {
        state.rows.warn(format!("{count} calls of {call} change mappings and have no row"));
    }
    let differences = state.differences.values();
    state.rows.summary.differences = (differences.len() > 0).then(|| differences.sum());
    Ok(state.rows)
}

impl State<'_> {
    fn follow(&mut self, stamp: Stamp, what: &What) -> Result<(), Error> {
        match *what {
            What::Call { .. } => self.call(stamp, what),
            What::GapSearch { ret, flags, len, low, high, align_mask, align_offset } => {
                let space = self.space(stamp)?;
                let (top_down, outcome) = (flags & 1 != 0, outcome(ret));
                let len_bytes = len;
                let action =
                    Action::GapSearch { low, high, len_bytes, align_mask, top_down, align_offset, outcome };
                self.row(stamp, Some(space), action)
            }
            What::KernelMapping(ref mapping) => {
                let space = self.space(stamp)?;
                self.mapping(stamp, space, mapping)
            }
            What::Exec => self.exec(stamp).map(drop),
            What::Fork { child, flags } | What::Thread { child, flags } => {
                let shares = matches!(what, What::Thread { .. });
                self.child(stamp, child, flags, shares)
            }
            What::Exit => self.exit(stamp),
            _ => {
                self.rows.other(what);
                Ok(())
            }
        }
    }

    /// What happened once the last snapshot was begun: it may be in it, or not.
    fn follow_late(&mut self, read: (u64, u64), at: u64, stamp: Stamp, what: &What) -> Result<(), Error> {
        let pid = self.snapshots.end.maps.keys().next().copied();
        let space = pid.and_then(|pid| self.tasks.get(&pid).copied());
        let before = space.map(|space| self.at(space).cover.clone()).unwrap_or_default();
        self.follow(stamp, what)?;
        let last =
            self.last.get_or_insert_with(|| Last { read, had: before.clone(), changed: Cover::default() });
        if let Some(space) = space.filter(|_| at <= last.read.1.saturating_add(LATE_NS)) {
            last.changed.add_changes(&before, &self.spaces[space as usize].cover);
        }
        Ok(())
    }

    fn row(&mut self, stamp: Stamp, space: Option<u32>, action: Action) -> Result<(), Error> {
        self.rows.row(&Row { stamp, space, action })
    }

    fn at(&mut self, space: u32) -> &mut Space {
        &mut self.spaces[space as usize]
    }

    /// A new space with a task in it.
    fn enter(&mut self, tid: u32, fresh: bool, cover: Cover) -> u32 {
        let space = self.spaces.len() as u32;
        self.spaces.push(Space { users: 1, fresh, cover });
        self.tasks.insert(tid, space);
        space
    }

    /// The space of the task. One that was not seen so far gets one, whose mappings are not known.
    fn space(&mut self, stamp: Stamp) -> Result<u32, Error> {
        if let Some(&space) = self.tasks.get(&stamp.tid) {
            return Ok(space);
        }
        self.rows.summary.unknown += u64::from(!self.ended.contains(&stamp.tid));
        self.exec(stamp)
    }

    fn exec(&mut self, stamp: Stamp) -> Result<u32, Error> {
        let before = self.tasks.get(&stamp.tid).copied();
        if let Some(space) = before {
            if self.at(space).fresh {
                return Ok(space);
            }
            self.leave(stamp, space)?;
        }
        let new_space = self.enter(stamp.tid, true, Cover::default());
        self.row(stamp, before, Action::Exec { new_space })?;
        Ok(new_space)
    }

    fn leave(&mut self, stamp: Stamp, space: u32) -> Result<(), Error> {
        let users = &mut self.at(space).users;
        *users = users.saturating_sub(1);
        if *users > 0 {
            return Ok(());
        }
        let gone = std::mem::take(&mut self.at(space).cover);
        self.copied = self.copied.saturating_sub(gone.len());
        self.row(stamp, Some(space), Action::Destroy)
    }

    fn child(&mut self, stamp: Stamp, child: u32, flags: u64, shares: bool) -> Result<(), Error> {
        // Two sources may tell of the same.
        if self.tasks.contains_key(&child) {
            return Ok(());
        }
        self.ended.remove(&child);
        let space = self.space(stamp)?;
        self.at(space).fresh = false;
        if shares {
            self.at(space).users += 1;
            self.tasks.insert(child, space);
            return self.row(stamp, Some(space), Action::Thread { child, flags });
        }
        let cover = self.at(space).cover.inherited();
        self.copied += cover.len();
        if self.copied > MOST_COPIED {
            let what = format!("processes have more than {MOST_COPIED} mappings together");
            return Err(Error::Odd { at: stamp.at_ns, what });
        }
        let new_space = self.enter(child, false, cover);
        self.row(stamp, Some(space), Action::Fork { child, flags, new_space })
    }

    fn exit(&mut self, stamp: Stamp) -> Result<(), Error> {
        let Some(space) = self.tasks.remove(&stamp.tid) else { return Ok(()) };
        self.ended.insert(stamp.tid);
        let snapshots = self.snapshots;
        let ended = snapshots.end.maps.get(&stamp.tid).filter(|_| self.last.is_none());
        if let Some(mappings) = ended {
            self.compare(stamp.tid, space, mappings);
        }
        let last = self.at(space).users <= 1;
        self.row(stamp, Some(space), Action::Exit { last })?;
        self.leave(stamp, space)
    }

    /// Of a process that ends again, since another of its threads has executed a program, the last end counts.
    fn compare(&mut self, pid: u32, space: u32, mappings: &[Mapping]) {
        let differences = self.at(space).cover.differences(mappings, &Cover::default());
        self.differences.insert(pid, differences);
    }

    fn mapping(&mut self, stamp: Stamp, space: u32, mapping: &Mapping) -> Result<(), Error> {
        let (page, is_perf) = (self.page, self.source == Origin::Perf);
        let it = self.at(space);
        // perf tells of a program's start before its mappings, and the kernel's event after them. Others tell of it before.
        it.fresh &= is_perf;
        it.cover.follow(&What::KernelMapping(*mapping), page);
        let source = match mapping.source {
            Source::Stack => MappingSource::Stack,
            Source::Vdso => MappingSource::Vdso,
            Source::Vvar => MappingSource::Vvar,
            Source::File => MappingSource::File,
            Source::Heap | Source::Anon => MappingSource::Anonymous,
        };
        let mapping = RowMapping {
            address: mapping.start,
            len_bytes: mapping.end - mapping.start,
            prot: mapping.prot,
            source,
            shared: mapping.shared,
            backing: self.backing(mapping.file),
            offset_bytes: mapping.offset,
        };
        self.row(stamp, Some(space), Action::KernelMap(mapping))
    }

    fn backing(&mut self, file: File) -> Backing {
        match file {
            File::Anonymous => Backing::Anonymous,
            File::Unknown => Backing::Unknown,
            File::Known { dev, inode } => {
                let next = self.files.len() as u32 + 1;
                Backing::File(*self.files.entry((dev, inode)).or_insert(next))
            }
        }
    }

    fn call(&mut self, stamp: Stamp, what: &What) -> Result<(), Error> {
        let What::Call { call, args, ret, file } = *what else { return Ok(()) };
        let space = self.space(stamp)?;
        let page = self.page;
        let it = self.at(space);
        it.fresh = false;
        it.cover.follow(what, page);
        let ([address, len_bytes, third, flags, fifth, offset_bytes], outcome) = (args, outcome(ret));
        // More bits than these are no protection and no advice, and are refused.
        let value = u32::try_from(third).unwrap_or(u32::MAX);
        let action = match call {
            Call::Mmap => {
                let backing = self.backing(file);
                Action::Map { address, len_bytes, prot: value, flags, backing, offset_bytes, outcome }
            }
            Call::Munmap => Action::Unmap { address, len_bytes, outcome },
            Call::Mprotect => Action::Protect { address, len_bytes, prot: value, outcome },
            Call::Mremap => Action::Remap {
                address,
                old_len_bytes: len_bytes,
                new_len_bytes: third,
                flags,
                new_address: (flags & NEW_ADDRESS != 0).then_some(fifth),
                outcome,
            },
            Call::Brk => Action::Break { request: address, outcome },
            Call::Madvise if matches!(value, 0..=2 | 10..=19) => {
                Action::Advise { address, len_bytes, advice: value, outcome }
            }
            Call::Shmat | Call::Shmdt | Call::RemapFilePages => {
                if outcome.is_ok() {
                    *self.unsaid.entry(call.name()).or_default() += 1;
                }
                return Ok(());
            }
            Call::Madvise | Call::ProcessMadvise | Call::Mseal => return Ok(()),
        };
        self.row(stamp, Some(space), action)
    }
}

/// An address, or an error.
fn outcome(ret: i64) -> Outcome {
    match u16::try_from(ret.wrapping_neg()) {
        Ok(errno @ 1..=4095) => Err(Errno(errno)),
        _ => Ok(ret.cast_unsigned()),
    }
}
