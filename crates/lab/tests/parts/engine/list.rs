//! What may differ between two runs.

use freehold_lab::engine::Takes;
use freehold_trace::kva::Answer;

#[test]
fn only_the_kernel_may_answer_elsewhere_in_another_run() {
    let (first, moved) = ([Answer::At(1), Answer::Freed], [Answer::At(2), Answer::Freed]);
    let failed = [Answer::NoRoom, Answer::Freed];
    for (takes, may_move) in [(Takes::Any, false), (Takes::KernelsChoice, true)] {
        assert!(takes.repeats(&first, &first));
        assert_eq!(takes.repeats(&first, &moved), may_move);
        assert!(!takes.repeats(&first, &failed) && !takes.repeats(&first, &first[..1]));
    }
}
