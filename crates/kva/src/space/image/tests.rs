use super::checksum::crc32;
use super::{ALIGNED, MAGIC, MOVING, PLAIN, RestoreError, kind};
use crate::{AddressSpace, MoveError, Placement, Request};
use core::convert::Infallible;
use freehold_units::{Align, Span};
use std::string::ToString;
use std::vec::Vec;

const PAGE: u64 = 4096;

fn pages(first: u64, pages: u64) -> Span {
    Span::from_size(first * PAGE, pages * PAGE).unwrap()
}

/// Runs in a valid frame.
fn framed(version: u32, log2: u32, runs: &[u8]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(version.to_le_bytes());
    bytes.extend(log2.to_le_bytes());
    bytes.extend((runs.len() as u64 + 28).to_le_bytes());
    bytes.extend(runs);
    sealed(bytes)
}

/// Adds a correct checksum.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.extend(crc32(&bytes).to_le_bytes());
    bytes
}

/// Values are one byte, and not 0xff.
fn value(bytes: &[u8]) -> Result<u8, &'static str> {
    match bytes {
        [0xff] => Err("no such device"),
        [byte] => Ok(*byte),
        _ => Err("not one byte"),
    }
}

fn restored(bytes: &[u8]) -> Result<AddressSpace<u8>, RestoreError<&'static str>> {
    AddressSpace::from_bytes(bytes, Placement::default(), value)
}

/// The error of restoring the bytes.
fn wrong(bytes: &[u8]) -> RestoreError<&'static str> {
    let error = restored(bytes).err().unwrap();
    assert!(!error.to_string().is_empty());
    error
}

/// The space of the module's picture.
fn picture() -> AddressSpace<u8> {
    let layout = [pages(12, 20), pages(42, 7)];
    let mut space = AddressSpace::with_layout(&layout, Align::PAGE, Placement::Lowest).unwrap();
    space.alloc_at(pages(12, 4), 7).unwrap();
    let rest = Request::new(8 * PAGE).guard(PAGE).window(pages(23, 9));
    space.carve::<()>(&rest, 8, Placement::Lowest).unwrap();
    space
}

/// Version 1 for good: a reader of every later version must read these bytes.
const PICTURE: [u8; 46] = [
    b'f', b'h', b'-', b's', b'p', b'a', b'c', b'e', // magic
    1, 0, 0, 0, // version
    12, 0, 0, 0, // granule
    46, 0, 0, 0, 0, 0, 0, 0, // bytes
    0, 11, // hole of 12
    2, 3, 0, 1, 7, // region of 4, no guard, the value 7
    1, 6, // free, 7
    3, 7, 1, 1, 8, // carved region of 8, guard of 1, the value 8
    0, 9, // hole of 10
    1, 6, // free, 7
    0xc3, 0xe4, 0x5d, 0xac, // checksum
];

#[test]
fn the_checksum_is_the_one_of_zip() {
    assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    assert_eq!(crc32(b""), 0);
}

#[test]
fn version_1_is_written_and_read_as_ever() {
    let bytes = picture().to_bytes(|&value, to| to.put(&[value])).unwrap();
    assert_eq!(bytes, PICTURE);
    let space = restored(&PICTURE).unwrap();
    space.validate().unwrap();
    let regions = space.regions().map(|region| (region.span(), region.guard(), region.is_carved()));
    let wanted = [(pages(12, 4), None, false), (pages(23, 8), Some(pages(31, 1)), true)];
    assert!(regions.eq(wanted));
    assert_eq!(space.free_blocks().collect::<Vec<_>>(), [pages(16, 7), pages(42, 7)]);
    assert_eq!(space.span(), pages(12, 37));
    assert_eq!(space.to_bytes(|&value, to| to.put(&[value])).unwrap(), PICTURE);
}

