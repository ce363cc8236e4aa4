//! Whole pages and screens, for small inputs.

use base64::Engine as _;
use freehold_lab::engine::{Compared, EngineEntry};
use freehold_lab::record::{
    Environment, Field, Grid, Key, Metric, Record, Results, Select, Series, Stat, Strip, Strips, Unit, count,
    figure, figure_like, fixed, nanoseconds,
};
use freehold_lab::view::{Definition, SCREEN, Verdict, findings, lkml, page, screen};

const EVIL: &str = "\"'</script><img src=x onerror=y>";

fn environment() -> Environment {
    Environment {
        version: "0.0.0".to_owned(),
        commit: "0123456789ab".to_owned(),
        compiler: "rustc 1".to_owned(),
        governor: "performance".to_owned(),
        clock_step_ns: 10,
        optimised: true,
        cpu: "a <quick> one".to_owned(),
        cpus: 2,
        memory_bytes: 1 << 30,
        system: "linux 6".to_owned(),
        architecture: "x86_64".to_owned(),
    }
}

fn results() -> Results {
    let mut results = Results::default();
    for (engine, ns) in [("btree", 100.0), ("gap-list", 300.0)] {
        let mut key = Key::new("kva", EVIL).engine(engine).op("loop");
        key.default = engine == "btree";
        results.of(key.clone()).rounds(Metric::Time, &[ns, ns + 1.0, ns * 1.08], 30);
        for n in [10u64, 100] {
            results.of(key.clone().op("alloc").param(Field::N, n)).put(
                Metric::Work,
                Stat::Mean,
                ns * n as f64,
                n,
            );
        }
        let (workload, line, at) = (EVIL.to_owned(), engine.to_owned(), vec![0.0, 1.0, 2.0]);
        let values = vec![vec![Some(1.0), None, Some(3.0)]];
        results.series.push(Series { id: "line", workload, line, at, clock_s: Vec::new(), values });
    }
    let mut picture = Grid::default();
    (picture.columns, picture.busy) = (2, vec![0, 255, 255, 0]);
    let strips = Strips {
        heights: vec![(0.5, EVIL.to_owned())],
        ticks: vec![(0.5, EVIL.to_owned())],
        strips: vec![Strip {
            engines: vec!["gap-list".to_owned()],
            text: EVIL.to_owned(),
            columns: vec![0, 1],
            height: 1.0,
            picture,
        }],
    };
    results.pictures.push(("picture", EVIL.to_owned(), strips));
    results.fact("known", "that");
    results.note(EVIL);
    results
}

fn definition() -> Definition {
    Definition::read(
        r#"
        title = "A <page>"
        lead = "About {known}."
        method = ["Counted & timed by `freehold <now>`."]

        [[section]]
        id = "one"
        title = "Of {workload}"
        each = "workload"
        about = ["It is {known}.", "It is {unknown}."]
        key = [{ of = "op=loop;engine=gap-list", over = "op=loop;engine=btree", text = "so much" }]
        view = [
          { table = "{workload} in a loop", of = "op=loop", ratio = true },
          { table = "Work", of = "op=alloc", columns = "n", cells = "work as its work; time", more = true },
          { bars = "Bars", scale = "ns", of = "op=loop", groups = "workload" },
          { plot = "A line", series = "line", reading = "", x = { title = "x" }, y = { title = "y" } },
          { plot = "Work by size", reading = "", of = "op=alloc", at = "n", x = { title = "n", unit = "live", log = true }, y = { title = "steps", log = true }, measure = ["mean points work"] },
          { picture = "A <b>picture</b>", id = "picture", shades = ["free", "<busy>"] },
        ]

        [[section]]
        id = "none"
        title = "Of nothing"
        of = "workload=nothing"
        "#,
    )
    .unwrap()
}

