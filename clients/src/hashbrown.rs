//! hashbrown: maps in blocks, against maps of the program's allocator.

use crate::glue::hashbrown::Map;
use clients::Answer;
use clients::table::{Effort, Row, compare};
use freehold_vmalloc::{RetainPolicy, VirtualMemory};
use hashbrown::{DefaultHashBuilder, HashMap};

pub fn run(effort: Effort) -> Answer<Vec<Row>> {
    let vm = VirtualMemory::builder().retain(RetainPolicy::bytes(1 << 30)).build()?;
    let pairs = effort.of(1_000_000);
    let ours = || {
        let mut map: Map<'_> = HashMap::new_in(&vm);
        pass!(map, pairs as u64)
    };
    let its = || {
        let mut map: HashMap<u64, u64, DefaultHashBuilder> = HashMap::default();
        pass!(map, pairs as u64)
    };
    let row = compare(effort, "pairs put into a map", pairs, ours, its)?;
    vm.validate().map_err(|broken| format!("{broken:?}"))?;
    Ok(vec![row])
}

/// Fills a map from nothing, takes a part out, and looks at all.
macro_rules! pass {
    ($map:ident, $pairs:expr) => {{
        for key in 0..$pairs {
            $map.insert(key, !key);
        }
        for key in (0..$pairs).step_by(64) {
            if $map.remove(&key) != Some(!key) {
                return Err(format!("key {key} cannot be removed").into());
            }
        }
        match (0..$pairs).step_by(16).find(|key| $map.get(key).copied() != (key % 64 > 0).then_some(!key)) {
            Some(key) => Err(format!("key {key} has another value").into()),
            None if $map.len() as u64 == $pairs - $pairs.div_ceil(64) => Ok(()),
            None => Err(format!("{} pairs are left", $map.len()).into()),
        }
    }};
}
use pass;
