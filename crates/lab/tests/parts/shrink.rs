//! Delta debugging by itself, with conditions that need no engine.

use freehold_lab::shrink::{Trial, While, alone, reduce};
use freehold_trace::SplitMix;

/// Shrinks 0..n as long as `holds`; what is left, and the trials.
fn shrunk(n: u32, holds: impl Fn(&[u32]) -> bool) -> (Vec<u32>, u64) {
    let (mut ops, mut trials): (Vec<u32>, u64) = ((0..n).collect(), 0);
    assert!(holds(&ops));
    let over = reduce(&mut ops, alone, &mut |ops: Vec<u32>| {
        trials += 1;
        if holds(&ops) { Trial::Holds(ops) } else { Trial::Fails }
    });
    assert!(!over && holds(&ops));
    for at in 0..ops.len() {
        let mut less = ops.clone();
        less.remove(at);
        assert!(!holds(&less), "{} of {ops:?} can be left out", ops[at]);
    }
    let n = u64::from(n);
    assert!(trials <= n * n + 3 * n, "{trials} trials of {n}");
    (ops, trials)
}

#[test]
fn what_is_needed_is_left() {
    let needed = [17, 503, 999];
    let (ops, trials) = shrunk(1000, |ops| needed.iter().all(|one| ops.contains(one)));
    assert_eq!(ops, needed);
    assert!(trials < 150, "{trials}");
    assert!(shrunk(1000, |_| true).0.is_empty());
    assert_eq!(shrunk(1, |ops| !ops.is_empty()), (vec![0], 1));
}

#[test]
fn any_condition_ends_with_nothing_to_leave_out() {
    // Only the first can be left out, each time: as slow as it gets.
    let (ops, trials) =
        shrunk(60, |ops| ops.last() == Some(&59) && ops.windows(2).all(|two| two[1] == two[0] + 1));
    assert_eq!((ops, trials > 60), (vec![59], true));
    shrunk(64, |ops| ops.len() % 2 == 0 && ops.contains(&40));
    for seed in 0..200 {
        // Nothing that a history holds says anything of its parts.
        let holds = |ops: &[u32]| {
            let mut hash = SplitMix::new(seed);
            let mixed =
                ops.iter().fold(0_u64, |sum, one| sum.rotate_left(7) ^ u64::from(*one + 1) ^ hash.next_u64());
            ops.len() == 40 || mixed % 3 == 0
        };
        shrunk(40, holds);
    }
}

#[test]
fn groups_go_together_and_a_history_may_be_cut_short() {
    let by_ten = |ops: &[u32]| ops.iter().map(|op| u64::from(op / 10)).collect();
    let mut ops: Vec<u32> = (0..100).collect();
    let mut seen = Vec::new();
    reduce(&mut ops, by_ten, &mut |ops: Vec<u32>| {
        assert!(ops.len().is_multiple_of(10) || ops.len() % 10 == 6, "{ops:?}");
        seen.push(ops.len());
        // What comes behind 35 is not needed.
        let enough = ops.iter().position(|op| *op == 35);
        enough.map_or(Trial::Fails, |at| Trial::Holds(ops.into_iter().take(at + 1).collect()))
    });
    assert_eq!(ops, [30, 31, 32, 33, 34, 35]);
    assert!(seen.len() < 12, "{seen:?}");
    // Who says stop has what held last.
    let (mut ops, mut trials): (Vec<u32>, _) = ((0..100).collect(), 0);
    let over = reduce(&mut ops, alone, &mut |ops: Vec<u32>| {
        trials += 1;
        if trials > 2 {
            Trial::Stop
        } else if ops.contains(&0) {
            Trial::Holds(ops)
        } else {
            Trial::Fails
        }
    });
    assert!(over && ops.contains(&0) && ops.len() < 100 && trials == 3, "{ops:?}");
}

#[test]
fn conditions_are_read() {
    assert_eq!("differs".parse(), Ok(While::Differs));
    assert_eq!("slower than rbtree:linux by 2".parse(), Ok(While::Slower("rbtree:linux".to_owned(), 2.0)));
    assert_eq!("more pages than bitmap".parse(), Ok(While::MorePages("bitmap".to_owned())));
    for wrong in
        ["", "differ", "slower than x", "slower than x by", "slower than x by 0.5", "slower than x by nan"]
    {
        assert!(wrong.parse::<While>().is_err(), "{wrong}");
    }
}
