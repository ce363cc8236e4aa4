//! The addresses of pools and vectors.

use crate::lock::lock;
use freehold_kva::{self as kva, AddressSpace, LayoutError, Placement, Request};
use freehold_units::{Align, Broken, Span};
use std::ops::Range;
use std::sync::Mutex;

/// What ranges start at and are made of.
pub(crate) const LENT_GRANULE: usize = 64 << 10;

/// Who has a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Pool,
    Vector,
    /// Nobody any more: the system refused to take its memory back, and it stays taken.
    PendingRelease,
}

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Lending {
    /// In bytes of the mapping.
    space: Mutex<AddressSpace<Use>>,
}

impl Lending {
    pub(super) fn new(range: Range<usize>) -> Result<Self, LayoutError> {
        let span = Span::from_size(range.start as u64, range.len() as u64).ok_or(LayoutError::Empty)?;
        let granule = Align::new(LENT_GRANULE as u64).ok_or(LayoutError::Empty)?;
        Ok(Self { space: Mutex::new(AddressSpace::new(span, granule, Placement::Lowest)?) })
    }

    /// Takes addresses for a pool or a vector.
    pub(crate) fn take(&self, request: &Request, by: Use) -> Result<Range<usize>, kva::AllocError> {
        let span = lock(&self.space).alloc(request, by)?;
        Ok(span.first() as usize..span.first() as usize + span.size_saturating() as usize)
    }

    /// Returns addresses whose pages are gone.
    pub(crate) fn give_back(&self, start: usize) {
        lock(&self.space).free(start as u64).expect("V1: a range is freed once");
    }

    /// Keeps addresses taken whose pages the system refused to take back.
    pub(crate) fn keep_pending(&self, start: usize) {
        let mut space = lock(&self.space);
        *space.value_at_mut(start as u64).expect("V1: a range is taken until it is freed") =
            Use::PendingRelease;
    }

    /// Bytes that one use has.
    pub(crate) fn bytes(&self, by: Use) -> u64 {
        let space = lock(&self.space);
        let of_use = space.regions().filter(|region| *region.value() == by);
        of_use.map(|region| region.span().size_saturating()).sum()
    }

    pub(crate) fn validate(&self) -> Result<(), Broken> {
        lock(&self.space).validate()
    }
}
