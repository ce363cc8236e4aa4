use freehold_lab::concurrent::memory::stacks::{Alive, Place, STACK_BYTES};

#[test]
fn stacks_that_overlap_or_are_short_are_found() {
    let of = |places: &[Place]| Alive { places: places.to_vec(), mappings: 0, ended: String::new() }.check();
    let long = STACK_BYTES as u64;
    assert!(of(&[(long, long), (0, long)]).is_ok());
    assert!(of(&[(0, long), (long - 1, long)]).unwrap_err().to_string().starts_with("blocks overlap"));
    assert!(of(&[(0, long - 1)]).is_err() && of(&[]).is_err());
}
