//! Reads an image: first the frame around the runs, then each run. All input is checked before it is used.

use super::checksum::crc32;
use super::{ALIGNED, CHECKSUM_BYTES, HEADER_BYTES, MAGIC, MOVING, PLAIN, RestoreError, kind};
use crate::regions::RegionAttrs;
use crate::request::guard_granules;
use freehold_units::{Align, Span};

/// A decoded run.
pub(super) enum Part<'a> {
    Hole,
    Free(Span),
    Region {
        span: Span,
        terms: RegionAttrs,
        guard: Option<Span>,
        is_carved: bool,
        value: &'a [u8],
    },
    /// `from` and `to`: the old and the new start of the region that moves to this placeholder.
    Placeholder {
        span: Span,
        from: u64,
        to: u64,
    },
}

/// The runs of an image whose frame is valid.
pub(super) struct Runs<'a> {
    /// All bytes up to the checksum.
    bytes: &'a [u8],
    /// The next byte to read.
    at: usize,
    version: u32,
    /// The lowest version that can express the runs read so far.
    needed: u32,
    granule: Align,
    /// The start address of the next run; `None` after `u64::MAX`.
    next: Option<u64>,
    /// Kind and start of the last run.
    previous: Option<(u8, usize)>,
}

fn field<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

impl<'a> Runs<'a> {
    /// Checks the header, the length and the checksum.
    pub(super) fn open<E>(bytes: &'a [u8]) -> Result<Self, RestoreError<E>> {
        if !MAGIC.iter().zip(bytes).all(|(magic, byte)| magic == byte) {
            return Err(RestoreError::NotAnImage);
        }
        let found_bytes = bytes.len() as u64;
        let sealed = bytes.split_last_chunk().filter(|(sealed, _)| sealed.len() >= HEADER_BYTES);
        let (Some(version), Some(log2), Some(len), Some((sealed, &stored))) =
            (field(bytes, 8), field(bytes, 12), field(bytes, 16), sealed)
        else {
            let needed_bytes = (HEADER_BYTES + CHECKSUM_BYTES) as u64;
            return Err(RestoreError::Truncated { needed_bytes, found_bytes });
        };
        let (version, log2) = (u32::from_le_bytes(version), u32::from_le_bytes(log2));
        if !(PLAIN..=MOVING).contains(&version) {
            return Err(RestoreError::Version { found: version, newest: MOVING });
        }
        let needed_bytes = u64::from_le_bytes(len);
        if needed_bytes > found_bytes {
            return Err(RestoreError::Truncated { needed_bytes, found_bytes });
        }
        if needed_bytes < found_bytes {
            return Err(RestoreError::Trailing { extra_bytes: found_bytes - needed_bytes });
        }
        let (stored, computed) = (u32::from_le_bytes(stored), crc32(sealed));
        if stored != computed {
            return Err(RestoreError::Checksum { stored, computed });
        }
        let granule = 1u64.checked_shl(log2).and_then(Align::new).ok_or(RestoreError::Granule { log2 })?;
        Ok(Self {
            bytes: sealed,
            at: HEADER_BYTES,
            version,
            needed: PLAIN,
            granule,
            next: Some(0),
            previous: None,
        })
    }

    pub(super) fn granule(&self) -> Align {
        self.granule
    }

