//! Figures that others have published, to be printed beside ours: one table per file, with its source.
//!
//! Nothing here was measured by this program, and nothing that it prints as its own comes from here. A figure says
//! what it is of ([`Subject`]), so that whoever sets ours beside it must say how the two compare, or why they do
//! not.

pub mod aligned_2017_v1;
pub mod aligned_2017_v2;
pub mod bulk_2025;
pub mod depopulation_2021;
pub mod do_mmap_2025;
pub mod histogram;
pub mod linux_6_12;
pub mod no_block_2025;
pub mod nodes_2023_v1;
pub mod nodes_2023_v2;
pub mod nodes_2024_v3;
pub mod percpu;
pub mod prealloc_2025;
pub mod rework_2019_v3;
pub mod scan_hint_2019;
pub mod second_half_2017;
pub mod seed_2017_v1;
pub mod seed_2017_v2;
pub mod talk_2019;
pub mod zfs_2014;

use crate::output::fixed;

/// A table of figures from one source, in its order. `S` is what a family's figures can be of.
#[derive(Clone, Copy, Debug)]
pub struct Published<S: 'static = Subject> {
    /// Where and when.
    pub source: &'static str,
    /// The figures.
    pub figures: &'static [Figure<S>],
}

/// The tables about the allocator of kernel virtual addresses, the talk's own first.
pub const KVA: [Published; 7] = [
    talk_2019::TABLE,
    rework_2019_v3::TABLE,
    nodes_2023_v1::TABLE,
    nodes_2023_v2::TABLE,
    nodes_2024_v3::TABLE,
    no_block_2025::TABLE,
    zfs_2014::TABLE,
];

/// One figure, before and after a change; either may be lacking.
#[derive(Clone, Copy, Debug)]
pub struct Figure<S: 'static = Subject> {
    /// What was measured, where.
    pub what: &'static str,
    /// What it is a figure of.
    pub subject: S,
    /// Before the change.
    pub before: Option<Quantity>,
    /// After it.
    pub after: Option<Quantity>,
}

/// What a figure about the allocator of kernel virtual addresses is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The kernel's test of vmalloc, each case after the other on one worker.
    SuiteInTurn,
    /// The same with a worker on every CPU.
    SuiteTogether,
    /// The least, mean or greatest time of an allocation while the whole test runs.
    AllocationTime(Statistic),
    /// One page allocated and freed, with that many workers at once.
    PagePair(u32),
    /// The share of all time that was spent waiting for a lock.
    LockShare,
    /// A part of the test with workers that wait for each other.
    Contended,
    /// The share of all time that was spent in the kernel, its list of busy areas being long.
    ListShare,
}

/// Which of a sample's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// The least.
    Least,
    /// The mean.
    Mean,
    /// The greatest.
    Greatest,
}

/// A value as it was published.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    /// The number.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
    /// The value is a bound, and it was more.
    pub at_least: bool,
}

/// The unit of a published value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Hours.
    Hours,
    /// Minutes.
    Minutes,
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
    /// 10^9 cycles.
    GigaCycles,
    /// Hundredths.
    Percent,
    /// 1024 bytes.
    Kibibytes,
    /// Pages of 4096 bytes.
    Pages,
}

impl Unit {
    /// As tables and rows have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Hours => "h",
            Self::Minutes => "min",
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
            Self::Nanoseconds => "ns",
            Self::GigaCycles => "Gcycles",
            Self::Percent => "%",
            Self::Kibibytes => "KiB",
            Self::Pages => "pages",
        }
    }

    /// What it is a multiple of, and how often.
    fn base(self) -> (&'static str, f64) {
        match self {
            Self::Hours => ("s", 3600.0),
            Self::Minutes => ("s", 60.0),
            Self::Seconds => ("s", 1.0),
            Self::Milliseconds => ("s", 1e-3),
            Self::Microseconds => ("s", 1e-6),
            Self::Nanoseconds => ("s", 1e-9),
            Self::GigaCycles => ("cycles", 1e9),
            Self::Percent => ("share", 0.01),
            Self::Kibibytes => ("bytes", 1024.0),
            Self::Pages => ("bytes", 4096.0),
        }
    }
}

impl Quantity {
    /// The value.
    #[must_use]
    pub const fn new(value: f64, unit: Unit) -> Self {
        Self { value, unit, at_least: false }
    }

    /// More than the value.
    #[must_use]
    pub const fn at_least(value: f64, unit: Unit) -> Self {
        Self { value, unit, at_least: true }
    }

    /// The value in its base unit: seconds, cycles, a share of 1.
    #[must_use]
    pub fn in_base(self) -> f64 {
        self.value * self.unit.base().1
    }
}

impl std::fmt::Display for Quantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let more = if self.at_least { "> " } else { "" };
        write!(f, "{more}{} {}", self.value, self.unit.name())
    }
}

