//! The percpu family's recorded answers: placements of the bitmap allocator, and work of the area map.

pub(super) mod area;
pub(super) mod placements;
