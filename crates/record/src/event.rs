//! One event, whatever recorded it: the common form between the readers of sources and the writers of traces.

use freehold_trace::named;
use freehold_trace::percpu::is_object;
use std::rc::Rc;

/// An event of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, in nanoseconds of the recording's clock.
    pub at: u64,
    /// On which CPU; 0 where the source does not tell.
    pub cpu: u32,
    /// The task; 0 is the idle task.
    pub tid: u32,
    /// The task's name, where the source has it beside the event.
    pub comm: Option<Rc<str>>,
    /// What happened.
    pub what: What,
}

/// What happened. Addresses are as recorded; sizes are in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// `vmalloc:alloc_vmap_area`.
    AreaAlloc {
        /// Its first address; no address of an area where the allocation failed.
        addr: u64,
        /// Bytes, guard page included.
        size: u64,
        /// The alignment asked for.
        align: u64,
        /// The first address allowed.
        vstart: u64,
        /// The first address not allowed.
        vend: u64,
        /// Whether there was no room.
        failed: bool,
    },
    /// `vmalloc:free_vmap_area_noflush`.
    AreaFree {
        /// The first address.
        addr: u64,
        /// Pages freed lazily, this area's included.
        nr_lazy: u64,
        /// Pages from which on they are purged.
        nr_lazy_max: u64,
    },
    /// `vmalloc:purge_vmap_area_lazy`.
    AreaPurge {
        /// The lowest address of what is purged.
        start: u64,
        /// The first address above it.
        end: u64,
        /// How many areas.
        purged: u64,
    },
    /// `percpu:percpu_create_chunk` or `percpu_destroy_chunk`.
    Chunk {
        /// The chunk's address.
        base: u64,
        /// Whether it is created; else it is destroyed.
        created: bool,
    },
    /// `workqueue:workqueue_execute_start` or `_end` of the kernel's purge work.
    Work {
        /// Whether the work starts; else it ends.
        start: bool,
        /// The function's name, or its address in hexadecimal digits.
        function: Rc<str>,
    },
    /// `percpu:percpu_alloc_percpu`.
    ObjectAlloc {
        /// The chunk's address.
        base: u64,
        /// The place in each unit, in bytes.
        offset: u64,
        /// Bytes of one copy.
        size: u64,
        /// The alignment asked for.
        align: u64,
        /// From the part kept for modules.
        reserved: bool,
        /// The caller could not wait.
        atomic: bool,
        /// Whether a control group is charged; nothing before Linux 5.19.
        accounted: Option<bool>,
        /// Bytes charged; nothing before Linux 5.19.
        bytes: Option<u64>,
        /// The caller: a symbol, or an address in hexadecimal digits; nothing before Linux 5.19.
        site: Option<Rc<str>>,
    },
    /// `percpu:percpu_free_percpu`.
    ObjectFree {
        /// The chunk's address.
        base: u64,
        /// The place in each unit, in bytes.
        offset: u64,
    },
    /// `percpu:percpu_alloc_percpu_fail`.
    ObjectFail {
        /// Bytes of one copy.
        size: u64,
        /// The alignment asked for.
        align: u64,
        /// From the part kept for modules.
        reserved: bool,
        /// The caller could not wait.
        atomic: bool,
    },
    /// A system call that has returned.
    Call {
        /// Which.
        call: Call,
        /// Its arguments as they were passed, as many as it has.
        args: [u64; 6],
        /// What it returned: an error is the negative error number.
        ret: i64,
        /// What an `mmap` maps.
        file: File,
    },
    /// `mmap:vm_unmapped_area`: the kernel looked for a gap.
    GapSearch {
        /// The address that was found, or the negative error number.
        ret: i64,
        /// `VM_UNMAPPED_*`; 1 searches from above.
        flags: u64,
        /// Bytes.
        len: u64,
        /// The lowest address allowed.
        low: u64,
        /// The first address not allowed.
        high: u64,
        /// See the kernel's `align_mask`.
        align_mask: u64,
        /// See the kernel's `align_offset`.
        align_offset: u64,
    },
    /// A mapping that no traced call made, seen in `/proc/PID/maps` or told by perf.
    KernelMapping(Mapping),
    /// The task runs another program, in a new address space.
    Exec,
    /// The task made another one, which has a copy of its address space.
    Fork {
        /// The new task.
        child: u32,
        /// `CLONE_*`.
        flags: u64,
    },
    /// The task made another one, which shares its address space.
    Thread {
        /// The new task.
        child: u32,
        /// `CLONE_*`.
        flags: u64,
    },
    /// The task ended.
    Exit,
    /// A `maple_tree:*` event.
    Tree {
        /// What the function was about to do.
        op: TreeOp,
        /// The function: its name, or its string's address in hexadecimal digits.
        function: Rc<str>,
        /// The node's address.
        node: u64,
        /// The lowest key below the node.
        min: u64,
        /// The highest key below the node.
        max: u64,
        /// The first key concerned.
        index: u64,
        /// The last key concerned.
        last: u64,
    },
    /// Events were lost before this moment on this CPU.
    Lost {
        /// How many; nothing where the source does not tell.
        count: Option<u64>,
    },
}

/// `CLONE_VM`: the new task shares the address space.
pub(crate) const CLONE_VM: u64 = 0x100;
/// `CLONE_THREAD`: the new task is a thread of the same process.
pub(crate) const CLONE_THREAD: u64 = 0x1_0000;

