//! `freehold bench FAMILY --cold`: what operations take whose memory lies in no cache, and the lines that they touch.

use super::Options;
use crate::Progress;
use crate::engine::maple::find_maps;
use crate::engine::percpu::FLOOR as PERCPU_FLOOR;
use crate::engine::{Compared, EngineEntry, FLOOR, Listed};
use crate::failure::{Failure, usage};
use crate::family::{FLOOR_NOTE, Family, Percpu};
use crate::kind::Subject as Benched;
use crate::record::{Results, count};
use crate::run::cold::{self, Subject};
use crate::run::instructions::{can_count, sized};
use crate::workload::check_memory;
use freehold::percpu::{Config, Population};

/// Live objects or ranges, if it is to be quick and if not.
const SIZES: [[u32; 2]; 2] = [[10_000, 100_000], [10_000, 1_000_000]];
/// Bytes of an object or a range in the lab, and in an engine and who judges it, about.
const LAB_BYTES: u64 = 512;
const ENGINE_BYTES: u64 = 320;
/// What stands before a family's name under callgrind.
pub const UNDER: &str = "cold/";
/// Bytes of a chunk under callgrind, where the command line has none.
const UNIT_BYTES: u32 = 256 << 10;

/// Benches a family.
///
/// # Errors
/// It has no such operations, no engine has such a name, there is no memory for a size, or an engine answers wrong.
pub(super) fn run(subject: Benched, options: &Options, progress: &mut Progress) -> anyhow::Result<Results> {
    let Asked { labels, ready } = asked(subject, &options.engines, None)?;
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
        let mut subjects = Vec::new();
        for (label, ready) in labels.iter().zip(ready(n, true)?) {
            match ready {
                Some(ready) => subjects.push(ready),
                None => {
                    results.note(format!("{label} left out at n {}: it cannot set this up", count(n.into())))
                }
            }
        }
        cold::time(&mut subjects, &mut results, progress)?;
        for subject_at in subjects.iter().filter(|_| can_count()) {
            let label = &subject_at.label;
            progress.tick(&format!("{}: counting lines of {label} at n {}", cold::WORKLOAD, count(n.into())));
            let arguments = sized(&format!("{UNDER}{}", subject.name()), n, label);
            cold::count(subject_at, &arguments, &mut results)?;
        }
    }
    if subject != Benched::Maple {
        results.note(FLOOR_NOTE);
    }
    Ok(results)
}

/// What is run under callgrind: the cold operations of one engine of a family.
///
/// # Errors
/// There is no such family or engine.
pub fn run_under_callgrind(family: &str, n: u32, engine: &str) -> anyhow::Result<()> {
    let families = [Benched::Kva, Benched::Percpu, Benched::Maple];
    let Some(&subject) = families.iter().find(|subject| subject.name() == family) else {
        return usage(format!("no cold operations of {family}"));
    };
    let named = [engine.to_owned()];
    // The engine that does no work has no name that could be asked for.
    let names = if engine == FLOOR.label() { &[][..] } else { &named };
    for mut subject in (asked(subject, names, Some(engine))?.ready)(n, false)?.into_iter().flatten() {
        cold::run_counted(subject.cold.as_mut());
    }
    Ok(())
}

/// Makes engines ready at a size, every answer checked if that is asked for; `None` of those that cannot set it up.
type Ready = dyn Fn(u32, bool) -> anyhow::Result<Vec<Option<Subject>>>;

/// Who is asked for.
struct Asked {
    labels: Vec<String>,
    ready: Box<Ready>,
}

impl Asked {
    /// All of these engines, or the one of that label.
    fn of<T: Copy + 'static>(
        mut engines: Vec<Listed<T>>,
        only: Option<&str>,
        ready: impl Fn(&[Listed<T>], u32, bool) -> anyhow::Result<Vec<Option<Subject>>> + 'static,
    ) -> Self {
        engines.retain(|entry| only.is_none_or(|only| entry.label() == only));
        let labels = engines.iter().map(Listed::label).collect();
        Self { labels, ready: Box::new(move |n, judged| ready(&engines, n, judged)) }
    }
}

/// The engines of these names, and the one that does no work; without names those that do not look at everything.
fn asked(subject: Benched, names: &[String], only: Option<&str>) -> Result<Asked, Failure> {
    let all = names.is_empty();
    Ok(match subject {
        Benched::Kva => {
            let mut engines = EngineEntry::find(names, Compared::InBench)?;
            engines.retain(|entry| !all || !entry.linear);
            engines.push(FLOOR);
            Asked::of(engines, only, cold::kva)
        }
        Benched::Percpu => {
            let mut engines = Percpu::engines(names)?;
            engines.retain(|entry| !all || entry.knows_pages);
            engines.push(PERCPU_FLOOR);
            let config = Config::new(UNIT_BYTES, 2).population(Population::Whole);
            Asked::of(engines, only, move |engines, n, judged| cold::percpu(engines, config, n, judged))
        }
        Benched::Maple => Asked::of(find_maps(names)?, only, |engines, n, _| Ok(cold::maps(engines, n))),
        _ => return usage("--cold: for kva, percpu and maple alone"),
    })
}
