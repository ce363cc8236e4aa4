use freehold_lab::run::{Budget, Cost, Glitches, ns_per_work};

fn cost(work: u32, ns: u32) -> Cost {
    Cost { work, ns }
}

#[test]
fn the_price_is_that_of_a_unit_of_work() {
    // Nine operations of one unit at 50 ns each, and one of 100 units at 3 ns each.
    let mut costs = vec![cost(1, 50); 9];
    costs.push(cost(100, 300));
    assert_eq!([500, 900, 917, 918].map(|share| ns_per_work(&costs, share)), [3.0, 3.0, 3.0, 50.0]);
    let costs = [cost(0, 70), cost(2, 10), cost(2, 30)];
    assert_eq!(ns_per_work(&costs, 500), 5.0, "work of 0 has no price");
    assert_eq!(ns_per_work(&[], 500), 0.0);
}

#[test]
fn a_glitch_is_more_than_the_budget_by_either_measure() {
    let budget = Budget { name: "audio", ns: 100, allocations: 1 };
    let costs = [cost(10, 100), cost(10, 101), cost(51, 20), cost(50, 20)];
    let glitches = Glitches::count(&costs, &budget, 2.0);
    assert_eq!((glitches.deadlines, glitches.by_clock, glitches.by_work), (4, 1, 1));
    assert_eq!((glitches.worst_clock_ns, glitches.worst_work_ns), (101, 102.0));
}

#[test]
fn a_frame_is_the_sum_of_its_allocations() {
    let budget = Budget { name: "frame", ns: 100, allocations: 3 };
    // A frame of 90, one of 120, and two allocations of a third that has not ended.
    let costs = [30, 30, 30, 0, 119, 1, 500, 500].map(|ns| cost(1, ns));
    let glitches = Glitches::count(&costs, &budget, 1.0);
    assert_eq!((glitches.deadlines, glitches.by_clock, glitches.by_work), (2, 1, 0));
    assert_eq!(glitches.worst_clock_ns, 120);
}
