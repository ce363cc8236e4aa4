//! The cursor's stores, and its searches for gaps. They write: under the tree's lock.

use super::entry::{Entry, is_reserved, item};
use super::state::fhk_state;
use super::steps::fhk_mas_walk;
use freehold_linux::Error;
use freehold_linux::maple::{Cycled, MaState, Map, State, Tree, Way};
use std::ffi::{c_int, c_void};
use std::mem;
use std::ptr;

/// Stores over the cursor's range. Returns what was at its first index, or NULL and an error in the state.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_mas_store(state: &mut fhk_state, entry: *mut c_void) -> *mut c_void {
    let mut cursor = state.cursor();
    let stored = state
        .tree()
        .writer()
        .and_then(|mut writer| cursor.store(&mut writer.tree, item(entry)).map_err(|refused| refused.cause));
    if stored.is_ok() {
        state.set(&cursor);
    }
    state.result(stored)
}

/// Stores over the cursor's range. Returns 0 or the error.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_mas_store_gfp(state: &mut fhk_state, entry: *mut c_void) -> c_int {
    let mut cursor = state.cursor();
    let stored = state.tree().writer().and_then(|mut writer| {
        cursor.store_gfp(&mut writer.tree, item(entry)).map_err(|refused| refused.cause)
    });
    match stored {
        Ok(()) => {
            state.set(&cursor);
            0
        }
        Err(error) => state.fail(error),
    }
}

/// Plans a store of the entry over the cursor's range. Returns 0 or the error.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_mas_preallocate(state: &mut fhk_state, entry: *mut c_void) -> c_int {
    let planned = state
        .span()
        .and_then(|span| state.tree().writer().and_then(|mut writer| writer.plan(span, item(entry))));
    match planned {
        Ok(number) => {
            state.plan = number;
            0
        }
        Err(error) => error.code(),
    }
}

/// Makes the planned store. If there is none for this range and entry, or another store has cancelled it, stores as
/// `mas_store` does.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_mas_store_prealloc(state: &mut fhk_state, entry: *mut c_void) {
    let number = mem::take(&mut state.plan);
    let landed = state.span().and_then(|span| {
        let mut writer = state.tree().writer_with_plan()?;
        Ok(writer.commit(number, span, item(entry)))
    });
    match landed {
        Ok(Some(span)) => state.set(&MaState::with_state(span.first(), span.last(), State::Active)),
        Ok(None) => {
            fhk_mas_store_gfp(state, entry);
        }
        Err(error) => {
            state.fail(error);
        }
    }
}

/// Gives up what `mas_preallocate` planned.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_mas_destroy(state: &mut fhk_state) {
    let number = mem::take(&mut state.plan);
    // A tree that was destroyed meanwhile has no plan, and is not made again.
    if let Some(mut writer) = state.tree().made_writer().filter(|_| number != 0) {
        writer.cancel(number);
    }
}

/// Stores into the cursor's range if it is free. Returns NULL, or what is at its first index and an error in the state.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_mas_insert(state: &mut fhk_state, entry: *mut c_void) -> *mut c_void {
    let mut cursor = state.cursor();
    let inserted = state.tree().writer().and_then(|mut writer| {
        let stored = writer.tree.insert_range(cursor.index(), cursor.last(), item(entry));
        stored.map_err(|refused| refused.cause)
    });
    if let Err(error) = inserted {
        let there = fhk_mas_walk(state);
        state.index = cursor.index();
        state.last = cursor.last();
        state.fail(error);
        return if error == Error::Exists { there } else { ptr::null_mut() };
    }
    cursor.reset();
    state.set(&cursor);
    fhk_mas_walk(state);
    ptr::null_mut()
}

/// Removes the whole entry at the cursor's index. Returns it.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_mas_erase(state: &mut fhk_state) -> *mut c_void {
    if state.tree().kernel().is_none() {
        return fhk_mas_walk(state);
    }
    let mut cursor = state.cursor();
    let erased = state.tree().writer().and_then(|mut writer| cursor.erase(&mut writer.tree));
    if erased.is_ok() {
        state.set(&cursor);
    }
    state.result(erased)
}

/// Puts the cursor on the lowest `size` free indexes of a window. Returns 0 or the error.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_mas_empty_area(state: &mut fhk_state, min: u64, max: u64, size: u64) -> c_int {
    empty_area(state, Way::Up, min, max, size)
}

/// Puts the cursor on the highest `size` free indexes of a window. Returns 0 or the error.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_mas_empty_area_rev(state: &mut fhk_state, min: u64, max: u64, size: u64) -> c_int {
    empty_area(state, Way::Down, min, max, size)
}

fn empty_area(state: &mut fhk_state, way: Way, min: u64, max: u64, size: u64) -> c_int {
    fn search<M: Map<Entry>>(
        tree: &Tree<Entry, M>,
        cursor: &mut MaState,
        way: Way,
        (min, max, size): (u64, u64, u64),
    ) -> Result<(), Error> {
        match way {
            Way::Up => cursor.empty_area(tree, min, max, size),
            Way::Down => cursor.empty_area_rev(tree, min, max, size),
        }
    }
    let mut cursor = state.cursor();
    let found = match state.tree().made_writer() {
        Some(writer) => search(&writer.tree, &mut cursor, way, (min, max, size)),
        None => search(&Tree::new(state.tree().flags()), &mut cursor, way, (min, max, size)),
    };
    match found {
        Ok(()) => {
            state.set(&cursor);
            0
        }
        Err(error) => error.code(),
    }
}

/// Stores at the lowest free index from `*next` on, else from `low` on. Returns 0, 1 if it wrapped, or the error.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_mas_alloc_cyclic(
    state: &mut fhk_state,
    start: &mut u64,
    entry: *mut c_void,
    low: u64,
    high: u64,
    next: &mut u64,
) -> c_int {
    let stored = state.tree().writer().and_then(|mut writer| {
        let stored = match is_reserved(entry) {
            true => return Err(Error::Invalid),
            false => writer.tree.alloc_cyclic(low, high, next, item(entry)),
        };
        stored.map_err(|refused| refused.cause)
    });
    match stored {
        Ok(Cycled { index, wrapped }) => {
            *start = index;
            state.set(&MaState::with_state(index, index, State::Active));
            c_int::from(wrapped)
        }
        Err(error) => error.code(),
    }
}
