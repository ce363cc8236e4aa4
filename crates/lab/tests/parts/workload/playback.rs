//! The playback of sound and pictures.

use freehold_lab::workload::Piece;
use freehold_lab::workload::playback::{AUDIO, BACKGROUND, FRAME, playback};
use freehold_trace::kva::Op;

#[test]
fn every_period_has_a_buffer_and_every_fiftieth_a_frame() {
    let workload = playback(20, 101, 4, 3).unwrap();
    let mut live = std::collections::HashSet::new();
    let mut allocs = std::collections::BTreeMap::new();
    for (range, piece) in workload.pieces(0..workload.ops.len()) {
        let name = match piece {
            Piece::Around => "setup",
            Piece::Part(name) => name,
        };
        for op in &workload.ops[range] {
            match op {
                Op::Free { object } => assert!(live.remove(object), "{object} was not live"),
                Op::Alloc { object, .. } | Op::Congruent { object, .. } => {
                    assert!(*object < workload.objects && live.insert(*object), "{object} was live");
                    *allocs.entry(name).or_insert(0) += 1;
                }
            }
        }
    }
    let expected = [(AUDIO, 101), (FRAME, 48), (BACKGROUND, 202), ("setup", 20)];
    assert_eq!(allocs.into_iter().collect::<Vec<_>>(), expected);
    assert_eq!(workload.samples().len(), 3);
}
