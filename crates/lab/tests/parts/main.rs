//! Tests of the lab's parts, folder by folder as in its sources. One program, since each would be linked with the whole lab.

mod engine;
mod family;
mod workload;