#[test]
fn damage_is_found_wherever_it_is() {
    for at in 0..PICTURE.len() {
        for bit in 0..8 {
            let mut bytes = PICTURE;
            bytes[at] ^= 1 << bit;
            let error = wrong(&bytes);
            match at {
                0..8 => assert_eq!(error, RestoreError::NotAnImage),
                8..12 => {
                    assert!(matches!(error, RestoreError::Version { .. } | RestoreError::Checksum { .. }))
                }
                16..24 => assert!(matches!(
                    error,
                    RestoreError::Truncated { found_bytes: 46, .. } | RestoreError::Trailing { .. }
                )),
                _ => assert!(matches!(error, RestoreError::Checksum { .. }), "{error:?} at {at}"),
            }
        }
    }
}

#[test]
fn what_is_cut_short_or_too_long_says_so() {
    for len in 0..PICTURE.len() {
        let needed_bytes = if len < 28 { 28 } else { 46 };
        assert_eq!(wrong(&PICTURE[..len]), RestoreError::Truncated { needed_bytes, found_bytes: len as u64 });
    }
    let longer = [&PICTURE[..], b"!!"].concat();
    assert_eq!(wrong(&longer), RestoreError::Trailing { extra_bytes: 2 });
    assert_eq!(wrong(b"fh-spacf"), RestoreError::NotAnImage);
    assert_eq!(wrong(b"elf"), RestoreError::NotAnImage);
}

#[test]
fn other_versions_are_refused_by_name() {
    for found in [0, 4, u32::MAX] {
        let mut bytes = PICTURE[..42].to_vec();
        bytes[8..12].copy_from_slice(&found.to_le_bytes());
        assert_eq!(wrong(&sealed(bytes)), RestoreError::Version { found, newest: 3 });
    }
}

#[test]
fn each_wrong_run_has_its_own_error() {
    use kind::{CARVED, FREE, HOLE, REGION};
    let most = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
    let many = |kind: u8| [&[kind][..], &most].concat();
    let value_of = |number: &[u8]| [&[REGION, 0, 0][..], number].concat();
    for (log2, runs, error) in [
        (64, &[FREE, 0][..], RestoreError::Granule { log2: 64 }),
        (u32::MAX, &[FREE, 0], RestoreError::Granule { log2: u32::MAX }),
        (12, &[], RestoreError::Empty),
        (12, &[FREE, 0, 4, 0], RestoreError::Kind { at: 26, kind: 4 }),
        // 2^64, too many bytes for 1, bytes without end.
        (
            0,
            &[FREE, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2],
            RestoreError::Number { at: 25 },
        ),
        (0, &[FREE, 0x81, 0], RestoreError::Number { at: 25 }),
        (
            0,
            &[FREE, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1],
            RestoreError::Number { at: 25 },
        ),
        (0, &[FREE], RestoreError::Incomplete { at: 25 }),
        (0, &[FREE, 0x80], RestoreError::Incomplete { at: 26 }),
        (0, &[REGION, 3, 1], RestoreError::Incomplete { at: 27 }),
        (0, &[CARVED, 3, 1, 2, 9], RestoreError::ValueTooLong { at: 28, len_bytes: 2, left_bytes: 1 }),
        (0, &value_of(&most), RestoreError::ValueTooLong { at: 37, len_bytes: u64::MAX, left_bytes: 0 }),
        (0, &[REGION, 0, 0x80, 0x80, 0x80, 0x80, 0x08, 1, 9], RestoreError::GuardTooLarge { at: 24 }),
        (12, &many(FREE), RestoreError::PastTheEnd { at: 24 }),
        (0, &[FREE, 0, HOLE, 0, REGION, 0xff, 0xff], RestoreError::Incomplete { at: 31 }),
        (0, &[&[FREE, 0], &many(HOLE)[..]].concat(), RestoreError::PastTheEnd { at: 26 }),
        // Behind the last address there is, in the guard and in the next run.
        (63, &[FREE, 0, REGION, 0, 1, 1, 9], RestoreError::PastTheEnd { at: 26 }),
        (63, &[FREE, 1, REGION, 0, 0, 1, 9], RestoreError::PastTheEnd { at: 26 }),
        (12, &[HOLE, 0, HOLE, 0, FREE, 0], RestoreError::Order { at: 26 }),
        (12, &[FREE, 0, FREE, 0], RestoreError::Order { at: 26 }),
        (12, &[FREE, 0, HOLE, 0], RestoreError::Order { at: 26 }),
        (12, &[HOLE, 0], RestoreError::Order { at: 24 }),
        (
            12,
            &[FREE, 1, REGION, 0, 0, 1, 0xff],
            RestoreError::Value { region: pages(2, 1), error: "no such device" },
        ),
        (12, &[REGION, 0, 0, 0], RestoreError::Value { region: pages(0, 1), error: "not one byte" }),
    ] {
        assert_eq!(wrong(&framed(PLAIN, log2, runs)), error, "{runs:?}");
    }
}

