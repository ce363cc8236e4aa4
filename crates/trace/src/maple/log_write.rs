//! Op logs as they are written: lines that `grammar` reads, behind a header, with the content at the end.

use super::{
    Answer, ContentEntry, Cycled, Digest, End, Expected, Op, Refusal, Step, StoreCall, TreeFlags, Value,
};
use std::fmt::Write;

/// The first lines of a log.
#[must_use]
pub fn log_header(name: &str, universe: &str, flags: TreeFlags) -> String {
    let (alloc, rcu) = (u8::from(flags.alloc), u8::from(flags.rcu));
    format!(
        "# maple-vectors 1\n# name {name}\n# seed 0\n# universe {universe}\n# alloc_tree {alloc}\n# rcu_flag {rcu}\n# profile 0\n"
    )
}

/// The entries of the current tree, one a line, and the line that sums them up.
#[must_use]
pub fn log_content(entries: &[ContentEntry]) -> String {
    let (mut text, mut digest) = (String::new(), Digest::default());
    for ContentEntry { span, value } in entries {
        let _ = writeln!(text, "| {:x} {:x} {}", span.first(), span.last(), word(*value));
        [span.first(), span.last(), value.word()].into_iter().for_each(|word| digest.push(word));
    }
    let _ = writeln!(text, "c {} {:016x}", entries.len(), digest.value());
    text
}

/// The line of an operation and its answer; `None` if logs have no such operation.
#[must_use]
pub fn log_line(op: &Op, expected: &Expected) -> Option<String> {
    let operands = operands(op)?;
    let answer = match (op, &expected.answer) {
        // What was planned cannot fail: there is no code.
        (Op::CursorStore { call: StoreCall::Preallocated, .. }, Answer::Stored { done, index, last }) => {
            done.is_ok().then(|| format!("{index:x} {last:x}"))?
        }
        (_, other) => answer(other)?,
    };
    let answer = if answer.is_empty() { answer } else { format!(" = {answer}") };
    let loose = if expected.loose && is_cursors(&expected.answer) { " ~" } else { "" };
    Some(format!("{operands}{answer}{loose}\n"))
}

/// Whether where a cursor stands may be no one's business.
fn is_cursors(answer: &Answer) -> bool {
    matches!(answer, Answer::Cursor { .. } | Answer::Stored { .. } | Answer::Replaced { .. })
}

fn operands(op: &Op) -> Option<String> {
    let end = |end, low, high| if end == End::Lowest { low } else { high };
    Some(match *op {
        Op::Store { first, last, value } => format!("s {first:x} {last:x} {}", word(value)),
        Op::Insert { first, last, value } => format!("i {first:x} {last:x} {}", word(value)),
        Op::Erase { index } => format!("e {index:x}"),
        Op::Load { index } => format!("l {index:x}"),
        Op::Find { index, max, after } => format!("{} {index:x} {max:x}", if after { "fa" } else { "f" }),
        Op::Next { index, max } => format!("n {index:x} {max:x}"),
        Op::Prev { index, min } => format!("p {index:x} {min:x}"),
        Op::AllocRange { end: at, size, min, max, value } => {
            format!("{} {size:x} {min:x} {max:x} {}", end(at, "af", "ar"), word(value))
        }
        Op::AllocCyclic { low, high, next, value } => {
            format!("ac {low:x} {high:x} {next:x} {}", word(value))
        }
        Op::EmptyArea { end: at, min, max, size } => {
            format!("{} {min:x} {max:x} {size:x}", end(at, "ef", "er"))
        }
        Op::StoreGap { value } => format!("eg {}", word(value)),
        Op::CursorSet { index } => format!("ms {index:x}"),
        Op::CursorPause => "mp".to_owned(),
        Op::CursorReset => "mr".to_owned(),
        Op::CursorWalk => "mw".to_owned(),
        Op::CursorStep { step, limit } => format!("{} {limit:x}", one_step(step)),
        Op::CursorStore { call, first, last, value } => {
            let call = match call {
                StoreCall::Store => "mS",
                StoreCall::StoreGfp => "mG",
                StoreCall::Preallocated => "mP",
            };
            format!("{call} {first:x} {last:x} {}", word(value))
        }
        Op::CursorErase { index } => format!("mE {index:x}"),
        Op::LoadMany { index, stride, count } => format!("L {index:x} {stride:x} {count}"),
        Op::EraseMany { index, stride, count } => format!("E {index:x} {stride:x} {count}"),
        Op::StoreMany { first, stride, len, count, value } => {
            format!("S {first:x} {stride:x} {len:x} {count} {}", word(value))
        }
        Op::StepMany { step, index, limit, most } => {
            let word = match step {
                Step::Find => "F",
                Step::FindRev => "B",
                Step::FindRange => "G",
                Step::FindRangeRev => "C",
                _ => return None,
            };
            format!("{word} {index:x} {limit:x} {}", most.unwrap_or(0))
        }
        Op::UseTree { tree } => format!("t {tree}"),
        Op::Duplicate { from, into } => format!("d {from} {into}"),
        Op::DestroyTree { tree } => format!("x {tree}"),
        Op::AlignedGap { .. } | Op::StoreTogether { .. } => return None,
    })
}

fn one_step(step: Step) -> &'static str {
    match step {
        Step::Find => "mf",
        Step::FindRange => "mF",
        Step::FindRev => "mv",
        Step::FindRangeRev => "mV",
        Step::Next => "mn",
        Step::NextRange => "mN",
        Step::Prev => "mb",
        Step::PrevRange => "mB",
    }
}

fn answer(answer: &Answer) -> Option<String> {
    Some(match *answer {
        Answer::Nothing => String::new(),
        Answer::Done(done) => code(done).to_owned(),
        Answer::Value(value) => word(value),
        Answer::Found { value, next } => format!("{} {next:x}", word(value)),
        Answer::Placed(Ok(index)) => format!("0 {index:x}"),
        Answer::Cycled(Ok(Cycled { index, next, wrapped })) => {
            format!("{} {index:x} {next:x}", u8::from(wrapped))
        }
        Answer::Gap(Ok(span)) => format!("0 {:x} {:x}", span.first(), span.last()),
        Answer::Placed(Err(refusal)) | Answer::Cycled(Err(refusal)) | Answer::Gap(Err(refusal)) => {
            code(Err(refusal)).to_owned()
        }
        Answer::Stored { done, index, last } => format!("{} {index:x} {last:x}", code(done)),
        Answer::Replaced { old, index, last } => {
            format!("{} {index:x} {last:x}", old.map_or_else(|| "?".to_owned(), word))
        }
        Answer::Cursor { value, index, last, state } => {
            format!("{} {index:x} {last:x} {}", word(value), state.name())
        }
        Answer::Digest(digest) => format!("{digest:016x}"),
        Answer::Walked { count, digest } => format!("{count} {digest:016x}"),
        Answer::Unsupported => return None,
    })
}

fn word(value: Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::Reserved => "Z".to_owned(),
        Value::Number(number) => number.to_string(),
    }
}

fn code(done: Result<(), Refusal>) -> &'static str {
    match done {
        Ok(()) => "0",
        Err(Refusal::Busy) => "-16",
        Err(Refusal::Exists) => "-17",
        Err(Refusal::Invalid) => "-22",
    }
}
