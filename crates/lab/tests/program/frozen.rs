//! What commands counted before the lab had one record: `frozen.tsv` holds work and answers of tiny runs, none of a clock, and none of
//! `bench kva`, which does as much as it has time for.
//! A line names the run, the fields of a record, and its value or its samples. Nodes, bytes and work of range maps were taken anew
//! when each slot of a leaf got a place for its word; work and bytes of spaces when every alignment got bounds of its own, bytes once
//! more when nodes above leaves got every fourth separator twice, work once more when far leaves became few.

use super::reproduce::reproduced;
use super::{Results, benched_maps, data};

/// The runs, as they were when the figures were taken, but for those that other tests look at, too.
fn run(name: &str) -> Results {
    let tiny = data("traces/selfmaps.vma.csv.zst");
    let stale = data("vectors/percpu/x-min-stale-stock.txt.zst");
    let random = data("vectors/kva/kt_random_size.txt.zst");
    let half = data("vectors/percpu/u-half64-stock.txt.zst");
    let verified = [
        "vectors/kva/talk.txt",
        "vectors/kva/churn_n100.txt.zst",
        "vectors/kva/gap_anchors.tsv",
        "vectors/percpu/x-min-stale-stock.txt.zst",
        "vectors/percpu/area-32k.txt.zst",
        "vectors/maple/prealloc_examples.txt",
        "traces/selfmaps.vma.csv.zst",
    ]
    .map(data);
    let words = |text: &'static str| text.split(' ').collect::<Vec<_>>();
    let args: Vec<&str> = match name {
        "verify" => ["verify"].into_iter().chain(verified.iter().map(String::as_str)).collect(),
        "replay-kva" => vec!["replay", "churn:200", &random, "--rounds", "1"],
        "replay-percpu" => vec!["replay", &stale, &half, "--rounds", "1"],
        "replay-maple" => vec!["replay", &tiny, "--rounds", "1"],
        "inspect-kva" => vec!["inspect", &random],
        "inspect-percpu" => vec!["inspect", &stale],
        "inspect-maple" => vec!["inspect", &tiny],
        "bench-percpu" => words("bench percpu --quick --n 2000 --unit 32K"),
        "stress-kva" => words("stress kva --loops 64 --repeat 1 --n 100"),
        "stress-percpu" => words("stress percpu --loops 64 --repeat 1 --n 100"),
        "stress-maple" => words("stress maple --loops 64 --repeat 1 --n 100"),
        _ => panic!("no run {name}"),
    };
    Results::of(&args)
}

#[test]
fn work_and_answers_are_what_they_were() {
    let lines: Vec<Vec<&str>> =
        include_str!("frozen.tsv").lines().map(|line| line.split('\t').collect()).collect();
    assert!(lines.len() > 1_200);
    let mut wrong = Vec::new();
    for of_run in lines.chunk_by(|a, b| a[0] == b[0]) {
        let own;
        let results = match of_run[0][0] {
            "bench-maple" => benched_maps(),
            name => match reproduced(name) {
                Some((results, _)) => results,
                None => {
                    own = run(name);
                    &own
                }
            },
        };
        for line in of_run {
            let [name, fields, kind, value] = line[..] else { panic!("{line:?}") };
            let value: f64 = value.parse().unwrap();
            let alike = |record: &serde_json::Value| {
                record[kind].as_f64().is_some_and(|got| (got - value).abs() <= 1e-9 * value.abs().max(1.0))
            };
            if !results.find(fields).any(alike) {
                let got: Vec<_> = results.find(fields).map(|record| record[kind].to_string()).collect();
                wrong.push(format!("{name}: {fields}: {value}, not {got:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), lines.len(), wrong.join("\n"));
}
