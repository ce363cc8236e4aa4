//! The posting's worst case: 4-byte objects at multiples of 8, 52 minutes before and 14 seconds after.

use super::scale::Scale;
use crate::commands::bench_percpu::rows;
use crate::commands::reproduce::{Part, times};
use crate::engine::percpu::EngineEntry;
use crate::measure::median;
use crate::measure::percpu::{FillRun, fill};
use crate::output::{Row, Table, count, fixed, nanoseconds};
use crate::published::percpu::Subject;
use crate::published::{Figure, Quantity, aligned_2017_v1, find};
use crate::report::bars::{Bar, Bars, Group, Origin};
use crate::report::plot::{Axis, Guide, Line, Mark, Measure, Plot, Unit};
use crate::report::section;
use crate::report::{Key, Section, colour};
use crate::workload::percpu::{Order, Size};

/// The posting's number of objects.
const MILLION: f64 = 1e6;
const BYTES: u32 = 4;
const ALIGN: u64 = 8;

/// An engine at growing numbers of objects.
pub(super) struct Growth {
    /// The engine.
    pub(super) entry: EngineEntry,
    /// A run for each number, the largest last.
    pub(super) runs: Vec<FillRun>,
}

impl Growth {
    /// Whether the time of an allocation grows with the objects, so that all of it grows with their square.
    pub(super) fn is_quadratic(&self) -> bool {
        !self.entry.knows_pages
    }

    /// Nanoseconds to place all objects of a run.
    fn alloc_ns(run: &FillRun) -> f64 {
        median(&run.alloc_ns) * f64::from(run.objects)
    }

    /// Nanoseconds to place a million: what the largest run took, multiplied up.
    pub(super) fn million_alloc_ns(&self) -> Option<f64> {
        let last = self.runs.last()?;
        Some(million(Self::alloc_ns(last), last.objects, self.is_quadratic()))
    }

    /// The same, and to free them in order.
    pub(super) fn million_ns(&self) -> Option<f64> {
        let last = self.runs.last()?;
        Some(self.million_alloc_ns()? + last.free_ns(Order::InOrder) * MILLION)
    }

    /// How many times as long twice the objects took, at the largest number whose half was measured.
    fn doubled(&self) -> Option<f64> {
        let half = |run: &FillRun| self.runs.iter().find(|half| half.objects == run.objects / 2);
        let (run, half) = self.runs.iter().rev().find_map(|run| Some((run, half(run)?)))?;
        Some(Self::alloc_ns(run) / Self::alloc_ns(half))
    }
}

/// What a million would take, if so many take `ns`.
fn million(ns: f64, objects: u32, quadratic: bool) -> f64 {
    let times = MILLION / f64::from(objects.max(1));
    ns * if quadratic { times * times } else { times }
}

/// Places and frees growing numbers of objects; of the area map as many as end in seconds.
pub(super) fn measure(scale: &Scale, tick: &mut dyn FnMut(&str)) -> Result<Vec<Growth>, String> {
    let few = scale.quadratic;
    let mut growth: Vec<Growth> =
        scale.compared.iter().map(|&entry| Growth { entry, runs: Vec::new() }).collect();
    let mut numbers = vec![few / 8, few / 4, few / 2, few, scale.objects];
    numbers.dedup();
    for objects in numbers {
        let takes = |growth: &&mut Growth| objects <= few || !growth.is_quadratic();
        let taking: Vec<&mut Growth> = growth.iter_mut().filter(takes).collect();
        let entries: Vec<EngineEntry> = taking.iter().map(|growth| growth.entry).collect();
        let mut tick = |what: &str| tick(&format!("{objects} aligned {what}"));
        let runs = fill(&entries, &scale.whole, Size::new(BYTES, ALIGN), |_| objects, 1, &mut tick)?;
        for (growth, run) in taking.into_iter().zip(runs) {
            growth.runs.push(run);
        }
    }
    Ok(growth)
}

/// The part.
pub(super) fn part(scale: &Scale, growth: &[Growth]) -> Part {
    let largest =
        growth.iter().filter(|growth| growth.is_quadratic()).filter_map(|growth| growth.runs.last());
    let few = largest.map(|run| run.objects).max().unwrap_or(0);
    let section = Section {
        id: "aligned",
        title: "Right size, wrong alignment".to_owned(),
        about: vec![
            "The posting's worst case: objects of 4 bytes, each at a multiple of 8. Between any two of them is a \
             gap that is large enough and ill aligned. The area map looks at every gap of every chunk for every \
             object: twice the objects take four times as long."
                .to_owned(),
            format!(
                "Here it places {} and is extrapolated to a million by the square (marked *); the table tells \
                 whether it does grow so. What a bitmap took is multiplied up in proportion.",
                count(u64::from(few))
            ),
        ],
        figures: vec![section::Figure::Bars(bars(growth)), section::Figure::Plot(plot(growth))],
        tables: vec![table(scale, growth)],
    };
    let note = format!(
        "* extrapolated from {} objects by the square of their number; not measured.",
        count(u64::from(few))
    );
    let mut part = Part { section, rows: rows(scale, growth), keys: keys(growth), ..Part::default() };
    part.notes.push(note);
    part
}

fn mark(growth: &Growth) -> &'static str {
    if growth.is_quadratic() { " *" } else { "" }
}

