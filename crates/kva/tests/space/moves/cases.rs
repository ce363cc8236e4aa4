//! Random layouts and histories on few granules, where everything collides, at either end of the addresses and between.

use freehold_kva::Request;
use freehold_units::{Align, Span};
use proptest::prelude::*;

/// A region by its place in address order, modulo their number.
pub(super) type Which = usize;

#[derive(Clone, Debug)]
pub(super) enum Op {
    /// Under the space's placement, or one of the request's own, by its position modulo their number.
    Alloc(Request, Option<usize>),
    AllocAt(Span),
    /// Single granules from the lowest on: every so many addresses of the layout one, at most so many.
    Fill(usize, usize),
    Free(Which),
    FreeAt(u64),
    Resize(Which, u64),
    Carve(Request),
    TakeBack(usize),
    Disown(Which),
    Adopt(Which),
    Begin(Which, u64),
    /// By granules up or down, so that the places overlap.
    Shift(Which, i64),
    BeginAt(u64, u64),
    /// A pending move by its age, modulo their number; whether it is committed.
    End(usize, bool),
    /// The same for all of them.
    EndAll(bool),
    /// A token that was used, or of another space.
    Stale(usize, bool),
    Rearrange(Travels, Spoil),
    Add(Span),
    Remove(Span),
    /// Looks at an address and changes the value there.
    Touch(u64),
    ChangeAll,
    /// Bits that are set take from the back.
    Within(Span, u64),
    /// Goes on with the copy.
    Clone,
    /// Goes on with what is restored, under a placement by its position.
    Restore(usize),
}

/// Who goes where in one rearrangement.
#[derive(Clone, Debug)]
pub(super) enum Travels {
    /// So many regions in address order from one on: each to the start of the next, the last to that of the first.
    Rotate(Which, usize),
    /// The same regions, side by side in an order that the number decides, so many granules off the start of the first.
    Pack(Which, usize, u64, i64),
    Anywhere(Vec<(Which, u64)>),
}

/// What is wrong with a rearrangement beyond its places.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spoil {
    Nothing,
    /// The first travel once more, at its own place or that of the last.
    Twice(bool),
    /// The first place is a granule longer or shorter.
    OtherSize(bool),
    /// The start of the first region is one higher.
    NoStart,
    /// The first place is one byte higher.
    OffGranule,
    /// The first region is to go where it is.
    SamePlace,
}

#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) granule: Align,
    pub(super) layout: Vec<Span>,
    /// The space's placement, by its position modulo their number.
    pub(super) placement: usize,
    pub(super) ops: Vec<Op>,
}

/// Some granules in a row, in which a case plays.
#[derive(Clone, Copy, Debug)]
struct Field {
    granule: Align,
    /// Number of the first granule, counted from address 0.
    first: u64,
    granules: u64,
}

impl Field {
    /// Where a granule starts; beyond the field too, around the ends of the addresses.
    fn at(self, granule: i64) -> u64 {
        self.first.wrapping_add_signed(granule).wrapping_mul(self.granule.bytes())
    }

    fn span(self, a: i64, b: i64) -> Span {
        let (a, b) = (self.at(a), self.at(b));
        Span::new(a.min(b), a.max(b) | self.granule.mask()).unwrap()
    }

    fn granule_numbers(self) -> impl Strategy<Value = i64> + Clone {
        let all = self.granules.cast_signed();
        prop_oneof![12 => 0..all, 1 => -6i64..0, 1 => all..all + 6]
    }

    /// Mostly starts of granules.
    fn addresses(self) -> impl Strategy<Value = u64> + Clone {
        let ends = prop_oneof![Just(0), Just(u64::MAX), Just(1 << 63)];
        let rough = (self.granule_numbers(), any::<u64>())
            .prop_map(move |(at, byte)| self.at(at) + (byte & self.granule.mask()));
        prop_oneof![16 => self.granule_numbers().prop_map(move |at| self.at(at)), 3 => rough, 1 => ends]
    }

    fn spans(self) -> impl Strategy<Value = Span> + Clone {
        let short = (self.granule_numbers(), 0i64..5).prop_map(move |(at, more)| self.span(at, at + more));
        let long = (self.granule_numbers(), self.granule_numbers()).prop_map(move |(a, b)| self.span(a, b));
        let rough =
            (self.addresses(), self.addresses()).prop_map(|(a, b)| Span::new(a.min(b), a.max(b)).unwrap());
        prop_oneof![8 => short, 3 => long, 1 => rough]
    }

    fn sizes(self) -> impl Strategy<Value = u64> + Clone {
        let granules = move |count: u64| self.granule.bytes().saturating_mul(count);
        prop_oneof![
            30 => (1u64..6).prop_map(granules),
            2 => (6u64..20).prop_map(granules),
            1 => Just(0),
            1 => any::<u64>(),
        ]
    }

    fn requests(self) -> impl Strategy<Value = Request> + Clone {
        let guards = prop_oneof![3 => Just(0), 1 => self.sizes()];
        let bytes = self.granule.bytes();
        let aligns = prop_oneof![
            6 => Just(1),
            4 => (0u32..4).prop_map(move |shift| bytes.checked_shl(shift).filter(|&align| align >= bytes).unwrap_or(1 << 63)),
            1 => any::<u64>().prop_map(|bits| bits >> (bits % 64)),
        ];
        let free = (self.sizes(), guards, aligns, self.spans(), 0..6).prop_map(
            |(size, guard, align, window, kind)| {
                let exact = Span::from_size(window.first(), size.saturating_add(guard));
                let window = match kind {
                    0..3 => Span::ALL,
                    3 => exact.unwrap_or(Span::ALL),
                    _ => window,
                };
                Request::new(size).guard(guard).align_bytes(align).window(window)
            },
        );
        prop_oneof![8 => free, 1 => self.sizes().prop_map(Request::natural)]
    }

