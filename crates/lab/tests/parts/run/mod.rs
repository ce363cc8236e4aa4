mod demand;
mod maple;
mod percpu;
mod plan;
mod report;
mod samples;
mod sheet;
pub(crate) mod stress;
mod zone;
