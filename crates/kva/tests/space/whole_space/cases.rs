//! Random layouts and operations, which meet at both ends of the addresses and crowd a few granules.

use freehold_kva::Request;
use freehold_units::{Align, Span};
use proptest::prelude::*;

#[derive(Clone, Debug)]
pub(super) enum Op {
    Alloc(Request),
    /// Under each of the placements.
    Find(Request),
    Congruent(Vec<Span>, Align, Span),
    /// A region by its place in address order, modulo their number.
    FreeRegion(usize),
    FreeAt(u64),
    AllocAt(Span),
    /// A region as in `FreeRegion`, and its new size.
    Resize(usize, u64),
    /// To where the window of the request begins.
    Move(usize, Request),
    Carve(Request),
    /// A sub-space by its age, modulo their number.
    TakeBack(usize),
    /// The same, whose parent gives it up.
    Disown(usize),
    /// Asks about an address and changes the value of its region.
    TouchAt(u64),
}

#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) granule: Align,
    pub(super) layout: Vec<Span>,
    pub(super) ops: Vec<Op>,
}

/// Addresses at both ends, in the middle, around powers of two, and small multiples of the granule.
fn addresses(granule: Align) -> impl Strategy<Value = u64> + Clone {
    let near = prop_oneof![Just(0), Just(u64::MAX), Just(1 << 63), (0u32..64).prop_map(|shift| 1 << shift)];
    let granules = move |count: i64| count.cast_unsigned().wrapping_mul(granule.bytes());
    prop_oneof![
        4 => (-48i64..48).prop_map(granules),
        3 => (-600i64..600).prop_map(granules),
        3 => (near, -20i64..20).prop_map(|(near, by): (u64, i64)| near.wrapping_add_signed(by)),
        1 => any::<u64>(),
    ]
}

fn aligns() -> impl Strategy<Value = Align> + Clone {
    prop_oneof![2 => Just(0), 2 => 0u32..16, 1 => 0u32..64].prop_map(|shift| Align::new(1 << shift).unwrap())
}

/// Mostly whole granules, mostly few.
fn sizes(granule: Align) -> impl Strategy<Value = u64> + Clone {
    let rough = prop_oneof![
        9 => (0u64..5).prop_map(move |count| granule.bytes().saturating_mul(count)),
        1 => (0u64..9).prop_map(|less| u64::MAX - less),
        1 => (0u32..64, 0u64..2).prop_map(|(shift, less)| (1 << shift) - less),
        1 => (any::<u64>(), 0u32..64).prop_map(|(bits, shift)| bits >> shift),
    ];
    let whole =
        move |(size, whole)| if whole { granule.up(size).unwrap_or(granule.down(size)) } else { size };
    (rough, prop::bool::weighted(0.9)).prop_map(whole)
}

fn between(a: u64, b: u64) -> Span {
    Span::new(a.min(b), a.max(b)).unwrap()
}

fn requests(granule: Align) -> impl Strategy<Value = Request> {
    let guards = prop_oneof![2 => Just(0), 1 => sizes(granule)];
    let places = (0..6, addresses(granule), addresses(granule));
    (sizes(granule), guards, aligns(), places).prop_map(|(size, guard, align, (kind, a, b))| {
        let exact = Span::from_size(a, size.saturating_add(guard));
        let window = match kind {
            0..3 => Span::ALL,
            3 => exact.unwrap_or(Span::ALL),
            _ => between(a, b),
        };
        Request::new(size).guard(guard).align(align).window(window)
    })
}

/// From the granule of `a` to that of `b`.
fn granular(granule: Align, a: u64, b: u64) -> Span {
    between(granule.down(a.min(b)), granule.down(a.max(b)) | granule.mask())
}

fn areas(granule: Align) -> impl Strategy<Value = Vec<Span>> {
    let low = (0u64..30).prop_map(move |count| granule.bytes().wrapping_mul(count));
    let place = prop_oneof![4 => low, 1 => addresses(granule)];
    let area = (place, 0u64..4).prop_map(move |(first, more)| {
        granular(granule, first, first.saturating_add(granule.bytes().saturating_mul(more)))
    });
    let whole = (addresses(granule), addresses(granule)).prop_map(move |(a, b)| granular(granule, a, b));
    prop_oneof![8 => prop::collection::vec(area, 1..5), 1 => prop::collection::vec(whole, 1..3)]
}

fn ops(granule: Align) -> impl Strategy<Value = Op> {
    let ends = (addresses(granule), addresses(granule));
    let windows = prop_oneof![2 => Just(Span::ALL), 1 => ends.prop_map(|(a, b)| between(a, b))];
    let congruent = (areas(granule), aligns(), windows);
    let place = (addresses(granule), sizes(granule))
        .prop_map(|(first, size)| Span::from_size(first, size).unwrap_or(between(first, first)));
    let region = any::<usize>;
    prop_oneof![
        8 => requests(granule).prop_map(Op::Alloc),
        3 => requests(granule).prop_map(Op::Find),
        3 => congruent.prop_map(|(areas, align, window)| Op::Congruent(areas, align, window)),
        4 => any::<usize>().prop_map(Op::FreeRegion),
        2 => addresses(granule).prop_map(Op::FreeAt),
        2 => place.prop_map(Op::AllocAt),
        2 => (region(), sizes(granule)).prop_map(|(region, size)| Op::Resize(region, size)),
        2 => (region(), requests(granule)).prop_map(|(region, request)| Op::Move(region, request)),
        2 => requests(granule).prop_map(Op::Carve),
        1 => region().prop_map(Op::TakeBack),
        1 => region().prop_map(Op::Disown),
        2 => addresses(granule).prop_map(Op::TouchAt),
    ]
}

/// Mostly short, which shrinks well; now and then long enough for trees of some height.
fn histories(granule: Align) -> impl Strategy<Value = Vec<Op>> {
    let of_length = |length| prop::collection::vec(ops(granule), length);
    prop_oneof![40 => of_length(1..50), 1 => of_length(400..800)]
}

/// The whole space, or disjoint spans in any order, some of them cut into two that touch.
fn layouts(granule: Align) -> impl Strategy<Value = Vec<Span>> {
    let span = (addresses(granule), addresses(granule)).prop_map(move |(a, b)| granular(granule, a, b));
    let cut = (prop::collection::vec(span, 1..7), any::<u64>()).prop_map(move |(spans, pick)| {
        let mut layout: Vec<Span> = Vec::new();
        for span in spans {
            if layout.iter().any(|other| other.overlaps(span)) {
                continue;
            }
            let middle = granule.down(span.first() + (span.last() - span.first()) / 2);
            let low = middle.checked_sub(1).and_then(|last| Span::new(span.first(), last));
            let halves = low.into_iter().chain(Span::new(middle, span.last()));
            match (pick >> layout.len()) % 3 {
                0 => layout.push(span),
                1 => layout.extend(halves),
                _ => layout.extend(halves.collect::<Vec<_>>().into_iter().rev()),
            }
        }
        layout
    });
    prop_oneof![1 => Just(vec![Span::ALL]), 3 => cut]
}

pub(super) fn cases() -> impl Strategy<Value = Case> {
    let shifts = prop_oneof![4 => Just(0), 1 => Just(12), 2 => 0u32..64];
    shifts.prop_map(|shift| Align::new(1 << shift).unwrap()).prop_flat_map(|granule| {
        (layouts(granule), histories(granule)).prop_map(move |(layout, ops)| Case { granule, layout, ops })
    })
}
