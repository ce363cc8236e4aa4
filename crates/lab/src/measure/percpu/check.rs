//! Holding placements against what any allocator must do: each aligned, within its unit, and apart from the others.

use freehold::units::Align;
use freehold_trace::percpu::Location;

/// Live objects with their sizes.
#[derive(Clone, Debug)]
pub struct Objects {
    /// Objects take whole multiples of so many bytes.
    grain_bytes: u32,
    spans: Vec<(Location, u32)>,
}

impl Objects {
    /// None yet, of an engine that rounds sizes up to multiples of so many bytes.
    #[must_use]
    pub fn new(grain_bytes: u64) -> Self {
        Self { grain_bytes: u32::try_from(grain_bytes).unwrap_or(1), spans: Vec::new() }
    }

    /// Notes objects, each with its size in bytes.
    pub fn add(&mut self, places: &[Location], sizes_bytes: impl IntoIterator<Item = u32>) {
        let grain = self.grain_bytes.max(1);
        let rounded = sizes_bytes.into_iter().map(|size| size.next_multiple_of(grain));
        self.spans.extend(places.iter().copied().zip(rounded));
    }

    /// Checks all that was noted.
    ///
    /// # Errors
    /// Which object is where it may not be.
    pub fn check(mut self, align: Align, unit_bytes: u32) -> Result<(), String> {
        self.spans.sort_unstable();
        for (at, &(place, size)) in self.spans.iter().enumerate() {
            if !align.divides(u64::from(place.offset_bytes)) {
                return Err(format!("{place:?} is not a multiple of {}", align.bytes()));
            }
            let end = place.offset_bytes + size;
            let next = self.spans.get(at + 1).filter(|(next, _)| next.chunk == place.chunk);
            if next.is_some_and(|(next, _)| next.offset_bytes < end) || end > unit_bytes {
                return Err(format!(
                    "{size} bytes at {place:?} reach into the next object, or pass the unit"
                ));
            }
        }
        Ok(())
    }
}
