//! The calls of a history, each with what it returns: a function for lib/test_maple_tree.c.

use super::{About, Step, Told, unsigned};
use freehold_trace::maple::{Answer, Cycled, End, Op, Refusal, Step as Move, StoreCall};
use std::fmt::Write;

/// The function.
pub fn calls(told: &Told, about: &About) -> String {
    let mut text = told.comment(about);
    let steps: String = told.steps.iter().map(|step| call(told, step)).collect();
    let mut end = String::new();
    for index in told.affected() {
        let expected = told.entry(told.load(index));
        let _ = writeln!(end, "\tMT_BUG_ON(mt, mtree_load(mt, {}) != {expected});", unsigned(index));
    }
    if let Some(searched) = &told.searched {
        end += &call(told, searched);
    }
    let variables = [
        ("&mas", "\tMA_STATE(mas, mt, 0, 0);\n"),
        ("&index", "\tunsigned long index = 0;\n"),
        ("&next", "\tunsigned long next = 0;\n"),
    ];
    let used = variables.into_iter().filter(|(word, _)| steps.contains(word) || end.contains(word));
    let declared: String = used.map(|(_, line)| line).collect();
    let gap = if declared.is_empty() { "" } else { "\n" };
    let _ = write!(text, "static void check_{}(struct maple_tree *mt)\n{{\n{declared}{gap}", about.id);
    let _ = writeln!(text, "\tmt_init_flags(mt, {});", told.flags());
    text + &steps + &end + "\tmt_validate(mt);\n\tmtree_destroy(mt);\n}\n"
}

/// A test that fails if what is written is so.
fn bug(condition: &str) -> String {
    format!("\tMT_BUG_ON(mt, {condition});\n")
}

/// What a call returns that stores.
fn code(done: Result<(), Refusal>) -> &'static str {
    match done {
        Ok(()) => "0",
        Err(Refusal::Busy) => "-EBUSY",
        Err(Refusal::Exists) => "-EEXIST",
        Err(Refusal::Invalid) => "-EINVAL",
    }
}

/// Where the cursor stands.
fn stands(index: u64, last: u64) -> String {
    bug(&format!("mas.index != {} || mas.last != {}", unsigned(index), unsigned(last)))
}

/// The lines of an operation.
fn call(told: &Told, step: &Step) -> String {
    let (n, entry) = (unsigned, |value| told.entry(value));
    let answer = step.expected.answer;
    let returns = |call: String| match answer {
        Answer::Done(done) => bug(&format!("{call} != {}", code(done))),
        Answer::Value(value) => bug(&format!("{call} != {}", entry(value))),
        _ => String::new(),
    };
    let end = |end, low: &str, high: &str| if end == End::Lowest { low.to_owned() } else { high.to_owned() };
    match step.op {
        Op::Store { first, last, value } => {
            returns(format!("mtree_store_range(mt, {}, {}, {}, GFP_KERNEL)", n(first), n(last), entry(value)))
        }
        Op::Insert { first, last, value } => returns(format!(
            "mtree_insert_range(mt, {}, {}, {}, GFP_KERNEL)",
            n(first),
            n(last),
            entry(value)
        )),
        Op::Erase { index } => returns(format!("mtree_erase(mt, {})", n(index))),
        Op::Load { index } => returns(format!("mtree_load(mt, {})", n(index))),
        Op::Next { index, max } => returns(format!("mt_next(mt, {}, {})", n(index), n(max))),
        Op::Prev { index, min } => returns(format!("mt_prev(mt, {}, {})", n(index), n(min))),
        Op::Find { index, max, after } => {
            let Answer::Found { value, next } = answer else { return String::new() };
            let name = if after { "mt_find_after" } else { "mt_find" };
            let found = bug(&format!("{name}(mt, &index, {}) != {}", n(max), entry(value)));
            format!("\tindex = {};\n{found}{}", n(index), bug(&format!("index != {}", n(next))))
        }
        Op::AllocRange { end: at, size, min, max, value } => {
            let Answer::Placed(placed) = answer else { return String::new() };
            let (name, code) = (end(at, "mtree_alloc_range", "mtree_alloc_rrange"), code(placed.map(drop)));
            let (size, min, max) = (n(size), n(min), n(max));
            let call =
                format!("{name}(mt, &index, {}, {size}, {min}, {max}, GFP_KERNEL) != {code}", entry(value));
            bug(&call)
                + &placed.map_or_else(|_| String::new(), |index| bug(&format!("index != {}", n(index))))
        }
        Op::AllocCyclic { low, high, next, value } => {
            let Answer::Cycled(cycled) = answer else { return String::new() };
            let code = match cycled {
                Ok(Cycled { wrapped, .. }) => u8::from(wrapped).to_string(),
                Err(refusal) => code(Err(refusal)).to_owned(),
            };
            let (entry, low, high) = (entry(value), n(low), n(high));
            let call = bug(&format!(
                "mtree_alloc_cyclic(mt, &index, {entry}, {low}, {high}, &next, GFP_KERNEL) != {code}"
            ));
            let went = |at: Cycled| bug(&format!("index != {} || next != {}", n(at.index), n(at.next)));
            format!("\tnext = {};\n{call}{}", n(next), cycled.map_or_else(|_| String::new(), went))
        }
        _ => of_cursor(told, step),
    }
}