#[test]
fn a_page_has_its_views_and_nothing_breaks_out() {
    let text = page(&definition(), &results(), &environment()).unwrap();
    for part in [
        "About that.",
        "It is that.",
        "class=\"keys\"",
        "<b>2.98x</b>",
        "<h3>Ahead</h3>",
        "takes <b>2.98x</b> the time of",
        "in none of 1 figures",
        "class=\"group\"",
        "data:image/png;base64,",
        "Counted &amp; timed by <code>freehold &lt;now&gt;</code>.",
        "A &lt;page&gt;",
        "default-src 'none'",
        "bottom:50.000%",
    ] {
        assert!(text.contains(part), "{part}");
    }
    assert!(!text.contains("It is {") && !text.contains("Of nothing"));
    assert!(!text.contains("<img src=x"), "markup of a text is markup of the page");
    assert!(
        !text.contains("\"'&lt;") && text.contains("&quot;&#39;&lt;/script&gt;"),
        "quotes end attributes"
    );
    assert!(text.contains("the same for btree, gap-list"), "a plot of lines that are one is a sentence");
    assert_eq!(text.matches("type=\"application/json\"").count(), 1);
    assert_eq!(text.matches("<script").count(), text.matches("</script>").count());
    for address in text.match_indices("http").map(|(at, _)| &text[at..text.len().min(at + 40)]) {
        let harmless =
            address.starts_with("http-equiv") || address.starts_with("https://github.com/leeoniya/uPlot");
        assert!(harmless, "{address}");
    }
    assert!(
        text == page(&definition(), &results(), &environment()).unwrap(),
        "the same input, the same bytes"
    );
}

#[test]
fn a_screen_says_first_what_was_found() {
    let text = screen(&definition(), &results(), &environment(), SCREEN, false);
    let line = |part: &str| {
        text.lines().position(|line| line.contains(part)).unwrap_or_else(|| panic!("{part}: {text}"))
    };
    assert!(line("Ahead") < line("in a loop") && text.contains("2.98x") && text.contains("spread 8 %"));
    assert!(!text.contains("its work") && text.contains("1 more table:"));
    assert!(screen(&definition(), &results(), &environment(), SCREEN, true).contains("10 its work"));
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let mail = lkml(&definition(), &results(), &environment(), false);
    assert!(mail.lines().all(|line| line.chars().count() <= 72), "{mail}");
    for part in [
        "commit 0123456789ab",
        "rustc 1",
        "a <quick> one",
        "governor: performance",
        "step: 10 ns",
        "spread 8 %",
    ] {
        assert!(mail.contains(part), "{part}: {mail}");
    }
}

/// The page and the screen of one section of these views.
fn shown(views: &str, results: &Results) -> (String, String) {
    let definition = Definition::read(&format!("[[section]]\nid = \"one\"\nview = [{views}]")).unwrap();
    let page = page(&definition, results, &environment()).unwrap();
    (page, screen(&definition, results, &environment(), SCREEN, true))
}

/// What the page has between the marks, each time.
fn between<'a>(page: &'a str, begin: &'a str, end: &'a str) -> Vec<&'a str> {
    page.split(begin).skip(1).filter_map(|rest| rest.split_once(end)).map(|(part, _)| part).collect()
}

#[test]
fn engines_of_every_comparison_have_colours_of_their_own() {
    let engines = EngineEntry::find(&[], Compared::Always).unwrap();
    let mut results = results();
    results.engines = engines.iter().map(|entry| (entry.label(), "", false)).collect();
    let (page, _) = shown("", &results);
    let colours: std::collections::BTreeSet<_> = between(&page, "<dt>", "</dt>")
        .into_iter()
        .map(|engine| between(engine, "class=\"patch ", "\"")[0].to_owned())
        .collect();
    assert_eq!(colours.len(), engines.len());
}

#[test]
fn a_view_names_fields_that_there_are() {
    let view = |view: &str| {
        Definition::read(&format!("[[section]]\nid = \"one\"\nview = [{{ table = \"\", {view} }}]"))
    };
    assert!(view("rows = \"engine\", of = \"op=loop\"").is_ok());
    for wrong in ["rows = \"engines\"", "of = \"opp=loop\"", "columns = \"N\"", "cells = \"\"", "row = \"n\""]
    {
        assert!(view(wrong).is_err(), "{wrong}");
    }
    assert_eq!("op=free;n=4".parse::<Select>().unwrap().to_string(), "op=free;n=4");
    assert_eq!("opp=free".parse::<Select>().unwrap_err(), "no field \"opp\"");
}