fn table(scale: &Scale, growth: &[Growth]) -> Table {
    let title = format!(
        "aligned: {BYTES} B at multiples of {ALIGN}, units of {}; published for a million: {}",
        scale.unit(),
        published_text()
    );
    let header = ["engine", "objects", "ns/alloc", "twice takes", "a million placed", "and freed"];
    let mut table = Table::new(title, &header);
    for growth in growth {
        let Some(last) = growth.runs.last() else { continue };
        let seconds = |ns: Option<f64>| ns.map_or_else(String::new, |ns| nanoseconds(ns) + mark(growth));
        table.row(vec![
            growth.entry.engine.to_owned(),
            count(u64::from(last.objects)),
            fixed(median(&last.alloc_ns)),
            growth.doubled().map_or_else(String::new, |ratio| format!("{}x", fixed(ratio))),
            seconds(growth.million_alloc_ns()),
            seconds(growth.million_ns()),
        ]);
    }
    table
}

fn published_text() -> String {
    find(&aligned_2017_v1::TABLE, Subject::Aligned).map_or_else(String::new, Figure::ends_text)
}

fn bars(growth: &[Growth]) -> Bars {
    let own = growth.iter().filter_map(|growth| {
        let value = growth.million_ns()? / 1e9;
        Some(Bar { name: growth.entry.engine.to_owned(), value, origin: Origin::Extrapolated })
    });
    let published = find(&aligned_2017_v1::TABLE, Subject::Aligned).into_iter().flat_map(|figure| {
        [("v1 area map", figure.before), ("v1 bitmap", figure.after)].into_iter().filter_map(|(name, end)| {
            Some(Bar { name: name.to_owned(), value: end?.in_base(), origin: Origin::Published })
        })
    });
    Bars {
        heading: "A million of them placed, and freed".to_owned(),
        reading: "Computed from fewer objects; shaded bars were published, on other machines.".to_owned(),
        scale: "seconds".to_owned(),
        groups: vec![Group {
            name: "4 B at multiples of 8".to_owned(),
            bars: own.chain(published).collect(),
        }],
    }
}

fn plot(growth: &[Growth]) -> Plot {
    let mut at: Vec<u32> = growth.iter().flat_map(|growth| &growth.runs).map(|run| run.objects).collect();
    at.push(MILLION as u32);
    at.sort_unstable();
    at.dedup();
    let line = |growth: &Growth| {
        let measured =
            |&objects: &u32| growth.runs.iter().find(|run| run.objects == objects).map(Growth::alloc_ns);
        let multiplied = |&objects: &u32| growth.million_alloc_ns().filter(|_| f64::from(objects) == MILLION);
        Line {
            name: growth.entry.engine.to_owned(),
            colour: colour(growth.entry.engine),
            values: vec![
                at.iter().map(measured).collect(),
                at.iter().map(|objects| measured(objects).or(multiplied(objects))).collect(),
            ],
        }
    };
    let guides = find(&aligned_2017_v1::TABLE, Subject::Aligned).into_iter().flat_map(|figure| {
        let guide = |quantity: Option<Quantity>, what: &str| {
            quantity.map(|quantity| Guide {
                value: quantity.in_base() * 1e9,
                name: format!("published for a million, {what}: {quantity}"),
            })
        };
        [guide(figure.before, "area map"), guide(figure.after, "bitmap")].into_iter().flatten()
    });
    Plot {
        measures: vec![
            Measure { name: "measured", mark: Mark::Points },
            Measure { name: "and multiplied up", mark: Mark::Rings },
        ],
        lines: growth.iter().map(line).collect(),
        guides: guides.collect(),
        at: at.iter().map(|&objects| f64::from(objects)).collect(),
        ..Plot::new(
            "Time to place so many objects of 4 bytes at multiples of 8",
            "Both axes are logarithmic: the steeper line grows with the square. Rings without a point are \
             multiplied up from the last point.",
            [Axis::log("objects", Unit::Live), Axis::log("time to place all of them", Unit::Nanoseconds)],
        )
    }
}

fn rows(scale: &Scale, growth: &[Growth]) -> Vec<Row> {
    let published = find(&aligned_2017_v1::TABLE, Subject::Aligned);
    let mut rows = Vec::new();
    for growth in growth {
        let size = Size::new(BYTES, ALIGN);
        for run in &growth.runs {
            rows.extend(rows::fill("aligned", size, std::slice::from_ref(run), scale.unit_bytes));
        }
        let end = published.and_then(|figure| match growth.entry.engine {
            "area-map" => figure.before,
            "bitmap-2017" => figure.after,
            _ => None,
        });
        rows.push(Row {
            n: Some(MILLION as u64),
            size: Some(u64::from(BYTES)),
            align: Some(ALIGN),
            op: Some("loop"),
            ns_median: growth.million_ns(),
            published: end.map(|end| end.value),
            published_unit: end.map(|end| end.unit.name()),
            note: Some(format!(
                "{} from fewer objects, all placed and freed in order",
                if growth.is_quadratic() { "extrapolated by the square" } else { "multiplied up" }
            )),
            ..super::row(scale, "aligned", &growth.entry)
        });
    }
    // A ratio within one engine says nothing.
    rows.iter_mut().for_each(|row| row.ratio = None);
    rows
}

fn keys(growth: &[Growth]) -> Vec<Key> {
    let of = |engine: &str| growth.iter().find(|growth| growth.entry.engine == engine)?.million_ns();
    let Some((area_map, ours)) = of("area-map").zip(of("bitmap")) else { return Vec::new() };
    vec![Key {
        value: times(area_map, ours),
        text: format!(
            "the area map's time over ours for a million objects of 4 bytes aligned to 8: {} (extrapolated) and {}; \
             published: {}",
            nanoseconds(area_map),
            nanoseconds(ours),
            published_text()
        ),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_grows_with_the_square_is_multiplied_by_it() {
        assert_eq!(million(5.0, 1_000_000, true), 5.0);
        assert_eq!(million(5.0, 500_000, false), 10.0);
        assert_eq!(million(5.0, 500_000, true), 20.0);
    }
}
