//! Which events are recorded, by kind.

use crate::event::Call;
use crate::recording::{CALLS, EVENTS};
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

/// The functions of the kernel that purge areas, as `kallsyms` has them.
pub(crate) const PURGES: [&str; 2] = ["drain_vmap_area_work", "purge_vmap_node"];

/// The advices that cannot change mappings are not recorded.
const ADVICES: &str = "behavior < 3 || behavior >= 10";

/// The events of a kind. `purges` are the addresses of the kernel's [`PURGES`], if their times are wanted.
pub(crate) fn of(kind: Kind, purges: &[u64]) -> Vec<Wanted> {
    let wanted = |system, name: &str, filter: &str| {
        let needed = EVENTS.iter().find(|(of, _, event, _)| *of == kind && *event == name);
        let needed = needed.and_then(|(.., since)| *since);
        Wanted { system, name: name.to_owned(), needed, filter: filter.to_owned() }
    };
    let listed = EVENTS.iter().filter(|(of, system, ..)| *of == kind && *system != CALLS);
    let mut events: Vec<_> = listed.map(|(_, system, name, _)| wanted(system, name, "")).collect();
    if kind == Kind::Vma {
        for call in Call::ALL {
            let filter = if *call == Call::Madvise { ADVICES } else { "" };
            events.push(wanted(CALLS, &format!("sys_enter_{}", call.name()), filter));
            events.push(wanted(CALLS, &format!("sys_exit_{}", call.name()), ""));
        }
    }
    if !purges.is_empty() {
        let functions: Vec<_> = purges.iter().map(|address| format!("function == {address:#x}")).collect();
        for name in ["workqueue_execute_start", "workqueue_execute_end"] {
            events.push(wanted("workqueue", name, &functions.join(" || ")));
        }
    }
    events
}