#[test]
fn numbers_read_well() {
    assert_eq!(count(0), "0");
    assert_eq!(count(1_234_567), "1,234,567");
    assert_eq!([1.005, 12.34, 123.4, 1234.5].map(fixed), ["1.00", "12.3", "123", "1,235"]);
    let times = [17.04, 170.0, 47_359.0, 12e6, 12e9].map(nanoseconds);
    assert_eq!(times, ["17.0 ns", "170 ns", "47.4 us", "12.0 ms", "12.0 s"]);
    let column = [950.0, 12e6].map(|ns| figure_like(Unit::Nanoseconds, ns, 950.0));
    assert_eq!(column, ["950 ns", "12,000,000 ns"], "one unit a column");
    assert_eq!(figure(Unit::Share, 0.125), "12.5 %");
    assert_eq!([7.0, 7.5, 2048.0].map(|bytes| figure(Unit::Bytes, bytes)), ["7 B", "7.50 B", "2 KiB"]);
}

/// Loops of the default engine, of others that are no rivals, and of a rival.
fn compared(ours: [f64; 3], theirs: [f64; 3]) -> Results {
    let mut results = Results::default();
    let key = |engine: &str| Key::new("kva", "churn").op("loop").engine(engine);
    results.of(Key { default: true, ..key("btree") }).rounds(Metric::Time, &ours, 3);
    results.of(Key { ours: true, ..key("rbtree") }).rounds(Metric::Time, &[1.0], 1);
    results.of(key("floor")).rounds(Metric::Time, &[0.5], 1);
    results.of(key("gap-list")).rounds(Metric::Time, &theirs, 3);
    results
}

fn verdicts(results: &Results) -> Vec<(Verdict, String, f64)> {
    findings(results).iter().map(|found| (found.verdict, found.rival.clone(), found.factor())).collect()
}

#[test]
fn one_is_ahead_or_behind_beyond_both_spreads() {
    let found = verdicts(&compared([10.0, 11.0, 12.0], [30.0, 33.0, 36.0]));
    assert_eq!(found, [(Verdict::Ahead, "gap-list".to_owned(), 3.0)]);
    let behind = compared([30.0, 33.0, 36.0], [10.0, 11.0, 12.0]);
    assert_eq!(verdicts(&behind), [(Verdict::Behind, "gap-list".to_owned(), 3.0)]);
    let (_, text) = shown("", &behind);
    let nothing = "Ahead in every round: in none of 1 figures.\n";
    assert!(text.contains(nothing) && text.contains("Behind Linux or the best of the others"), "{text}");
    let meet = verdicts(&compared([10.0, 20.0, 30.0], [29.0, 33.0, 36.0]));
    assert_eq!(meet[0].0, Verdict::Even);
}

/// A figure of an engine, in a family whose default engine is `bitmap`.
fn figure_of(results: &mut Results, engine: &str, op: &str, (metric, stat): (Metric, Stat), rounds: &[f64]) {
    let key = Key::new("percpu", "netns.pcpu").op(op).engine(engine);
    let key = Key { default: engine == "bitmap", linux: engine == "bitmap-linux", ..key };
    let [lo, hi] = [f64::min, f64::max].map(|end| rounds.iter().copied().reduce(end).unwrap());
    let spread = (rounds.len() > 1).then_some([lo, hi]);
    let origin = Default::default();
    results.records.push(Record {
        key,
        metric,
        stat,
        value: rounds[0],
        spread,
        stddev: None,
        samples: 1,
        origin,
    });
}

