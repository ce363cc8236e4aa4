use freehold_lab::concurrent::pools::model::{Demand, THREADS, throughput};

fn of(ns: f64, each_cpu: bool) -> Demand {
    Demand { ns, each_cpu }
}

#[test]
fn without_locks_threads_do_not_wait() {
    assert_eq!(throughput(64, 100.0, &[]), 64e7);
    assert_eq!(throughput(1, 60.0, &[of(40.0, false)]), 1e7);
}

#[test]
fn one_lock_is_the_end_of_it() {
    let all = THREADS.map(|threads| throughput(threads, 20.0, &[of(80.0, false)]));
    // No more than one at a time is under the lock, and soon there always is one.
    let most = 1e9 / 80.0;
    assert!(all.windows(2).all(|pair| pair[0] <= pair[1]) && all[0] < 0.98 * most, "{all:?}");
    assert!((all[5] - most).abs() < 1.0, "{all:?}");
    // By hand: R = 80 (1 + 0.8), X = 2 / (20 + 144).
    assert!((all[0] - 2e9 / 164.0).abs() < 1.0);
    let split = throughput(64, 20.0, &[of(40.0, false), of(40.0, false)]);
    assert!(split > 1.8 * all[5] && split < 1e9 / 40.0, "{split}");
    let nodes = throughput(64, 20.0, &[of(80.0, true)]);
    assert!(nodes > 20.0 * all[5], "{nodes}");
}
