//! The posting's table: a million objects placed, and freed in the worst of three orders.

use super::fills::{Column, Fills, Timed};
use crate::commands::reproduce::{Part, times};
use crate::published::percpu::Subject;
use crate::published::{linux_6_12, seed_2017_v1, seed_2017_v2};
use crate::report::section::Figure;
use crate::report::{Key, Section};
use crate::workload::percpu::Order;

const V1: [Column; 2] = [
    Column { head: "v1 area map", table: &seed_2017_v1::TABLE, before: true },
    Column { head: "v1 bitmap", table: &seed_2017_v1::TABLE, before: false },
];
const PUBLISHED: [Column; 5] = [
    V1[0],
    V1[1],
    Column { head: "v2 area map", table: &seed_2017_v2::TABLE, before: true },
    Column { head: "v2 bitmap", table: &seed_2017_v2::TABLE, before: false },
    Column { head: "Linux 6.12", table: &linux_6_12::TABLE, before: false },
];

/// The part.
pub(super) fn part(fills: &Fills) -> Part {
    let about = format!(
        "Objects of one size are placed, then freed in order, alternating (every even one, then every odd one) and in \
         reverse; the posting shows the worst of the three. Here the same in units of {}, and freed at random, \
         which it left out. The last published column is not the posting's: it is the kernel's own code of 6.12, \
         run in User Mode Linux in units of 32 KiB.",
        fills.unit()
    );
    let reading = "Shaded bars were published, on other machines. The area map frees from the front of a unit by \
                   moving all entries behind it; the smaller the objects, the more there are.";
    let section = Section {
        id: "seed",
        title: "The posting's table".to_owned(),
        about: vec![about],
        figures: vec![
            Figure::Bars(fills.bars(
                "Allocation",
                "Shaded bars were published, on other machines. The best case of the area map: it only appends.",
                Timed::Alloc,
                Subject::SeedAlloc,
                &V1,
            )),
            Figure::Bars(fills.bars(
                "Free, worst of in order, alternating, in reverse",
                reading,
                Timed::Worst,
                Subject::SeedFree,
                &V1,
            )),
            Figure::Bars(fills.bars(
                "Free at random",
                "Nobody published this order in 2017. Shaded: Linux 6.12 in units of 32 KiB.",
                Timed::Free(Order::Random),
                Subject::RandomFree,
                &PUBLISHED[4..],
            )),
        ],
        tables: vec![
            fills.beside(Timed::Alloc, Subject::SeedAlloc, &PUBLISHED),
            fills.beside(Timed::Worst, Subject::SeedFree, &PUBLISHED),
            fills.by_order(),
            fills.losses(),
        ],
    };
    let rows = fills.rows(Timed::Worst, [Subject::SeedAlloc, Subject::SeedFree], V1);
    Part { section, rows, keys: keys(fills), ..Part::default() }
}

/// The part as the main job has it: what was published, without what is told beside it.
pub(super) fn brief(fills: &Fills) -> Part {
    let Part { mut section, rows, .. } = part(fills);
    section.id = "percpu";
    section.title = "Per-CPU objects: the area map, the bitmap that replaced it, and ours".to_owned();
    section.about.push(
        "Every placement was checked before it was timed; a figure is the median of rounds in turn, of the allocator \
         of offsets alone, where the published ones are of whole calls. bitmap-2017 is unverified: no kernel of that \
         age recorded its answers. `freehold reproduce percpu-2017` measures more objects, and more of each."
            .to_owned(),
    );
    section.figures.truncate(2);
    section.tables.truncate(2);
    Part { section, rows, ..Part::default() }
}

fn keys(fills: &Fills) -> Vec<Key> {
    let ratio = |bytes, [first, second]: [&str; 2], timed| {
        Some(times(fills.ns(bytes, first, timed)?, fills.ns(bytes, second, timed)?))
    };
    let in_order = Timed::Free(Order::InOrder);
    let published = V1.map(|column| column.ms(Subject::SeedFree(4)).unwrap_or(0.0));
    let mut keys = Vec::new();
    if let Some(value) = ratio(4, ["area-map", "bitmap"], in_order) {
        let text = format!(
            "the area map's time to free 4-byte objects in order over ours; in the posting {} over its bitmap",
            times(published[0], published[1])
        );
        keys.push(Key { value, text });
    }
    if let Some(value) = ratio(64, ["bitmap-linux", "bitmap"], Timed::Alloc) {
        let text = "Linux 6.12's placement over ours to place objects of 64 bytes".to_owned();
        keys.push(Key { value, text });
    }
    keys
}
