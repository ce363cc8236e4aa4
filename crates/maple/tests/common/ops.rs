//! The operations, and how any bytes become some.

use freehold_units::{Align, Span};

/// Bytes for one operation.
const BYTES_PER_OP: usize = 4;
/// Values are below this: few, so that neighbours are equal now and then.
pub(crate) const VALUES: u32 = 5;

/// What is asked of a map. Indexes and ranges are few, so that everything meets.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Store(Span, u32),
    Insert(Span, u32),
    /// Makes one entry of the new one and of equal neighbours.
    StoreMerging(Span, u32),
    RemoveRange(Span),
    /// Removes, or stores over, a range and looks at what comes back.
    Take(Span, Option<u32>),
    /// The parts that stay of cut entries have values that depend on where they begin.
    StoreWith(Span, u32),
    Erase(u64),
    /// By `entry`: replaces what is at the first index; if nothing is, inserts.
    Entry(Span, u32),
    /// By `entry`: removes what is there.
    EntryRemove(u64),
    Alloc {
        size: u64,
        align: Align,
        window: Span,
        highest: bool,
        value: u32,
    },
    Cyclic {
        window: Span,
        next: u64,
        value: u32,
    },
    /// A cursor goes so many slots up, or down, and stores over what it is on there, or erases it.
    Cursor {
        index: u64,
        steps: u8,
        up: bool,
        value: Option<u32>,
    },
    Transaction {
        stores: Vec<(Span, Option<u32>)>,
        commit: bool,
    },
    /// Splits; goes on with the upper part, or with the lower.
    SplitAt {
        index: u64,
        upper: bool,
    },
    MergeAdjacent,
    MergeIn(Span),
    /// Keeps what is not of this value.
    Retain(u32),
    /// Takes the map apart from both ends and builds it anew.
    Rebuild,
    /// Goes on with a copy.
    Copy,
    Clear,
}

/// Indexes below `width`, some at the end of the space, and one far from both.
pub(crate) fn index(byte: u8, width: u64) -> u64 {
    match byte {
        0..224 => u64::from(byte) % width,
        224..248 => u64::MAX - u64::from(byte - 224) % (width / 4).max(1),
        _ => 1 << 40,
    }
}

fn range(a: u8, b: u8, width: u64) -> Option<Span> {
    let first = index(a, width);
    if b == 255 {
        return Some(Span::ALL);
    }
    if b < 200 {
        return Span::new(first, first.saturating_add(u64::from(b) % 5));
    }
    let other = index((b - 200).wrapping_mul(5), width);
    Span::new(first.min(other), first.max(other))
}

/// Turns any bytes into operations on `width` indexes and the ends.
pub(crate) fn ops_from_bytes(bytes: &[u8], width: u64) -> Vec<Op> {
    let mut chunks = bytes.chunks_exact(BYTES_PER_OP);
    core::iter::from_fn(|| {
        let chunk: [u8; BYTES_PER_OP] = chunks.next()?.try_into().ok()?;
        op_from_bytes(chunk, &mut chunks, width)
    })
    .collect()
}

fn op_from_bytes(
    [kind, a, b, c]: [u8; 4],
    more: &mut core::slice::ChunksExact<'_, u8>,
    width: u64,
) -> Option<Op> {
    let span = range(a, b, width)?;
    let value = u32::from(c) % VALUES;
    Some(match kind % 64 {
        0..7 => Op::Store(span, value),
        7..10 => Op::StoreMerging(span, value),
        10..12 => Op::Take(span, Some(value)),
        12..14 => Op::StoreWith(span, value),
        14..23 => Op::Insert(span, value),
        23..25 => Op::Take(span, None),
        25 => Op::MergeIn(span),
        26..30 => Op::RemoveRange(span),
        30..40 => Op::Erase(span.first()),
        40..43 => Op::Entry(span, value),
        43 => Op::EntryRemove(span.first()),
        44..50 => {
            let align = Align::new(1 << (c % 3))?;
            Op::Alloc { size: u64::from(kind >> 6) * 3 % 8, align, window: span, highest: c >= 128, value }
        }
        50 => Op::Cyclic { window: span, next: index(c, width), value },
        51..55 => {
            let (steps, up) = (b % 8, c >= 128);
            Op::Cursor { index: span.first(), steps, up, value: (kind >> 6 != 0).then_some(value) }
        }
        55..58 => {
            let count = usize::from(1 + b % 4);
            let stores = more.by_ref().take(count).filter_map(|chunk| {
                let &[kind, a, b, c] = chunk else { return None };
                Some((range(a, b, width)?, (kind % 4 != 0).then_some(u32::from(c) % VALUES)))
            });
            Op::Transaction { stores: stores.collect(), commit: c >= 128 }
        }
        58 => Op::SplitAt { index: span.first(), upper: c >= 200 },
        59 => Op::MergeAdjacent,
        60 => Op::Retain(value),
        61 => Op::Rebuild,
        62 => Op::Copy,
        _ if c >= 192 => Op::Clear,
        _ => Op::Erase(span.last()),
    })
}
