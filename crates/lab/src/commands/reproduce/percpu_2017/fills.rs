//! Objects of several sizes placed and freed on all engines, and their times beside published ones.

use super::scale::Scale;
use crate::commands::bench_percpu::rows;
use crate::commands::reproduce::times;
use crate::measure::percpu::{FillRun, fill};
use crate::measure::{median, ratio};
use crate::output::{Row, Table, count, fixed};
use crate::published::percpu::Subject;
use crate::published::{Published, Quantity, find};
use crate::report::bars::{Bar, Bars, Group, Origin};
use crate::workload::percpu::{ORDERS, Order, Size, second_half_sizes, seed_sizes};
use freehold::units::Bytes;

/// The posting's orders; its figures are the worst of them.
pub(super) const POSTED: [Order; 3] = [Order::InOrder, Order::Alternating, Order::Reverse];
/// Nearer to 1 than this is noise.
const SLOWER: f64 = 1.1;
/// The engine that losses are those of.
const OURS: &str = "bitmap";

/// What was measured, size by size.
pub(super) struct Fills {
    /// The workload.
    pub(super) workload: &'static str,
    /// Bytes of a chunk for each CPU.
    pub(super) unit_bytes: u32,
    /// Every size on every engine.
    pub(super) sizes: Vec<(Size, Vec<FillRun>)>,
}

/// What is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timed {
    /// An allocation.
    Alloc,
    /// A free in that order.
    Free(Order),
    /// A free in the worst of the posting's orders.
    Worst,
}

impl Timed {
    /// Nanoseconds of it for one object.
    pub(super) fn ns(self, run: &FillRun) -> f64 {
        match self {
            Self::Alloc => median(&run.alloc_ns),
            Self::Free(order) => run.free_ns(order),
            Self::Worst => run.worst_free_ns(&POSTED),
        }
    }

    fn text(self) -> String {
        match self {
            Self::Alloc => "alloc".to_owned(),
            Self::Free(order) => format!("free {}", order.name()),
            Self::Worst => "free, worst of three orders".to_owned(),
        }
    }
}

/// A published column.
#[derive(Clone, Copy)]
pub(super) struct Column {
    /// Its heading.
    pub(super) head: &'static str,
    /// Where it is from.
    pub(super) table: &'static Published<Subject>,
    /// Before the change, or after it.
    pub(super) before: bool,
}

impl Column {
    /// Milliseconds of a million objects.
    pub(super) fn ms(&self, subject: Subject) -> Option<f64> {
        let figure = find(self.table, subject)?;
        let quantity = if self.before { figure.before } else { figure.after };
        quantity.map(Quantity::in_base).map(|seconds| seconds * 1e3)
    }
}

impl Fills {
    /// The posting's sizes.
    pub(super) fn of_seed(scale: &Scale, tick: &mut dyn FnMut(&str)) -> Result<Self, String> {
        Self::measure("seed", &seed_sizes(), scale, tick)
    }

    /// The second version's sizes, second halves filled.
    pub(super) fn of_second_half(scale: &Scale, tick: &mut dyn FnMut(&str)) -> Result<Self, String> {
        Self::measure("second-half", &second_half_sizes(), scale, tick)
    }

    fn measure(
        workload: &'static str,
        sizes: &[Size],
        scale: &Scale,
        tick: &mut dyn FnMut(&str),
    ) -> Result<Self, String> {
        let mut measured = Vec::new();
        for &size in sizes {
            let objects = if size.second_half { scale.second_half } else { scale.objects };
            let mut tick = |what: &str| tick(&format!("{workload} {what}"));
            let runs = fill(&scale.compared, &scale.whole, size, |_| objects, scale.rounds, &mut tick)?;
            measured.push((size, runs));
        }
        Ok(Self { workload, unit_bytes: scale.unit_bytes, sizes: measured })
    }

    /// The runs of objects of so many bytes.
    pub(super) fn of(&self, bytes: u32) -> Option<&[FillRun]> {
        self.sizes.iter().find(|(size, _)| size.bytes == bytes).map(|(_, runs)| runs.as_slice())
    }

    /// Nanoseconds of an engine for one object of so many bytes.
    pub(super) fn ns(&self, bytes: u32, engine: &str, timed: Timed) -> Option<f64> {
        self.of(bytes)?.iter().find(|run| run.entry.engine == engine).map(|run| timed.ns(run))
    }

