use freehold::units::{Align, Span};
use freehold_lab::engine::{Compared, EngineEntry};
use freehold_lab::run::{FULL_PERCENT, Way, Zone, Zones};
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
        load: vec![6, 12, 18, 18],
    };
    // Pages 16..20, 20..24 and 24..28 taken in turn: half of the first zone, then all of it.
    let run = zones.run(&engine("rbtree:lowest"), Way::Sequential, 1).unwrap();
    let eaten: Vec<f64> = run.points.iter().map(|point| point.left[0].eaten).collect();
    assert_eq!(eaten, [0.5, 1.0, 1.0]);
    assert!(run.points.iter().all(|point| point.left[1].eaten == 0.0));
    assert_eq!(run.points[0].left[0].largest_bytes, 4 * PAGE);
    assert_eq!((run.refused_from(0, 5 * PAGE), run.refused_from(0, 4 * PAGE)), (Some(6), Some(12)));
    assert_eq!(run.refused_from(1, 8 * PAGE), None);
    assert_eq!(run.at(7).unwrap().load_percent, 12);
}

#[test]
fn sequential_users_spare_the_high_end_and_random_ones_do_not() {
    let zones = Zones::sized(4096, 3).unwrap();
    let eaten = |way, engine_name: &str, zone: usize| {
        zones.run(&engine(engine_name), way, 5).unwrap().at(50).unwrap().left[zone].eaten
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
    let (ops, load) = (zones.ops, zones.load);
    assert_eq!((ops.len(), load.last()), (load.len(), Some(&FULL_PERCENT)));
    let frees = ops.iter().filter(|op| op.is_free()).count();
    assert!(ops.len() / frees == 3, "{frees} of {}", ops.len());
}
