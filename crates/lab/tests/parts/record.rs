//! Records, and the time that a run lies on.

use freehold_lab::record::{byte_ticks, round_step};

#[test]
fn steps_are_round() {
    assert_eq!([(4_000.0, 4.0), (9.0, 4.0), (0.7, 4.0)].map(|(a, b)| round_step(a, b)), [1000.0, 5.0, 0.2]);
}

#[test]
fn byte_ticks_stay_within() {
    let ticks = byte_ticks(13 << 30);
    assert_eq!(ticks.first().map(|tick| tick.1.as_str()), Some("0 B"));
    assert_eq!(ticks.get(1).map(|tick| tick.1.as_str()), Some("4 GiB"));
    assert!(ticks.iter().all(|(at, _)| (0.0..=1.0).contains(at)), "{ticks:?}");
    assert!(byte_ticks(0).is_empty() && byte_ticks(u64::MAX).len() > 2);
}
