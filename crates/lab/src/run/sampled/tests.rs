//! Small runs whose figures are known.

use super::*;
use crate::engine::{Compared, EngineEntry, find_engines};
use crate::workload::{Piece, Source};
use freehold::units::Align;
use freehold_trace::kva::Op;

const PAGE: u64 = Align::PAGE.bytes();

/// Fills single pages, then frees them, in batches of one operation. The last ten frees are not sampled.
#[derive(Clone)]
struct Fill {
    at: u32,
    pages: u32,
}

impl Source for Fill {
    fn next_batch(&mut self, ops: &mut Vec<Op>) -> Option<Piece> {
        let at = self.at;
        self.at += 1;
        let (op, part) = match at.checked_sub(self.pages) {
            None => (Op::alloc(at, PAGE), Piece::Part("fill")),
            Some(object) if object + 10 < self.pages => (Op::Free { object }, Piece::Part("empty")),
            Some(object) if object < self.pages => (Op::Free { object }, Piece::Around),
            Some(_) => return None,
        };
        ops.push(op);
        Some(part)
    }
}

fn sampling(samples: usize) -> Sampling {
    Sampling {
        layout: vec![Span::from_size(PAGE, 1000 * PAGE).unwrap()],
        objects: 100,
        ops_per_sample: 30,
        samples,
        rounds: 2,
        limit: Duration::from_secs(60),
    }
}

fn engines() -> Vec<EngineEntry> {
    find_engines(&["rbtree:lowest".to_owned(), "gap-list".to_owned()], Compared::Always).unwrap()
}

fn measure(samples: usize) -> Sampled {
    Sampled::measure(&Fill { at: 0, pages: 100 }, &sampling(samples), &engines(), &mut |_| {}).unwrap()
}

#[test]
fn samples_hold_every_operation_once() {
    let sampled = measure(100);
    assert!(!sampled.more);
    assert_eq!(sampled.common(), 7, "190 operations, 30 in each sample");
    for run in &sampled.runs {
        assert!(sampled.complete(run));
        let [fill_and_empty, rest] = run.sums(7);
        assert_eq!((fill_and_empty.ops, rest.ops, run.costs.len(), run.failures), (190, 10, 100, 0));
        assert!(fill_and_empty.work > 0 && fill_and_empty.ns > 0 && (fill_and_empty + rest).ops == 200);
        let live: Vec<u64> = run.samples.iter().map(|sample| sample.live).collect();
        assert_eq!(live, [30, 60, 90, 80, 50, 20, 0]);
        assert!(run.samples.iter().all(|sample| sample.sampled.ns.len() == 2));
        assert!(run.costs.iter().all(|cost| cost.ns < u32::MAX), "every allocation was timed");
        assert_eq!(
            run.work().map(|work| work.is_some()).collect::<Vec<_>>(),
            [true, true, true, true, false, false, false]
        );
    }
    assert_eq!(sampled.parts, ["fill", "empty"]);
    let [fill, empty] = sampled.totals(&sampled.runs[0])[..] else { panic!("two parts") };
    assert_eq!((fill.allocs, empty), (100, Total::default()));
}

#[test]
fn a_run_can_be_cut_short_and_says_so() {
    let sampled = measure(2);
    assert!(sampled.more && sampled.common() == 2);
    assert!(!sampled.complete(&sampled.runs[0]));
    let slow = Sampling { limit: Duration::ZERO, ..sampling(100) };
    let sampled = Sampled::measure(&Fill { at: 0, pages: 100 }, &slow, &engines(), &mut |_| {}).unwrap();
    assert_eq!(sampled.common(), 1);
    assert!(sampled.runs.iter().all(|run| run.out_of_time));
}

#[test]
fn spreads_and_least_rounds_are_exact() {
    let spread = Spread::of([4.0, 1.0, 7.0].into_iter()).unwrap();
    assert_eq!((spread.least, spread.mean, spread.greatest), (1.0, 4.0, 7.0));
    assert_eq!(Spread::of(std::iter::empty()), None);
    let stretch = Stretch { ns: vec![9, 1, 5], ..Stretch::default() };
    assert_eq!((stretch.least_ns(), Stretch::default().least_ns()), (1, 0));
}