#[test]
fn the_whole_space_takes_a_few_bytes() {
    for granule in [Align::ONE, Align::PAGE, Align::new(1 << 63).unwrap()] {
        let mut space = AddressSpace::<u8>::new(Span::ALL, granule, Placement::Lowest).unwrap();
        for is_busy in [false, true] {
            if is_busy {
                space.alloc_at(Span::ALL, 1).unwrap();
            }
            let bytes = space.to_bytes(|_, to| to.put(&[1])).unwrap();
            assert!(bytes.len() < 45);
            let back = restored(&bytes).unwrap();
            back.validate().unwrap();
            assert_eq!((back.span(), back.stats().free_bytes), (Span::ALL, space.stats().free_bytes));
        }
    }
}

#[test]
fn numbers_take_as_many_bytes_as_they_need() {
    for (size, bytes) in [(1, 1), (128, 1), (129, 2), (1 << 14, 2), ((1 << 14) + 1, 3), (u64::MAX, 10)] {
        let space = Span::from_size(0, size).unwrap();
        let space = AddressSpace::<()>::new(space, Align::ONE, Placement::Lowest).unwrap();
        assert_eq!(space.to_bytes(|(), _| ()).unwrap().len(), 24 + 1 + bytes + 4);
    }
}

#[test]
fn placements_and_values_are_the_callers() {
    let bytes = picture().to_bytes(|_, _| ()).unwrap();
    let nothing = |bytes: &[u8]| Ok::<_, Infallible>(bytes.len());
    let mut high = AddressSpace::<usize>::from_bytes(&bytes, Placement::Highest, nothing).unwrap();
    assert!(high.regions().all(|region| *region.value() == 0));
    assert_eq!(high.alloc(&Request::new(PAGE), 3).unwrap(), pages(48, 1));
}

#[test]
fn version_2_holds_alignments() {
    let mut space = AddressSpace::<u8>::new(pages(0, 64), Align::PAGE, Placement::Lowest).unwrap();
    space.alloc_at(pages(0, 1), 1).unwrap();
    space.alloc(&Request::new(PAGE).guard(PAGE).align(Align::new(8 * PAGE).unwrap()), 2).unwrap();
    let bytes = space.to_bytes(|&value, to| to.put(&[value])).unwrap();
    assert_eq!(bytes[8..12], ALIGNED.to_le_bytes());
    // A page, no guard, aligned to it; free pages; a page, a guard, aligned to 8; the rest.
    assert_eq!(bytes[24..bytes.len() - 4], [2, 0, 0, 0, 1, 1, 1, 6, 2, 0, 1, 3, 1, 2, 1, 53]);
    let mut back = restored(&bytes).unwrap();
    back.validate().unwrap();
    assert_eq!(back.to_bytes(|&value, to| to.put(&[value])).unwrap(), bytes);
    // It moves to a place that is as aligned.
    back.begin_move(8 * PAGE, 17 * PAGE).unwrap_err();
    let pending = back.begin_move(8 * PAGE, 16 * PAGE).unwrap();
    assert_eq!(back.commit_move(pending).unwrap(), pages(16, 1));
    for (runs, error) in [
        (&[kind::FREE, 0, kind::REGION, 0, 0, 1, 0][..], RestoreError::Align { at: 26 }),
        (&[kind::REGION, 0, 0, 52, 0], RestoreError::Align { at: 24 }),
        (&[kind::REGION, 0, 0], RestoreError::Incomplete { at: 27 }),
        (&[kind::REGION, 0, 0, 0, 1, 9], RestoreError::NotLowestVersion),
        (&[kind::FREE, 0], RestoreError::NotLowestVersion),
    ] {
        assert_eq!(wrong(&framed(ALIGNED, 12, runs)), error, "{runs:?}");
    }
}

