use freehold::units::{Align, Span};
use freehold_lab::engine::{Compared, EngineEntry};
use freehold_lab::run::{LOAD_PERCENT, Way, Zone, Zones};
use freehold_trace::kva::Op;

const PAGE: u64 = Align::PAGE.bytes();

fn engine(name: &str) -> EngineEntry {
    EngineEntry::find(&[name.to_owned()], Compared::Always).unwrap()[0]
}

fn pages(first: u64, pages: u64) -> Span {
    Span::from_size(first * PAGE, pages * PAGE).unwrap()
}

#[test]
fn what_is_left_of_a_zone_is_counted_within_it() {
    let zones = Zones {
        outer: pages(16, 64),
        zones: vec![
            Zone { name: "low end", span: pages(16, 8) },
            Zone { name: "middle", span: pages(40, 8) },
        ],
        ops: (0..3).map(|object| Op::alloc(object, 4 * PAGE)).chain([Op::Free { object: 0 }]).collect(),
    };
    // Pages 16..20, 20..24 and 24..28 are taken in turn, then the first are free again: half of the first zone.
    let run = zones.run(&engine("rbtree:lowest"), Way::Sequential, 1).unwrap();
    let left: Vec<(f64, u64)> = run.left.iter().map(|left| (left.eaten, left.largest_bytes)).collect();
    assert_eq!(left, [(0.5, 4 * PAGE), (0.0, 8 * PAGE)]);
}

#[test]
fn sequential_users_spare_the_high_end_and_random_ones_do_not() {
    let zones = Zones::sized(4096, 3).unwrap();
    let eaten = |way, engine_name: &str, zone: usize| {
        zones.run(&engine(engine_name), way, 5).unwrap().left[zone].eaten
    };
    for name in ["rbtree:lowest", "btree:lowest", "gap-list"] {
        assert_eq!(eaten(Way::Sequential, name, 2), 0.0, "{name}: high end");
        assert!(eaten(Way::Sequential, name, 0) > 0.5, "{name}: low end");
        assert!(eaten(Way::Random, name, 2) > 0.2, "{name}: high end, random");
    }
    assert_eq!(eaten(Way::Sequential, "rbtree:highest", 0), 0.0);
}

#[test]
fn users_fill_the_range_as_far_as_they_shall() {
    let zones = Zones::sized(4096, 9).unwrap();
    let pages = |op: &Op| if let Op::Alloc { size_bytes, .. } = op { size_bytes / PAGE } else { 0 };
    let asked: u64 = zones.ops.iter().map(pages).sum();
    assert!(asked > 4096 * LOAD_PERCENT / 100, "what went was asked for, too");
    let frees = zones.ops.iter().filter(|op| op.is_free()).count();
    assert!(zones.ops.len() / frees == 3, "{frees} of {}", zones.ops.len());
}
