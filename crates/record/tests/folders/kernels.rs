//! Events as four kernels describe them: fields that were added, removed and moved.

use super::pages::Event;

const NONE: &str = "\"\"";

/// Linux 5.10: no caller, no charge.
pub(crate) const ALLOC_5_10: Event = Event {
    system: "percpu",
    name: "percpu_alloc_percpu",
    id: 311,
    fields: &[
        ("bool reserved", 8, 1, 0),
        ("bool is_atomic", 9, 1, 0),
        ("size_t size", 16, 8, 0),
        ("size_t align", 24, 8, 0),
        ("void * base_addr", 32, 8, 0),
        ("int off", 40, 4, 1),
        ("void * ptr", 48, 8, 0),
    ],
    print: NONE,
};

/// From Linux 5.19 on; the flags as Linux 6.1 prints them.
pub(crate) const ALLOC_6_1: Event = Event {
    system: "percpu",
    name: "percpu_alloc_percpu",
    id: 402,
    fields: &[
        ("unsigned long call_site", 8, 8, 0),
        ("bool reserved", 16, 1, 0),
        ("bool is_atomic", 17, 1, 0),
        ("size_t size", 24, 8, 0),
        ("size_t align", 32, 8, 0),
        ("void * base_addr", 40, 8, 0),
        ("int off", 48, 4, 1),
        ("void * ptr", 56, 8, 0),
        ("size_t bytes_alloc", 64, 8, 0),
        ("unsigned long gfp_flags", 72, 8, 0),
    ],
    print: "\"%s\", {(unsigned long)((( gfp_t)0x10000u)), \"__GFP_NOFAIL\"}, \
            {(unsigned long)((( gfp_t)0x400000u)), \"__GFP_ACCOUNT\"}",
};

pub(crate) const FREE: Event = Event {
    system: "percpu",
    name: "percpu_free_percpu",
    id: 312,
    fields: &[("void * base_addr", 8, 8, 0), ("int off", 16, 4, 1), ("void * ptr", 24, 8, 0)],
    print: NONE,
};

pub(crate) const FAIL: Event = Event {
    system: "percpu",
    name: "percpu_alloc_percpu_fail",
    id: 313,
    fields: &[
        ("bool reserved", 8, 1, 0),
        ("bool is_atomic", 9, 1, 0),
        ("size_t size", 16, 8, 0),
        ("size_t align", 24, 8, 0),
    ],
    print: NONE,
};

pub(crate) const CREATE: Event = Event {
    system: "percpu",
    name: "percpu_create_chunk",
    id: 314,
    fields: &[("void * base_addr", 8, 8, 0)],
    print: NONE,
};

pub(crate) const DESTROY: Event = Event { name: "percpu_destroy_chunk", id: 315, ..CREATE };

/// Linux 6.18 and 6.12.
pub(crate) const AREA_ALLOC: Event = Event {
    system: "vmalloc",
    name: "alloc_vmap_area",
    id: 716,
    fields: &[
        ("unsigned long addr", 8, 8, 0),
        ("unsigned long size", 16, 8, 0),
        ("unsigned long align", 24, 8, 0),
        ("unsigned long vstart", 32, 8, 0),
        ("unsigned long vend", 40, 8, 0),
        ("int failed", 48, 4, 1),
    ],
    print: NONE,
};

/// As a kernel might have it that puts the limits first, has another field, and no `failed`.
pub(crate) const AREA_ALLOC_MOVED: Event = Event {
    system: "vmalloc",
    name: "alloc_vmap_area",
    id: 77,
    fields: &[
        ("unsigned long vstart", 8, 8, 0),
        ("unsigned long vend", 16, 8, 0),
        ("int node", 24, 4, 1),
        ("unsigned int align", 28, 4, 0),
        ("unsigned long addr", 32, 8, 0),
        ("unsigned long size", 40, 8, 0),
    ],
    print: NONE,
};

