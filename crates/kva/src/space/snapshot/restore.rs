//! Building the space that a snapshot tells of.

use super::RestoreError;
use super::read::{Part, Run, Runs};
use crate::{AddressSpace, FreeIndex};
use freehold_units::Span;

impl<V, I: FreeIndex> AddressSpace<V, I> {
    /// The space of which `bytes` are a [snapshot](Self::snapshot), on any index and under any placement. `decode`
    /// makes a value of its bytes. Carved regions await their sub-spaces ([`AddressSpace::adopt`]).
    ///
    /// Free blocks and regions are what they were. The shape of an index need not be, so the placement `Linux`,
    /// whose answers depend on it, may go on to choose other addresses than it would have.
    ///
    /// # Errors
    /// [`RestoreError`]: how the bytes are wrong, why a value could not be decoded, or no memory.
    ///
    /// # Cost
    /// O(n log n) in the number of runs. Memory in proportion to the number of `bytes`, whatever they say, and
    /// what `decode` asks for.
    pub fn restore<E>(
        bytes: &[u8],
        placement: I::Placement,
        mut decode: impl FnMut(&[u8]) -> Result<V, E>,
    ) -> Result<Self, RestoreError<E>> {
        let mut runs = Runs::open(bytes)?;
        let mut space = Self::bare(Span::ALL, runs.granule(), placement)?;
        let mut hull: Option<Span> = None;
        while let Some(run) = runs.next()? {
            if let Some(extent) = space.rebuild(&run, &mut decode)? {
                space.total_bytes += extent.size_bytes();
                hull = Some(hull.map_or(extent, |hull| hull.hull(extent)));
            }
        }
        space.hull = hull.ok_or(RestoreError::Empty)?;
        Ok(space)
    }

    /// Adds what a run tells of, above all that was there. Returns its addresses, guard included.
    fn rebuild<E>(
        &mut self,
        run: &Run<'_>,
        decode: &mut impl FnMut(&[u8]) -> Result<V, E>,
    ) -> Result<Option<Span>, RestoreError<E>> {
        match run.part {
            Part::Hole => Ok(None),
            Part::Free(block) => {
                self.free.reserve(1)?;
                // It overlaps no other: every run starts where the last one ended.
                self.give_back(self.free.way_to(block.first()), block, &mut ())
                    .map_err(|_| RestoreError::Order { at: run.at })?;
                Ok(Some(block))
            }
            Part::Region { span, guard_granules, guard, is_carved, value } => {
                let value = decode(value).map_err(|error| RestoreError::Value { region: span, error })?;
                self.busy.reserve(1)?;
                if is_carved {
                    self.carved.reserve()?;
                    self.carved.set(span.first(), None);
                }
                self.busy.insert(self.busy.way_to(span.first()), span, guard_granules, value);
                Ok(Some(guard.map_or(span, |guard| span.hull(guard))))
            }
        }
    }
}
