//! `freehold bench FAMILY --cold`: what operations take whose memory lies in no cache, and the lines that they touch.

use super::Options;
use crate::Progress;
use crate::engine::percpu::{EngineEntry as PercpuEntry, FLOOR as PERCPU_FLOOR};
use crate::engine::{Compared, EngineEntry, FLOOR, maple, percpu};
use crate::failure::{Failure, usage};
use crate::family::{FLOOR_NOTE, Family, Percpu};
use crate::kind::Subject as Benched;
use crate::record::{Results, count};
use crate::run::cold::{self, Subject};
use crate::run::instructions::{UNDER_CALLGRIND, can_count};
use crate::workload::check_memory;
use freehold::percpu::{Config, Population};

/// Live objects or ranges, if it is to be quick and if not.
const SIZES: [[u32; 2]; 2] = [[10_000, 100_000], [10_000, 1_000_000]];
/// Bytes of an object or a range in the lab, and in an engine and who judges it, about.
const LAB_BYTES: u64 = 512;
const ENGINE_BYTES: u64 = 320;
/// What stands before a family's name under callgrind.
const UNDER: &str = "cold/";
/// Bytes of a chunk under callgrind, where the command line has none.
const UNIT_BYTES: u32 = 256 << 10;

/// Benches a family.
///
/// # Errors
/// It has no such operations, no engine has such a name, there is no memory for a size, or an engine answers wrong.
pub(super) fn run(subject: Benched, options: &Options, progress: &mut Progress) -> anyhow::Result<Results> {
    let labels = labels(subject, &options.engines)?;
    let [quick, full] = SIZES;
    let sizes = match &options.sizes[..] {
        [] if options.quick => quick.to_vec(),
        [] => full.to_vec(),
        asked => asked.to_vec(),
    };
    let mut results = Results::default();
    if !can_count() {
        results.note("lines not counted: valgrind is not installed");
    }
    for n in sizes {
        if n == 0 {
            return usage("--n 0: a size is at least 1");
        }
        check_memory(n.into(), LAB_BYTES + ENGINE_BYTES * labels.len() as u64)?;
        progress.tick(&format!("{}: setting up {} at n {}", cold::WORKLOAD, subject.name(), count(n.into())));
        let made = made(subject, &labels, n, true)?;
        let mut subjects = Vec::new();
        for (label, made) in labels.iter().zip(made) {
            match made {
                Some(made) => subjects.push(made),
                None => {
                    results.note(format!("{label} left out at n {}: it cannot set this up", count(n.into())))
                }
            }
        }
        cold::time(&mut subjects, &mut results, progress)?;
        for subject_at in subjects.iter().filter(|_| can_count()) {
            let label = &subject_at.label;
            progress.tick(&format!("{}: counting lines of {label} at n {}", cold::WORKLOAD, count(n.into())));
            let (of, n_of) = (format!("{UNDER}{}", subject.name()), n.to_string());
            let arguments = [UNDER_CALLGRIND, &of, "--n", &n_of, label];
            cold::count(subject_at, &arguments, &mut results)?;
        }
    }
    if subject != Benched::Maple {
        results.note(FLOOR_NOTE);
    }
    Ok(results)
}

/// What is run under callgrind, if the name is that of cold operations: those of one engine. Returns whether it is.
///
/// # Errors
/// There is no such family or engine.
pub fn run_under_callgrind(name: &str, n: u32, engine: &str) -> anyhow::Result<bool> {
    let Some(family) = name.strip_prefix(UNDER) else { return Ok(false) };
    let families = [Benched::Kva, Benched::Percpu, Benched::Maple];
    let Some(&subject) = families.iter().find(|subject| subject.name() == family) else {
        return usage(format!("no cold operations of {family}"));
    };
    let is_floor = engine == FLOOR.label() && subject != Benched::Maple;
    let engines = [engine.to_owned()];
    let labels = if is_floor { engines.to_vec() } else { labels(subject, &engines)? };
    let labels: Vec<String> = labels.into_iter().filter(|label| label == engine).collect();
    for mut subject in made(subject, &labels, n, false)?.into_iter().flatten() {
        cold::run_counted(subject.cold.as_mut());
    }
    Ok(true)
}

/// The engines that are asked for, and the one that does no work; without names those that do not look at everything.
fn labels(subject: Benched, names: &[String]) -> Result<Vec<String>, Failure> {
    let all = names.is_empty();
    Ok(match subject {
        Benched::Kva => {
            let engines = EngineEntry::find(names, Compared::InBench)?;
            let engines = engines.iter().filter(|entry| !all || !entry.linear);
            engines.chain([&FLOOR]).map(EngineEntry::label).collect()
        }
        Benched::Percpu => {
            let engines = Percpu::engines(names)?;
            let engines = engines.iter().filter(|entry| !all || entry.knows_pages);
            engines.chain([&PERCPU_FLOOR]).map(PercpuEntry::label).collect()
        }
        Benched::Maple => maple::find_maps(names)?.iter().map(maple::EngineEntry::label).collect(),
        _ => return Err(Failure::Usage("--cold: for kva, percpu and maple alone".to_owned())),
    })
}

/// The engines in their steady state; `None` of those that cannot set it up.
fn made(subject: Benched, labels: &[String], n: u32, judged: bool) -> anyhow::Result<Vec<Option<Subject>>> {
    let is_floor = |label: &&String| **label == FLOOR.label();
    let named: Vec<String> = labels.iter().filter(|label| !is_floor(label)).cloned().collect();
    let has_floor = labels.iter().any(|label| is_floor(&label));
    Ok(match subject {
        Benched::Kva => {
            let mut engines =
                if named.is_empty() { Vec::new() } else { EngineEntry::find(&named, Compared::Always)? };
            engines.extend(has_floor.then_some(FLOOR));
            cold::kva(&engines, n, judged)?
        }
        Benched::Percpu => {
            let mut engines = if named.is_empty() {
                Vec::new()
            } else {
                percpu::EngineEntry::find(&named, Compared::Always)?
            };
            engines.extend(has_floor.then_some(PERCPU_FLOOR));
            let config = Config::new(UNIT_BYTES, 2).population(Population::Whole);
            cold::percpu(&engines, config, n, judged)?
        }
        _ => cold::maps(&maple::find_maps(&named)?, n).into_iter().map(Some).collect(),
    })
}
