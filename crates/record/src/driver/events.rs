//! Which events are recorded, by kind.

use crate::event::Call;
use freehold_trace::Kind;

/// An event to record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Its subsystem.
    pub(crate) system: &'static str,
    /// Its name.
    pub(crate) name: String,
    /// The kernel from which on it is there, if nothing can be recorded without it.
    pub(crate) needed: Option<&'static str>,
    /// Which of them are recorded; empty for all.
    pub(crate) filter: String,
}

impl Wanted {
    /// Its folder below `events`.
    pub(crate) fn folder(&self) -> String {
        format!("events/{}/{}", self.system, self.name)
    }
}

fn wanted(system: &'static str, name: &str, needed: Option<&'static str>) -> Wanted {
    Wanted { system, name: name.to_owned(), needed, filter: String::new() }
}

/// The functions of the kernel that purge areas, as `kallsyms` has them.
pub(crate) const PURGES: [&str; 2] = ["drain_vmap_area_work", "purge_vmap_node"];

/// The advices that cannot change mappings are not recorded.
const ADVICES: &str = "behavior < 3 || behavior >= 10";

/// The events of a kind. `purges` are the addresses of the kernel's [`PURGES`], if their times are wanted.
pub(crate) fn of(kind: Kind, purges: &[u64]) -> Vec<Wanted> {
    let event = |system, name| wanted(system, name, None);
    let needed = |system, name, since| wanted(system, name, Some(since));
    let mut events = match kind {
        Kind::Kva => vec![
            needed("vmalloc", "alloc_vmap_area", "6.2"),
            needed("vmalloc", "free_vmap_area_noflush", "6.2"),
            needed("vmalloc", "purge_vmap_area_lazy", "6.2"),
            event("percpu", "percpu_create_chunk"),
            event("percpu", "percpu_destroy_chunk"),
        ],
        Kind::Pcpu => vec![
            needed("percpu", "percpu_alloc_percpu", "4.14"),
            needed("percpu", "percpu_free_percpu", "4.14"),
            event("percpu", "percpu_alloc_percpu_fail"),
            event("percpu", "percpu_create_chunk"),
            event("percpu", "percpu_destroy_chunk"),
        ],
        Kind::Vma => vec![
            needed("sched", "sched_process_exec", "3.4"),
            needed("sched", "sched_process_exit", "3.4"),
            event("sched", "sched_process_fork"),
            needed("task", "task_newtask", "3.4"),
            event("mmap", "vm_unmapped_area"),
            event("mmap", "exit_mmap"),
        ],
        Kind::Mt => ["ma_op", "ma_read", "ma_write"].map(|name| needed("maple_tree", name, "6.1")).into(),
    };
    if kind == Kind::Vma {
        for call in Call::ALL {
            // Every kernel that tells of system calls has this one.
            let since = (*call == Call::Mmap).then_some("4.17 with CONFIG_FTRACE_SYSCALLS");
            let enter = wanted("syscalls", &format!("sys_enter_{}", call.name()), since);
            let filter = if *call == Call::Madvise { ADVICES } else { "" };
            events.push(Wanted { filter: filter.to_owned(), ..enter });
            events.push(wanted("syscalls", &format!("sys_exit_{}", call.name()), since));
        }
    }
    if !purges.is_empty() {
        let functions: Vec<_> = purges.iter().map(|address| format!("function == {address:#x}")).collect();
        for name in ["workqueue_execute_start", "workqueue_execute_end"] {
            events.push(Wanted { filter: functions.join(" || "), ..event("workqueue", name) });
        }
    }
    events
}
