use crate::run::stress::liar::{LEAKS, REFUSES, TWICE, percpu_liar};
use freehold::percpu::Config;
use freehold_lab::family::{Family, Percpu};
use freehold_lab::run::percpu::{Bench, Job};
use freehold_lab::workload::percpu::{Churn, Deletion, SECOND_HALF, Size, StaleHint, Work};

fn run(work: Work) -> Vec<Bench> {
    let config = Config::new(32 << 10, 2);
    let job = Job { workload: "x", config, work, objects: &|_| 3_000, rounds: 2 };
    job.run(&Percpu::engines(&[]).unwrap(), &mut |_| {}).unwrap()
}

#[test]
fn engines_of_every_grain_come_through_every_case() {
    let works = [
        (Work::Fill(SECOND_HALF[1]), 5, 2),
        (Work::Churn(Churn::new(64, 1_000, 500)), 1, 10),
        (Work::StaleHint(StaleHint { objects: 20_000, refilled: 5_000 }), 0, 0),
        (Work::MassFree(Size::new(16, 8)), 5, 2),
        (Work::Deletion(Deletion { groups: 40, one_in: 11 }, true), 0, 0),
    ];
    for (work, lines, rounds) in works {
        for bench in run(work.clone()) {
            let what = format!("{work:?} on {}", bench.entry.engine);
            assert_eq!(bench.sheet.lines.len(), lines, "{what}");
            for line in &bench.sheet.lines {
                assert!(line.ns.len() == rounds && line.ns.iter().all(|&ns| ns >= 0.0), "{what}");
            }
        }
    }
}

#[test]
fn the_longest_is_no_shorter_than_the_first() {
    for bench in run(Work::MassFree(Size::new(16, 8))) {
        let of = |op| &bench.sheet.lines.iter().find(|line| line.timed.0 == op).unwrap().ns;
        assert!(of("longest of the first").iter().zip(of("the first")).all(|(most, ns)| most >= ns));
    }
}

#[test]
fn a_place_that_is_taken_and_a_refusal_are_found() {
    let (config, work) = (Config::new(32 << 10, 2), Work::Fill(Size::new(16, 8)));
    let job = Job { workload: "x", config, work, objects: &|_| 3_000, rounds: 1 };
    let told = |engine| job.run(&[engine], &mut |_| {}).err().unwrap().to_string();
    let twice = told(percpu_liar::<TWICE>());
    assert!(twice.contains("reaches into the next object"), "{twice}");
    let refused = told(percpu_liar::<REFUSES>());
    assert!(refused.contains("1 of 3000 operations failed"), "{refused}");
}

#[test]
fn a_lost_free_is_found() {
    let (config, work) = (Config::new(32 << 10, 2), Work::Churn(Churn::new(64, 1_000, 2_000)));
    let job = Job { workload: "x", config, work, objects: &|_| 0, rounds: 1 };
    let lost = job.run(&[percpu_liar::<LEAKS>()], &mut |_| {}).err().unwrap().to_string();
    assert!(lost.contains("1001 objects are live, not 1000"), "{lost}");
}
