//! Places that are set aside for allocations that must not wait.
//!
//! # Invariants
//! - P11: stocked places are zero.
//! - P12: a stocked place is in no magazine and not free in the set.

use super::sync::{Mutex, lock, try_lock};
use crate::{OutOfMemory, Request};
use freehold_sys::fork::Section;
use std::vec::Vec;

/// Zeroed places of one size and alignment.
#[derive(Debug)]
struct Kind {
    size_bytes: u64,
    align_bytes: u64,
    places: Vec<u32>,
}

impl Kind {
    fn is_of(&self, request: &Request) -> bool {
        (self.size_bytes, self.align_bytes) == (request.size_bytes, request.align_bytes)
    }
}

/// The stock of a heap. Its lock is held for a few steps at a time, and never over an allocation of places.
#[derive(Debug)]
pub(super) struct Stock(Mutex<Vec<Kind>>);

impl Stock {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// The number of places of a request.
    pub(super) fn count(&self, request: &Request) -> usize {
        lock(&self.0).iter().find(|kind| kind.is_of(request)).map_or(0, |kind| kind.places.len())
    }

    /// Adds zeroed places. On an error nothing was added.
    pub(super) fn add(&self, request: &Request, places: &[u32]) -> Result<(), OutOfMemory> {
        let mut kinds = lock(&self.0);
        let at = match kinds.iter().position(|kind| kind.is_of(request)) {
            Some(at) => at,
            None => {
                kinds.try_reserve(1)?;
                let (size_bytes, align_bytes) = (request.size_bytes, request.align_bytes);
                kinds.push(Kind { size_bytes, align_bytes, places: Vec::new() });
                kinds.len() - 1
            }
        };
        kinds[at].places.try_reserve(places.len())?;
        kinds[at].places.extend_from_slice(places);
        Ok(())
    }

    /// Takes a place without waiting; `None` if there is none, or another thread is in the stock.
    pub(super) fn try_take(&self, request: &Request) -> Option<u32> {
        let _section = Section::enter();
        try_lock(&self.0)?.iter_mut().find(|kind| kind.is_of(request))?.places.pop()
    }

    /// All places.
    pub(super) fn kept(&self) -> Vec<u32> {
        lock(&self.0).iter().flat_map(|kind| kind.places.iter().copied()).collect()
    }
}
