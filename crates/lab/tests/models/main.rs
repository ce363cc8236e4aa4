//! Engines beside the models that judge them: random operations, every short string of operations, bytes that are no
//! snapshots. One program, since each would be linked with the whole lab.

mod kva_checker;
mod kva_exhaustive;
mod kva_model;
mod kva_restore;
mod maple_memory;
mod maple_model;
pub mod model;
mod percpu_exhaustive;
mod percpu_model;
mod percpu_rooms;
mod vm_allocator;
