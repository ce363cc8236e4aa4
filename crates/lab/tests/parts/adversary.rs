//! The adversary: what it counts, how it judges growth, and that strings stay within the documented bounds.

use freehold_lab::adversary::{Bound, Figures, Meter, TOLERANCE, Unit, climb, exponent, sequences};
use freehold_lab::commands::adversary::{STRING_OPS, Verdict, kept};
use freehold_lab::kind::Stressed;
use freehold_lab::record::Results;
use freehold_lab::strings::{OP_BYTES, SUBJECTS, play};
use freehold_lab::workload::SplitMix;

#[test]
fn an_exponent_is_that_of_the_power() {
    let of = |power: f64| [1e2, 1e3, 1e4].map(|n: f64| (n, 7.0 * n.powf(power)));
    for power in [0.0, 0.5, 1.0, 2.0] {
        assert!((exponent(&of(power)).unwrap() - power).abs() < 1e-9);
    }
    assert_eq!(exponent(&[(100.0, 5.0)]), None);
    let sizes = [100, 1000, 10_000];
    assert_eq!(Bound::Constant.limit(&sizes), Some(TOLERANCE));
    assert!((Bound::Linear.limit(&sizes).unwrap() - 1.0 - TOLERANCE).abs() < 1e-9);
    let log = Bound::Log.limit(&sizes).unwrap();
    assert!(log > 0.2 && log < 0.3, "{log}");
}

/// A sequence whose work is known is judged by its bounds.
#[test]
fn what_grows_faster_than_its_bound_is_told() {
    let sequence = sequences(Stressed::Kva).unwrap()[0];
    let figures = |of: fn(u32) -> u64| {
        [100, 1000, 10_000].map(|n| {
            (
                n,
                Figures {
                    ready_ops: u64::from(n),
                    ready: u64::from(n) * 3,
                    each: vec![u64::from(n), 5, of(n), 5],
                },
            )
        })
    };
    let holds = |of: fn(u32) -> u64| {
        sequence.judge(&figures(of)).iter().map(|judged| judged.holds().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(holds(|_| 5), [true, true, true]);
    assert_eq!(holds(|n| u64::from(n) / 10), [true, true, false], "linear again and again");
    assert_eq!(holds(|n| u64::from(n) * u64::from(n)), [false, false, false]);
}

#[test]
fn a_bound_that_is_broken_or_cannot_be_told_fails_the_run() {
    let sequence = sequences(Stressed::Kva).unwrap()[0];
    let said = |sizes: &[u32], of: fn(u64) -> u64| {
        let figures = |&n: &u32| {
            let n64 = u64::from(n);
            (n, Figures { ready_ops: n64, ready: 3 * n64, each: vec![n64, of(n64), of(n64)] })
        };
        let figures: Vec<_> = sizes.iter().map(figures).collect();
        let (mut results, mut verdict) = (Results::default(), Verdict::default());
        for judged in sequence.judge(&figures) {
            verdict.add(&mut results, Stressed::Kva, sequence.name, sequence.op, sequence.unit, &judged);
        }
        verdict.say(&mut results);
        (results.failed, results.notes.join("; "))
    };
    let all_hold = "passed: 3 bounds hold, 0 are broken, 0 sequences were not run".to_owned();
    assert_eq!(said(&[100, 1000], |_| 5), (false, all_hold));
    let (failed, notes) = said(&[100, 1000], |n| n / 10);
    let broken = format!(
        "BROKEN: {}, {}, worst later on: exponent 1.00, above 0.28 of log n",
        sequence.name, sequence.op
    );
    assert!(failed && notes.starts_with(&broken), "{notes}");
    assert!(notes.ends_with("; FAILED: 2 bounds hold, 1 are broken, 0 sequences were not run"), "{notes}");
    let (failed, notes) = said(&[100], |_| 5);
    assert!(
        failed && notes.ends_with("FAILED: 0 bounds hold, 3 are broken, 0 sequences were not run"),
        "{notes}"
    );
    let mut nothing = Results::default();
    Verdict::default().say(&mut nothing);
    assert!(nothing.failed);
}

/// The answers of each sequence are right, and those in work stay within their bounds at small sizes.
#[test]
fn every_sequence_answers_right_and_counts() {
    for family in [Stressed::Kva, Stressed::Percpu, Stressed::Maple, Stressed::Pools, Stressed::Rcu] {
        for sequence in sequences(family).unwrap() {
            for n in [100, 300] {
                let mut meter = Meter::of_work();
                (sequence.run)(n, &mut meter)
                    .map_err(|reason| format!("{} at {n}: {reason}", sequence.name))
                    .unwrap();
                let figures = meter.figures();
                assert!(!figures.each.is_empty() && figures.ready_ops > 0, "{}: {figures:?}", sequence.name);
                if sequence.unit == Unit::Work {
                    assert!(
                        figures.worst() > 0 && figures.amortized() > 0.0,
                        "{}: {figures:?}",
                        sequence.name
                    );
                }
            }
        }
    }
}

#[test]
fn strings_stay_within_the_documented_bounds() {
    let mut random = SplitMix::new(7);
    for subject in SUBJECTS {
        let kept = kept(subject.family).unwrap();
        assert!(!kept.is_empty(), "no string of {} is kept", subject.family);
        let random =
            (0..20).map(|_| (0..STRING_OPS * OP_BYTES).map(|_| random.next_u64() as u8).collect::<Vec<_>>());
        for string in kept.iter().map(|(_, string)| string.clone()).chain(random) {
            let each = |suffered: &_| match (subject.within)(suffered) {
                true => Ok(()),
                false => Err(format!("beyond the bounds: {suffered:?}, in {string:02x?}")),
            };
            let suffered = play(subject.make, &string, 4 * STRING_OPS as u64, each).unwrap();
            assert_eq!(suffered.ops, 4 * STRING_OPS as u64);
            assert!(suffered.total > 0);
        }
    }
}

/// A file's name says what its worst operation does, so that a change of it is seen.
#[test]
fn kept_strings_are_as_bad_as_they_were_or_better() {
    for subject in SUBJECTS {
        for (name, string) in kept(subject.family).unwrap() {
            let worst: u64 = name.split('-').nth(1).unwrap().parse().unwrap();
            let suffered = play(subject.make, &string, STRING_OPS as u64, |_| Ok(())).unwrap();
            assert!(suffered.worst <= worst, "{name} is worse now: {suffered:?}");
        }
    }
}

#[test]
fn a_search_is_the_same_again_and_finds_worse() {
    for subject in SUBJECTS {
        let found = climb(subject.make, 64, 60, 3, &[]).unwrap();
        let again = climb(subject.make, 64, 60, 3, &[]).unwrap();
        assert_eq!((&found.string, found.suffered), (&again.string, again.suffered));
        let first = climb(subject.make, 64, 0, 3, &[]).unwrap();
        assert!(found.suffered > first.suffered, "{}: {:?}", subject.family, found.suffered);
    }
}
