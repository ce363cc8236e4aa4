//! The second version's other table: the second half of every chunk is full before the run.

use super::fills::{Column, Fills, Timed};
use crate::commands::reproduce::Part;
use crate::published::percpu::Subject;
use crate::published::second_half_2017;
use crate::report::Section;
use crate::report::section::Figure;
use crate::workload::percpu::Order;

const PUBLISHED: [Column; 2] = [
    Column { head: "v2 area map", table: &second_half_2017::TABLE, before: true },
    Column { head: "v2 bitmap", table: &second_half_2017::TABLE, before: false },
];

/// The part.
pub(super) fn part(fills: &Fills) -> Part {
    let in_order = Timed::Free(Order::InOrder);
    let section = Section {
        id: "second-half",
        title: "Second halves filled".to_owned(),
        about: vec![
            "An empty unit is the best case of the area map's allocation: entries are appended. So the second \
             version fills the second half of each chunk before it begins; now every allocation moves the \
             entries of what lies there, too. Objects were freed in order."
                .to_owned(),
            "What the halves were filled with is not told. Filled with objects of the size that is measured, as \
             here, the area map's figures have the shape of the published ones; filled with objects of 4 bytes \
             they would all be like the first."
                .to_owned(),
        ],
        figures: vec![
            Figure::Bars(fills.bars(
                "Allocation, second halves filled",
                "Shaded bars were published, on other machines.",
                Timed::Alloc,
                Subject::SecondHalfAlloc,
                &PUBLISHED,
            )),
            Figure::Bars(fills.bars(
                "Free in order, second halves filled",
                "Shaded bars were published, on other machines.",
                in_order,
                Subject::SecondHalfFree,
                &PUBLISHED,
            )),
        ],
        tables: vec![
            fills.beside(Timed::Alloc, Subject::SecondHalfAlloc, &PUBLISHED),
            fills.beside(in_order, Subject::SecondHalfFree, &PUBLISHED),
            fills.losses(),
        ],
    };
    let rows = fills.rows(in_order, [Subject::SecondHalfAlloc, Subject::SecondHalfFree], PUBLISHED);
    Part { section, rows, ..Part::default() }
}
