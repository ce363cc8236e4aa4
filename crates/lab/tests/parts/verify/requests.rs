use freehold::maple::Heights;
use freehold_lab::verify::maple::requests::{Situation, agrees, requested};
use freehold_linux::maple::Planner;
use freehold_trace::maple::StoreType;

fn asks(planner: Planner, store_type: StoreType, [height, vacant, sufficient]: [u64; 3]) -> u64 {
    let heights = Heights { height, vacant, sufficient };
    requested(planner, Situation { store_type, heights, rcu: false }).unwrap()
}

#[test]
fn formulas_are_those_described() {
    use Planner::{Vacancy, Worst};
    for (store_type, heights, worst, vacancy) in [
        (StoreType::Split, [3, 2, 0], 7, 3),
        (StoreType::Rebalance, [3, 2, 1], 5, 5),
        (StoreType::Rebalance, [2, 0, 0], 3, 5),
        (StoreType::Spanning, [3, 2, 2], 10, 4),
        (StoreType::NewRoot, [3, 0, 0], 1, 1),
        (StoreType::Append, [3, 0, 0], 0, 0),
        (StoreType::NodeStore, [3, 0, 0], 0, 0),
    ] {
        assert_eq!(asks(Worst, store_type, heights), worst, "{store_type:?} {heights:?}");
        assert_eq!(asks(Vacancy, store_type, heights), vacancy, "{store_type:?} {heights:?}");
    }
    let heights = Heights { height: 1, vacant: 0, sufficient: 0 };
    let rcu = Situation { store_type: StoreType::NodeStore, heights, rcu: true };
    assert_eq!(requested(Vacancy, rcu), Some(1));
}

#[test]
fn an_entry_at_index_0_alone_may_ask_for_nothing() {
    let heights = Heights::default();
    let situation = Situation { store_type: StoreType::StoreRoot, heights, rcu: false };
    for (over_index_0, recorded, right) in
        [(true, 0, true), (true, 1, true), (false, 1, true), (false, 0, false), (true, 2, false)]
    {
        assert_eq!(agrees(Planner::Vacancy, situation, over_index_0, recorded), right);
    }
}