#[test]
fn version_3_holds_pending_moves() {
    let mut space = AddressSpace::<u8>::new(pages(0, 16), Align::PAGE, Placement::Lowest).unwrap();
    space.alloc_at(pages(4, 2), 7).unwrap();
    let token = space.begin_move(4 * PAGE, 3 * PAGE).unwrap();
    let bytes = space.to_bytes(|&value, to| to.put(&[value])).unwrap();
    assert_eq!(bytes[8..12], MOVING.to_le_bytes());
    // Three pages free; one held for the region at 4, which goes to 3; that region, without guard; the rest.
    let runs = [kind::FREE, 2, kind::PLACEHOLDER, 0, 4, 3, kind::REGION, 1, 0, 0, 1, 7, kind::FREE, 9];
    assert_eq!(bytes[24..bytes.len() - 4], runs);
    let mut back = restored(&bytes).unwrap();
    back.validate().unwrap();
    assert_eq!(back.to_bytes(|&value, to| to.put(&[value])).unwrap(), bytes);
    assert_eq!(back.commit_move(token), Err(MoveError::Foreign { first: 4 * PAGE }));
    let token = back.pending_moves().find(|token| token.first() == 4 * PAGE).unwrap();
    assert_eq!(back.commit_move(token), Ok(pages(3, 2)));
    assert_eq!(back.free_blocks().collect::<Vec<_>>(), [pages(0, 3), pages(5, 11)]);
    let region = [kind::REGION, 0, 0, 0, 1, 7];
    for (runs, error) in [
        // No such region, no room for it, a placeholder that is longer, a carved one, two moves of one, none at all.
        ([kind::PLACEHOLDER, 0, 4, 0].to_vec(), RestoreError::Move { address: 4 * PAGE }),
        ([&[kind::PLACEHOLDER, 0, 1, 2][..], &region].concat(), RestoreError::Move { address: 0 }),
        ([&[kind::PLACEHOLDER, 1, 2, 0][..], &region].concat(), RestoreError::Move { address: 0 }),
        (
            [kind::PLACEHOLDER, 0, 1, 0, kind::CARVED, 0, 0, 0, 1, 7].to_vec(),
            RestoreError::Move { address: PAGE },
        ),
        (
            [&[kind::PLACEHOLDER, 0, 1, 0][..], &region, &[kind::PLACEHOLDER, 0, 1, 2]].concat(),
            RestoreError::Move { address: PAGE },
        ),
        (region.to_vec(), RestoreError::NotLowestVersion),
        ([&[kind::PLACEHOLDER, 0][..], &[0xff; 9], &[1, 0]].concat(), RestoreError::PastTheEnd { at: 24 }),
    ] {
        assert_eq!(wrong(&framed(MOVING, 12, &runs)), error, "{runs:?}");
    }
    let placeholder = [kind::FREE, 0, kind::PLACEHOLDER, 0, 4, 3];
    assert_eq!(
        wrong(&framed(ALIGNED, 12, &placeholder)),
        RestoreError::Kind { at: 26, kind: kind::PLACEHOLDER }
    );
}
