//! Looking for a free place between ranges, one after the other: what maps without a notion of large gaps must do; and
//! whether ranges are apart at all.
//!
//! Cost: in proportion to the ranges that are passed.

use freehold_units::{Align, Span};

/// The lowest place of `size` indexes in the window. First and last indexes come in ascending order, from the first
/// range that overlaps the window to the last.
pub(super) fn lowest_between(
    ranges: impl Iterator<Item = (u64, u64)>,
    size: u64,
    align: Align,
    window: Span,
) -> Option<Span> {
    let mut from = window.first();
    for (first, last) in ranges {
        let gap = first.checked_sub(1).and_then(|end| Span::new(from, end));
        let fit = gap.and_then(|gap| gap.lowest_fit(size, align, from));
        if fit.is_some() {
            return fit;
        }
        from = last.checked_add(1)?;
    }
    Span::new(from, window.last())?.lowest_fit(size, align, from)
}

/// The highest such place. Ranges come in descending order, from the last that overlaps the window to the first.
pub(super) fn highest_between(
    ranges: impl Iterator<Item = (u64, u64)>,
    size: u64,
    align: Align,
    window: Span,
) -> Option<Span> {
    let mut until = window.last();
    for (first, last) in ranges {
        let gap = last.checked_add(1).and_then(|start| Span::new(start, until));
        let fit = gap.and_then(|gap| gap.highest_fit(size, align, until));
        if fit.is_some() {
            return fit;
        }
        until = first.checked_sub(1)?;
    }
    Span::new(window.first(), until)?.highest_fit(size, align, until)
}

/// Checks that ranges are ranges, ascending and apart.
///
/// # Errors
/// Which is not.
pub(super) fn check_apart(ranges: impl Iterator<Item = (u64, u64)>) -> Result<(), String> {
    let mut free_from = Some(0);
    for (first, last) in ranges {
        if first > last || free_from.is_none_or(|from| first < from) {
            return Err(format!("{first:#x}..={last:#x} is no range, or not after the one before it"));
        }
        free_from = last.checked_add(1);
    }
    Ok(())
}
