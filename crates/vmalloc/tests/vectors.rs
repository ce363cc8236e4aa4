//! Vectors that grow in place.
#![allow(clippy::unwrap_used, reason = "a test stops at once")]

use freehold_vmalloc::kva;
use freehold_vmalloc::{AllocError, Commit, RetainPolicy, VirtualMemory, VmVec};
use std::rc::Rc;

const MIB: usize = 1 << 20;

fn vm() -> VirtualMemory {
    VirtualMemory::builder().reserve(256 * MIB).retain(RetainPolicy::bytes(64 << 20)).build().unwrap()
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.chunks(4096).all(|page| page == &[0; 4096][..page.len()])
}

#[test]
fn a_strict_vector_commits_a_mebibyte_at_a_time() {
    let vm = VirtualMemory::builder().reserve(64 * MIB).commit(Commit::Strict).build().unwrap();
    let committed = || vm.stats().zones.iter().map(|zone| zone.committed_bytes as usize).sum::<usize>();
    let before = committed();
    const PART: usize = 64 << 10;
    let mut parts: VmVec<[u8; PART]> = VmVec::with_reserve(&vm, 8 * MIB / PART).unwrap();
    assert_eq!(committed(), before);
    parts.push([1; PART]).unwrap();
    let once = committed() - before;
    assert!((MIB..=MIB + PART).contains(&once), "{once} bytes");
    while parts.len() < once / PART {
        parts.push([1; PART]).unwrap();
        assert_eq!(committed() - before, once, "{} parts", parts.len());
    }
    parts.push([1; PART]).unwrap();
    assert!(committed() - before >= once + MIB);
}

#[test]
fn vectors_grow_in_place() {
    for commit in [Commit::Lazy, Commit::Strict] {
        let vm = VirtualMemory::builder().reserve(64 * MIB).commit(commit).build().unwrap();
        let most = if cfg!(miri) { 1100 } else { 600_000 };
        let mut numbers: VmVec<u64> = VmVec::with_reserve(&vm, most).unwrap();
        let start = numbers.as_ptr();
        (0..most as u64 - 1).for_each(|number| numbers.push(number).unwrap());
        assert!(numbers.iter().copied().eq(0..most as u64 - 1));
        assert_eq!(numbers.as_ptr(), start);
        assert!(numbers.extend_from_slice(&[1, 2]).is_err());
        numbers.extend_from_slice(&[5]).unwrap();
        let refused = numbers.push(6).unwrap_err();
        assert!(
            refused.value == 6
                && matches!(refused.cause, AllocError::Addresses(kva::AllocError::TooLarge { .. }))
        );
        numbers.truncate(10);
        numbers.shrink_to_fit().unwrap();
        #[cfg(all(target_os = "linux", not(miri)))]
        assert_eq!(vm.resident_bytes(), Ok(4096));
        numbers.extend_from_slice(&[10, 11]).unwrap();
        assert!(numbers.iter().copied().eq(0..12));
        assert_eq!(numbers.pop(), Some(11));
        assert!(vm.stats().lending.vector_bytes >= most as u64 * 8);
        drop(numbers);
        assert_eq!(vm.stats().lending.vector_bytes, 0);
        #[cfg(all(target_os = "linux", not(miri)))]
        assert_eq!(vm.resident_bytes(), Ok(0));
    }
}

#[test]
fn vectors_drop_what_they_have() {
    let vm = vm();
    let one = Rc::new(());
    let mut many: VmVec<Rc<()>> = VmVec::with_reserve(&vm, 100).unwrap();
    (0..100).for_each(|_| many.push(Rc::clone(&one)).unwrap());
    assert_eq!(Rc::strong_count(&many.push(Rc::clone(&one)).unwrap_err().value), 102);
    assert_eq!(Rc::strong_count(&one), 101);
    many.truncate(60);
    drop(many.pop());
    assert_eq!(Rc::strong_count(&one), 60);
    drop(many);
    assert_eq!(Rc::strong_count(&one), 1);
    let mut nothing: VmVec<()> = VmVec::with_reserve(&vm, 5).unwrap();
    (0..5).for_each(|_| nothing.push(()).unwrap());
    assert!(nothing.push(()).is_err() && nothing.len() == 5);
    assert!(VmVec::<u64>::with_reserve(&vm, usize::MAX).is_err());
    assert!(VmVec::<u8>::with_reserve(&vm, 1 << 46).is_err());
    let empty: VmVec<String> = VmVec::with_reserve(&vm, 0).unwrap();
    assert!(empty.is_empty());
}

#[test]
fn vectors_of_elements_without_bytes_end() {
    let vm = vm();
    let mut units: VmVec<'_, ()> = VmVec::with_reserve(&vm, usize::MAX).unwrap();
    units.extend_from_slice(&[(); usize::MAX]).unwrap();
    assert!(units.push(()).is_err() && units.extend_from_slice(&[()]).is_err());
    assert_eq!(units.len(), usize::MAX);
}

