//! redb: a database in a vector that grows in place, against its backend in a `Vec`.

use crate::glue::redb::Memory;
use clients::Answer;
use clients::table::{Effort, Row, compare};
use freehold_vmalloc::{VirtualMemory, VmVec};
use redb::backends::InMemoryBackend;
use redb::{
    Database, ReadableDatabase, ReadableTable, ReadableTableMetadata, StorageBackend, Table, TableDefinition,
};
use std::sync::{OnceLock, RwLock};

const TABLE: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("pairs");
/// Pairs that one transaction inserts.
const TRANSACTION: u64 = 10_000;
/// Little, so that pages come from the backend.
const CACHE_BYTES: usize = 4 << 20;
/// The most that a database takes.
const MOST_BYTES: usize = 4 << 30;

/// Backends have no lifetime.
static VM: OnceLock<VirtualMemory> = OnceLock::new();

fn ours() -> Answer<Memory> {
    let vm = match VM.get() {
        Some(vm) => vm,
        None => {
            let vm = VirtualMemory::builder().build()?;
            VM.get_or_init(|| vm)
        }
    };
    Ok(Memory(RwLock::new(VmVec::with_reserve(vm, MOST_BYTES)?)))
}

pub fn run(effort: Effort) -> Answer<Vec<Row>> {
    let pairs = effort.of(100_000);
    let fill_ours = || filled(ours()?, pairs as u64).map(drop);
    let fill_its = || filled(InMemoryBackend::new(), pairs as u64).map(drop);
    let inserts = compare(effort, "inserts of 100 bytes", pairs, fill_ours, fill_its)?;
    let (ours, its) = (filled(ours()?, pairs as u64)?, filled(InMemoryBackend::new(), pairs as u64)?);
    check(&ours, &its, pairs as u64)?;
    let look_up_ours = || look_up(&ours, pairs as u64);
    let look_ups = compare(effort, "look-ups", pairs, look_up_ours, || look_up(&its, pairs as u64))?;
    Ok(vec![inserts, look_ups])
}

/// A key that is another each time, in no order.
fn key(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn value(number: u64) -> [u8; 100] {
    std::array::from_fn(|at| (key(number) >> (at % 8 * 8)) as u8 ^ at as u8)
}

/// A database with so many pairs.
fn filled(backend: impl StorageBackend, pairs: u64) -> Answer<Database> {
    let database = Database::builder().set_cache_size(CACHE_BYTES).create_with_backend(backend)?;
    for first in (0..pairs).step_by(TRANSACTION as usize) {
        change(&database, first..pairs.min(first + TRANSACTION), insert)?;
    }
    Ok(database)
}

type Pairs<'t> = Table<'t, u64, &'static [u8]>;

/// Changes the table for each of some numbers, in one transaction.
fn change(
    database: &Database,
    numbers: impl Iterator<Item = u64>,
    one: impl Fn(&mut Pairs<'_>, u64) -> Answer<()>,
) -> Answer<()> {
    let transaction = database.begin_write()?;
    {
        let mut table = transaction.open_table(TABLE)?;
        for number in numbers {
            one(&mut table, number)?;
        }
    }
    Ok(transaction.commit()?)
}

fn insert(table: &mut Pairs<'_>, number: u64) -> Answer<()> {
    table.insert(key(number), &value(number)[..])?;
    Ok(())
}

fn remove(table: &mut Pairs<'_>, number: u64) -> Answer<()> {
    table.remove(key(number))?.ok_or_else(|| format!("pair {number} cannot be removed"))?;
    Ok(())
}

fn look_up(database: &Database, pairs: u64) -> Answer<()> {
    let table = database.begin_read()?.open_table(TABLE)?;
    for number in 0..pairs {
        let found = table.get(key(number))?.ok_or_else(|| format!("pair {number} is not there"))?;
        if found.value() != value(number) {
            return Err(format!("pair {number} has another value").into());
        }
    }
    Ok(())
}

/// Both hold the same pairs in the same order, after a tenth was removed from both.
fn check(ours: &Database, its: &Database, pairs: u64) -> Answer<()> {
    let tenth = || (0..pairs).step_by(10);
    for database in [ours, its] {
        change(database, tenth(), remove)?;
    }
    let (ours_read, its_read) = (ours.begin_read()?.open_table(TABLE)?, its.begin_read()?.open_table(TABLE)?);
    let left = pairs - pairs.div_ceil(10);
    if (ours_read.len()?, its_read.len()?) != (left, left) {
        return Err(format!("{} and {} pairs are left, not {left}", ours_read.len()?, its_read.len()?).into());
    }
    for (ours, its) in ours_read.iter()?.zip(its_read.iter()?) {
        let (ours, its) = (ours?, its?);
        if (ours.0.value(), ours.1.value()) != (its.0.value(), its.1.value()) {
            return Err(format!("key {:#x} is not what it is in a Vec", ours.0.value()).into());
        }
    }
    // And all again, which takes what was freed.
    for database in [ours, its] {
        change(database, tenth(), insert)?;
    }
    Ok(())
}
