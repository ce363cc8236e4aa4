//! Recorded events of process address spaces, one per completed system call, in the order of completion.

use crate::named::named;
use crate::{EventReader, Fields, Kind, Stamp, TraceEvent};
use std::io::{self, Write};

/// An error number of Linux, positive as in `errno`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Errno(pub u16);

/// What a call returned: an address (or 0 where it returns none), or an error.
pub type Outcome = Result<u64, Errno>;

/// What a mapping shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Backing {
    /// No file.
    Anonymous,
    /// A file that the recording could not name.
    Unknown,
    /// A file, by its number in this recording.
    File(u32),
}

named! {
    /// Where a mapping comes from that no traced call made.
    MappingSource {
        Stack "stack" "The stack, or its growth."
        Vdso "vdso" "The kernel's code for processes."
        Vvar "vvar" "The kernel's data for processes."
        File "file" "A segment of a program."
        Anonymous "anon" "Memory of a program beyond its file."
    }
}

/// A mapping that the kernel made by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Its first address.
    pub address: u64,
    /// Its length in bytes.
    pub len_bytes: u64,
    /// `PROT_*` bits.
    pub prot: u32,
    /// Why it was made.
    pub source: MappingSource,
    /// Whether it is shared.
    pub shared: bool,
    /// What it shows.
    pub backing: Backing,
    /// Where in the file it starts, in bytes.
    pub offset_bytes: u64,
}

/// What happened. Lengths are as asked for, before rounding to pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// `mmap`.
    Map {
        /// The hint, or the place with `MAP_FIXED`.
        address: u64,
        /// Bytes.
        len_bytes: u64,
        /// `PROT_*` bits.
        prot: u32,
        /// `MAP_*` bits.
        flags: u64,
        /// What it shows.
        backing: Backing,
        /// Where in the file it starts, in bytes.
        offset_bytes: u64,
        /// The address.
        outcome: Outcome,
    },
    /// `munmap`.
    Unmap {
        /// First address.
        address: u64,
        /// Bytes.
        len_bytes: u64,
        /// 0.
        outcome: Outcome,
    },
    /// `mprotect`.
    Protect {
        /// First address.
        address: u64,
        /// Bytes.
        len_bytes: u64,
        /// `PROT_*` bits.
        prot: u32,
        /// 0.
        outcome: Outcome,
    },
    /// `mremap`.
    Remap {
        /// Where the mapping was.
        address: u64,
        /// Its bytes.
        old_len_bytes: u64,
        /// Bytes afterwards.
        new_len_bytes: u64,
        /// `MREMAP_*` bits.
        flags: u64,
        /// The new place asked for, if one was given.
        new_address: Option<u64>,
        /// The address afterwards.
        outcome: Outcome,
    },
    /// `brk`.
    Break {
        /// The end asked for; 0 only asks where it is.
        request: u64,
        /// The end afterwards; never an error.
        outcome: Outcome,
    },
    /// `madvise` with an advice that changes the state of areas.
    Advise {
        /// First address.
        address: u64,
        /// Bytes.
        len_bytes: u64,
        /// `MADV_*`.
        advice: u32,
        /// 0.
        outcome: Outcome,
    },
    /// The kernel looked for a gap.
    GapSearch {
        /// The lowest address allowed.
        low: u64,
        /// The first address not allowed.
        high: u64,
        /// Bytes.
        len_bytes: u64,
        /// Bits of the address that must agree with the offset's.
        align_mask: u64,
        /// Whether the highest gap is wanted, not the lowest.
        top_down: bool,
        /// See `align_mask`.
        align_offset: u64,
        /// The address found.
        outcome: Outcome,
    },
    /// The kernel mapped by itself; this replaces whatever it overlaps.
    KernelMap(Mapping),
    /// A program was started: the task left its space, if that was followed, for a new one.
    Exec {
        /// The new space.
        new_space: u32,
    },
    /// A task was created with a copy of the space.
    Fork {
        /// The new task.
        child: u32,
        /// `CLONE_*` bits.
        flags: u64,
        /// The copy.
        new_space: u32,
    },
    /// A task was created that shares the space.
    Thread {
        /// The new task.
        child: u32,
        /// `CLONE_*` bits.
        flags: u64,
    },
    /// The task ended.
    Exit {
        /// Whether it was its process's last.
        last: bool,
    },
    /// The space was destroyed.
    Destroy,
}