#[test]
fn a_panic_in_a_destructor_loses_no_addresses() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            std::panic::resume_unwind(Box::new(()));
        }
    }
    let vm = vm();
    let mut elements = VmVec::with_reserve(&vm, 1000).unwrap();
    assert!(elements.push((Panics, 1)).is_ok());
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(elements))).is_err());
    assert_eq!(vm.stats().lending.vector_bytes, 0);
}

#[test]
fn vectors_have_what_vectors_have() {
    let vm = vm();
    let mut numbers: VmVec<'_, u32> = VmVec::with_reserve(&vm, 100).unwrap();
    numbers.extend(0..10).unwrap();
    numbers.retain(|number| number % 3 != 0);
    assert_eq!(*numbers, [1, 2, 4, 5, 7, 8]);
    assert_eq!(
        (numbers.swap_remove(1), numbers.swap_remove(5), numbers.swap_remove(4)),
        (Some(2), None, Some(7))
    );
    assert_eq!(*numbers, [1, 8, 4, 5]);
    numbers.resize(6, 9).unwrap();
    assert_eq!(*numbers, [1, 8, 4, 5, 9, 9]);
    numbers.resize(1, 0).unwrap();
    assert!(numbers.resize(101, 3).is_err() && numbers.extend(0..9).is_err());
    assert_eq!(numbers.len(), 100);
    let mut bytes: VmVec<'_, u8> = VmVec::with_reserve(&vm, 32 * MIB).unwrap();
    bytes.extend_from_slice(&[1; 5000]).unwrap();
    bytes.truncate(100);
    bytes.resize_zeroed(16 * MIB).unwrap();
    assert!(bytes[..100].iter().all(|&byte| byte == 1) && is_zero(&bytes[100..MIB]));
    #[cfg(all(target_os = "linux", not(miri)))]
    assert!(vm.resident_bytes().unwrap() <= 16 << 10, "growing with zeros touches no page");
    bytes[9000] = 1;
    bytes.resize_zeroed(50).unwrap();
    bytes.resize_zeroed(10_000).unwrap();
    assert!(is_zero(&bytes[50..]));
    assert!(bytes.resize_zeroed(33 * MIB).is_err());
    assert_eq!(bytes.len(), 10_000);
    // More than half of what is reserved, and then all of it.
    bytes.resize_zeroed(20 * MIB).unwrap();
    bytes.resize_zeroed(32 * MIB).unwrap();
}

#[test]
fn elements_leave_by_value_and_once() {
    let vm = vm();
    let of = |values: &[&str]| {
        let mut vector = VmVec::with_reserve(&vm, 10).unwrap();
        vector.extend(values.iter().map(|value| Rc::from(*value))).unwrap();
        vector
    };
    let all: VmVec<'_, Rc<str>> = of(&["a", "b", "c", "d"]);
    let others: Vec<_> = all.iter().cloned().collect();
    let mut left = all.into_iter();
    assert_eq!((left.next().as_deref(), left.next_back().as_deref()), (Some("a"), Some("d")));
    assert_eq!(left.len(), 2);
    assert_eq!(left.next_back().as_deref(), Some("c"));
    // What was not taken is dropped.
    drop(left);
    assert!(others.iter().all(|value| Rc::strong_count(value) == 1));
    let mut ended = of(&["x"]).into_iter();
    assert_eq!(
        (ended.next().as_deref(), ended.next(), ended.next_back(), ended.next()),
        (Some("x"), None, None, None)
    );
    drop(ended);
    assert_eq!(
        of(&["1", "2", "3"]).into_iter().rev().map(|value| value.to_string()).collect::<String>(),
        "321"
    );
    assert_eq!(vm.stats().lending.vector_bytes, 0);
}

#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn a_huge_page_over_two_vectors_goes_with_both() {
    let vm = vm();
    let vector = || VmVec::<u8>::with_huge_pages(&vm, MIB).unwrap();
    let (mut used, unused) = (vector(), vector());
    assert_eq!(used.as_ptr().addr().abs_diff(unused.as_ptr().addr()), MIB, "in the same two MiB");
    used.push(1).unwrap();
    drop((used, unused));
    assert_eq!(vm.resident_bytes(), Ok(0));
}

#[test]
fn a_loop_changes_elements() {
    let vm = vm();
    let mut cards: VmVec<u8> = VmVec::with_reserve(&vm, 4096).unwrap();
    cards.extend([1, 2, 3]).unwrap();
    for card in &mut cards {
        *card *= 2;
    }
    assert_eq!(cards[..], [2, 4, 6]);
}
