use freehold_lab::run::Sheet;
use std::time::Duration;

#[test]
fn pieces_of_a_round_add_up_and_rounds_do_not() {
    let mut sheet = Sheet::default();
    for (ns, operations) in [(60, 2), (40, 3)] {
        sheet.note(("alloc", None), Duration::from_nanos(ns), operations);
    }
    sheet.close();
    sheet.add(("alloc", None), 30.0, 1);
    sheet.add(("free", Some("reverse")), 5.0, 1);
    sheet.close();
    let lines: Vec<_> = sheet.lines.iter().map(|line| (line.ns.clone(), line.operations)).collect();
    assert_eq!(lines, [(vec![20.0, 30.0], 6), (vec![5.0], 1)]);
    assert_eq!([sheet.median(("alloc", None)), sheet.median(("free", None))], [30.0, 0.0]);
}