#[test]
fn time_tail_and_memory_are_judged_and_work_is_not() {
    let (time, tail) = ((Metric::Time, Stat::Median), (Metric::Time, Stat::P999));
    let (bytes, work) = ((Metric::Metadata, Stat::Max), (Metric::Work, Stat::Mean));
    let mut results = Results::default();
    for (engine, ns, tail_ns, held) in [
        ("bitmap", 10.0, 700.0, 100.0),
        ("bitmap-linux", 20.0, 500.0, 200.0),
        ("area-map", 40.0, 900.0, 50.0),
    ] {
        figure_of(&mut results, engine, "loop", time, &[ns, ns + 1.0]);
        figure_of(&mut results, engine, "alloc", tail, &[tail_ns, tail_ns + 1.0]);
        figure_of(&mut results, engine, "", bytes, &[held]);
        figure_of(&mut results, engine, "alloc", work, &[ns * 100.0]);
    }
    let found: Vec<_> = findings(&results)
        .iter()
        .map(|found| (found.metric, found.stat, found.rival.clone(), found.linux, found.verdict))
        .collect();
    let of = |(metric, stat): (Metric, Stat), rival: &str, verdict| {
        (metric, stat, rival.to_owned(), rival == "bitmap-linux", verdict)
    };
    assert_eq!(
        found,
        [
            of(time, "area-map", Verdict::Ahead),
            of(time, "bitmap-linux", Verdict::Ahead),
            of(tail, "bitmap-linux", Verdict::Behind),
            of(tail, "area-map", Verdict::Ahead),
            of(bytes, "bitmap-linux", Verdict::Ahead),
            of(bytes, "area-map", Verdict::Behind),
        ]
    );
    let (page, text) = shown("", &results);
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = |name: &str| text.lines().map(words).find(|line| line.starts_with(name)).unwrap();
    assert!(line("Per-CPU objects of network").ends_with("10.0 ns 700 ns 100 B"), "{text}");
    let linux = "20.0 ns 2.00x 500 ns 0.71x, behind 200 B 2.00x";
    assert!(line("Linux (bitmap-linux)").ends_with(linux), "{text}");
    assert!(page.contains("Linux (bitmap-linux)") && page.contains("the p99.9 of"), "{page}");
}

#[test]
fn a_mail_of_recorded_workloads_is_their_heads() {
    let mut results = Results::default();
    for (engine, ns) in [("bitmap", 10.0), ("bitmap-linux", 20.0)] {
        figure_of(&mut results, engine, "loop", (Metric::Time, Stat::Median), &[ns, ns + 1.0]);
    }
    let single = Key::new("percpu", "one round").op("loop");
    results.of(Key { default: true, ..single.clone() }.engine("bitmap")).rounds(Metric::Time, &[1.0], 1);
    results.of(single.engine("area-map")).rounds(Metric::Time, &[2.0], 1);
    results.note("a note");
    let definition = Definition::read("heads = true\nquiet = true\n[[section]]\nid = \"one\"").unwrap();
    let mail = lkml(&definition, &results, &environment(), false);
    assert!(
        mail.contains("Linux (bitmap-linux)") && mail.contains("Ahead in 1 of 1 figures, the most 2.00x"),
        "{mail}"
    );
    assert!(mail.lines().count() <= 19 && mail.lines().all(|line| line.chars().count() <= 72), "{mail}");
    assert!(!mail.contains("a note") && lkml(&definition, &results, &environment(), true).contains("a note"));
    let [text, all] = [false, true].map(|all| screen(&definition, &results, &environment(), SCREEN, all));
    assert!(text.ends_with("\n1 note: freehold show --all\n") && all.ends_with("a note\n"), "{text}");
}

#[test]
fn ranges_are_summed_up_by_what_they_are_for() {
    let mut results = Results::default();
    for (workload, ours, linux) in [("churn", 10.0, 20.0), ("burst", 10.0, 80.0), ("zone", 30.0, 10.0)] {
        for (engine, ns) in [("btree", ours), ("rbtree", linux)] {
            let key = Key::new("kva", workload).op("alloc").engine(engine);
            let key = Key { default: engine == "btree", linux: engine == "rbtree", ..key };
            results.of(key).rounds(Metric::Time, &[ns - 1.0, ns, ns + 1.0], 3);
        }
    }
    let (_, text) = shown("", &results);
    let words: Vec<String> =
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for line in [
        "one after another 4.00x, freehold behind in 0 of 2 -",
        "windows 0.33x, freehold behind in 1 of 1 -",
        "one after another: churn, burst; windows: zone",
    ] {
        assert!(words.iter().any(|other| other == line), "{line}: {text}");
    }
}