    fn engines(&self) -> Vec<&'static str> {
        let runs = self.sizes.first().map(|(_, runs)| runs.as_slice()).unwrap_or_default();
        runs.iter().map(|run| run.entry.engine).collect()
    }

    /// What all tables say of themselves.
    pub(super) fn unit(&self) -> Bytes {
        Bytes::from(u64::from(self.unit_bytes))
    }

    /// Times beside published ones, a row for each size.
    pub(super) fn beside(&self, timed: Timed, subject: fn(u32) -> Subject, columns: &[Column]) -> Table {
        let title = format!(
            "{}, {}: ns for one object (ms for a million), units of {}; published: ms for a million",
            self.workload,
            timed.text(),
            self.unit()
        );
        let mut table = Table { name_columns: 1, ..Table::new(title, &["size", "objects"]) };
        table.header.extend(self.engines().iter().map(|&engine| engine.to_owned()));
        table.header.extend(columns.iter().map(|column| column.head.to_owned()));
        for (size, runs) in &self.sizes {
            let objects = runs.first().map_or(0, |run| u64::from(run.objects));
            let mut cells = vec![format!("{} B", size.bytes), count(objects)];
            cells.extend(runs.iter().map(|run| fixed(timed.ns(run))));
            let published = |column: &Column| column.ms(subject(size.bytes));
            cells
                .extend(columns.iter().map(|column| published(column).map_or_else(|| "-".to_owned(), fixed)));
            table.row(cells);
        }
        table
    }

    /// Every order of freeing, and how many times as long the area map takes as ours.
    pub(super) fn by_order(&self) -> Table {
        let title = format!("{}, every order: ns for one free, units of {}", self.workload, self.unit());
        let mut table = Table { name_columns: 2, ..Table::new(title, &["size", "order"]) };
        table.header.extend(self.engines().iter().map(|&engine| engine.to_owned()));
        table.header.push("first / last".to_owned());
        for (size, runs) in &self.sizes {
            for order in ORDERS {
                let mut cells = vec![format!("{} B", size.bytes), order.name().to_owned()];
                let ns: Vec<f64> = runs.iter().map(|run| run.free_ns(order)).collect();
                cells.extend(ns.iter().copied().map(fixed));
                let ends = ns.first().zip(ns.last());
                cells.push(ends.map_or_else(String::new, |(first, last)| times(*first, *last)));
                table.row(cells);
            }
        }
        table
    }

    /// Where another engine is faster than ours.
    pub(super) fn losses(&self) -> Table {
        let title = format!("{}: where {OURS} is slower, ns for one object", self.workload);
        let mut table = Table::new(title, &["size and what", OURS, "faster", "its ns", "ratio"]);
        for (size, runs) in &self.sizes {
            for timed in [Timed::Alloc].into_iter().chain(ORDERS.map(Timed::Free)) {
                let Some(ours) = runs.iter().find(|run| run.entry.engine == OURS) else { continue };
                for run in runs {
                    let (own, other) = (timed.ns(ours), timed.ns(run));
                    if own > SLOWER * other {
                        let what = format!("{}, {}", size.label(), timed.text());
                        let engine = run.entry.engine.to_owned();
                        table.row(vec![what, fixed(own), engine, fixed(other), times(own, other)]);
                    }
                }
            }
        }
        if table.rows.is_empty() {
            table.row(["nowhere", "", "", "", ""].map(str::to_owned).to_vec());
        }
        table
    }

    /// The same as bars, a group for each size.
    pub(super) fn bars(
        &self,
        heading: &str,
        reading: &str,
        timed: Timed,
        subject: fn(u32) -> Subject,
        columns: &[Column],
    ) -> Bars {
        let group = |(size, runs): &(Size, Vec<FillRun>)| {
            let measured = runs.iter().map(|run| Bar {
                name: run.entry.engine.to_owned(),
                value: timed.ns(run),
                origin: Origin::Measured,
            });
            let published = columns.iter().filter_map(|column| {
                let value = column.ms(subject(size.bytes))?;
                Some(Bar { name: column.head.to_owned(), value, origin: Origin::Published })
            });
            Group { name: format!("{} B", size.bytes), bars: measured.chain(published).collect() }
        };
        Bars {
            heading: heading.to_owned(),
            reading: reading.to_owned(),
            scale: "ns for one object, published: ms for a million".to_owned(),
            groups: self.sizes.iter().map(group).collect(),
        }
    }

    /// All rows; those of `timed` have what was published of the area map and of the bitmap.
    pub(super) fn rows(
        &self,
        timed: Timed,
        subject: [fn(u32) -> Subject; 2],
        columns: [Column; 2],
    ) -> Vec<Row> {
        let [of_alloc, of_free] = subject;
        let published = |run: &FillRun, subject: Subject| match run.entry.engine {
            "area-map" => columns[0].ms(subject),
            "bitmap-2017" => columns[1].ms(subject),
            _ => None,
        };
        let mut rows = Vec::new();
        for (size, runs) in &self.sizes {
            let mut measured = rows::fill(self.workload, *size, runs, self.unit_bytes);
            for run in runs {
                let own = |row: &&mut Row| row.engine == Some(run.entry.engine) && row.op == Some("alloc");
                if let Some(row) = measured.iter_mut().find(own) {
                    row.published = published(run, of_alloc(size.bytes));
                }
                let first = runs.first().map(|first| timed.ns(first));
                measured.push(Row {
                    n: Some(u64::from(run.objects)),
                    size: Some(u64::from(size.bytes)),
                    align: Some(size.align.bytes()),
                    op: Some("free"),
                    ns_median: Some(timed.ns(run)),
                    ratio: ratio(timed.ns(run), first),
                    published: published(run, of_free(size.bytes)),
                    note: Some(timed.text()),
                    ..rows::row(self.workload, &run.entry, self.unit_bytes)
                });
            }
            for row in &mut measured {
                row.published_unit = row.published.map(|_| "ms for a million");
            }
            rows.extend(measured);
        }
        rows
    }
}
