//! A hundred thousand random operations on trees of several levels, held against a `BTreeMap` of ranges.

use freehold_maple::{InsertError, Nodes, WordMap};
use freehold_units::Span;
use std::collections::BTreeMap;

/// Under Miri, which is slow, a few.
const OPERATIONS: u32 = if cfg!(miri) { 40 } else { 100_000 };

/// Ranges by their first index.
#[derive(Default)]
struct Ranges(BTreeMap<u64, (u64, u32)>);

impl Ranges {
    fn overlapping(&self, over: Span) -> impl Iterator<Item = (Span, u32)> {
        let down = self.0.range(..=over.last()).rev();
        let down = down.map(|(&first, &(last, value))| (Span::new(first, last).unwrap(), value));
        down.take_while(move |(at, _)| at.last() >= over.first())
    }

    fn at(&self, index: u64) -> Option<(Span, u32)> {
        self.overlapping(Span::new(index, index).unwrap()).next()
    }

    fn remove_range(&mut self, over: Span) {
        let met: Vec<_> = self.overlapping(over).collect();
        for (at, value) in met {
            self.0.remove(&at.first());
            for rest in at.below(over).into_iter().chain(at.above(over)) {
                self.0.insert(rest.first(), (rest.last(), value));
            }
        }
    }

    fn store(&mut self, over: Span, value: u32) {
        self.remove_range(over);
        self.0.insert(over.first(), (over.last(), value));
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    /// Mostly short, now and then over many leaves; at the low end of the space or at the high.
    fn span(&mut self) -> Span {
        let first = self.below(1 << 20);
        let reach = if self.below(500) == 0 { self.below(1 << 14) } else { self.below(40) };
        let low = Span::new(first, first + reach).unwrap();
        if self.below(4) > 0 { low } else { Span::new(!low.last(), !low.first()).unwrap() }
    }
}

fn same(map: &WordMap<u32>, ranges: &Ranges) -> bool {
    map.validate().unwrap();
    map.iter().map(|(at, value)| (at.first(), (at.last(), value))).eq(ranges.0.iter().map(|(&a, &b)| (a, b)))
}

fn agrees(nodes: Nodes, seed: u64) -> usize {
    let mut random = Random(seed);
    let mut map = WordMap::<u32>::with_nodes(nodes);
    let mut ranges = Ranges::default();
    let mut height = 0;
    for count in 0..OPERATIONS {
        let over = random.span();
        match random.below(10) {
            0..4 => {
                map.store(over, count).unwrap();
                ranges.store(over, count);
            }
            4..7 => {
                let expected =
                    ranges.overlapping(over).last().map(|(entry, _)| InsertError::Occupied { entry });
                assert_eq!(map.insert(over, count).err().map(|rejected| rejected.cause), expected);
                if expected.is_none() {
                    ranges.store(over, count);
                }
            }
            7 => {
                let met = ranges.at(over.first());
                assert_eq!(map.erase(over.first()), met);
                if let Some((at, _)) = met {
                    ranges.0.remove(&at.first());
                }
            }
            8 => {
                map.remove_range(over).unwrap();
                ranges.remove_range(over);
            }
            _ => {
                let mut undone = map.transaction();
                for _ in 0..3 {
                    undone.store(random.span(), count).unwrap();
                    undone.remove_range(random.span()).unwrap();
                }
            }
        }
        assert_eq!(map.get(over.first()), ranges.at(over.first()).map(|(_, value)| value));
        height = height.max(map.height());
        if count % 10_000 == 0 {
            assert!(same(&map, &ranges), "after {count}");
        }
    }
    assert!(same(&map, &ranges));
    height
}

#[test]
fn small_nodes() {
    assert!(agrees(Nodes::Small, 0x9e37_79b9_7f4a_7c15) >= if cfg!(miri) { 2 } else { 6 });
}

#[test]
fn full_nodes() {
    assert!(agrees(Nodes::Full, 0xd1b5_4a32_d192_ed03) >= if cfg!(miri) { 2 } else { 4 });
}
