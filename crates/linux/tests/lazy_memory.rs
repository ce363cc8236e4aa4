//! Lazy frees without memory: a purge that is refused half-way goes on where it stopped.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

/// The one allocator of all tests that refuse memory.
#[path = "../../kva/tests/out_of_memory/refusing.rs"]
mod refusing;

use freehold_linux::Error;
use freehold_linux::kva::LazySpace;
use freehold_linux::kva::lazy::{Choices, LazyRequest};
use freehold_units::{Align, Span};
use refusing::{NONE_REFUSED, watched};

const PAGE: u64 = 4096;

/// Pools with 8 areas of 1 page and of 2, and as many freed ones that a purge has taken.
fn purging() -> LazySpace {
    let zone = Span::from_size(1024 * PAGE, 1024 * PAGE).unwrap();
    let mut space = LazySpace::new(zone, Align::PAGE, Choices::linux((6, 18), 2, 2, Align::PAGE)).unwrap();
    space.add(zone).unwrap();
    let request = |pages| LazyRequest { size_bytes: pages * PAGE, align: Align::ONE, window: zone, cpu: 0 };
    let areas: Vec<u64> =
        (0..32).map(|at| space.alloc(&request(1 + at % 2)).unwrap().place.first()).collect();
    for (at, &first) in areas.iter().enumerate() {
        if at == 16 {
            space.purge(16).unwrap();
        }
        space.free(first).unwrap();
    }
    space.begin_purge(16).unwrap();
    space
}

#[test]
fn a_purge_that_is_refused_goes_on_where_it_stopped() {
    let mut granted = purging();
    let ((), requests) = watched(NONE_REFUSED, || while granted.step_purge().unwrap().is_some() {});
    assert!(requests > 1, "nothing can be refused");
    assert_eq!(granted.returned().len(), 4);
    for refused in 0..requests {
        let mut space = purging();
        let mut refusals = 0;
        let ((), _) = watched(refused, || {
            loop {
                match space.step_purge() {
                    Ok(Some(_)) => {}
                    Ok(None) => break,
                    Err(cause) => {
                        assert_eq!(cause, Error::NoMemory);
                        refusals += 1;
                    }
                }
            }
        });
        space.validate().unwrap();
        assert_eq!((refusals, space.returned()), (1, granted.returned()));
        assert!(space.tree().iter().eq(granted.tree().iter()));
        assert_eq!(space.counts(), granted.counts());
    }
}