#[test]
fn a_change_is_worse_or_better_beyond_a_threshold_and_both_spreads() {
    let mut results = Results::default();
    let times = |op: &str, when: &str, ns: [f64; 3], results: &mut Results| {
        let key = Key::new("kva", "churn").op(op).engine("btree").param(Field::When, when);
        results.of(Key { default: true, ..key }).rounds(Metric::Time, &ns, 3);
    };
    for (op, before, after) in [
        ("slower", [99.0, 100.0, 101.0], [149.0, 150.0, 151.0]),
        ("faster", [99.0, 100.0, 101.0], [49.0, 50.0, 51.0]),
        ("within spreads", [90.0, 100.0, 120.0], [119.0, 130.0, 140.0]),
        ("below the threshold", [99.0, 100.0, 101.0], [102.0, 103.0, 104.0]),
    ] {
        times(op, "before", before, &mut results);
        times(op, "after", after, &mut results);
    }
    times("gone", "before", [1.0, 2.0, 3.0], &mut results);
    // One round tells nothing of the next.
    for (when, ns) in [("before", 100.0), ("after", 200.0)] {
        let key = Key::new("kva", "churn").op("once").engine("btree").param(Field::When, when);
        results.of(key).rounds(Metric::Time, &[ns], 1);
    }
    let (_, text) = shown("", &results);
    let lines: Vec<String> =
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let title =
        "Worse: 1, better: 1, of 4 in all; by 5 % and more, in every round; 1 more, measured in one round,";
    let from = lines.iter().position(|line| line == title).unwrap_or_else(|| panic!("{text}"));
    assert_eq!(
        lines[from + 1..from + 5],
        [
            "are not judged",
            "workload engine op n figure before after verdict",
            "churn btree faster time median 100 ns 50.0 ns better, -50 %",
            "churn btree slower time median 100 ns 150 ns worse, +50 %",
        ]
    );
    assert!(!text.contains("in none of"), "{text}");
}

#[test]
fn what_was_measured_once_is_not_judged_and_that_is_said() {
    let mut results = Results::default();
    let time = (Metric::Time, Stat::Median);
    figure_of(&mut results, "bitmap", "loop", time, &[92.0]);
    figure_of(&mut results, "area-map", "loop", time, &[28.0, 29.0]);
    assert_eq!(findings(&results)[0].verdict, Verdict::NotJudged);
    let (page, text) = shown("", &results);
    let said = "Not judged, as measured in one round: per-CPU objects of network namespaces (1).";
    assert!(text.contains(said) && page.contains(said), "{text}");
    assert!(!text.contains("in none of"), "{text}");
}

#[test]
fn wide_tables_and_long_names_continue_below() {
    let mut results = Results::default();
    for at in 0..12u32 {
        let key = Key::new("kva", "x")
            .engine("a name ".repeat(30) + "its end")
            .param(Field::Column, format!("column{at:02}"));
        results.of(key).put(Metric::Count, Stat::Total, 10f64.powi(at as i32), 1);
    }
    let definition = Definition::read(
        "[[section]]\nview = [{ table = \"wide\", columns = \"column\", cells = \"count\" }]",
    )
    .unwrap();
    let texts = [
        (100, screen(&definition, &results, &environment(), SCREEN, true)),
        (72, lkml(&definition, &results, &environment(), false)),
    ];
    for (width, text) in texts {
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        for at in 0..12 {
            assert!(text.contains(&format!("column{at:02}")), "{text}");
        }
        let heads = text.lines().filter(|line| line.trim().starts_with("engine"));
        assert!(heads.count() > 1 && text.contains("its end"), "{text}");
    }
}