pub(crate) const AREA_FREE: Event = Event {
    system: "vmalloc",
    name: "free_vmap_area_noflush",
    id: 714,
    fields: &[
        ("unsigned long va_start", 8, 8, 0),
        ("unsigned long nr_lazy", 16, 8, 0),
        ("unsigned long nr_lazy_max", 24, 8, 0),
    ],
    print: NONE,
};

pub(crate) const PURGE: Event = Event {
    system: "vmalloc",
    name: "purge_vmap_area_lazy",
    id: 715,
    fields: &[
        ("unsigned long start", 8, 8, 0),
        ("unsigned long end", 16, 8, 0),
        ("unsigned int npurged", 24, 4, 0),
    ],
    print: NONE,
};

pub(crate) const WORK_START: Event = Event {
    system: "workqueue",
    name: "workqueue_execute_start",
    id: 150,
    fields: &[("void * work", 8, 8, 0), ("void * function", 16, 8, 0)],
    print: NONE,
};

pub(crate) const TREE_WRITE: Event = Event {
    system: "maple_tree",
    name: "ma_write",
    id: 90,
    fields: &[
        ("const char * fn", 8, 8, 0),
        ("unsigned long min", 16, 8, 0),
        ("unsigned long max", 24, 8, 0),
        ("unsigned long index", 32, 8, 0),
        ("unsigned long last", 40, 8, 0),
        ("unsigned long piv", 48, 8, 0),
        ("void * val", 56, 8, 0),
        ("void * node", 64, 8, 0),
    ],
    print: NONE,
};

macro_rules! call {
    ($name:literal, $id:literal, [$($field:expr),*]) => {
        Event {
            system: "syscalls",
            name: $name,
            id: $id,
            fields: &[("int __syscall_nr", 8, 4, 1), $($field),*],
            print: NONE,
        }
    };
}

pub(crate) const ENTER_MMAP: Event = call!(
    "sys_enter_mmap",
    500,
    [
        ("unsigned long addr", 16, 8, 0),
        ("unsigned long len", 24, 8, 0),
        ("unsigned long prot", 32, 8, 0),
        ("unsigned long flags", 40, 8, 0),
        ("unsigned long fd", 48, 8, 0),
        ("unsigned long off", 56, 8, 0)
    ]
);
pub(crate) const EXIT_MMAP_CALL: Event = call!("sys_exit_mmap", 501, [("long ret", 16, 8, 1)]);
/// The advice takes 8 bytes, its type 4.
pub(crate) const ENTER_MADVISE: Event = call!(
    "sys_enter_madvise",
    502,
    [("unsigned long start", 16, 8, 0), ("size_t len_in", 24, 8, 0), ("int behavior", 32, 8, 0)]
);
pub(crate) const EXIT_MADVISE: Event = call!("sys_exit_madvise", 503, [("long ret", 16, 8, 1)]);
pub(crate) const NEW_TASK: Event = Event {
    system: "task",
    name: "task_newtask",
    id: 120,
    fields: &[
        ("pid_t pid", 8, 4, 1),
        ("char comm[16]", 12, 16, 0),
        ("unsigned long clone_flags", 32, 8, 0),
        ("short oom_score_adj", 40, 2, 1),
    ],
    print: NONE,
};
pub(crate) const EXEC: Event = Event {
    system: "sched",
    name: "sched_process_exec",
    id: 121,
    fields: &[("__data_loc char[] filename", 8, 4, 1), ("pid_t pid", 12, 4, 1), ("pid_t old_pid", 16, 4, 1)],
    print: NONE,
};
pub(crate) const EXIT: Event = Event {
    system: "sched",
    name: "sched_process_exit",
    id: 122,
    fields: &[("char comm[16]", 8, 16, 0), ("pid_t pid", 24, 4, 1), ("int prio", 28, 4, 1)],
    print: NONE,
};
