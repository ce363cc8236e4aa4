//! Areas in a sorted list: what other maps are held against. It shares no code with any of them.
//!
//! Cost: a store moves everything above it.

use super::{AreaMap, Nodes};
use freehold::units::{Align, Span};
use freehold_trace::maple::{End, Ranges};

/// First address, last address and value of each area, ascending.
#[derive(Clone, Debug, Default)]
pub struct SortedAreas {
    areas: Vec<(u64, u64, u64)>,
}

impl SortedAreas {
    /// Puts an area, or nothing, in the place of whatever is in the span.
    fn splice(&mut self, span: Span, value: Option<u64>) {
        let from = self.areas.partition_point(|area| area.1 < span.first());
        let until = self.areas.partition_point(|area| area.0 <= span.last());
        let mut put: Vec<(u64, u64, u64)> = Vec::with_capacity(3);
        let cut = self.areas.get(from..until).unwrap_or_default();
        if let Some(&(first, _, below)) = cut.first().filter(|area| area.0 < span.first()) {
            put.push((first, span.first() - 1, below));
        }
        put.extend(value.map(|value| (span.first(), span.last(), value)));
        if let Some(&(_, last, above)) = cut.last().filter(|area| area.1 > span.last()) {
            put.push((span.last() + 1, last, above));
        }
        self.areas.splice(from..until.max(from), put);
    }

    /// The gaps, in parts that lie in the window, ascending.
    fn gaps(&self, window: Span) -> impl DoubleEndedIterator<Item = Span> {
        let starts = std::iter::once(Some(0)).chain(self.areas.iter().map(|area| area.1.checked_add(1)));
        let ends = self.areas.iter().map(|area| area.0.checked_sub(1)).chain([Some(u64::MAX)]);
        let gaps = starts.zip(ends).filter_map(|(first, last)| Span::new(first?, last?));
        let inside: Vec<Span> = gaps.filter_map(|gap| gap.intersection(window)).collect();
        inside.into_iter()
    }
}

impl Ranges for SortedAreas {
    const GAP_IS_LINEAR: bool = true;

    fn new() -> Self {
        Self::default()
    }

    fn store(&mut self, span: Span, value: u64) {
        self.splice(span, Some(value));
    }

    fn clear(&mut self, span: Span) {
        self.splice(span, None);
    }

    fn insert(&mut self, span: Span, value: u64) -> bool {
        let free = self.overlapping(span).next().is_none();
        if free {
            self.splice(span, Some(value));
        }
        free
    }

    fn erase(&mut self, index: u64) -> Option<u64> {
        let at = self.areas.partition_point(|area| area.1 < index);
        let held = self.areas.get(at).is_some_and(|area| area.0 <= index);
        held.then(|| self.areas.remove(at).2)
    }

    fn get(&self, index: u64) -> Option<u64> {
        let at = self.areas.partition_point(|area| area.1 < index);
        self.areas.get(at).filter(|area| area.0 <= index).map(|area| area.2)
    }

    fn iter(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.areas.iter().copied()
    }

    fn gap(&self, end: End, size: u64, align: Align, window: Span) -> Option<Span> {
        let gaps = self.gaps(window);
        match end {
            End::Lowest => gaps.into_iter().find_map(|gap| gap.lowest_fit(size, align, gap.first())),
            End::Highest => gaps.rev().find_map(|gap| gap.highest_fit(size, align, gap.last())),
        }
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }

    fn bytes(&self) -> usize {
        self.areas.capacity() * size_of::<(u64, u64, u64)>()
    }

    fn validate(&self) -> Result<(), String> {
        let apart = self.areas.windows(2).all(|pair| matches!(pair, [a, b] if a.1 < b.0));
        let ranges = self.areas.iter().all(|area| area.0 <= area.1);
        if apart && ranges { Ok(()) } else { Err("areas overlap or are upside down".to_owned()) }
    }
}

impl AreaMap for SortedAreas {
    fn overlapping(&self, span: Span) -> impl Iterator<Item = (u64, u64, u64)> {
        let from = self.areas.partition_point(|area| area.1 < span.first());
        let areas = self.areas.get(from..).unwrap_or_default().iter().copied();
        areas.take_while(move |area| area.0 <= span.last())
    }

    fn areas(&self) -> u64 {
        self.areas.len() as u64
    }

    fn nodes(&self) -> Option<Nodes> {
        None
    }
}
