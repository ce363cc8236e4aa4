//! Two ascending sequences of ranges, laid over each other: a linear merge.

use core::iter::Peekable;
use freehold_units::Span;

/// A range in which neither sequence has an end, and what each has there.
pub(crate) type Piece<A, B> = (Span, Option<A>, Option<B>);

/// The pieces into which the ends of both sequences cut their ranges, ascending. Each piece is in a range of at least
/// one of the two. Cost: O(n + m) for n and m ranges, of which there are at most 2 (n + m) pieces.
pub(crate) fn pieces<A: Copy, B: Copy>(
    low: impl Iterator<Item = (Span, A)>,
    high: impl Iterator<Item = (Span, B)>,
) -> impl Iterator<Item = Piece<A, B>> {
    let (mut low, mut high) = (low.peekable(), high.peekable());
    // The first index that no piece has had. `None` behind the last of all indexes.
    let mut next = Some(0);
    core::iter::from_fn(move || {
        let from = next?;
        let a = rest(&mut low, from);
        let b = rest(&mut high, from);
        let first = match (a, b) {
            (Some((a, _)), Some((b, _))) => a.first().min(b.first()),
            (Some((a, _)), None) => a.first(),
            (None, Some((b, _))) => b.first(),
            (None, None) => return None,
        };
        // The piece ends with the range that has its first index, or before the other begins.
        let end = |span: Span| if span.first() > first { span.first() - 1 } else { span.last() };
        let ends = a.map(|(span, _)| end(span)).into_iter().chain(b.map(|(span, _)| end(span)));
        let piece = ends.min().and_then(|last| Span::new(first, last))?;
        next = piece.last().checked_add(1);
        let in_a = a.filter(|(span, _)| span.contains(first)).map(|(_, value)| value);
        let in_b = b.filter(|(span, _)| span.contains(first)).map(|(_, value)| value);
        Some((piece, in_a, in_b))
    })
}

/// The part from an index on of the first range that has one.
fn rest<T: Copy>(ranges: &mut Peekable<impl Iterator<Item = (Span, T)>>, from: u64) -> Option<(Span, T)> {
    while ranges.next_if(|(span, _)| span.last() < from).is_some() {}
    let &(span, value) = ranges.peek()?;
    Span::new(span.first().max(from), span.last()).map(|span| (span, value))
}
