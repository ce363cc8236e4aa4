//! Where a slab's slots lie, and which slot an address belongs to.

use super::super::class::{Class, MOST_SLOTS};
use freehold_units::Span;

/// The class word of an extent, which has no slots. In other records the low byte is the class's number, the third byte
/// the number of free slots at which the slab is listed, and the highest byte its number of slots.
pub(super) const EXTENT: u32 = 0xff;

pub(super) fn class_word(class: Class) -> u32 {
    class.slots() << 24 | class.list_at() << 16 | class.number() as u32
}

/// The address of a slab and the size of its slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Layout {
    pub(in super::super) base: u64,
    pub(in super::super) slot_bytes: u64,
    /// `None` for an extent.
    pub(in super::super) class: Option<Class>,
}

impl Layout {
    /// The bitmap of all slots.
    #[inline]
    pub(in super::super) fn all(&self) -> u32 {
        u32::MAX >> (MOST_SLOTS - self.class.map_or(1, Class::slots))
    }

    /// Number of free slots at which this slab is listed in a space that lists slabs at `list_at`.
    pub(super) fn list_at(&self, list_at: u32) -> u32 {
        self.class.map_or(list_at, |class| list_at.min(class.list_at()))
    }

    /// The first address of a slot.
    #[inline]
    pub(super) fn first(&self, slot: u32) -> u64 {
        start_of(self.base, self.slot_bytes, slot)
    }

    /// The addresses of `slot`, which must be one of the slab's.
    #[inline]
    pub(in super::super) fn slot(&self, slot: u32) -> Span {
        span_of(self.first(slot), self.slot_bytes)
    }
}

#[inline]
pub(super) fn start_of(base: u64, slot_bytes: u64, slot: u32) -> u64 {
    base.wrapping_add(u64::from(slot).wrapping_mul(slot_bytes))
}

/// The addresses of a slot that the caller holds or has held.
#[inline]
pub(super) fn span_of(first: u64, slot_bytes: u64) -> Span {
    Span::from_size(first, slot_bytes).expect("S1: a slot lies in the space")
}

/// Divides by the size of a slot with a multiplication. The low byte is the granule's shift; above it is 2^32 divided
/// by the granules of a slot, rounded up. 0 for an extent, all of which is slot 0.
#[derive(Clone, Copy)]
pub(super) struct Divider(pub(super) u64);

impl Divider {
    pub(super) fn new(layout: &Layout) -> Self {
        let Some(class) = layout.class else { return Self(0) };
        let granules = u64::from(class.granules());
        let shift = (layout.slot_bytes / granules).trailing_zeros();
        Self(((1 << 32) / granules + 1) << 8 | u64::from(shift))
    }

    /// The slot that has the byte `offset_bytes` after the slab's base. Meaningless for a byte outside the slab.
    #[inline]
    pub(super) fn slot(self, offset_bytes: u64) -> u32 {
        // A slab has at most 2^13 granules, so the rounding error of the factor does not reach the next slot.
        let granule = offset_bytes >> (self.0 as u8 % 64);
        (granule.wrapping_mul(self.0 >> 8) >> 32) as u32 % MOST_SLOTS
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;

    #[test]
    fn dividers_divide() {
        for shift in [0, 12, 40] {
            for class in Class::all() {
                let granules = u64::from(class.granules());
                let layout = Layout { base: 0, slot_bytes: granules << shift, class: Some(class) };
                let divider = Divider::new(&layout);
                for granule in 0..granules * u64::from(class.slots()) {
                    assert_eq!(u64::from(divider.slot(granule << shift)), granule / granules);
                }
            }
        }
        let extent = Layout { base: 0, slot_bytes: 1 << 50, class: None };
        assert_eq!(Divider::new(&extent).slot((1 << 50) - 1), 0);
    }
}