    fn travels(self) -> impl Strategy<Value = Travels> + Clone {
        let which = any::<Which>;
        prop_oneof![
            3 => (which(), 1usize..5).prop_map(|(which, count)| Travels::Rotate(which, count)),
            5 => (which(), 1usize..6, any::<u64>(), -3i64..4)
                .prop_map(|(which, count, order, by)| Travels::Pack(which, count, order, by)),
            2 => prop::collection::vec((which(), self.addresses()), 0..4).prop_map(Travels::Anywhere),
        ]
    }

    fn ops(self) -> impl Strategy<Value = Op> {
        let which = any::<Which>;
        let spoils = prop_oneof![
            16 => Just(Spoil::Nothing),
            1 => any::<bool>().prop_map(Spoil::Twice),
            1 => any::<bool>().prop_map(Spoil::OtherSize),
            1 => Just(Spoil::NoStart),
            1 => Just(Spoil::OffGranule),
            1 => Just(Spoil::SamePlace),
        ];
        let layouts = prop_oneof![
            1 => self.spans().prop_map(Op::Add),
            1 => self.spans().prop_map(Op::Remove),
        ];
        let others = prop_oneof![
            3 => self.addresses().prop_map(Op::Touch),
            1 => Just(Op::ChangeAll),
            3 => (self.spans(), any::<u64>()).prop_map(|(span, ends)| Op::Within(span, ends)),
            1 => Just(Op::Clone),
            1 => any::<usize>().prop_map(Op::Restore),
        ];
        let placing = prop_oneof![
            6 => (self.requests(), any::<Option<usize>>()).prop_map(|(request, with)| Op::Alloc(request, with)),
            3 => self.spans().prop_map(Op::AllocAt),
            4 => which().prop_map(Op::Free),
            1 => self.addresses().prop_map(Op::FreeAt),
            2 => (which(), self.sizes()).prop_map(|(which, size)| Op::Resize(which, size)),
        ];
        let carving = prop_oneof![
            2 => self.requests().prop_map(Op::Carve),
            1 => any::<usize>().prop_map(Op::TakeBack),
            1 => which().prop_map(Op::Disown),
            1 => which().prop_map(Op::Adopt),
        ];
        let moving = prop_oneof![
            5 => (which(), self.addresses()).prop_map(|(which, to)| Op::Begin(which, to)),
            4 => (which(), -4i64..5).prop_map(|(which, by)| Op::Shift(which, by)),
            1 => (self.addresses(), self.addresses()).prop_map(|(from, to)| Op::BeginAt(from, to)),
            4 => (any::<usize>(), any::<bool>()).prop_map(|(which, commit)| Op::End(which, commit)),
            1 => any::<bool>().prop_map(Op::EndAll),
            2 => (any::<usize>(), any::<bool>()).prop_map(|(which, commit)| Op::Stale(which, commit)),
        ];
        // What is in a box is not copied with the vector that it stands in: that took half of the time.
        prop_oneof![
            16 => placing.boxed(),
            3 => carving.boxed(),
            16 => moving.boxed(),
            6 => (self.travels(), spoils).prop_map(|(travels, spoil)| Op::Rearrange(travels, spoil)).boxed(),
            3 => layouts.boxed(),
            6 => others.boxed(),
            1 => (1usize..5, 1usize..600).prop_map(|(each, most)| Op::Fill(each, most)),
        ]
    }

    /// Disjoint spans in any order, which may touch; now and then all of the field.
    fn layouts(self) -> impl Strategy<Value = Vec<Span>> {
        let all = self.granules.cast_signed();
        let some = prop::collection::vec((0..all, 0..all), 1..5).prop_map(move |pairs| {
            let mut layout: Vec<Span> = Vec::new();
            for (a, b) in pairs {
                let span = self.span(a, b);
                if !layout.iter().any(|other| other.overlaps(span)) {
                    layout.push(span);
                }
            }
            layout
        });
        prop_oneof![3 => Just(vec![self.span(0, all - 1)]), 2 => some]
    }
}

fn fields() -> impl Strategy<Value = Field> {
    let granules = prop_oneof![12 => 6u64..40, 1 => 200u64..700];
    let shifts = prop_oneof![4 => Just(0), 3 => Just(12), 2 => 53u32..61, 1 => 61u32..64];
    (granules, shifts, 0..3).prop_map(|(granules, shift, place)| {
        let granule = Align::new(1 << shift).unwrap();
        let last = u64::MAX / granule.bytes();
        let granules = if last < granules { last + 1 } else { granules };
        let top = last - (granules - 1);
        let first = match place {
            0 => 0,
            1 => top / 2 + 3.min(top / 2),
            _ => top,
        };
        Field { granule, first, granules }
    })
}

pub(super) fn cases() -> impl Strategy<Value = Case> {
    fields().prop_flat_map(|field| {
        let histories = prop::collection::vec(field.ops(), 1..60);
        (field.layouts(), any::<usize>(), histories).prop_map(move |(layout, placement, ops)| Case {
            granule: field.granule,
            layout,
            placement,
            ops,
        })
    })
}
