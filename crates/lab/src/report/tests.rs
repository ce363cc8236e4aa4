//! The whole page, for a small input.

use super::palette::Palette;
use super::{Described, Input, Replayed, page, write};
use crate::engine::find_engines;
use crate::measure::{Counts, GrowthPoint, Replay, measure};
use crate::output::{Environment, Table};
use crate::workload::{self, Workload};

/// A synthetic workload of that many pairs of a free and an allocation.
pub(super) fn workload(pairs: usize) -> Workload {
    let mut workload = workload::churn(50, pairs as u64, 7).unwrap();
    workload.n = None;
    workload
}

/// It on all engines, under another name.
pub(super) fn replay(name: &str, pairs: usize) -> Replay {
    let engines = find_engines(&[], crate::engine::Compared::Always).unwrap();
    let workload = Workload {
        name: name.to_owned(),
        description: format!("{name}, replayed <b>&</b>"),
        ..workload(pairs)
    };
    let mut replay = measure(workload, &engines, 1, &mut |_| {}).unwrap();
    for run in &mut replay.runs {
        // What the clock says differs from test to test.
        let ns: Vec<u64> = (0..run.timed.least_ns.len() as u64).map(|at| 100 + at % 17).collect();
        for times in &mut run.timed.kinds {
            times.all_ns = ns.iter().copied().collect();
        }
        run.timed.least_ns = ns;
    }
    replay
}

fn environment() -> Environment {
    Environment {
        version: "0.0.0",
        optimised: true,
        cpu: "a <quick> one".to_owned(),
        cpus: 2,
        memory_bytes: 1 << 30,
        system: "linux 6".to_owned(),
        architecture: "x86_64",
    }
}

/// A page of nothing but where it was made.
fn nothing(environment: &Environment) -> Input<'_> {
    Input { environment, replays: &[], growth: &[], sections: &[], tables: &[], notes: &[] }
}

fn growth() -> Vec<GrowthPoint> {
    let works = |value: u64| -> Counts { [value, 2 * value].into_iter().collect() };
    let engines = find_engines(&[], crate::engine::Compared::Always).unwrap();
    let at = |n: u64| {
        let work = move |linear: bool| if linear { n } else { n.ilog2().into() };
        let points = engines.iter().filter(move |entry| n < 10_000 || !entry.linear);
        points.map(move |entry| GrowthPoint { entry: *entry, n, alloc_work: works(work(entry.linear)) })
    };
    [100, 1_000, 10_000].into_iter().flat_map(at).collect()
}

fn small_page() -> String {
    let mut recorded = replay("evil</script><img src=x>", 300);
    recorded.workload.at_ns =
        Some((0..recorded.workload.ops.len() as u64).map(|at| at * at * 1000).collect());
    let replays = [recorded, replay("plain", 120)].map(Replayed::new);
    let mut tables = [
        Table::new("plain: work and space", &["engine", "work"]),
        Table::new("evil</script><img src=x>: its <i>", &["engine", "p<99>"]),
        Table::new("Work as objects grow", &["engine", "1_000"]),
    ];
    for table in &mut tables {
        table.row(vec!["gap-list".to_owned(), "<12>".to_owned()]);
    }
    let (environment, growth) = (environment(), growth());
    let input = Input {
        environment: &environment,
        replays: &replays,
        growth: &growth,
        sections: &[],
        tables: &tables,
        notes: &["a note & <more>".to_owned()],
    };
    page::render(&input).unwrap()
}

