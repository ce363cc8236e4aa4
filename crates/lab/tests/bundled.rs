//! The bundled data: every vector, the talk's example, the work anchors, and the trace.

use freehold_lab::commands::main_job::data_folder;
use freehold_lab::verify::verify_file;
use freehold_lab::workload;

#[test]
fn every_bundled_vector_passes() {
    let folder = data_folder().unwrap().join("vectors/kva");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let (mut operations, mut columns) = (0, std::collections::BTreeSet::new());
    for file in &files {
        let checks = verify_file(file, &mut || ()).unwrap();
        assert!(checks.passed(), "{}: {:?}", file.display(), checks.checks);
        operations += checks.operations();
        columns.extend(
            checks.checks.iter().filter(|check| check.operations > 0).map(|check| check.what.clone()),
        );
    }
    for column in ["k", "l", "g"] {
        assert!(columns.contains(column), "column {column} is in no file");
    }
    assert!(operations > 1_000_000, "only {operations} operations in {} files", files.len());
}

#[test]
fn a_wrong_answer_is_found_on_its_line() {
    let talk = std::fs::read_to_string(data_folder().unwrap().join("vectors/kva/talk.txt")).unwrap();
    let folder = std::env::temp_dir().join(format!("freehold-bundled-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (right, wrong) in [("L14 #", "L15 #"), ("propagate 5", "propagate 4"), ("18+8/8@2", "18+8/9@2")] {
        let line = talk.lines().position(|line| line.contains(right)).unwrap() + 1;
        let file = folder.join("talk.txt");
        std::fs::write(&file, talk.replacen(right, wrong, 1)).unwrap();
        let checks = verify_file(&file, &mut || ()).unwrap();
        let first = checks.checks.iter().find_map(|check| check.first.clone()).unwrap();
        assert!(!checks.passed());
        assert_eq!(first.line, line as u64, "{first:?}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_trace_is_what_its_statistics_say() {
    let file = data_folder().unwrap().join("traces/bpfvm.kva.csv.zst");
    let workload = workload::from_file(&file).unwrap();
    let frees = workload.ops.iter().filter(|op| op.is_free()).count();
    assert_eq!((workload.ops.len() - frees, frees, workload.setup.len()), (10_769, 10_791, 407));
    assert_eq!(
        workload.skipped,
        [("lazily freed before the start", 52), ("purge of lazily freed areas", 88)]
    );
    assert!(workload.at_ns.unwrap().is_sorted());
}
