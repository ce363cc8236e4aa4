//! Rows of `OPERATION, first, last` for a checker that runs them: the kernel has such sets in tools/testing/radix-tree/maple.c.

use super::{About, MOST_VALUE, Told, unsigned};
use freehold::units::Span;
use freehold_rivals::maple::ListRanges;
use std::fmt::Write;

/// The set, and a function that has it checked.
pub fn erase2(told: &Told, about: &About) -> String {
    let (id, mut text) = (&about.id, told.comment(about));
    let _ = writeln!(text, "static const unsigned long set_{id}[] = {{");
    let mut held = ListRanges::<u64>::new();
    for (span, stores) in told.steps.iter().filter_map(|step| step.stores) {
        let whole = held.holding(span.first()) == held.holding(span.last())
            && held.holding(span.first()).is_some_and(|entry| Span::new(entry.0, entry.1) == Some(span));
        let word = match (stores, whole) {
            (true, _) => "STORE",
            (false, true) => "ERASE",
            (false, false) => "SNULL",
        };
        let (first, last) = (unsigned(span.first()), unsigned(span.last()));
        let _ = writeln!(text, "{word}, {first}, {last},");
        held.put(span, stores.then_some(span.first()));
    }
    let _ = write!(
        text,
        "}};\n\nstatic void check_{id}(struct maple_tree *mt)\n{{\n\tmt_init_flags(mt, MT_FLAGS_ALLOC_RANGE);\n\
         \tcheck_erase2_testset(mt, set_{id}, ARRAY_SIZE(set_{id}));\n\trcu_barrier();\n\tmt_validate(mt);\n"
    );
    if let Some((last, _)) = told.steps.iter().rev().find_map(|step| step.stores) {
        let (index, value) =
            (last.first(), |value: u64| format!("xa_mk_value({})", unsigned(value & MOST_VALUE)));
        let expected = held.holding(index).map_or_else(|| "NULL".to_owned(), |entry| value(entry.2));
        let _ = writeln!(text, "\tMT_BUG_ON(mt, mtree_load(mt, {}) != {expected});", unsigned(index));
    }
    text + "\tmtree_destroy(mt);\n}\n"
}