#[test]
fn ten_times_as_much_is_a_decade_longer() {
    let bars = |values: &[f64]| {
        let mut results = Results::default();
        for (at, &value) in values.iter().enumerate() {
            results.of(Key::new("", "").engine(at.to_string())).put(Metric::Count, Stat::Total, value, 1);
        }
        let view = "{ bars = \"\", scale = \"\", of = \"\", cell = \"count\", groups = \"\" }";
        shown(view, &results).0
    };
    let page = bars(&[21.0, 3834.0, 100.0, 1000.0, 0.0]);
    assert!(page.contains("--decades:3\""), "{page}");
    let widths = between(&page, "style=\"width:", "%");
    assert_eq!(widths[2..], ["33.33", "66.67", "0.00"]);
    let view =
        "{ bars = \"\", scale = \"\", of = \"\", cell = \"count\", groups = \"op\", table = \"as a table\" }";
    let mut results = Results::default();
    for engine in ["a", "floor"] {
        results.of(Key::new("", "").engine(engine).op("x")).put(Metric::Count, Stat::Total, 7.0, 1);
    }
    let (page, text) = shown(view, &results);
    assert_eq!(page.matches("class=\"who\"").count(), 1, "what does no work has no bar");
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(
        words.ends_with(&["as", "a", "table", "op", "a", "floor", "(not", "judged)", "x", "7", "7"]),
        "{text}"
    );
    let least = bars(&[10.0]);
    assert_eq!(between(&least, "style=\"width:", "%"), ["100.00"], "the least is seen, too");
    assert!(!bars(&[]).contains("class=\"bars\""));
}

#[test]
fn a_bar_of_a_histogram_is_a_share_of_its_column_and_gaps_are_shown() {
    let mut results = Results::default();
    for (n, times) in [(4u64, 400), (6, 100)] {
        results
            .of(Key::new("", "").param(Field::N, n).param(Field::Who, "<them>"))
            .total(Metric::Requests, times);
    }
    results.of(Key::new("", "").param(Field::N, 5u64).param(Field::Who, "us")).total(Metric::Requests, 7);
    let view = |form: &str| {
        let view = "{ histogram = \"nodes\", reading = \"\", unit = \"nodes\", of = \"\", value = \"n\", columns = \"who\"";
        shown(&format!("{view}, cell = \"requests\", form = \"{form}\" }}"), &results)
    };
    let (page, text) = view("brackets");
    assert!(page.contains("style=\"width:25.00%\"></i><em>100<") && page.contains("<b>&lt;them&gt;</b>"));
    assert_eq!(page.matches("class=\"none\"").count(), 3, "{page}");
    for (label, stars, count) in [("[4, 5)", 40, "400"), ("[5, 6)", 0, "0"), ("[6, 7)", 10, "100")] {
        let bar = format!("|{}{}|", "@".repeat(stars), " ".repeat(40 - stars));
        let is_it =
            |line: &&str| line.contains(label) && line.contains(&bar) && line.ends_with(&format!(" {count}"));
        assert!(text.lines().any(|line| is_it(&line)), "{label}: {text}");
    }
    assert!(text.lines().any(|line| line.contains("total") && line.ends_with("2,200")), "{text}");
    let (_, stars) = view("stars");
    assert_eq!(stars.matches("5   :").count(), 1, "what did not come has no line: {stars}");
    assert!(stars.contains("4   :  ") && stars.contains(&"*".repeat(40)));
}

/// A picture of these strips.
fn picture(strips: Strips) -> String {
    let mut results = Results::default();
    results.of(Key::new("", "x")).total(Metric::Count, 1);
    results.pictures.push(("it", "x".to_owned(), strips));
    shown("{ picture = \"\", id = \"it\", shades = [\"free\", \"busy\"] }", &results).0
}

fn strip(columns: Vec<usize>, busy: Vec<u8>) -> Strips {
    let mut grid = Grid::default();
    (grid.columns, grid.busy) = (3, busy);
    let strip = Strip { engines: Vec::new(), text: String::new(), columns, height: 1.0, picture: grid };
    Strips { strips: vec![strip], ..Strips::default() }
}

/// The picture of a page: its size, its pixels, and its palette.
fn decoded(page: &str) -> (u32, u32, Vec<u8>, Vec<u8>) {
    let file = between(page, "data:image/png;base64,", "\"")[0];
    let file = base64::engine::general_purpose::STANDARD.decode(file).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    let info = reader.info();
    (info.width, info.height, pixels, info.palette.as_ref().unwrap().to_vec())
}

