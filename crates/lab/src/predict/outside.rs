//! Addresses that the model does not hand out: of unknown state, or set aside since the kernel passed them over.

use freehold::units::Span;
use std::collections::BTreeMap;

/// Why a place is not handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// Whether it was free or in a pool before the recording is not known.
    Unknown,
    /// The model said that it comes next, and the kernel took another.
    Aside,
}

/// Disjoint places. Cost: O(log n) for each that is met.
#[derive(Clone, Debug, Default)]
pub(super) struct Outside(BTreeMap<u64, (Span, Why)>);

impl Outside {
    /// Adds a place, which overlaps no other.
    pub(super) fn put(&mut self, place: Span, why: Why) {
        self.0.insert(place.first(), (place, why));
    }

    /// The highest place that overlaps `span`.
    fn last_in(&self, span: Span) -> Option<(Span, Why)> {
        let (_, &found) = self.0.range(..=span.last()).next_back()?;
        Some(found).filter(|(place, _)| place.overlaps(span))
    }

    /// Whether it meets a place whose state is unknown.
    pub(super) fn is_unknown(&self, span: Span) -> bool {
        let met = self.0.range(..=span.last()).rev().map(|(_, found)| found);
        met.take_while(|(place, _)| place.overlaps(span)).any(|(_, why)| *why == Why::Unknown)
    }

    /// Takes out what overlaps `span`: the places that were set aside whole, of the others what lies within.
    pub(super) fn take(&mut self, span: Span) -> Vec<Span> {
        let mut taken = Vec::new();
        while let Some((place, why)) = self.last_in(span) {
            self.0.remove(&place.first());
            let within = place.intersection(span).filter(|_| why == Why::Unknown);
            if let Some(within) = within {
                for rest in [place.below(within), place.above(within)].into_iter().flatten() {
                    self.put(rest, why);
                }
            }
            taken.push(within.unwrap_or(place));
        }
        taken
    }

    /// How many places were set aside.
    pub(super) fn aside(&self) -> usize {
        self.0.values().filter(|(_, why)| *why == Why::Aside).count()
    }
}
