use freehold_lab::concurrent::memory::slots::{SLOT_BYTES, SLOTS, check};

#[test]
fn slots_that_are_not_zero_are_found() {
    // Slots that nobody makes zero.
    let mut slots = vec![0; SLOTS * SLOT_BYTES];
    let wrong = check(&mut |each| {
        slots.chunks_exact_mut(SLOT_BYTES).for_each(each);
        Ok(())
    });
    assert_eq!(wrong.unwrap_err().to_string(), "a slot is not zero");
}