/// The lines of a cursor's operation. Writes are made under the tree's lock, steps under RCU.
fn of_cursor(told: &Told, step: &Step) -> String {
    let (n, answer, loose) = (unsigned, step.expected.answer, step.expected.loose);
    let entry = |value| told.entry(value);
    let locked = |call: &str| format!("\tmas_lock(&mas);\n{call}\tmas_unlock(&mas);\n");
    let placed = match answer {
        _ if loose => String::new(),
        Answer::Gap(Ok(span)) => stands(span.first(), span.last()),
        Answer::Stored { index, last, .. } | Answer::Replaced { index, last, .. } => stands(index, last),
        Answer::Cursor { index, last, .. } => stands(index, last),
        _ => String::new(),
    };
    let walked = |call: &str| {
        let Answer::Cursor { value, .. } = answer else { return String::new() };
        let call = bug(&format!("{call} != {}", entry(value)));
        format!("\trcu_read_lock();\n{call}\trcu_read_unlock();\n{placed}")
    };
    let done = |call: &str| match answer {
        Answer::Stored { done, .. } => bug(&format!("{call} != {}", code(done))),
        Answer::Gap(gap) => bug(&format!("{call} != {}", code(gap.map(drop)))),
        // What was there, where it is known.
        Answer::Replaced { old: Some(old), .. } => bug(&format!("{call} != {}", entry(old))),
        _ => format!("\t{call};\n"),
    };
    match step.op {
        Op::CursorSet { index } => format!("\tmas_init(&mas, mt, {});\n", n(index)),
        Op::CursorPause => "\tmas_pause(&mas);\n".to_owned(),
        Op::CursorReset => "\tmas_reset(&mas);\n".to_owned(),
        Op::CursorWalk => walked("mas_walk(&mas)"),
        Op::CursorStep { step: by, limit } => walked(&format!("{}(&mas, {})", name(by), n(limit))),
        Op::EmptyArea { end, min, max, size } => {
            let name = if end == End::Lowest { "mas_empty_area" } else { "mas_empty_area_rev" };
            let call = done(&format!("{name}(&mas, {}, {}, {})", n(min), n(max), n(size)));
            // A gap is where it is, whatever nodes there are.
            let found = match answer {
                Answer::Gap(Ok(span)) => stands(span.first(), span.last()),
                _ => String::new(),
            };
            format!("\tmas_init(&mas, mt, 0);\n{}{found}", locked(&call))
        }
        Op::StoreGap { value } => {
            locked(&done(&format!("mas_store_gfp(&mas, {}, GFP_KERNEL)", entry(value)))) + &placed
        }
        Op::CursorErase { index } => {
            let set = format!("\tmas_init(&mas, mt, {});\n", n(index));
            set + &locked(&done("mas_erase(&mas)")) + &placed
        }
        Op::CursorStore { call, first, last, value } => {
            let set =
                format!("\tmas_init(&mas, mt, 0);\n\tmas_set_range(&mas, {}, {});\n", n(first), n(last));
            set + &locked(&stored(call, &entry(value), &done)) + &placed
        }
        _ => String::new(),
    }
}

fn stored(call: StoreCall, entry: &str, done: &impl Fn(&str) -> String) -> String {
    match call {
        StoreCall::Store => done(&format!("mas_store(&mas, {entry})")),
        StoreCall::StoreGfp => done(&format!("mas_store_gfp(&mas, {entry}, GFP_KERNEL)")),
        StoreCall::Preallocated => {
            bug(&format!("mas_preallocate(&mas, {entry}, GFP_KERNEL) != 0"))
                + &format!("\tmas_store_prealloc(&mas, {entry});\n")
        }
    }
}

fn name(step: Move) -> &'static str {
    match step {
        Move::Find => "mas_find",
        Move::FindRange => "mas_find_range",
        Move::FindRev => "mas_find_rev",
        Move::FindRangeRev => "mas_find_range_rev",
        Move::Next => "mas_next",
        Move::NextRange => "mas_next_range",
        Move::Prev => "mas_prev",
        Move::PrevRange => "mas_prev_range",
    }
}
