//! One operation line of an op log: `OPERANDS = ANSWER`, with ` ~` at its end where the tree had no nodes.
//!
//! Indexes, sizes and steps are hexadecimal; values, counts and numbers of trees are decimal.

use super::{Answer, CursorState, Cycled, End, Expected, Op, Refusal, Step, StoreCall, Value};
use crate::{Fields, MOST_LINES};
use freehold_units::Span;

/// The largest value in logs.
const LARGEST_VALUE: u32 = 9999;

type Parsed = Result<(Op, Answer), String>;

/// Reads an operation and its answer.
pub(super) fn operation(text: &str) -> Result<(Op, Expected), String> {
    let (text, loose) = text.strip_suffix(" ~").map_or((text, false), |text| (text, true));
    let mut fields = Fields::new(text, ' ');
    let (op, answer) = parse(&mut fields)?;
    fields.end()?;
    if let Answer::Cursor { state: CursorState::None | CursorState::Root, .. } = answer
        && !loose
    {
        return Err("states n and r are those of a tree without nodes, marked `~`".to_owned());
    }
    let cursor = matches!(answer, Answer::Cursor { .. } | Answer::Stored { .. } | Answer::Replaced { .. });
    if loose && !cursor {
        return Err("`~` marks answers of cursors alone".to_owned());
    }
    Ok((op, Expected { answer, loose }))
}

fn parse(fields: &mut Fields<'_>) -> Parsed {
    let word = fields.text("op")?;
    match word {
        "s" | "i" | "e" | "l" | "f" | "fa" | "n" | "p" => plain(word, fields),
        "af" => alloc_range(End::Lowest, fields),
        "ar" => alloc_range(End::Highest, fields),
        "ac" => alloc_cyclic(fields),
        "ef" => empty_area(End::Lowest, fields),
        "er" => empty_area(End::Highest, fields),
        "eg" => {
            let value = value(fields)?;
            fields.word("=")?;
            Ok((Op::StoreGap { value }, stored(fields)?))
        }
        "mS" => cursor_store(StoreCall::Store, fields),
        "mG" => cursor_store(StoreCall::StoreGfp, fields),
        "mP" => cursor_store(StoreCall::Preallocated, fields),
        "L" | "E" => many(word, fields),
        "S" => store_many(fields),
        "F" => step_many(Step::Find, fields),
        "B" => step_many(Step::FindRev, fields),
        "G" => step_many(Step::FindRange, fields),
        "C" => step_many(Step::FindRangeRev, fields),
        "t" => Ok((Op::UseTree { tree: fields.value("tree")? }, Answer::Nothing)),
        "d" => {
            let op = Op::Duplicate { from: fields.value("from")?, into: fields.value("into")? };
            fields.word("=")?;
            Ok((op, Answer::Done(code(fields)?)))
        }
        "x" => Ok((Op::DestroyTree { tree: fields.value("tree")? }, Answer::Nothing)),
        _ => cursor(word, fields),
    }
}

fn plain(word: &str, fields: &mut Fields<'_>) -> Parsed {
    let index = fields.hex("index")?;
    let op = match word {
        "s" => Op::Store { first: index, last: fields.hex("last")?, value: value(fields)? },
        "i" => Op::Insert { first: index, last: fields.hex("last")?, value: value(fields)? },
        "e" => Op::Erase { index },
        "l" => Op::Load { index },
        "n" => Op::Next { index, max: fields.hex("max")? },
        "p" => Op::Prev { index, min: fields.hex("min")? },
        _ => Op::Find { index, max: fields.hex("max")?, after: word == "fa" },
    };
    fields.word("=")?;
    let answer = match op {
        Op::Store { .. } | Op::Insert { .. } => Answer::Done(code(fields)?),
        Op::Find { .. } => Answer::Found { value: value(fields)?, next: fields.hex("next")? },
        _ => Answer::Value(value(fields)?),
    };
    Ok((op, answer))
}

fn alloc_range(end: End, fields: &mut Fields<'_>) -> Parsed {
    let (size, min, max) = (fields.hex("size")?, fields.hex("min")?, fields.hex("max")?);
    let value = value(fields)?;
    fields.word("=")?;
    let placed = match code(fields)? {
        Ok(()) => Ok(fields.hex("index")?),
        Err(refusal) => Err(refusal),
    };
    Ok((Op::AllocRange { end, size, min, max, value }, Answer::Placed(placed)))
}

fn alloc_cyclic(fields: &mut Fields<'_>) -> Parsed {
    let (low, high, next) = (fields.hex("lo")?, fields.hex("hi")?, fields.hex("next")?);
    let value = value(fields)?;
    fields.word("=")?;
    let wrapped = match fields.text("rc")? {
        "1" => Ok(true),
        rc => refusal(rc)?.map(|()| false),
    };
    let cycled = match wrapped {
        Ok(wrapped) => Ok(Cycled { index: fields.hex("index")?, next: fields.hex("next")?, wrapped }),
        Err(refusal) => Err(refusal),
    };
    Ok((Op::AllocCyclic { low, high, next, value }, Answer::Cycled(cycled)))
}

fn empty_area(end: End, fields: &mut Fields<'_>) -> Parsed {
    let (min, max, size) = (fields.hex("min")?, fields.hex("max")?, fields.hex("size")?);
    fields.word("=")?;
    let gap = match code(fields)? {
        Ok(()) => Ok(span(fields)?),
        Err(refusal) => Err(refusal),
    };
    Ok((Op::EmptyArea { end, min, max, size }, Answer::Gap(gap)))
}

