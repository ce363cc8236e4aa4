//! Handles by key, so that a macro finds the metric of a known name and labels by one hash.
//!
//! - Locks are only tried: where one is taken, a look-up goes to the registry. So a child of `fork` never waits here for a
//!   thread that it does not have.
//! - Handles of an epoch of the registry are found in that epoch alone, so neither those of removed series nor those that a
//!   limit refused a series of their own, once it is raised. They are forgotten at the first look-up of a new key in the next.
//! - There are at most twice as many keys as series, plus some: keys that share the overflow series of a limit would
//!   otherwise be kept without end.

use metrics::Key;
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::RwLock;

/// Parts with a lock each, so that CPUs that look up different keys seldom write the same cache line.
const SHARDS: usize = 16;
/// Keys that a shard may have beyond its share of the series.
const SPARE: usize = 16;

/// Passes on the hash that a key has.
#[derive(Default)]
struct KeyHash(u64);

impl Hasher for KeyHash {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    /// Keys write one number; this is for versions of the facade whose keys do not.
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

struct Shard<T> {
    /// The registry's epoch when the first handle was put in.
    epoch: u64,
    handles: HashMap<Key, T, BuildHasherDefault<KeyHash>>,
}

/// A shard on cache lines of its own.
#[repr(align(128))]
struct Locked<T>(RwLock<Shard<T>>);

/// Handles of one kind of metric.
pub(crate) struct Cache<T> {
    shards: Box<[Locked<T>]>,
}

impl<T> fmt::Debug for Cache<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").finish_non_exhaustive()
    }
}

impl<T: Clone> Cache<T> {
    pub(crate) fn new() -> Self {
        let shard = || Shard { epoch: 0, handles: HashMap::default() };
        Self { shards: (0..SHARDS).map(|_| Locked(RwLock::new(shard()))).collect() }
    }

    fn shard(&self, key: &Key) -> &RwLock<Shard<T>> {
        // The map uses the lowest and the highest bits.
        &self.shards[(key.get_hash() >> 32) as usize % SHARDS].0
    }

    /// The handle of a key, if it was put in in this epoch.
    pub(crate) fn get(&self, key: &Key, epoch: u64) -> Option<T> {
        let shard = self.shard(key).try_read().ok()?;
        if shard.epoch == epoch { shard.handles.get(key).cloned() } else { None }
    }

    /// Keeps a handle that was got from a registry of `series` series, in an epoch that was read before.
    pub(crate) fn put(&self, key: &Key, handle: &T, epoch: u64, series: usize) {
        for Locked(shard) in &self.shards {
            if let Ok(mut shard) = shard.try_write()
                && shard.epoch != epoch
            {
                shard.handles.clear();
                shard.epoch = epoch;
            }
        }
        if let Ok(mut shard) = self.shard(key).try_write()
            && shard.epoch == epoch
        {
            if shard.handles.len() > 2 * series / SHARDS + SPARE {
                shard.handles.clear();
            }
            shard.handles.insert(key.clone(), handle.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_forgotten_after_removals_and_in_time() {
        let cache: Cache<usize> = Cache::new();
        let key = |number: usize| Key::from_parts("x", &[("a", number.to_string())]);
        (0..100).for_each(|number| cache.put(&key(number), &number, 0, 1000));
        assert!((0..100).all(|number| cache.get(&key(number), 0) == Some(number)));
        assert_eq!(cache.get(&key(100), 0), None);
        assert_eq!(cache.get(&key(5), 1), None, "a handle from before the removal");
        cache.put(&key(5), &6, 1, 1000);
        assert_eq!((cache.get(&key(5), 1), cache.get(&key(7), 0)), (Some(6), None));
        // Keys of an overflow series: more and more, of few series.
        (0..100_000).for_each(|number| cache.put(&key(number), &number, 1, 1));
        let kept = (0..100_000).filter(|number| cache.get(&key(*number), 1).is_some()).count();
        assert!((1..=SHARDS * (SPARE + 2)).contains(&kept), "{kept}");
    }
}
