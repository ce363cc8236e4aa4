//! What is promised, held against figures.

use freehold_lab::promises::{Figure, above, add, at_least, at_most, at_most_of_least, below};
use freehold_lab::record::{Key, Metric, Results, Stat};

#[test]
fn a_promise_is_kept_or_not_by_the_figures_of_the_run() {
    let mut results = Results::default();
    for (engine, ns) in [("one", 10.0), ("other", 30.0)] {
        let key = Key::new("readers", "read").op("look-up").engine(engine).param("n", 100u64);
        results.of(key).put(Metric::Time, Stat::Median, ns, 7);
    }
    let figure = |engine, n| Figure::time("read", "look-up", engine).at("n", n);
    let promises = [
        at_most("kept", figure("one", 100), figure("other", 100), 0.4),
        at_least("broken", figure("other", 100), figure("one", 100), 3.5),
        below("alone", figure("one", 100), 9.0),
        above("alone, at least", figure("one", 100), 9.0),
        at_most_of_least("least", figure("other", 100), vec![figure("other", 100), figure("one", 100)], 2.5),
        at_most_of_least(
            "one is lacking",
            figure("one", 100),
            vec![figure("one", 100), figure("none", 100)],
            2.0,
        ),
        at_most("of another size", figure("one", 10_000), figure("other", 100), 0.5),
    ];
    add("readers", &promises, &mut results);
    let of = |what: &str| {
        let found = results.records.iter().find(|record| record.key.op == what);
        found.map(|record| (record.value, record.field("kept").unwrap(), record.samples))
    };
    assert_eq!(of("kept"), Some((10.0 / 30.0, "yes".to_owned(), 7)));
    assert_eq!(of("broken"), Some((3.0, "no".to_owned(), 7)));
    assert_eq!(of("alone"), Some((10.0, "no".to_owned(), 7)));
    assert_eq!(of("alone, at least"), Some((10.0, "yes".to_owned(), 7)));
    assert_eq!(of("least"), Some((3.0, "no".to_owned(), 7)));
    assert_eq!([of("of another size"), of("one is lacking")], [None, None]);
}
