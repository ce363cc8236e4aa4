//! What judges say of a wrong answer: words of the field, as nothing is printed in Rust.

use freehold::percpu::Config;
use freehold::units::{Align, Span};
use freehold_lab::engine::ENGINES as KVA;
use freehold_lab::engine::percpu::{ENGINES as PERCPU, Scene};
use freehold_lab::family::{Judge, KvaJudge, MapleJudge, PercpuJudge};
use freehold_trace::kva::Space;
use freehold_trace::{kva, percpu, vma};

#[test]
fn wrong_answers_are_told_in_words() {
    let space = Span::new(0x1000, 0xffff).unwrap();
    let mut judge = KvaJudge::new(&KVA[0], &Space { layout: vec![space], granule: Align::PAGE });
    let said = judge.check(&kva::Op::alloc(3, 4096), kva::Answer::Freed).unwrap_err();
    assert_eq!(said, "freed, which is no answer to it");
    let op = kva::Op::alloc_at(3, Span::new(0x2000, 0x2fff).unwrap()).to_string();
    assert_eq!(op, "allocation of object 3, 4096 bytes aligned to 1 B within 0x2000..=0x2fff");

    let scene = Scene { config: Config::new(32 << 10, 2), balances: false };
    let mut judge = PercpuJudge::new(&PERCPU[0], &scene);
    let op = percpu::Op::Alloc { object: 3, size_bytes: 8, align: Align::new(8).unwrap(), atomic: true };
    assert_eq!(op.to_string(), "atomic allocation of object 3, 8 bytes aligned to 8 B");
    let said = judge.check(&op, percpu::Answer::NotLive).unwrap_err();
    assert_eq!(said, "nothing to free, which is no answer to it");

    let mut judge = MapleJudge::new(vma::Kinds::default());
    let op = vma::Op { space: 7, call: vma::Call::Exec };
    let wrong = vma::Answer { met: 2, met_bytes: 9, found: Some(0x10), fault: None };
    assert_eq!(
        judge.check(&op, wrong).unwrap_err(),
        "exec of space 7: 2 areas, 9 bytes, 0x10 found: as recorded, where a sorted list of areas says 0 areas, 0 bytes, \
         nothing found: as recorded"
    );
}
