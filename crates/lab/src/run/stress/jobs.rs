//! Which repeat is next, and how long it may take.
//!
//! If the whole has a time, a repeat's share of what is left of it is its part of the operations that are left. A body
//! whose share is over ends there; a repeat whose share is over before its body is put off to the end, once, where
//! it has several shares, of what the others did not need and of what those after it hoped for.

use super::Plan;
use crate::workload::suite::Suited;
use std::collections::VecDeque;
use std::time::Duration;

/// Shares of a repeat that was put off.
const SECOND_SHARES: f64 = 4.0;

/// A repeat of a case on an engine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    /// Which of the plan's cases.
    pub(super) case: usize,
    /// Which engine.
    pub(super) engine: usize,
    /// Which repeat, from 0 on.
    pub(super) nth: u32,
    /// Whether it was put off.
    pub(super) second: bool,
    /// How many operations it is, about.
    ops: u64,
}

/// All repeats that are left.
pub(super) struct Jobs {
    queue: VecDeque<Job>,
    ops_left: u128,
}

impl Jobs {
    /// Every repeat of every case on every engine, the engines in turn and back again.
    pub(super) fn new<F: Suited>(plan: &Plan<F>, engines: usize) -> Self {
        let mut jobs = Self { queue: VecDeque::new(), ops_left: 0 };
        for (case, &(info, n)) in plan.cases.iter().enumerate() {
            for nth in 0..plan.repeat {
                let ops = plan.case(info, n, nth).operations();
                for turn in 0..engines {
                    let engine = if nth % 2 == 0 { turn } else { engines - 1 - turn };
                    jobs.push(Job { case, engine, nth, second: false, ops });
                }
            }
        }
        jobs
    }

    fn push(&mut self, job: Job) {
        self.ops_left += u128::from(job.ops);
        self.queue.push_back(job);
    }

    /// The next repeat, and its share of the time that is `left`, if there is one.
    pub(super) fn next(&mut self, left: Option<Duration>) -> Option<(Job, Option<Duration>)> {
        let job = self.queue.pop_front()?;
        let shares = if job.second { SECOND_SHARES } else { 1.0 };
        let part = shares * job.ops as f64 / self.ops_left.max(1) as f64;
        self.ops_left = self.ops_left.saturating_sub(u128::from(job.ops));
        Some((job, left.map(|left| left.mul_f64(part.min(1.0)))))
    }

    /// Puts it off to the end.
    pub(super) fn put_off(&mut self, job: Job) {
        self.push(Job { second: true, ..job });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::Kva;
    use crate::workload::suite::{CASES, CaseInfo, Params};

    /// Two cases of like size, twice, on three engines.
    fn jobs() -> Jobs {
        let case = |name| CASES.iter().find(|case: &&CaseInfo| case.name == name).unwrap();
        let cases = vec![(case("fix_size"), None), (case("random_size"), None)];
        let params = Params { loops: 50, ..Params::default() };
        let scene = Kva::scene(None).unwrap();
        Jobs::new(&Plan { cases, scene, params, repeat: 2, duration: None }, 3)
    }

    #[test]
    fn engines_take_turns_and_back() {
        let mut jobs = jobs();
        let order: Vec<_> =
            std::iter::from_fn(|| jobs.next(None)).map(|(job, _)| (job.case, job.engine)).collect();
        let of_case = |case| [0, 1, 2, 2, 1, 0].map(|engine| (case, engine));
        assert_eq!(order, [of_case(0), of_case(1)].concat());
    }

    #[test]
    fn a_share_is_a_part_of_what_is_left() {
        let mut jobs = jobs();
        let left = Duration::from_secs(120);
        let (first, share) = jobs.next(Some(left)).unwrap();
        assert_eq!(share, Some(left / 12));
        // It took no time: the others have more.
        assert_eq!(jobs.next(Some(left)).unwrap().1, Some(left.mul_f64(1.0 / 11.0)));
        jobs.put_off(first);
        jobs.put_off(first);
        let mut last = None;
        while let Some((job, share)) = jobs.next(Some(left)) {
            last = Some((job.case, job.engine, job.nth, job.second, share));
        }
        assert_eq!(last, Some((0, 0, 0, true, Some(left))), "at the end, all that is left");
    }
}