#[test]
fn pixels_are_shares_lowest_address_last_and_darken_evenly() {
    let page = picture(strip(vec![0, 0, 1, 2, 2], vec![255, 0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 128]));
    let (width, height, pixels, palette) = decoded(&page);
    assert_eq!((width, height), (5, 4));
    assert_eq!(pixels[15..20], [255, 255, 0, 0, 0], "the bottom row is the first stretch of addresses");
    assert_eq!(pixels[0..5], [0, 0, 0, 128, 128]);
    let lights: Vec<u32> =
        palette.chunks(3).map(|colour| colour.iter().map(|&of| u32::from(of)).sum()).collect();
    assert!(lights.iter().step_by(12).is_sorted_by(|light, dark| light > dark), "{lights:?}");
}

#[test]
fn what_does_not_change_is_said_and_nothing_has_no_picture() {
    let page = picture(strip(vec![0, 1, 2], vec![9; 12]));
    assert!(page.contains("A picture would show no change") && !page.contains("data:image"), "{page}");
    assert!(!picture(Strips::default()).contains("data:image"));
}

/// Values over three points.
type Three = [Option<f64>; 3];

/// A page with a plot of lines over three points.
fn plot(lines: &[(&str, Three, Three)]) -> String {
    let mut results = Results::default();
    results.of(Key::new("", "x")).total(Metric::Count, 1);
    for (line, first, second) in lines {
        results.series.push(Series {
            id: "it",
            workload: "x".to_owned(),
            line: (*line).to_owned(),
            at: vec![0.0, 10.0, 20.0],
            clock_s: Vec::new(),
            values: vec![first.to_vec(), second.to_vec()],
        });
    }
    let view = r#"{ plot = "A plot", series = "it", reading = "Lower is better.", x = { title = "x & y", unit = "operations" }, y = { title = "x & y", unit = "nanoseconds", log = true }, measure = ["median line", "p99 light"] }"#;
    shown(view, &results).0
}

const FIRST: Three = [Some(1.0), None, Some(1_234.567_89)];
const SECOND: Three = [Some(0.0), Some(f64::INFINITY), Some(2.5)];

#[test]
fn json_of_plots_is_valid_has_the_points_it_says_and_cannot_end_its_script() {
    let text = "</script><!-- & \u{2028}\u{2029} \"quoted\" \\";
    let page = plot(&[(text, FIRST, SECOND)]);
    let safe = between(&page, "<script type=\"application/json\">", "</script>")[0];
    assert!(!safe.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{safe}");
    let value: serde_json::Value = serde_json::from_str(safe).unwrap();
    assert_eq!(value["lines"][0]["name"], text);
    let points = value["points"].as_u64().unwrap() as usize;
    let data = value["data"].as_array().unwrap();
    let series = value["lines"].as_array().unwrap().len() * value["measures"].as_array().unwrap().len();
    assert_eq!((points, data.len()), (3, 1 + series));
    assert!(data.iter().all(|values| values.as_array().unwrap().len() == points));
    assert_eq!(data[1].to_string(), "[1,null,1234.57]");
    assert_eq!(data[2].to_string(), "[null,null,2.5]", "0 and infinity have no place");
    assert_eq!(value["y"]["unit"], "nanoseconds");
    assert!(page.contains("x &amp; y") && page.contains("<noscript>"));
    assert!(!plot(&[]).contains("<figure"));
}

#[test]
fn lines_that_are_all_one_become_a_sentence() {
    let line = |name, last| (name, [Some(10.0), None, Some(last)], [None; 3]);
    let page = plot(&[line("b", 20.01), line("a", 20.0)]);
    assert!(page.contains("X &amp; y: from 10.0 ns to 20.0 ns, the same for b, a."), "{page}");
    assert!(!page.contains("<noscript"));
    let told_apart = plot(&[line("b", 21.0), line("a", 20.0)]);
    assert!(told_apart.contains("<noscript"), "they can be told apart");
    assert!(plot(&[line("a", 20.0)]).contains("<noscript"), "one line is something to see");
}