/// One recorded event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When and where it happened.
    pub stamp: Stamp,
    /// The address space; `None` only for an exec from a space that was not followed.
    pub space: Option<u32>,
    /// What happened.
    pub action: Action,
}

/// The events of a file, in order.
pub type Events = EventReader<Event>;

impl TraceEvent for Event {
    const KIND: Kind = Kind::Vma;

    fn parse(stamp: Stamp, fields: &mut Fields<'_>) -> Result<Self, String> {
        let op = fields.text("op")?;
        let space: Option<u32> = fields.optional("mm")?;
        let mut row = Row { fields };
        let action = match op {
            "m" => row.map()?,
            "u" => row.unmap()?,
            "p" => row.protect()?,
            "r" => row.remap()?,
            "b" => row.brk()?,
            "a" => row.advise()?,
            "g" => row.gap_search()?,
            "k" => row.kernel_map()?,
            "x" => row.exec()?,
            "f" => row.fork()?,
            "t" => row.thread(space)?,
            "e" => row.exit()?,
            "z" => row.destroy()?,
            other => return Err(format!("unknown op {other:?}")),
        };
        if space.is_none() && !matches!(action, Action::Exec { .. }) {
            return Err("mm is empty".to_owned());
        }
        Ok(Self { stamp, space, action })
    }

    fn stamp(&self) -> Stamp {
        self.stamp
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_row(out)
    }
}

/// The columns after `mm`: addr, len, prot, flags, file, off_or_newaddr, ret. Each op has its own use for them.
struct Row<'f, 'a> {
    fields: &'f mut Fields<'a>,
}

impl Row<'_, '_> {
    fn map(&mut self) -> Result<Action, String> {
        Ok(Action::Map {
            address: self.fields.hex("addr")?,
            len_bytes: self.fields.value("len")?,
            prot: self.fields.value("prot")?,
            flags: self.fields.hex("flags")?,
            backing: self.backing()?,
            offset_bytes: self.fields.hex("off")?,
            outcome: self.outcome()?,
        })
    }

    fn unmap(&mut self) -> Result<Action, String> {
        let (address, len_bytes) = (self.fields.hex("addr")?, self.fields.value("len")?);
        self.empty(&["prot", "flags", "file", "off"])?;
        Ok(Action::Unmap { address, len_bytes, outcome: self.outcome()? })
    }

    fn protect(&mut self) -> Result<Action, String> {
        let (address, len_bytes) = (self.fields.hex("addr")?, self.fields.value("len")?);
        let prot = self.fields.value("prot")?;
        self.empty(&["flags", "file", "off"])?;
        Ok(Action::Protect { address, len_bytes, prot, outcome: self.outcome()? })
    }

    fn remap(&mut self) -> Result<Action, String> {
        let (address, old_len_bytes) = (self.fields.hex("addr")?, self.fields.value("old_len")?);
        let (new_len_bytes, flags) = (self.fields.value("new_len")?, self.fields.hex("flags")?);
        self.empty(&["file"])?;
        let new_address = self.fields.optional_hex("newaddr")?;
        let outcome = self.outcome()?;
        Ok(Action::Remap { address, old_len_bytes, new_len_bytes, flags, new_address, outcome })
    }

    fn brk(&mut self) -> Result<Action, String> {
        let request = self.fields.hex("addr")?;
        self.empty(&["len", "prot", "flags", "file", "off"])?;
        Ok(Action::Break { request, outcome: self.outcome()? })
    }

    fn advise(&mut self) -> Result<Action, String> {
        let (address, len_bytes) = (self.fields.hex("addr")?, self.fields.value("len")?);
        let advice = self.fields.value("advice")?;
        self.empty(&["flags", "file", "off"])?;
        Ok(Action::Advise { address, len_bytes, advice, outcome: self.outcome()? })
    }