fn cursor_store(call: StoreCall, fields: &mut Fields<'_>) -> Parsed {
    let (first, last, value) = (fields.hex("first")?, fields.hex("last")?, value(fields)?);
    fields.word("=")?;
    let answer = match call {
        StoreCall::Store => replaced(fields)?,
        StoreCall::StoreGfp => stored(fields)?,
        StoreCall::Preallocated => {
            Answer::Stored { done: Ok(()), index: fields.hex("index")?, last: fields.hex("last")? }
        }
    };
    Ok((Op::CursorStore { call, first, last, value }, answer))
}

/// Cursor operations that start with `m`, stores excepted.
fn cursor(word: &str, fields: &mut Fields<'_>) -> Parsed {
    let step = match word {
        "ms" => return Ok((Op::CursorSet { index: fields.hex("index")? }, Answer::Nothing)),
        "mp" => return Ok((Op::CursorPause, Answer::Nothing)),
        "mr" => return Ok((Op::CursorReset, Answer::Nothing)),
        "mE" => {
            let index = fields.hex("index")?;
            fields.word("=")?;
            return Ok((Op::CursorErase { index }, replaced(fields)?));
        }
        "mw" => {
            fields.word("=")?;
            return Ok((Op::CursorWalk, moved(fields)?));
        }
        "mf" => Step::Find,
        "mF" => Step::FindRange,
        "mv" => Step::FindRev,
        "mV" => Step::FindRangeRev,
        "mn" => Step::Next,
        "mN" => Step::NextRange,
        "mb" => Step::Prev,
        "mB" => Step::PrevRange,
        other => return Err(format!("unknown op {other:?}")),
    };
    let limit = fields.hex("limit")?;
    fields.word("=")?;
    Ok((Op::CursorStep { step, limit }, moved(fields)?))
}

/// The operations of a block. As many as a file may have lines, or a single line could take for ever.
fn count(fields: &mut Fields<'_>) -> Result<u64, String> {
    let count = fields.value("n")?;
    if count > MOST_LINES { Err(format!("n is above {MOST_LINES}")) } else { Ok(count) }
}

fn many(word: &str, fields: &mut Fields<'_>) -> Parsed {
    let (index, stride, count) = (fields.hex("index")?, fields.hex("step")?, count(fields)?);
    fields.word("=")?;
    let digest = Answer::Digest(fields.hex("digest")?);
    let op = match word {
        "L" => Op::LoadMany { index, stride, count },
        _ => Op::EraseMany { index, stride, count },
    };
    Ok((op, digest))
}

fn store_many(fields: &mut Fields<'_>) -> Parsed {
    let (first, stride, len) = (fields.hex("first")?, fields.hex("stride")?, fields.hex("len")?);
    if len == 0 {
        return Err("len is 0".to_owned());
    }
    let (count, value) = (count(fields)?, value(fields)?);
    if !matches!(value, Value::Number(_)) {
        return Err("v0 is no number".to_owned());
    }
    Ok((Op::StoreMany { first, stride, len, count, value }, Answer::Nothing))
}

fn step_many(step: Step, fields: &mut Fields<'_>) -> Parsed {
    let (index, limit) = (fields.hex("index")?, fields.hex("limit")?);
    let most = Some(fields.value("n")?).filter(|most| *most != 0);
    fields.word("=")?;
    let answer = Answer::Walked { count: fields.value("count")?, digest: fields.hex("digest")? };
    Ok((Op::StepMany { step, index, limit, most }, answer))
}

/// `rc index last`
fn stored(fields: &mut Fields<'_>) -> Result<Answer, String> {
    Ok(Answer::Stored { done: code(fields)?, index: fields.hex("index")?, last: fields.hex("last")? })
}

/// `old index last`, with `?` for an old value that does not bind.
fn replaced(fields: &mut Fields<'_>) -> Result<Answer, String> {
    let old = match fields.text("old")? {
        "?" => None,
        text => Some(value_of(text)?),
    };
    Ok(Answer::Replaced { old, index: fields.hex("index")?, last: fields.hex("last")? })
}

/// `value index last state`
fn moved(fields: &mut Fields<'_>) -> Result<Answer, String> {
    let (value, index, last) = (value(fields)?, fields.hex("index")?, fields.hex("last")?);
    Ok(Answer::Cursor { value, index, last, state: fields.choice("state", CursorState::named)? })
}

/// `first last`
pub(super) fn span(fields: &mut Fields<'_>) -> Result<Span, String> {
    let (first, last) = (fields.hex("first")?, fields.hex("last")?);
    Span::new(first, last).ok_or_else(|| format!("first {first:x} is above last {last:x}"))
}

/// The next field as a value.
pub(super) fn value(fields: &mut Fields<'_>) -> Result<Value, String> {
    value_of(fields.text("value")?)
}

fn value_of(text: &str) -> Result<Value, String> {
    match text {
        "-" => Ok(Value::Null),
        "Z" => Ok(Value::Reserved),
        number => {
            let number = number.parse().ok().filter(|number| (1..=LARGEST_VALUE).contains(number));
            number.map(Value::Number).ok_or_else(|| format!("no value: {text:?}"))
        }
    }
}

fn code(fields: &mut Fields<'_>) -> Result<Result<(), Refusal>, String> {
    refusal(fields.text("rc")?)
}

fn refusal(text: &str) -> Result<Result<(), Refusal>, String> {
    match text {
        "0" => Ok(Ok(())),
        "-16" => Ok(Err(Refusal::Busy)),
        "-17" => Ok(Err(Refusal::Exists)),
        "-22" => Ok(Err(Refusal::Invalid)),
        other => Err(format!("unknown code {other:?}")),
    }
}
