//! The orders of freeing.

use freehold_lab::workload::percpu::Order;

#[test]
fn every_order_frees_everything_once() {
    let all: Vec<u32> = (0..101).collect();
    for &order in Order::ALL {
        let mut arranged = order.arrange(&all);
        assert_eq!(arranged == all, order == Order::InOrder, "{}", order.name());
        arranged.sort_unstable();
        assert_eq!(arranged, all, "{}", order.name());
    }
    assert_eq!(Order::Alternating.arrange(&[0, 1, 2, 3, 4]), [0, 2, 4, 1, 3]);
}
