//! The failure of every single allocation: whichever request for memory is refused, the operation answers
//! `OutOfMemory`, leaves the objects as they were, and succeeds when it is tried again.
//!
//! A memory request that cannot be answered by an error ends the process.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use freehold_percpu::{
    AllocError, ChunkSet, Config, ConfigError, FirstFit, Linux, Linux2017, LinuxFixed, MIN_UNIT_BYTES,
    Offset, Placement, Population, Request,
};
/// The one allocator of all tests that refuse memory.
#[path = "../../kva/tests/out_of_memory/refusing.rs"]
mod refusing;

use refusing::{NONE_REFUSED, watched};

fn objects<P: Placement>(set: &ChunkSet<P>) -> Vec<(Offset, u32)> {
    set.validate().unwrap();
    set.objects().collect()
}

/// Objects that fill several chunks one after the other.
fn requests() -> impl Iterator<Item = Request> {
    (0..24).map(|at| Request::new(2000 + 900 * (at % 11)))
}

fn creation_survives<P: Placement>(config: Config) {
    for refused in 0.. {
        let (answer, requests) = watched(refused, || ChunkSet::<P>::new(config));
        match answer {
            Ok(set) => {
                assert!(requests <= refused && refused > 0);
                return set.validate().unwrap();
            }
            Err(error) => assert_eq!(error, ConfigError::OutOfMemory),
        }
    }
}

/// Refuses every request for memory of every allocation in turn. Returns how many there were.
fn allocations_survive<P: Placement>(config: Config) -> u64 {
    let mut set: ChunkSet<P> = ChunkSet::new(config).unwrap();
    let mut refusals = 0;
    for request in requests() {
        for refused in 0.. {
            let before = objects(&set);
            let (answer, _) = watched(refused, || set.alloc(&request));
            match answer {
                Ok(_) => break,
                Err(error) => assert_eq!(error, AllocError::OutOfMemory),
            }
            assert_eq!(objects(&set), before);
            refusals += 1;
        }
    }
    refusals
}

/// Frees never ask for memory, and balancing only for a chunk to keep pages ready in.
fn frees_and_balancing_survive<P: Placement>(config: Config) {
    let mut set: ChunkSet<P> = ChunkSet::new(config).unwrap();
    let places: Vec<Offset> = requests().map(|request| set.alloc(&request).unwrap()).collect();
    for place in places {
        let (freed, requests) = watched(0, || set.free(place));
        assert!(freed.is_ok() && requests == 0);
        let refused = watched(0, || set.balance()).0.is_err();
        assert!(!refused || set.wants_balance(), "what was not done is wanted still");
        set.validate().unwrap();
        watched(NONE_REFUSED, || set.balance()).0.unwrap();
        set.validate().unwrap();
    }
    assert!(set.is_empty());
}

fn survives<P: Placement>() {
    for population in [Population::OnDemand, Population::Whole] {
        let config = Config::new(MIN_UNIT_BYTES, 2).population(population);
        creation_survives::<P>(config);
        let refusals = allocations_survive::<P>(config);
        assert!(refusals > 12, "only {refusals} requests for memory");
        frees_and_balancing_survive::<P>(config);
    }
}

#[test]
fn the_default_placement() {
    survives::<FirstFit>();
}

#[test]
fn the_kernels_placements() {
    survives::<Linux>();
    survives::<LinuxFixed>();
    survives::<Linux2017>();
}
