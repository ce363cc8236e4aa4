//! A heap whose requests for memory are refused, each in turn.

use super::watched;
use freehold_percpu::ConfigError;
use freehold_percpu::heap::{HeapError, PerCpuHeap};

#[test]
fn a_heap_for_which_there_is_no_memory_is_an_error() {
    let build = || PerCpuHeap::builder().capacity(1 << 18).build();
    // What the system has is looked up once.
    build().unwrap();
    for refused in 0.. {
        let (built, requests) = watched(refused, build);
        match built {
            Ok(heap) => {
                assert!(requests <= refused && refused > 0);
                return heap.validate().unwrap();
            }
            Err(HeapError::OutOfMemory | HeapError::Config(ConfigError::OutOfMemory)) => {}
            Err(error) => panic!("{error}"),
        }
    }
}
