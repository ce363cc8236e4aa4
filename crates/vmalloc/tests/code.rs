//! Modules of machine code: what may be done with their parts, and how many mappings they take.
#![cfg(all(target_os = "linux", not(miri)))]
#![allow(unsafe_code, reason = "memory of modules is bare pointers")]
#![allow(clippy::unwrap_used, reason = "a test stops at once")]

use freehold_vmalloc::code::{CodeModule, CodeSpace, Contents};
use freehold_vmalloc::near::NearError;
use freehold_vmalloc::{AllocError, kva};
use std::ptr::NonNull;
use std::sync::Arc;

const ALL: [Contents; 3] = [Contents::Code, Contents::Constants, Contents::Data];

/// A module and its parts.
type Filled = (CodeModule, [NonNull<u8>; 3]);

fn space(len_bytes: usize) -> Arc<CodeSpace> {
    CodeSpace::near(space as *const (), 2 << 30, len_bytes).unwrap()
}

/// What may be done at an address, as `/proc/self/maps` has it, and the mappings in all.
fn access(at: usize) -> (String, usize) {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let found = maps.lines().find(|line| {
        let (start, end) = line.split(' ').next().unwrap().split_once('-').unwrap();
        let of = |hex| usize::from_str_radix(hex, 16).unwrap();
        (of(start)..of(end)).contains(&at)
    });
    (found.map_or("", |line| &line.split(' ').nth(1).unwrap()[..3]).to_owned(), maps.lines().count())
}

/// A module with a part of each kind, which hold a number.
fn filled(space: &Arc<CodeSpace>, number: usize) -> Filled {
    let mut module = space.module();
    let parts = ALL.map(|contents| {
        let part = module.alloc(contents, 100 + number % 6000, 16).unwrap();
        // SAFETY: the part is the module's, not sealed, and as long.
        unsafe { part.cast::<usize>().write(number) };
        part
    });
    // SAFETY: nobody writes to it any more but to its data.
    unsafe { module.seal() }.unwrap();
    (module, parts)
}

#[test]
fn parts_have_the_access_that_they_need_and_no_more() {
    let space = space(1 << 20);
    let mut module = space.module();
    let first = ALL.map(|contents| module.alloc(contents, 100, 64).unwrap());
    let second = ALL.map(|contents| module.alloc(contents, 100, 64).unwrap());
    for (first, second) in first.iter().zip(&second) {
        assert_eq!(access(first.addr().get()).0, "rw-");
        // Behind it, in the same page.
        assert_eq!(second.addr().get() - first.addr().get(), 128);
    }
    // SAFETY: nobody writes to it any more.
    unsafe { module.seal() }.unwrap();
    assert_eq!(first.map(|part| access(part.addr().get()).0), ["r-x", "r--", "rw-"]);
    // What comes later is in pages of its own, and is sealed in its turn.
    let later = ALL.map(|contents| module.alloc(contents, 100, 64).unwrap());
    assert_eq!(later.map(|part| access(part.addr().get()).0), ["rw-"; 3]);
    assert_eq!(first.map(|part| access(part.addr().get()).0), ["r-x", "r--", "rw-"]);
    // SAFETY: as above.
    unsafe { module.seal() }.unwrap();
    assert_eq!(later.map(|part| access(part.addr().get()).0), ["r-x", "r--", "rw-"]);
    assert_eq!(space.held_bytes(), 5 * 4096);
    drop(module);
    assert_eq!(first.map(|part| access(part.addr().get()).0), ["---"; 3]);
    assert_eq!(space.held_bytes(), 0);
}

#[test]
fn modules_by_the_thousand_take_a_few_mappings() {
    let space = space(256 << 20);
    let before = access(0).1;
    let mut modules: Vec<_> = (0..2000).map(|number| Some(filled(&space, number))).collect();
    assert!(access(0).1 <= before + 10, "{} mappings more", access(0).1 - before);
    let right = |modules: &[Option<Filled>]| {
        modules.iter().enumerate().filter_map(|(number, module)| Some((number, module.as_ref()?))).all(
            // SAFETY: the parts are their module's, and can be read.
            |(number, (_, parts))| parts.iter().all(|part| unsafe { part.cast::<usize>().read() } == number),
        )
    };
    assert!(right(&modules));
    modules.iter_mut().step_by(2).for_each(|module| *module = None);
    assert!(right(&modules));
    // What is free is used again, and zero.
    for (number, module) in modules.iter_mut().enumerate().step_by(2) {
        *module = Some(filled(&space, number));
    }
    assert!(right(&modules) && access(0).1 <= before + 10);
    drop(modules);
    assert_eq!(space.held_bytes(), 0);
    assert!(access(0).1 <= before + 10);
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = CodeSpace::near(space as *const (), 2 << 30, 4096).unwrap_err();
    assert_eq!(refused, NearError::Length { len_bytes: 4096 });
    let space = space(64 << 10);
    let mut module = space.module();
    let mut cause = |len, align| match module.alloc(Contents::Code, len, align).unwrap_err() {
        AllocError::Addresses(cause) => cause,
        other => panic!("{other}"),
    };
    assert_eq!(cause(0, 16), kva::AllocError::ZeroSize);
    assert_eq!(cause(1, 3), kva::AllocError::NotPowerOfTwo { align_bytes: 3 });
    assert_eq!(cause(1, 0), kva::AllocError::NotPowerOfTwo { align_bytes: 0 });
    assert_eq!(cause(usize::MAX, 1), kva::AllocError::SizeOverflow);
    cause((32 << 10) + 1, 1);
    assert!(module.alloc(Contents::Code, 32 << 10, 1).is_ok());
    assert!(module.alloc(Contents::Code, 1, 1).is_err() && module.alloc(Contents::Data, 1, 1).is_ok());
    drop(module);
    let aligned = space.module().alloc(Contents::Code, 100, 16 << 10).unwrap();
    assert!(aligned.addr().get().is_multiple_of(16 << 10));
    // Modules keep the space alive.
    let mut last = space.module();
    drop(space);
    assert!(last.alloc(Contents::Data, 100, 8).is_ok());
}
