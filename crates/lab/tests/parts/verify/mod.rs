mod anchors;
mod logs;
mod placed;
mod placements;
mod requests;
mod streams;
mod vma;
