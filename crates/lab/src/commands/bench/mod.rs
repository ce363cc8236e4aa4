//! `freehold bench`: ours beside what one might use instead, family by family, and what threads share.

pub mod cold;
mod kva;
mod maple;
pub mod percpu;

use crate::concurrent::look_ups::{self, OF_KVA, OF_MAPLE};
use crate::failure::{Failure, usage};
use crate::kind::Subject;
use crate::record::Results;
use crate::run::Options;
use crate::workload::check_memory;
use crate::workload::suite::MOST_N;
use crate::{Progress, concurrent, promises};

/// Sizes of `--growth`, and the largest of a quick one.
const GROWTH: [u32; 6] = [100, 1000, 10_000, 100_000, 1_000_000, 10_000_000];
const QUICK_MOST: u32 = 100_000;

/// Benches a subject.
///
/// # Errors
/// It has no such option, no engine or workload has such a name, a size is none, or an engine answers wrong.
pub fn run(subject: Subject, options: &Options, progress: &mut Progress) -> anyhow::Result<Results> {
    if options.instructions && subject != Subject::Maple {
        let only_look_ups = look_ups::split(&options.workloads).1.is_none();
        if !only_look_ups || ![Subject::Kva, Subject::Readers].contains(&subject) {
            return usage("bench --instructions: for maple, and of kva and readers for look-ups alone");
        }
        super::instructions::check()?;
    }
    if options.unit.is_some() && subject != Subject::Percpu {
        return usage("--unit: only per-CPU memory has units");
    }
    if options.wishes && subject != Subject::Kva {
        return usage("--wishes: the talk's wishes are kva's");
    }
    let mut results = match subject {
        _ if options.cold => cold::run(subject, options, progress),
        Subject::Kva if options.wishes => super::wishes::run(&options.workloads, progress),
        Subject::Kva => family(kva::run, Some(&OF_KVA), "churn", options, progress),
        Subject::Percpu => family(percpu::run, None, "churn-4-64", options, progress),
        Subject::Maple => family(maple::run, Some(&OF_MAPLE), "mix", options, progress),
        _ if options.growth => usage("--growth: of families alone"),
        Subject::Counters => concurrent::COUNTERS.bench(options, progress),
        Subject::Readers => concurrent::READERS.bench(options, progress),
        Subject::Pools => concurrent::POOLS.bench(options, progress),
        Subject::Memory => concurrent::MEMORY.bench(options, progress),
    }?;
    // What threads share has added its own.
    if [Subject::Kva, Subject::Percpu, Subject::Maple].contains(&subject) {
        promises::add(promises::of(subject.name()), &mut results);
    }
    Ok(results)
}

/// Benches a family, of which one workload grows if nobody names another; its look-ups behind the rest.
fn family(
    bench: fn(&Options, &mut Progress) -> anyhow::Result<Results>,
    look_ups: Option<&look_ups::Family>,
    grows: &str,
    options: &Options,
    progress: &mut Progress,
) -> anyhow::Result<Results> {
    if let Some(n) = options.sizes.iter().find(|&&n| n == 0 || n > MOST_N) {
        return usage(format!("--n {n}: sizes are from 1 to {MOST_N}"));
    }
    let mut options = options.clone();
    options.sizes.sort_unstable();
    options.sizes.dedup();
    if options.growth {
        if options.workloads.is_empty() {
            options.workloads.push(grows.to_owned());
        }
        let most = if options.quick { QUICK_MOST } else { u32::MAX };
        options.sizes = GROWTH.into_iter().filter(|&n| n <= most).collect();
    }
    let Some(family) = look_ups else { return bench(&options, progress) };
    let (asked, rest) = look_ups::split(&options.workloads);
    let all = options.workloads.is_empty();
    let mut results = match rest {
        Some(workloads) => bench(&Options { workloads, ..options.clone() }, progress)?,
        None => Results::default(),
    };
    // Of a whole bench, engines may be named that look nothing up.
    if !all && !asked.is_empty() {
        look_ups::check(family, &options.engines)?;
    }
    look_ups::run(family, &asked, &options, &mut results, progress)?;
    Ok(results)
}

/// The sizes that there is memory for, of those that cases are `sized` by; if none is, nobody may have asked for sizes. One that
/// somebody asked for is refused before anything is measured if there is not; of those that grow, it is left out, and that is
/// noted, unless it is the least.
fn that_fit(
    sizes: &[u32],
    sized: bool,
    bytes_each: u64,
    options: &Options,
    results: &mut Results,
) -> Result<Vec<u32>, Failure> {
    let mut fit = Vec::new();
    if !sized && options.sizes.is_empty() {
        return Ok(fit);
    } else if !sized {
        return usage("--n, --growth: none of these workloads has sizes");
    }
    for &n in sizes {
        match check_memory(n.into(), bytes_each) {
            Ok(()) => fit.push(n),
            Err(lacking) if options.growth && !fit.is_empty() => results.note(format!("left out: {lacking}")),
            Err(lacking) => return Err(lacking),
        }
    }
    Ok(fit)
}
