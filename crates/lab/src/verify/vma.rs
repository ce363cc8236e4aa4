//! A recorded program's calls on address spaces: each must meet what an address space would hold. If a list of the
//! process's areas lies beside the trace (`maps.NAME_..._end.txt`), the areas must be those of the list.
//!
//! When the list was taken is not recorded: it is held against every moment, and the one that agrees best counts.

use super::Checked;
use crate::engine::vma::{ENGINES, EngineEntry};
use crate::family::Maple;
use crate::workload::Workload;
use freehold_rivals::maple::ListRanges;
use freehold_trace::vma::{Answer, Call, Difference, Fault, Listed, Session, Spaces, compare, read_maps};
use freehold_trace::{Drive, TraceError};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Operations between two looks at whole spaces.
const LOOK_EVERY: usize = 1 << 12;
/// Addresses of the kernel's half are in lists, but in no process's space.
const USER_LAST: u64 = u64::MAX / 2;

/// Checks a trace of calls, or of what was traced of the functions of the kernel's trees.
pub(super) fn verify(
    file: &Path,
    workload: &Workload<Maple>,
    tick: &mut dyn FnMut(),
) -> Result<Vec<Checked>, TraceError> {
    let mut checks = calls(workload, ENGINES, tick);
    if let Some(list) = list_beside(file) {
        checks.push(areas_of_list(workload, &list, tick)?);
    }
    Ok(checks)
}

/// Holds the calls of a trace against engines. Whole spaces are looked at now and then, before one goes, and at the end.
pub fn calls(workload: &Workload<Maple>, engines: &[EngineEntry], tick: &mut dyn FnMut()) -> Vec<Checked> {
    let mut oracle = Spaces::<ListRanges<u64>>::new(workload.scene.clone());
    let mut sessions: Vec<(Checked, Box<dyn Session>)> = engines
        .iter()
        .map(|entry| (Checked::new("calls", entry.engine), (entry.make)(workload.scene.clone())))
        .collect();
    let mut unmapped_nothing = 0;
    for (at, op) in workload.ops.iter().enumerate() {
        if at.is_multiple_of(LOOK_EVERY) || op.call == Call::Destroy {
            look(at, &oracle, &mut sessions);
        }
        let expected = oracle.run(op, &mut ());
        unmapped_nothing += u64::from(expected.fault == Some(Fault::Nothing));
        for (checked, session) in &mut sessions {
            let answer = session.run_one(op);
            checked.operations += 1;
            checked.compare(
                at as u64 + 1,
                format!("{op}: {}", Answer { fault: None, ..expected }),
                format!(
                    "{op}: {}",
                    Answer { fault: answer.fault.filter(|fault| fault.contradicts()), ..answer }
                ),
            );
        }
        tick();
    }
    look(workload.ops.len(), &oracle, &mut sessions);
    let nothing =
        format!("{unmapped_nothing} calls unmap what is not mapped, which the kernel does not mind");
    let note = (unmapped_nothing > 0).then_some(nothing);
    sessions.into_iter().map(|(checked, _)| Checked { note: note.clone(), ..checked }).collect()
}

/// Looks at whole spaces behind so many calls.
fn look(calls: usize, oracle: &Spaces<ListRanges<u64>>, sessions: &mut [(Checked, Box<dyn Session>)]) {
    for (checked, session) in sessions {
        checked.valid(calls as u64, session.validate());
        checked.compare(calls as u64, oracle.digest().to_string(), session.digest().to_string());
    }
}

/// The list that lies beside the trace.
fn list_beside(file: &Path) -> Option<PathBuf> {
    let stem = file.file_name()?.to_str()?.split('.').next()?.to_owned();
    let beside = file.parent()?.read_dir().ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let is_list = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with(&format!("maps.{stem}_")) && name.contains("_end.txt")
    };
    beside.into_iter().find(is_list)
}

/// Holds a list against the areas of the process.
fn areas_of_list(
    workload: &Workload<Maple>,
    list: &Path,
    tick: &mut dyn FnMut(),
) -> Result<Checked, TraceError> {
    let recorded: BTreeSet<Listed> = read_maps(list)?;
    let kernels = recorded.iter().filter(|area| !area.is_below(USER_LAST)).count();
    let recorded: BTreeSet<Listed> = recorded.into_iter().filter(|area| area.is_below(USER_LAST)).collect();
    let mut spaces = Spaces::<ListRanges<u64>>::new(workload.scene.clone());
    let mut best: Option<(usize, usize, Vec<Difference>)> = None;
    for (at, op) in workload.ops.iter().enumerate() {
        spaces.run(op, &mut ());
        let session: &dyn Session = &spaces;
        let mut ours = BTreeSet::new();
        session.visit(op.space, &mut |span, kind| {
            ours.insert(Listed::new(span, kind));
        });
        let (same, differences) = compare(&recorded, &ours);
        if best.as_ref().is_none_or(|best| {
            (same, std::cmp::Reverse(differences.len())) > (best.1, std::cmp::Reverse(best.2.len()))
        }) {
            best = Some((at, same, differences));
        }
        tick();
    }
    let (at, same, differences) = best.unwrap_or_default();
    let mut checked = Checked::new("areas as listed", "sorted-list");
    checked.operations = at as u64 + 1;
    checked.comparisons = recorded.len() as u64;
    let mut notes = Vec::new();
    for difference in &differences {
        // What the kernel keeps apart for reasons that are not recorded shows the same pages.
        if matches!(difference, Difference::KeptApart(..)) {
            notes.push(difference.to_string());
        } else {
            checked.compare(at as u64 + 1, "the same areas", difference.to_string());
        }
    }
    let apart = notes.len();
    checked.note = Some(format!(
        "{same} of {} areas the same after call {}; {kernels} of the kernel's own left out; {apart} times the kernel \
         keeps areas apart that look alike: {}",
        recorded.len(),
        at + 1,
        notes.join("; ")
    ));
    Ok(checked)
}
