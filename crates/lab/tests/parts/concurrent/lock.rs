use freehold_lab::concurrent::pools::lock::Lock;
use std::sync::Barrier;

#[test]
fn takes_and_waits_are_counted() {
    let lock = Lock::new(0);
    let begin = Barrier::new(2);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            lock.with(|value| {
                begin.wait();
                while lock.waits() == 0 {
                    std::thread::yield_now();
                }
                *value += 1;
            });
        });
        begin.wait();
        assert_eq!(lock.with(|value| *value), 1);
    });
    let used = lock.used();
    assert_eq!((used.taken, used.waits), (2, 1));
}
