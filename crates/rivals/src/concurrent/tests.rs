use super::*;

const STRIDE: u64 = 16;

/// Ranges of 12 indexes, each with its number as value, but for those whose number is a multiple of 5.
fn filled<T: SharedRanges + Default>() -> T {
    let map = T::default();
    for number in 0..1000 {
        assert!(map.store(STRIDE * number, STRIDE * number + 11, 1));
        assert!(map.store(STRIDE * number, STRIDE * number + 11, number));
    }
    for number in (0..1000).step_by(5) {
        assert!(map.erase(STRIDE * number));
    }
    map
}

fn check<T: SharedRanges + Default>(offsets: &[u64], holds: bool) {
    let map: T = filled();
    let expected = |index: u64| {
        let number = index / STRIDE;
        (number < 1000 && !number.is_multiple_of(5) && index % STRIDE < 12).then_some(number)
    };
    let reader = map.reader();
    assert_eq!(reader.hold().is_some(), holds);
    for index in (0..1010).flat_map(|number| offsets.iter().map(move |offset| STRIDE * number + offset)) {
        assert_eq!(reader.get(index), expected(index), "{index}");
        if let Some(held) = reader.hold() {
            assert_eq!(held.get(index), expected(index), "{index}, held");
        }
    }
}

#[test]
fn ranges_are_found() {
    let all = [0, 1, 11, 12, 15];
    check::<RwLockMap>(&all, true);
    check::<LeftRightMap>(&all, true);
    check::<TreeIndexMap<false>>(&all, true);
    check::<TreeIndexMap<true>>(&[0], true);
    check::<Optimistic<false>>(&all, false);
    check::<Optimistic<true>>(&[0], false);
    check::<SkipListMap<false>>(&all, false);
    check::<SkipListMap<true>>(&[0], false);
}

fn enters<G: Guards + Default>() {
    let guards = G::default();
    let handle = guards.handle();
    (0..1000).for_each(|_| G::enter(&handle));
}

#[test]
fn guards_are_entered() {
    enters::<Epoch>();
    enters::<EpochHandle>();
    enters::<Seize>();
    enters::<RwLocked>();
}
