//! Studies of publications: what they compute of what was measured.

use freehold::maple::{Facts, Heights, StoreType};
use freehold_lab::failure::Failure;
use freehold_lab::family::{Family, Percpu};
use freehold_lab::record::{Field, Results};
use freehold_lab::run::Spread;
use freehold_lab::run::percpu::{ChunkSeen, Look, Watched};
use freehold_lab::study::kva_2019::runs::{KERNEL_LOOPS, cases, together};
use freehold_lab::study::kva_2019::{example, extrapolate, overall};
use freehold_lab::study::maple_2025::ledger::Ledger;
use freehold_lab::study::percpu_2017::{hints, million};
use freehold_lab::workload::Piece;
use freehold_lab::workload::suite::{Interleaved, Params};
use freehold_lab::{data_folder, traces};
use std::path::Path;

#[test]
fn a_folder_adds_its_traces_to_the_bundled_ones_once() {
    let bundled = data_folder().unwrap().join("traces");
    let alone = traces(None, &[".kva.csv.zst"]).unwrap();
    assert_eq!(traces(Some(&bundled), &[".kva.csv.zst"]).unwrap(), alone);
    let error = traces(Some(Path::new("no-such-folder")), &[".kva.csv.zst"]).unwrap_err();
    assert!(error.downcast_ref::<Failure>().is_some_and(|failure| failure.exit_code() == 2), "{error}");
}

fn watched() -> Watched {
    let seen = |number, longest_bytes, hint_bytes| ChunkSeen { number, longest_bytes, hint_bytes };
    let looks = vec![
        Look { ops: 10, pages: 8, chunks: vec![seen(0, 0, 0)] },
        Look { ops: 20, pages: 16, chunks: vec![seen(0, 100, 25), seen(1, 32_768, 32_768)] },
    ];
    let entry = Percpu::engines(&[]).unwrap()[0];
    Watched { entry, unit_bytes: 32_768, looks }
}

#[test]
fn hints_without_room_do_not_count() {
    let mut results = Results::default();
    hints("x", &watched(), &mut results);
    let values: Vec<f64> = results.records.iter().map(|record| record.value).collect();
    assert_eq!(values, [2.0, 1.0, 0.625, 75.0]);
}

#[test]
fn only_what_grows_with_the_square_is_multiplied_by_it() {
    assert_eq!(million(5.0, 1_000_000, true), 5.0);
    assert_eq!([million(5.0, 500_000, false), million(5.0, 500_000, true)], [10.0, 20.0]);
}

#[test]
fn only_loops_are_extrapolated_and_to_one_run() {
    assert_eq!(extrapolate(100, 0, KERNEL_LOOPS, 1), 100.0);
    // Three runs of a thousandth of the loops, 30 ns of loops and 6 ns of setups together.
    assert_eq!(extrapolate(30, 6, KERNEL_LOOPS / 1000, 3), 10_002.0);
}

#[test]
fn the_whole_run_is_the_mean_of_its_samples() {
    let spread = |least, mean, greatest| Some(Spread { least, mean, greatest });
    let all = overall(&[spread(2.0, 4.0, 9.0), None, spread(1.0, 2.0, 3.0)]).unwrap();
    assert_eq!(all, Spread { least: 1.0, mean: 3.0, greatest: 9.0 });
    assert_eq!(overall(&[None]), None);
}

#[test]
fn every_case_runs_as_often_as_it_shall_and_leaves_nothing() {
    let params = Params { loops: 3, cpus: 4, ..Params::default() };
    let run = || Interleaved::new(&cases(), &params).unwrap();
    let all = together(vec![run(), run()]).sampled("x", 0, 1, 2);
    let (mut allocs, mut live) = (std::collections::BTreeMap::new(), 0i64);
    for (range, piece) in all.pieces(0..all.ops.len()) {
        let frees = all.ops[range.clone()].iter().filter(|op| op.is_free()).count();
        live += range.len() as i64 - 2 * frees as i64;
        if let Piece::Part(name) = piece {
            *allocs.entry(name).or_insert(0) += range.len() - frees;
        }
    }
    assert_eq!(live, 0);
    // Two runs of four CPUs, three loops each; two allocations in a loop of long_busy_list.
    assert_eq!((allocs["fix_size"], allocs["long_busy_list"], allocs["align_shift"]), (24, 48, 8 * 64));
    assert!(!allocs.contains_key("pcpu_alloc") && allocs.len() == 7, "{allocs:?}");
}

#[test]
fn the_talks_two_requests_change_what_the_talk_says() {
    let mut results = Results::default();
    example::add(&mut results).unwrap();
    assert!(!results.failed);
    let after = |case: &str, node: &str, op: &str| {
        let wanted = [(Field::Case, case), (Field::Node, node), (Field::Op, op), (Field::When, "after")];
        let is_it = |record: &&freehold_lab::record::Record| {
            let begins =
                |(field, text): &(Field, &str)| record.field(*field).is_some_and(|of| of.starts_with(text));
            wanted.iter().all(begins)
        };
        results.records.iter().find(is_it).unwrap().value
    };
    // "1/1" for N1 at 00:19; "8/8" for N3, 8 for N2, 11 for N4 at 00:21.
    assert_eq!((after("A:", "N1", "size"), after("A:", "N1", "subtree")), (1.0, 1.0));
    assert_eq!((after("B:", "N3", "size"), after("B:", "N3", "subtree")), (8.0, 8.0));
    assert_eq!((after("B:", "N2", "subtree"), after("B:", "N4", "subtree")), (8.0, 11.0));
}

#[test]
fn one_node_comes_by_itself() {
    let heights = Heights { height: 3, vacant: 2, sufficient: 0 };
    let mut ledger = Ledger::default();
    ledger.note(&Facts { store_type: StoreType::Split, heights, nodes: 1 }, 2);
    assert_eq!(ledger.totals(), [14, 6, 2]);
    assert_eq!(ledger.types[4].requested, [14, 6, 2]);
    let bulk = ledger.requests.each_ref().map(|requests| requests.bulk().0.into_keys().collect::<Vec<_>>());
    assert_eq!(bulk, [vec![6], vec![2], vec![]]);
}
