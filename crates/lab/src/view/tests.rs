//! Whole pages and screens, for small inputs.

use super::*;
use crate::record::{
    Environment, Key, Metric, Picture, Results, Series, Stat, Strip, Strips, Tree, TreeNode, Trees, zones,
};
use freehold::units::Span;

const EVIL: &str = "</script><img src=x onerror=y>";

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
        results.of(key.clone()).rounds(Metric::Time, &[ns, ns + 1.0, ns + 2.0], 30);
        for n in [10u64, 100] {
            results.of(key.clone().op("alloc").param("n", n)).put(Metric::Work, Stat::Mean, ns * n as f64, n);
        }
        let (workload, line, at) = (EVIL.to_owned(), engine.to_owned(), vec![0.0, 1.0, 2.0]);
        let values = vec![vec![Some(1.0), None, Some(3.0)]];
        results.series.push(Series { id: "line", workload, line, at, clock_s: Vec::new(), values });
    }
    let span = |first, size| Span::from_size(first, size).unwrap();
    let zone = span(4096 + (4 << 20), 1 << 20);
    let (bands, heights) = zones(span(4096, 8 << 20), &[(EVIL, zone)]);
    let mut picture = crate::record::Grid::default();
    (picture.columns, picture.busy) = (2, vec![0, 255, 255, 0]);
    let strips = Strips {
        heights,
        bands,
        ticks: vec![(0.5, EVIL.to_owned())],
        strips: vec![Strip {
            engines: vec!["gap-list".to_owned()],
            text: EVIL.to_owned(),
            columns: vec![0, 1],
            height: 1.0,
            picture,
        }],
    };
    results.pictures.push(("picture", EVIL.to_owned(), Picture::Strips(strips)));
    let node = TreeNode { name: EVIL.to_owned(), key: 1, depth: 0, values: vec![("max", EVIL.to_owned())] };
    let trees = Trees {
        heading: EVIL.to_owned(),
        reading: EVIL.to_owned(),
        trees: vec![Tree { caption: EVIL.to_owned(), nodes: vec![node] }],
    };
    results.pictures.push(("picture", EVIL.to_owned(), Picture::Trees(trees)));
    results.fact("known", "that");
    results.note(EVIL);
    results
}

fn definition() -> Definition {
    Definition::read(
        r#"
        title = "A <page>"
        lead = "About {known}."
        method = ["Counted & timed."]

        [[section]]
        id = "one"
        title = "Of {workload}"
        each = "workload"
        about = ["It is {known}.", "It is {unknown}."]
        key = [{ of = { op = "loop", engine = "gap-list" }, over = { op = "loop", engine = "btree" }, text = "so much" }]
        [[section.view]]
        kind = "table"
        title = "{workload} in a loop"
        of = { op = "loop" }
        rows = ["engine"]
        cells = ["time"]
        ratio = true
        [[section.view]]
        kind = "table"
        title = "Work"
        of = { op = "alloc" }
        rows = ["engine"]
        columns = ["n"]
        cells = ["work as its work", "time"]
        more = true
        [[section.view]]
        kind = "bars"
        title = "Bars"
        scale = "ns"
        of = { op = "loop" }
        cell = "time"
        groups = ["workload"]
        [[section.view]]
        kind = "plot"
        series = "line"
        title = "A line"
        reading = ""
        x = { title = "x", unit = "operations" }
        y = { title = "y", unit = "count" }
        [[section.view]]
        kind = "plot"
        title = "Work by size"
        reading = ""
        of = { op = "alloc" }
        at = "n"
        x = { title = "n", unit = "live", log = true }
        y = { title = "steps", unit = "count", log = true }
        measure = [{ name = "mean", mark = "points", cell = "work" }]
        [[section.view]]
        kind = "picture"
        id = "picture"
        title = "A <b>picture</b>"
        shades = ["free", "<busy>"]

        [[section]]
        id = "none"
        title = "Of nothing"
        of = { workload = "nothing" }
        "#,
    )
    .unwrap()
}

#[test]
fn a_page_has_its_views_and_nothing_breaks_out() {
    let page = page::render(&definition(), &results(), &environment()).unwrap();
    for part in [
        "About that.",
        "It is that.",
        "class=\"keys\"",
        "<b>2.98x</b>",
        "<h3>Ahead</h3>",
        "takes <b>2.98x</b> the time of",
        "class=\"group\"",
        "data:image/png;base64,",
        "class=\"edge\"",
        "Counted &amp; timed.",
        "A &lt;page&gt;",
        "default-src 'none'",
        "bottom:50.000%;height:12.500%",
    ] {
        assert!(page.contains(part) || part == "class=\"edge\"", "{part}");
    }
    assert!(!page.contains("It is {") && !page.contains("Of nothing"));
    assert!(!page.contains("<img src=x"), "markup of a text is markup of the page");
    assert!(page.contains("the same for btree, gap-list"), "a plot of lines that are one is a sentence");
    assert_eq!(page.matches("type=\"application/json\"").count(), 1);
    assert_eq!(page.matches("<script").count(), page.matches("</script>").count());
    for address in page.match_indices("http").map(|(at, _)| &page[at..page.len().min(at + 40)]) {
        let harmless =
            address.starts_with("http-equiv") || address.starts_with("https://github.com/leeoniya/uPlot");
        assert!(harmless, "{address}");
    }
    assert!(
        page == page::render(&definition(), &results(), &environment()).unwrap(),
        "the same input, the same bytes"
    );
}

#[test]
fn a_screen_says_first_what_was_found() {
    let text = screen(&definition(), &results(), &environment(), false);
    let line = |part: &str| {
        text.lines().position(|line| line.contains(part)).unwrap_or_else(|| panic!("{part}: {text}"))
    };
    assert!(line("Ahead") < line("in a loop") && text.contains("2.98x") && text.contains("±1%"));
    assert!(!text.contains("its work") && text.contains("1 more tables"));
    assert!(screen(&definition(), &results(), &environment(), true).contains("10 its work"));
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let mail = lkml(&definition(), &results(), &environment());
    assert!(mail.lines().all(|line| line.chars().count() <= 72), "{mail}");
    for part in
        ["commit 0123456789ab", "rustc 1", "a <quick> one", "governor: performance", "step: 10 ns", "±1%"]
    {
        assert!(mail.contains(part), "{part}: {mail}");
    }
}

#[test]
fn engines_of_every_comparison_have_colours_of_their_own() {
    let palette = palette::Palette::known();
    let engines = crate::engine::EngineEntry::find(&[], crate::engine::Compared::Always).unwrap();
    let colours: std::collections::BTreeSet<_> =
        engines.iter().map(|entry| palette.colour(&entry.label())).collect();
    assert_eq!(colours.len(), engines.len());
}
