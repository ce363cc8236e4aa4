use freehold_lab::concurrent::memory::slots::{Resets, SLOT_BYTES, SLOTS, check};

/// Slots that nobody makes zero.
struct Liar(Vec<u8>);

impl Resets for Liar {
    fn round(&mut self, each: &mut dyn FnMut(&mut [u8])) -> anyhow::Result<()> {
        self.0.chunks_exact_mut(SLOT_BYTES).for_each(each);
        Ok(())
    }
}

#[test]
fn slots_that_are_not_zero_are_found() {
    let wrong = check(&mut Liar(vec![0; SLOTS * SLOT_BYTES])).unwrap_err();
    assert_eq!(wrong.to_string(), "a slot is not zero");
}