    fn gap_search(&mut self) -> Result<Action, String> {
        let mut window = Fields::new(self.fields.text("addr")?, '-');
        let (low, high) = (window.hex("lo")?, window.hex("hi")?);
        window.end()?;
        let (len_bytes, align_mask) = (self.fields.value("len")?, self.fields.hex("align_mask")?);
        let top_down = self.fields.flag("flags")?;
        self.empty(&["file"])?;
        let (align_offset, outcome) = (self.fields.hex("off")?, self.outcome()?);
        Ok(Action::GapSearch { low, high, len_bytes, align_mask, top_down, align_offset, outcome })
    }

    fn kernel_map(&mut self) -> Result<Action, String> {
        let (address, len_bytes) = (self.fields.hex("addr")?, self.fields.value("len")?);
        let prot = self.fields.value("prot")?;
        let flags = self.fields.text("flags")?;
        let (source, shared) = flags.strip_suffix('S').map_or((flags, false), |source| (source, true));
        let source = MappingSource::named(source);
        let source = source.ok_or_else(|| format!("unknown source of a mapping {flags:?}"))?;
        let (backing, offset_bytes) = (self.backing()?, self.fields.hex("off")?);
        if self.fields.hex("ret")? != address {
            return Err("ret is not the mapping's address".to_owned());
        }
        let mapping = Mapping { address, len_bytes, prot, source, shared, backing, offset_bytes };
        Ok(Action::KernelMap(mapping))
    }

    fn exec(&mut self) -> Result<Action, String> {
        self.empty(&["addr", "len", "prot", "flags", "file", "off"])?;
        Ok(Action::Exec { new_space: self.fields.value("ret")? })
    }

    fn fork(&mut self) -> Result<Action, String> {
        let (child, flags) = self.child()?;
        Ok(Action::Fork { child, flags, new_space: self.fields.value("ret")? })
    }

    fn thread(&mut self, space: Option<u32>) -> Result<Action, String> {
        let (child, flags) = self.child()?;
        // The shared space once more, in hexadecimal where the others are decimal.
        let shared = self.fields.hex("ret")?;
        if space.map(u64::from) != Some(shared) {
            return Err(format!("a thread shares its creator's space, not {shared:x}"));
        }
        Ok(Action::Thread { child, flags })
    }

    fn exit(&mut self) -> Result<Action, String> {
        self.empty(&["addr", "len", "prot", "flags", "file", "off"])?;
        Ok(Action::Exit { last: self.fields.flag("ret")? })
    }

    fn destroy(&mut self) -> Result<Action, String> {
        self.empty(&["addr", "len", "prot", "flags", "file", "off", "ret"])?;
        Ok(Action::Destroy)
    }

    /// The child and its `CLONE_*` bits; up to and without ret.
    fn child(&mut self) -> Result<(u32, u64), String> {
        self.empty(&["addr", "len"])?;
        let child = (self.fields.value("child")?, self.fields.hex("flags")?);
        self.empty(&["file", "off"])?;
        Ok(child)
    }

    fn backing(&mut self) -> Result<Backing, String> {
        match self.fields.text("file")? {
            "0" => Ok(Backing::Anonymous),
            "-1" => Ok(Backing::Unknown),
            file => {
                let file = file.parse().map_err(|_| format!("file is unreadable: {file:?}"))?;
                Ok(Backing::File(file))
            }
        }
    }

    /// Hexadecimal, or a decimal error number after a minus sign.
    fn outcome(&mut self) -> Result<Outcome, String> {
        let text = self.fields.text("ret")?;
        match text.strip_prefix('-') {
            Some(number) => {
                let errno = number.parse().ok().filter(|errno| (1..=4095).contains(errno));
                errno.map(|errno| Err(Errno(errno))).ok_or_else(|| format!("ret is no error: {text:?}"))
            }
            None => Fields::new(text, ',').hex("ret").map(Ok),
        }
    }

    /// Columns that the op has no use for.
    fn empty(&mut self, names: &[&str]) -> Result<(), String> {
        for name in names {
            let text = self.fields.text(name)?;
            if !text.is_empty() {
                return Err(format!("{name} must be empty: {text:?}"));
            }
        }
        Ok(())
    }
}
