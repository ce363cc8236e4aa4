//! Bytes as snapshots: whatever they are, restoring them must not panic, under every placement they must become the same,
//! and what they restore to must be sound and give the same bytes again.

use freehold::kva::image::RestoreError;
use freehold::kva::{AddressSpace, Placement, Request};

/// Why a value is not decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Refused;

/// Every placement that bytes are restored under.
pub const PLACEMENTS: [Placement; 3] = [Placement::Lowest, Placement::Highest, Placement::BestFit];

/// A snapshot of a version with these runs, its frame sound. Written after the format's description alone.
pub fn framed_runs(version: u32, granule_log2: u32, runs: &[u8]) -> Vec<u8> {
    let mut bytes = b"fh-space".to_vec();
    bytes.extend(version.to_le_bytes());
    bytes.extend(granule_log2.to_le_bytes());
    bytes.extend((24 + runs.len() as u64 + 4).to_le_bytes());
    bytes.extend(runs);
    let step = |crc: u32, byte: &u8| {
        let halve = |crc: u32, _| if crc & 1 == 0 { crc >> 1 } else { (crc >> 1) ^ 0xedb8_8320 };
        (0..8).fold(crc ^ u32::from(*byte), halve)
    };
    let crc = !bytes.iter().fold(!0, step);
    bytes.extend(crc.to_le_bytes());
    bytes
}

/// The fuzz target's body: the bytes as they are, and the bytes as version, granule and runs in a sound frame: the first
/// is the granule's logarithm, and 72 more for each version above 1. Returns whether the latter were those of a space.
///
/// # Panics
/// If anything is wrong: that is how a fuzzer hears of it.
pub fn fuzz_kva_restore(bytes: &[u8]) -> bool {
    check_bytes(bytes);
    let (first, runs) = bytes.split_first().unwrap_or((&0, &[]));
    check_bytes(&framed_runs(u32::from(first / 72) + 1, u32::from(first % 72), runs))
}

/// Restores the bytes under every placement. Returns whether they are those of a space.
fn check_bytes(bytes: &[u8]) -> bool {
    let [first, others @ ..] = PLACEMENTS.map(|placement| restore(bytes, placement));
    others.iter().for_each(|other| assert_eq!(*other, first));
    first.is_ok()
}

/// Restores the bytes, and if they are those of a space ends its moves and takes it down region by region.
fn restore(bytes: &[u8], placement: Placement) -> Result<(), RestoreError<Refused>> {
    let decode = |value: &[u8]| if value.first() == Some(&0xff) { Err(Refused) } else { Ok(value.to_vec()) };
    let mut space: AddressSpace<Vec<u8>> = AddressSpace::from_bytes(bytes, placement, decode)?;
    let sound = space.validate();
    assert!(sound.is_ok(), "{sound:?}");
    let again = space.to_bytes(|value, to| to.put(value));
    assert_eq!(again.as_deref(), Ok(bytes), "a space has one encoding");
    // Under best fit the blocks are known by size from the first request on.
    if let Ok(span) = space.alloc(&Request::new(space.granule().bytes()), Vec::new()) {
        assert!(space.free(span.first()).is_ok());
    }
    let moves: Vec<_> = space.pending_moves().collect();
    for (at, token) in moves.into_iter().enumerate() {
        let ended = match at % 2 {
            0 => space.commit_move(token).map(|span| assert_eq!(span.first(), token.to())),
            _ => space.cancel_move(token),
        };
        assert_eq!(ended, Ok(()));
        assert!(space.cancel_move(token).is_err());
        let sound = space.validate();
        assert!(sound.is_ok(), "{sound:?}");
    }
    let regions: Vec<_> = space.regions().map(|region| (region.span(), region.is_carved())).collect();
    for (region, is_carved) in regions {
        assert_eq!(space.disown(region.first()), is_carved);
        let freed = space.free(region.first());
        assert_eq!(freed.map(|(span, _)| span), Ok(region));
        let sound = space.validate();
        assert!(sound.is_ok(), "{sound:?}");
    }
    assert!(space.is_empty() && space.stats().busy_bytes == 0);
    Ok(())
}