#[test]
fn page_has_every_section() {
    let page = small_page();
    for part in [
        "a &lt;quick&gt; one",
        "class=\"keys\"",
        "id=\"growth\"",
        "id=\"w0\"",
        "id=\"w1\"",
        "Address space over time",
        "data:image/png;base64,",
        "Allocation time over time",
        "Work per allocation over time",
        "Free blocks",
        "Span over used",
        "Largest free block",
        "Distribution of allocation times",
        "Over all workloads",
        "How it was measured",
        "a note &amp; &lt;more&gt;",
        "Leon Sorokin",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // Growth, and six plots of each workload.
    assert_eq!(page.matches("type=\"application/json\"").count(), 13);
    assert_eq!(page.matches("<caption>").count(), 3);
    let at = |part: &str| page.find(part).unwrap();
    assert!(at("Work and space") > at("id=\"w1\""), "a table lies with its workload");
    assert!(at("Its &lt;i&gt;") < at("id=\"w1\""), "a table lies with its workload");
}

#[test]
fn page_computes_its_key_figures() {
    let page = small_page();
    assert!(
        page.contains("<b>9.00 : 1_500</b>") || page.contains("<b>13.5 : 1_500</b>"),
        "steps at 1_000 live"
    );
    assert!(page.contains("from 100 to 1_000 live objects"));
}

#[test]
fn page_fetches_nothing_and_nothing_breaks_out() {
    let page = small_page();
    assert!(page.contains("default-src 'none'"));
    for attribute in ["src=\"http", "src='http", "href=\"http", "href='http", "src=\"//", "@import", "url("] {
        assert!(!page.contains(attribute), "{attribute}");
    }
    for address in page.match_indices("http").map(|(at, _)| &page[at..page.len().min(at + 40)]) {
        let harmless =
            address.starts_with("http-equiv") || address.starts_with("https://github.com/leeoniya/uPlot");
        assert!(harmless, "{address}");
    }
    assert!(!page.contains("<img src=x>") && !page.contains("evil</script>"));
    let opened = page.matches("<script").count();
    assert_eq!(opened, page.matches("</script>").count());
    assert_eq!(opened, 15);
}

#[test]
fn page_is_deterministic() {
    assert!(small_page() == small_page(), "the same input gives the same bytes");
}

#[test]
fn an_empty_input_is_a_page_still() {
    let environment = environment();
    let input = Input {
        environment: &environment,
        replays: &[],
        growth: &[],
        sections: &[],
        tables: &[],
        notes: &[],
    };
    let page = page::render(&input).unwrap();
    assert!(page.contains("How it was measured") && !page.contains("id=\"growth\""));
}

#[test]
fn write_makes_the_folders() {
    let folder = std::env::temp_dir().join(format!("freehold-report-{}", std::process::id()));
    let file = folder.join("deep/report.html");
    let environment = environment();
    let input = Input {
        environment: &environment,
        replays: &[],
        growth: &[],
        sections: &[],
        tables: &[],
        notes: &[],
    };
    write(&file, &input).unwrap();
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("<!doctype html>"));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_study_shows_its_sections_and_nothing_breaks_out() {
    let evil = "</script><img src=x onerror=y>".to_owned();
    let span = |first, size| freehold::units::Span::from_size(first, size).unwrap();
    let picture = replay("small", 60).runs[0].counted.seen.picture.clone();
    let zone = span(4096 + (4 << 20), 1 << 20);
    let (bands, heights) = super::strip::zones(span(4096, 8 << 20), &[(evil.as_str(), zone)]);
    let strips = super::strip::Strips {
        heading: evil.clone(),
        reading: String::new(),
        shades: ["free", "busy"],
        heights,
        bands,
        x_title: evil.clone(),
        ticks: vec![(0.5, evil.clone())],
        strips: vec![super::strip::Strip { engine: "gap-list".to_owned(), text: evil.clone(), picture }],
    };
    let mut table = Table::new(evil.clone(), &["", "x"]);
    table.row(vec!["a source".to_owned(), String::new()]);
    table.row(vec!["its figure".to_owned(), evil.clone()]);
    let section = super::Section {
        id: "one",
        title: evil.clone(),
        about: vec![evil.clone(), evil.clone()],
        figures: vec![
            super::section::Figure::Plot(super::plot::tests::small()),
            super::section::Figure::Bars(super::bars::Bars {
                heading: evil.clone(),
                reading: evil.clone(),
                scale: evil.clone(),
                groups: vec![super::bars::Group {
                    name: evil.clone(),
                    bars: vec![super::bars::Bar {
                        name: evil.clone(),
                        value: 7.0,
                        origin: super::bars::Origin::Measured,
                    }],
                }],
            }),
            super::section::Figure::Strips(strips),
        ],
        tables: vec![table],
    };
    let engines = find_engines(&[], crate::engine::Compared::Always).unwrap();
    let study = super::Study {
        title: evil.clone(),
        lead: evil.clone(),
        keys: vec![super::Key { value: evil.clone(), text: evil.clone() }],
        engines: engines.iter().map(Described::of).collect(),
        sections: vec![section],
        method: vec!["Counted & timed."],
    };
    let page = super::study::render(&study, &environment(), std::slice::from_ref(&evil)).unwrap();
    assert!(!page.contains("<img src=x"), "markup of a text is markup of the page");
    for part in
        ["id=\"one\"", "href=\"#one\"", "class=\"group\"", "Counted &amp; timed.", "data:image/png;base64,"]
    {
        assert!(page.contains(part), "{part}");
    }
    // Half way up, an eighth of the height.
    assert!(page.contains("bottom:50.000%;height:12.500%"));
    assert_eq!(page.matches("type=\"application/json\"").count(), 1);
}

#[test]
fn engines_of_every_comparison_have_colours_of_their_own() {
    let environment = environment();
    let palette = Palette::of(&nothing(&environment));
    let engines = find_engines(&[], crate::engine::Compared::Always).unwrap();
    let colours: std::collections::BTreeSet<_> =
        engines.iter().map(|entry| palette.colour(&entry.label())).collect();
    assert_eq!(colours.len(), engines.len());
    let percpu = crate::engine::percpu::ENGINES;
    let colours: std::collections::BTreeSet<_> =
        percpu.iter().filter_map(|entry| palette.colour(entry.engine)).collect();
    assert_eq!(colours.len(), percpu.len());
}

#[test]
fn another_family_has_a_section_and_its_tables_there() {
    let environment = environment();
    let mut table = Table::new("of another family", &["engine", "ns"]);
    table.row(vec!["bitmap".to_owned(), "7".to_owned()]);
    let section = super::Section {
        id: "percpu",
        title: "Per-CPU".to_owned(),
        tables: vec![table.clone()],
        ..super::Section::default()
    };
    let input = Input { sections: &[section], tables: &[table], ..nothing(&environment) };
    let page = page::render(&input).unwrap();
    assert!(page.contains("<section id=\"percpu\"") && page.contains("href=\"#percpu\""));
    assert_eq!(page.matches("of another family").count(), 1);
    assert!(!page.contains("Over all workloads"));
}
