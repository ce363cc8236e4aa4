//! A heap whose requests for memory are refused, each in turn.

use super::watched;
use freehold_percpu::heap::{HeapError, PerCpuHeap};
use freehold_percpu::{ConfigError, Counter};

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

/// The heap of statics asks the system for its limits.
#[test]
fn a_counter_for_which_there_is_no_memory_counts_all_the_same() {
    static HITS: Counter = Counter::new();
    // What CPUs there are is looked up once, so the first request is for the text of a limit.
    let _ = PerCpuHeap::builder();
    for refused in 0.. {
        let ((), requests) = watched(refused, || HITS.add(1));
        assert_eq!(HITS.get(), refused + 1);
        if requests <= refused {
            return assert!(refused > 0 && HITS.prepare().is_ok());
        }
    }
}