impl<S> Figure<S> {
    /// How many times as much it was before; `None` unless both are there and of one kind.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        let (before, after) = (self.before?, self.after?);
        let alike = before.unit.base().0 == after.unit.base().0 && after.value > 0.0;
        alike.then(|| before.in_base() / after.in_base())
    }

    /// Both ends for people, the unit once if it is one.
    #[must_use]
    pub fn ends_text(&self) -> String {
        match (self.before, self.after) {
            (Some(before), Some(after)) if before.unit == after.unit && !before.at_least => {
                format!("{} -> {after}", before.value)
            }
            (before, after) => {
                let text = |quantity: Option<Quantity>| {
                    quantity.map_or_else(|| "?".to_owned(), |quantity| quantity.to_string())
                };
                format!("{} -> {}", text(before), text(after))
            }
        }
    }

    /// The ratio for people.
    #[must_use]
    pub fn ratio_text(&self) -> String {
        let more = if self.before.is_some_and(|before| before.at_least) { "> " } else { "" };
        self.ratio().map_or_else(|| "-".to_owned(), |ratio| format!("{more}{}x", fixed(ratio)))
    }
}

/// A figure of a table, by what it is of: the first one, for tables that have one of each.
#[must_use]
pub fn find<S: PartialEq>(table: &Published<S>, subject: S) -> Option<&'static Figure<S>> {
    table.figures.iter().find(|figure| figure.subject == subject)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratios<S>(table: &Published<S>) -> Vec<f64> {
        table.figures.iter().filter_map(Figure::ratio).collect()
    }

    fn says_something<S>(table: &Published<S>) {
        assert!(!table.source.is_empty() && !table.figures.is_empty(), "{}", table.source);
        for figure in table.figures {
            assert!(figure.before.or(figure.after).is_some(), "{}", figure.what);
            for quantity in [figure.before, figure.after].into_iter().flatten() {
                assert!(quantity.value > 0.0, "{}", figure.what);
                assert!(quantity.unit != Unit::Percent || quantity.value < 100.0, "{}", figure.what);
            }
        }
    }

    #[test]
    fn every_table_has_a_source_and_figures_that_say_something() {
        KVA.iter().for_each(says_something);
        percpu::TABLES.iter().for_each(says_something);
    }

    /// What the sources say of their own figures in words.
    #[test]
    fn ratios_are_what_the_sources_say() {
        let talk = find(&talk_2019::TABLE, Subject::SuiteTogether).and_then(Figure::ratio).unwrap();
        assert!((53.0..54.0).contains(&talk), "\"maybe 30 times; I think it's more\": {talk}");
        let rework = ratios(&rework_2019_v3::TABLE);
        let rounded: Vec<f64> = rework.iter().map(|ratio| (ratio * 10.0).round() / 10.0).collect();
        assert_eq!(rounded, [3.3, 7.5, 107.1, 326.0]);
        let nodes = ratios(&nodes_2024_v3::TABLE);
        assert!(nodes.iter().any(|ratio| (12.0..13.0).contains(ratio)), "\"~12x\": {nodes:?}");
        let pairs = ratios(&nodes_2023_v1::TABLE);
        assert!(pairs[0] < 1.1 && pairs[5] > 5.0, "nothing is gained alone, much by 32: {pairs:?}");
        let depopulation = ratios(&depopulation_2021::TABLE);
        assert_eq!(depopulation[0], 1.0);
        assert!((3.5..3.6).contains(&depopulation[1]), "\"3.5 times less\": {depopulation:?}");
        let aligned = ratios(&aligned_2017_v1::TABLE);
        assert!((222.0..223.0).contains(&aligned[0]), "52 minutes and 14 seconds: {aligned:?}");
    }

    #[test]
    fn values_are_shown_as_published_and_divided_in_one_unit() {
        let figure = Figure {
            what: "",
            subject: Subject::SuiteTogether,
            before: Some(Quantity::at_least(24.0, Unit::Hours)),
            after: Some(Quantity::new(2.0, Unit::Minutes)),
        };
        assert_eq!(figure.before.unwrap().to_string(), "> 24 h");
        assert_eq!(figure.ends_text(), "> 24 h -> 2 min");
        let talk = find(&talk_2019::TABLE, Subject::SuiteTogether).unwrap();
        assert_eq!(talk.ends_text(), "160 -> 3 min");
        assert_eq!((figure.ratio(), figure.ratio_text().as_str()), (Some(720.0), "> 720x"));
        let mixed = Figure { after: Some(Quantity::new(2.0, Unit::GigaCycles)), ..figure };
        assert_eq!((mixed.ratio(), mixed.ratio_text().as_str()), (None, "-"));
    }
}