/// Bytes of a page at least: on other machines a page is some of these.
const LEAST_PAGE: u64 = 4096;

impl What {
    /// The task made another one, by a call with these `CLONE_*`.
    pub(crate) fn made(child: u32, flags: u64) -> Self {
        if flags & CLONE_VM == 0 { Self::Fork { child, flags } } else { Self::Thread { child, flags } }
    }

    /// The same as perf tells it, by the processes of both tasks: the flags as far as these tell them.
    pub(crate) fn made_in(child: u32, is_same_process: bool) -> Self {
        Self::made(child, if is_same_process { CLONE_VM | CLONE_THREAD } else { 0 })
    }

    /// Refuses what no kernel says: every reader asks this of what it has read.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self) -> Result<(), String> {
        let aligned = |align: u64| match align.is_power_of_two() {
            true => Ok(()),
            false => Err(format!("an alignment of {align} is not a power of two")),
        };
        let placed = |start: u64, size: u64| match size > 0 && start.checked_add(size - 1).is_some() {
            true => Ok(()),
            false => Err(format!("{size} bytes at {start:x} are no area")),
        };
        let ordered = |low: u64, high: u64| match low <= high {
            true => Ok(()),
            false => Err(format!("{low:x} is above {high:x}")),
        };
        match *self {
            Self::AreaAlloc { addr, size, align, vstart, vend, failed } => {
                aligned(align)?;
                if vstart >= vend {
                    return Err(format!("the window from {vstart:x} to {vend:x} is empty"));
                }
                if size % LEAST_PAGE != 0 {
                    return Err(format!("an area of {size} bytes is not made of pages"));
                }
                placed(if failed { 0 } else { addr }, size)
            }
            Self::ObjectAlloc { size, align, offset, .. } => {
                aligned(align)?;
                match is_object(offset, size) {
                    true => Ok(()),
                    false => Err(format!("{size} bytes at {offset:x} are no object")),
                }
            }
            Self::ObjectFail { align, .. } => aligned(align),
            Self::KernelMapping(Mapping { start, end, .. }) => placed(start, end.saturating_sub(start)),
            Self::Tree { min, max, index, last, .. } => {
                ordered(min, max)?;
                ordered(index, last)
            }
            _ => Ok(()),
        }
    }
}

/// What a function of a maple tree was about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeOp {
    /// Look up.
    Read,
    /// Store `value`, at the pivot `pivot`.
    Write {
        /// The pivot concerned.
        pivot: u64,
        /// The word stored.
        value: u64,
    },
    /// Change the structure.
    Restructure,
}

/// What a mapping shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum File {
    /// No file.
    Anonymous,
    /// A file that the source does not name.
    Unknown,
    /// A file.
    Known {
        /// The device: major number in the upper half, minor in the lower.
        dev: u64,
        /// The inode.
        inode: u64,
    },
}

named! {
    /// Where a mapping comes from that no traced call made.
    Source {
        Stack "stack" "The stack."
        Vdso "vdso" "The kernel's code for processes."
        Vvar "vvar" "The kernel's data for processes."
        File "file" "A segment of a program."
        Heap "heap" "The heap, which `brk` moves the end of."
        Anon "anon" "Other memory."
    }
}

/// One line of `/proc/PID/maps`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The first address.
    pub start: u64,
    /// The first address above it.
    pub end: u64,
    /// `PROT_*`: 1 read, 2 write, 4 execute.
    pub prot: u32,
    /// Whether it is shared.
    pub shared: bool,
    /// Where it comes from.
    pub source: Source,
    /// What it shows.
    pub file: File,
    /// Where in the file it starts, in bytes.
    pub offset: u64,
}

named! {
    /// The system calls that are recorded, by the name as in `sys_enter_NAME`.
    Call {
        Mmap "mmap" "Maps a file or memory."
        Munmap "munmap" "Removes mappings."
        Mprotect "mprotect" "Changes what may be done with mappings."
        Mremap "mremap" "Moves or resizes a mapping."
        Brk "brk" "Moves the end of the heap."
        Madvise "madvise" "Tells how mappings are used."
        ProcessMadvise "process_madvise" "Tells how mappings of another process are used."
        Shmat "shmat" "Maps a segment of shared memory."
        Shmdt "shmdt" "Removes the mapping of such a segment."
        RemapFilePages "remap_file_pages" "Changes which part of a file pages show."
        Mseal "mseal" "Forbids changes of mappings."
    }
}

impl Call {
    /// The names of its arguments, as in its format file; `a|b` are names in different kernels.
    #[must_use]
    pub fn args(self) -> &'static [&'static str] {
        match self {
            Self::Mmap => &["addr", "len", "prot", "flags", "fd", "off"],
            Self::Munmap => &["addr", "len"],
            Self::Mprotect => &["start", "len", "prot"],
            Self::Mremap => &["addr", "old_len", "new_len", "flags", "new_addr"],
            Self::Brk => &["brk"],
            Self::Madvise => &["start", "len_in|len", "behavior"],
            Self::ProcessMadvise => &["pidfd", "vec", "vlen", "behavior", "flags"],
            Self::Shmat => &["shmid", "shmaddr", "shmflg"],
            Self::Shmdt => &["shmaddr"],
            Self::RemapFilePages => &["start", "size", "prot", "pgoff", "flags"],
            Self::Mseal => &["start", "len", "flags"],
        }
    }
}
