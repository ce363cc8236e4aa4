//! Writes an image.

use super::checksum::crc32;
use super::{ALIGNED, CHECKSUM_BYTES, HEADER_BYTES, MAGIC, MOVING, PLAIN, kind};
use crate::regions::{Piece, RegionEntry};
use crate::{AddressSpace, OutOfMemory};
use alloc::vec::Vec;
use freehold_units::Span;

/// Collects the bytes of a value.
#[derive(Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
    out_of_memory: bool,
}

impl Writer {
    /// Appends `bytes` to the value's bytes. If there is no memory for them, the image fails with `OutOfMemory`.
    ///
    /// Cost: linear in the bytes, amortized.
    pub fn put(&mut self, bytes: &[u8]) {
        if self.bytes.try_reserve(bytes.len()).is_ok() {
            self.bytes.extend_from_slice(bytes);
        } else {
            self.out_of_memory = true;
        }
    }

    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.put(&[number as u8 | 0x80]);
            number >>= 7;
        }
        self.put(&[number as u8]);
    }

    /// Fills in the length and appends the checksum.
    fn sealed(mut self) -> Result<Vec<u8>, OutOfMemory> {
        let len = (self.bytes.len() + CHECKSUM_BYTES) as u64;
        if let Some(field) = self.bytes.get_mut(HEADER_BYTES - 8..HEADER_BYTES) {
            field.copy_from_slice(&len.to_le_bytes());
        }
        let checksum = crc32(&self.bytes);
        self.put(&checksum.to_le_bytes());
        if self.out_of_memory { Err(OutOfMemory) } else { Ok(self.bytes) }
    }
}

impl<V> AddressSpace<V> {
    /// Encodes the space as bytes, in the format of [`image`](crate::image). `encode` writes a value's bytes,
    /// possibly none. A sub-space's image does not record that it is one; its parent's records that the region is
    /// carved.
    ///
    /// # Errors
    /// [`OutOfMemory`] if there is no memory for the bytes.
    ///
    /// # Cost
    /// Linear.
    ///
    /// ```
    /// use freehold_kva::{AddressSpace, Placement, Request};
    /// use freehold_units::{Align, Span};
    ///
    /// let bus = Span::new(0xc000_0000, 0xffff_ffff).unwrap();
    /// let mut bus: AddressSpace<String> = AddressSpace::new(bus, Align::PAGE, Placement::Lowest)?;
    /// let nic = bus.alloc(&Request::new(0x4000), "nic".to_string())?;
    /// let bytes = bus.to_bytes(|name, to| to.put(name.as_bytes()))?;
    ///
    /// // On the other side, where the space is kept in a B+tree.
    /// let name = |bytes: &[u8]| String::from_utf8(bytes.to_vec());
    /// let moved = AddressSpace::<String>::from_bytes(&bytes, Placement::Lowest, name)?;
    /// assert_eq!(moved.region_at(nic.last()).unwrap().value(), "nic");
    /// assert!(moved.free_blocks().eq(bus.free_blocks()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_bytes(&self, mut encode: impl FnMut(&V, &mut Writer)) -> Result<Vec<u8>, OutOfMemory> {
        let shift = self.granule().bytes().trailing_zeros();
        let less_one = |span: Span| (span.last() - span.first()) >> shift;
        let mut to = Writer::default();
        to.put(&MAGIC);
        let mut entries = self.regions.regions();
        let version = match self.moves.len() {
            0 if entries.all(|entry| u32::from(entry.terms.align) <= shift) => PLAIN,
            0 => ALIGNED,
            _ => MOVING,
        };
        to.put(&version.to_le_bytes());
        to.put(&shift.to_le_bytes());
        // A placeholder for the length.
        to.put(&[0; 8]);
        // The first address that is not written yet; `None` after `u64::MAX`.
        let mut next = Some(0);
        for piece in self.regions.pieces() {
            let extent = piece.extent();
            if let Some(hole) = next.and_then(|next| Span::new(next, extent.first().checked_sub(1)?)) {
                to.put(&[kind::HOLE]);
                to.number(less_one(hole));
            }
            match piece {
                Piece::Free(block) => {
                    to.put(&[kind::FREE]);
                    to.number(less_one(block));
                }
                Piece::Busy(entry) => match entry.value {
                    Some(kept) => self.put_region(&entry, kept, version, &mut to, &mut encode)?,
                    None => {
                        let (from, place) = self.moves.ends_of(entry.span.first());
                        to.put(&[kind::PLACEHOLDER]);
                        to.number(less_one(entry.taken()));
                        to.number(from >> shift);
                        to.number(place >> shift);
                    }
                },
            }
            next = extent.last().checked_add(1);
        }
        to.sealed()
    }

    fn put_region(
        &self,
        entry: &RegionEntry<'_, V>,
        value: &V,
        version: u32,
        to: &mut Writer,
        encode: &mut impl FnMut(&V, &mut Writer),
    ) -> Result<(), OutOfMemory> {
        let shift = self.granule().bytes().trailing_zeros();
        let is_carved = self.carved.holds(entry.span.first());
        to.put(&[if is_carved { kind::CARVED } else { kind::REGION }]);
        to.number((entry.span.last() - entry.span.first()) >> shift);
        to.number(entry.terms.guard_granules.into());
        if version >= ALIGNED {
            to.number(u64::from(entry.terms.align) - u64::from(shift));
        }
        let mut bytes = Writer::default();
        encode(value, &mut bytes);
        to.number(bytes.bytes.len() as u64);
        to.put(&bytes.bytes);
        if bytes.out_of_memory { Err(OutOfMemory) } else { Ok(()) }
    }
}