    /// The next run; `None` after the last.
    pub(super) fn next<E>(&mut self) -> Result<Option<Part<'a>>, RestoreError<E>> {
        let at = self.at;
        if at == self.bytes.len() {
            return match self.previous {
                Some((kind::HOLE, at)) => Err(RestoreError::Order { at }),
                Some(_) if self.version > self.needed => Err(RestoreError::NotLowestVersion),
                Some(_) => Ok(None),
                None => Err(RestoreError::Empty),
            };
        }
        let kind = self.byte()?;
        if self.previous.is_some_and(|(previous, _)| previous == kind && kind <= kind::FREE) {
            return Err(RestoreError::Order { at });
        }
        self.previous = Some((kind, at));
        let part = match kind {
            kind::HOLE | kind::FREE => {
                let reach = self.number()?;
                let span = self.granules(reach).ok_or(RestoreError::PastTheEnd { at })?;
                if kind == kind::HOLE { Part::Hole } else { Part::Free(span) }
            }
            kind::REGION | kind::CARVED => self.region(at, kind == kind::CARVED)?,
            kind::PLACEHOLDER if self.version >= MOVING => self.placeholder(at)?,
            _ => return Err(RestoreError::Kind { at, kind }),
        };
        Ok(Some(part))
    }

    fn region<E>(&mut self, at: usize, is_carved: bool) -> Result<Part<'a>, RestoreError<E>> {
        let reach = self.number()?;
        let guard_granules = guard_granules(self.number()?).ok_or(RestoreError::GuardTooLarge { at })?;
        let wider = if self.version >= ALIGNED { self.number()? } else { 0 };
        let past_the_end = RestoreError::PastTheEnd { at };
        let Some(span) = self.granules(reach) else { return Err(past_the_end) };
        let guard = match guard_granules.checked_sub(1) {
            Some(reach) => Some(self.granules(reach.into()).ok_or(past_the_end)?),
            None => None,
        };
        let log2 = wider.saturating_add(self.granule.bytes().trailing_zeros().into());
        if log2 > span.first().trailing_zeros().min(u64::BITS - 1).into() {
            return Err(RestoreError::Align { at });
        }
        self.needed = self.needed.max(if wider > 0 { ALIGNED } else { PLAIN });
        let terms = RegionAttrs { guard_granules, align: log2 as u8 };
        Ok(Part::Region { span, terms, guard, is_carved, value: self.value()? })
    }

    fn placeholder<E>(&mut self, at: usize) -> Result<Part<'a>, RestoreError<E>> {
        let reach = self.number()?;
        let span = self.granules(reach).ok_or(RestoreError::PastTheEnd { at })?;
        let mut place = || {
            let granules = self.number()?;
            granules.checked_mul(self.granule.bytes()).ok_or(RestoreError::PastTheEnd { at })
        };
        let (from, to) = (place()?, place()?);
        self.needed = MOVING;
        Ok(Part::Placeholder { span, from, to })
    }

    fn value<E>(&mut self) -> Result<&'a [u8], RestoreError<E>> {
        let len_bytes = self.number()?;
        let at = self.at;
        let left = self.bytes.get(at..).unwrap_or_default();
        let value = usize::try_from(len_bytes).ok().and_then(|len| left.get(..len));
        let too_long = RestoreError::ValueTooLong { at, len_bytes, left_bytes: left.len() as u64 };
        let value = value.ok_or(too_long)?;
        self.at += value.len();
        Ok(value)
    }

    /// The next `reach + 1` granules of addresses; `None` if fewer are left.
    fn granules(&mut self, reach: u64) -> Option<Span> {
        let first = self.next?;
        let whole = reach.checked_mul(self.granule.bytes())?;
        let last = first.checked_add(whole)?.checked_add(self.granule.mask())?;
        self.next = last.checked_add(1);
        Span::new(first, last)
    }

    fn byte<E>(&mut self) -> Result<u8, RestoreError<E>> {
        let byte = *self.bytes.get(self.at).ok_or(RestoreError::Incomplete { at: self.at })?;
        self.at += 1;
        Ok(byte)
    }

    /// Reads a LEB128 number.
    fn number<E>(&mut self) -> Result<u64, RestoreError<E>> {
        let wrong = RestoreError::Number { at: self.at };
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            number |= bits << shift;
            let is_lost = bits << shift >> shift != bits;
            let is_spare = byte == 0 && shift > 0;
            if is_lost || is_spare {
                return Err(wrong);
            }
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(wrong)
    }
}
