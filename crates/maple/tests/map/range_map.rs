//! The map of any value against a model that is one cell for each index: every answer, every entry, every gap, and how many
//! values live, after each operation. Before each operation the same one is tried with a `clone` that panics: nothing may
//! have changed then.

mod cells;

use cells::{BASE, Model, WIDTH, model_absorb, model_cut};
use freehold_maple::range_map::Entry;
use freehold_maple::{AllocError, InsertError, Nodes, RangeMap, Request, StoreError};
use freehold_units::{Align, Span};
use proptest::prelude::*;
use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static LIVE: Cell<i64> = const { Cell::new(0) };
    /// Clones until one panics; none if negative.
    static CLONES_LEFT: Cell<i64> = const { Cell::new(-1) };
}

/// A value that is counted while it lives.
#[derive(PartialEq, Eq)]
struct Value(String);

impl Value {
    fn new(text: impl Into<String>) -> Self {
        LIVE.set(LIVE.get() + 1);
        Self(text.into())
    }
}

impl Clone for Value {
    fn clone(&self) -> Self {
        let left = CLONES_LEFT.get();
        assert!(left != 0, "a clone that panics");
        CLONES_LEFT.set(left - 1);
        Self::new(self.0.clone())
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        LIVE.set(LIVE.get() - 1);
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn span(first: usize, last: usize) -> Span {
    Span::new(BASE + first as u64, BASE + last as u64).unwrap()
}

fn offsets(span: Span) -> (usize, usize) {
    ((span.first() - BASE) as usize, (span.last() - BASE) as usize)
}

fn plain(entry: (Span, Value)) -> (usize, usize, String) {
    let (first, last) = offsets(entry.0);
    (first, last, entry.1.0.clone())
}

fn entries(map: &RangeMap<Value>) -> Vec<(usize, usize, String)> {
    let seen = map.iter().map(|(span, value)| {
        let (first, last) = offsets(span);
        (first, last, value.0.clone())
    });
    seen.collect()
}

/// All that can be seen of the map without changing it.
fn check(map: &RangeMap<Value>, model: &Model) {
    map.validate().unwrap();
    let wanted = model.entries();
    assert_eq!(entries(map), wanted);
    assert_eq!(map.len(), wanted.len() as u64);
    assert_eq!(LIVE.get(), wanted.len() as i64, "values that live");
    let mut back: Vec<_> = map.iter().rev().map(|(span, _)| offsets(span).0).collect();
    back.reverse();
    assert_eq!(back, wanted.iter().map(|entry| entry.0).collect::<Vec<_>>());
    for (at, cell) in model.cells.iter().enumerate() {
        let index = BASE + at as u64;
        assert_eq!(map.get(index).map(|value| &value.0), cell.as_ref().map(|(_, value)| value));
        assert_eq!(map.contains(index), cell.is_some());
        assert_eq!(map.is_free(index..=index), cell.is_none());
        let before = wanted.iter().rfind(|entry| entry.0 < at);
        let found = map.last_before(index).map(|(span, value)| (offsets(span), value.0.clone()));
        assert_eq!(found, before.map(|(first, last, value)| ((*first, *last), value.clone())));
    }
}

/// Kinds of operations.
const KINDS: u8 = 26;

/// One operation, from four bytes.
#[derive(Clone, Copy, Debug)]
struct Op {
    kind: u8,
    first: usize,
    last: usize,
    value: u8,
}

impl Op {
    fn from_bytes(bytes: [u8; 4]) -> Self {
        let [kind, first, len, value] = bytes;
        let first = first as usize % WIDTH as usize;
        let last = (first + len as usize % 12).min(WIDTH as usize - 1);
        Self { kind: kind % KINDS, first, last, value: value % 4 }
    }
}

/// Does an operation on the map; returns what it answers, as text.
fn act(map: &mut RangeMap<Value>, op: Op) -> String {
    let Op { kind, first, last, value } = op;
    let (range, text) = (span(first, last), format!("v{value}"));
    let offset_of = |whole: Span, kept: Span, old: &Value| {
        Value::new(format!("{}+{}", &old.0[..2], kept.first() - whole.first()))
    };
    match kind {
        0 | 1 => format!("{:?}", map.store(range, Value::new(text)).is_ok()),
        2 => format!("{:?}", map.insert(range, Value::new(text)).map_err(|rejected| rejected.cause)),
        3 => format!("{:?}", map.erase(range.first()).map(plain)),
        4 => format!("{:?}", map.remove_range(range)),
        5 => format!("{:?}", map.take_range(range).unwrap().map(plain).collect::<Vec<_>>()),
        6 => {
            let mut back: Vec<_> =
                map.replace_range(range, Value::new(text)).unwrap().rev().map(plain).collect();
            back.reverse();
            format!("{back:?}")
        }
        7 => format!("{:?}", map.store_with(range, Value::new(text), offset_of).is_ok()),
        8 => format!("{:?}", map.remove_range_with(range, offset_of)),
        9 => {
            let mut seen = Vec::new();
            map.update_range(range, |part, value| {
                seen.push(offsets(part));
                value.0 = text.clone();
            })
            .unwrap();
            format!("{seen:?}")
        }
        10 => format!("{:?}", map.cut_at(range.first())),
        11 => format!("{}", map.merge_adjacent_in(range)),
        12 => {
            map.retain(|_, kept| kept.0 != text);
            String::new()
        }
        13 => {
            let upper = map.split_at(range.first()).unwrap();
            let taken = format!("{:?}", entries(&upper));
            upper.validate().unwrap();
            taken
        }
        14 => {
            map.range_mut(range).for_each(|(_, value)| value.0.push('!'));
            String::new()
        }
        15 => match map.entry(range.first()) {
            Entry::Occupied(mut entry) => format!("{:?}", entry.replace(Value::new(text)).0),
            Entry::Vacant(gap) => {
                let within = gap.gap().intersection(range).unwrap();
                format!("{:?}", gap.insert(within, Value::new(text)).is_ok())
            }
        },
        16 => {
            let request = Request::new(last as u64 - first as u64 + 1).window(span(0, WIDTH as usize - 1));
            let found = map.alloc_lowest(&request, Value::new(text));
            format!("{:?}", found.map(offsets).map_err(|rejected| rejected.cause))
        }
        17 => format!("{:?}", map.take_range_with(range, offset_of).unwrap().map(plain).collect::<Vec<_>>()),
        18 => {
            let removed = map.replace_range_with(range, Value::new(text), offset_of).unwrap();
            format!("{:?}", removed.map(plain).collect::<Vec<_>>())
        }
        20 | 21 => format!("{:?}", map.store_merging(range, Value::new(text)).map(offsets).ok()),
        22 => {
            let mut seen = Vec::new();
            let same = |(low, a): (Span, &Value), (high, b): (Span, &Value)| {
                low.last() + 1 == high.first() && a.0[..2] == b.0[..2]
            };
            let merged = map.merge_adjacent_in_with(range, same, |span, kept, gone| {
                seen.push((offsets(span), gone.0.clone()));
                kept.0.push('m');
            });
            format!("{merged} {seen:?}")
        }
        23 => {
            let mut together = map.transaction();
            together.store(range, Value::new(text.clone())).unwrap();
            together.remove_range(range.first()..=range.first()).unwrap();
            together.store(span(last / 2, last), Value::new(text)).unwrap();
            together.map().validate().unwrap();
            let seen = format!("{:?}", entries(together.map()));
            if value % 2 == 0 {
                together.commit();
            }
            seen
        }
        24 => {
            let mut seen = Vec::new();
            let change = |part, held: Option<&mut Value>| {
                seen.push((offsets(part), held.is_some()));
                let is_new = if held.is_some() { value == 0 } else { value % 2 == 0 };
                held.into_iter().for_each(|held| held.0.push('!'));
                is_new.then(|| Value::new(text.clone()))
            };
            map.update_slots(range, change).unwrap();
            format!("{seen:?}")
        }
        _ => {
            let first = map.pop_first().map(plain);
            format!("{first:?} {:?}", map.pop_last().map(plain))
        }
    }
}

/// The same on the model.
fn model_act(model: &mut Model, op: Op) -> String {
    let Op { kind, first, last, value } = op;
    let text = format!("v{value}");
    let cut_values = |model: &Model| -> Vec<(usize, usize, String)> {
        let met = model.entries().into_iter().filter(|entry| entry.0 <= last && first <= entry.1);
        let mut kept = Vec::new();
        for (low, high, old) in met {
            if low < first {
                kept.push((low, first - 1, format!("{}+0", &old[..2])));
            }
            if high > last {
                kept.push((last + 1, high, format!("{}+{}", &old[..2], last + 1 - low)));
            }
        }
        kept
    };
    let rename = |model: &mut Model, parts: Vec<(usize, usize, String)>| {
        for (low, high, value) in parts {
            for cell in &mut model.cells[low..=high] {
                cell.as_mut().unwrap().1.clone_from(&value);
            }
        }
    };
    match kind {
        0 | 1 => {
            model.set(first, last, Some(&text));
            "true".into()
        }
        2 => {
            let blocking = model.entries().into_iter().find(|entry| entry.0 <= last && first <= entry.1);
            match blocking {
                Some((low, high, _)) => {
                    format!("{:?}", Err::<(), _>(InsertError::Occupied { entry: span(low, high) }))
                }
                None => {
                    model.set(first, last, Some(&text));
                    "Ok(())".into()
                }
            }
        }
        3 => format!("{:?}", model.erase(first)),
        4 => {
            model.set(first, last, None);
            "Ok(())".into()
        }
        17 | 18 => {
            let parts = cut_values(model);
            let met = model.entries().into_iter().filter(|entry| entry.0 <= last && first <= entry.1);
            let taken: Vec<_> = met
                .map(|(low, high, old)| {
                    let (from, to) = (low.max(first), high.min(last));
                    let whole = (from, to) == (low, high);
                    (from, to, if whole { old } else { format!("{}+{}", &old[..2], from - low) })
                })
                .collect();
            model.set(first, last, (kind == 18).then_some(text.as_str()));
            rename(model, parts);
            format!("{taken:?}")
        }
        5 | 6 => {
            let taken = model.clipped(first, last);
            model.set(first, last, (kind == 6).then_some(text.as_str()));
            format!("{taken:?}")
        }
        7 | 8 => {
            let parts = cut_values(model);
            model.set(first, last, (kind == 7).then_some(text.as_str()));
            rename(model, parts);
            if kind == 7 { "true".into() } else { "Ok(())".into() }
        }
        9 => {
            model_cut(model, first);
            model_cut(model, last + 1);
            let seen = model.clipped(first, last);
            rename(model, seen.iter().map(|(low, high, _)| (*low, *high, text.clone())).collect());
            format!("{:?}", seen.iter().map(|(low, high, _)| (*low, *high)).collect::<Vec<_>>())
        }
        10 => format!("{:?}", Ok::<bool, ()>(model_cut(model, first))),
        11 => {
            let mut merged = 0;
            for at in first.max(1)..=(last + 1).min(WIDTH as usize - 1) {
                let (Some((low, a)), Some((high, b))) =
                    (model.cells[at - 1].clone(), model.cells[at].clone())
                else {
                    continue;
                };
                if low != high && a == b {
                    merged += 1;
                    model
                        .cells
                        .iter_mut()
                        .flatten()
                        .filter(|cell| cell.0 == high)
                        .for_each(|cell| cell.0 = low);
                }
            }
            format!("{merged}")
        }
        12 => {
            model
                .cells
                .iter_mut()
                .filter(|cell| cell.as_ref().is_some_and(|(_, v)| *v == text))
                .for_each(|c| *c = None);
            String::new()
        }
        13 => {
            let taken = model.clipped(first, WIDTH as usize - 1);
            model.cells[first..].fill(None);
            format!("{taken:?}")
        }
        14 => {
            let met: Vec<_> = model.entries().into_iter().filter(|e| e.0 <= last && first <= e.1).collect();
            rename(model, met.into_iter().map(|(low, high, value)| (low, high, value + "!")).collect());
            String::new()
        }
        15 => match model.entries().into_iter().find(|entry| entry.0 <= first && first <= entry.1) {
            Some((low, high, old)) => {
                rename(model, vec![(low, high, text)]);
                format!("{old:?}")
            }
            None => {
                let end = (first..=last).take_while(|&at| model.cells[at].is_none()).last().unwrap();
                model.set(first, end, Some(&text));
                "true".into()
            }
        },
        16 => {
            let size = last - first + 1;
            let fits = |at: &usize| model.cells[*at..*at + size].iter().all(Option::is_none);
            match (0..=WIDTH as usize - size).find(fits) {
                Some(at) => {
                    model.set(at, at + size - 1, Some(&text));
                    format!("{:?}", Ok::<_, ()>((at, at + size - 1)))
                }
                None => {
                    let (size, window) = (size as u64, span(0, WIDTH as usize - 1));
                    format!("{:?}", Err::<(), _>(AllocError::NoSpace { size, align: Align::ONE, window }))
                }
            }
        }
        20 | 21 => {
            model.set(first, last, Some(&text));
            format!("{:?}", Some(model_absorb(model, first, last)))
        }
        22 => {
            let mut seen = Vec::new();
            for at in first.max(1)..=(last + 1).min(WIDTH as usize - 1) {
                let (Some((low, a)), Some((high, b))) =
                    (model.cells[at - 1].clone(), model.cells[at].clone())
                else {
                    continue;
                };
                if low != high && a[..2] == b[..2] {
                    for cell in model.cells.iter_mut().flatten().filter(|(of, _)| [low, high].contains(of)) {
                        *cell = (low, format!("{a}m"));
                    }
                    let (from, to, _) =
                        model.entries().into_iter().find(|entry| entry.0 <= at && at <= entry.1).unwrap();
                    seen.push(((from, to), b));
                }
            }
            format!("{} {seen:?}", seen.len())
        }
        23 => {
            let mut together = model.clone();
            together.set(first, last, Some(&text));
            together.set(first, first, None);
            together.set(last / 2, last, Some(&text));
            let seen = format!("{:?}", together.entries());
            if value % 2 == 0 {
                *model = together;
            }
            seen
        }
        24 => {
            model_cut(model, first);
            model_cut(model, last + 1);
            let mut seen: Vec<((usize, usize), bool)> = Vec::new();
            for at in first..=last {
                let before = if at == first { None } else { model.cells[at - 1].clone().map(|cell| cell.0) };
                let here = model.cells[at].clone().map(|cell| cell.0);
                match seen.last_mut() {
                    Some(((_, end), _)) if before == here => *end = at,
                    _ => seen.push(((at, at), here.is_some())),
                }
            }
            for &((low, high), is_held) in &seen {
                let number = model.number();
                for cell in &mut model.cells[low..=high] {
                    match cell {
                        Some((_, held)) if value == 0 => held.clone_from(&text),
                        Some((_, held)) => held.push('!'),
                        None if value % 2 == 0 && !is_held => *cell = Some((number, text.clone())),
                        None => (),
                    }
                }
            }
            format!("{seen:?}")
        }
        _ => {
            let lowest = model.entries().first().cloned();
            let first = lowest.and_then(|entry| model.erase(entry.0));
            let highest = model.entries().last().cloned();
            format!("{first:?} {:?}", highest.and_then(|entry| model.erase(entry.0)))
        }
    }
}

fn run(nodes: Nodes, ops: &[Op]) {
    let mut map = RangeMap::with_nodes(nodes);
    let mut model = Model::new();
    LIVE.set(0);
    let mut panics = 0;
    for &op in ops {
        // The first, the second and the third clone panics, if there is one; then none does.
        for clones in 0..3 {
            if !matches!(op.kind, 0..=10 | 13 | 17 | 18 | 20..=21 | 23..=24) {
                break;
            }
            CLONES_LEFT.set(clones);
            let mut copied = None;
            let before = model.clone();
            let outcome = catch_unwind(AssertUnwindSafe(|| copied = Some(act(&mut map, op))));
            CLONES_LEFT.set(-1);
            match outcome {
                Err(_) => {
                    check(&map, &before);
                    panics += 1;
                }
                Ok(()) => {
                    // No clone panicked: this was the operation.
                    assert_eq!(copied.unwrap(), model_act(&mut model, op), "{op:?}");
                    check(&map, &model);
                    break;
                }
            }
        }
        CLONES_LEFT.set(-1);
        assert_eq!(act(&mut map, op), model_act(&mut model, op), "{op:?} after {panics} panics");
        check(&map, &model);
    }
    drop(map);
    assert_eq!(LIVE.get(), 0, "values that live after their map");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 1 } else { 400 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn agrees_with_one_cell_for_each_index(bytes in prop::collection::vec(any::<[u8; 4]>(), 0..(if cfg!(miri) { 8 } else { 300 }))) {
        let ops: Vec<Op> = bytes.into_iter().map(Op::from_bytes).collect();
        // A panic is part of the test: it is not printed each time.
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let outcome = catch_unwind(|| {
            run(Nodes::Small, &ops);
            run(Nodes::Full, &ops);
        });
        std::panic::set_hook(hook);
        if let Err(cause) = outcome {
            let text = cause.downcast_ref::<String>().cloned().unwrap_or_default();
            return Err(TestCaseError::fail(format!("{text}\n{ops:?}")));
        }
    }
}

#[test]
fn an_empty_range_is_refused_where_something_would_be_stored() {
    let mut map = RangeMap::new();
    assert_eq!(map.store(5..5, "a").unwrap_err().cause, StoreError::EmptyRange);
    assert_eq!(map.insert(5..5, "a").unwrap_err().cause, InsertError::EmptyRange);
    assert_eq!(map.replace_range(7..7, "a").unwrap_err().value, "a");
    assert_eq!(map.remove_range(5..5), Ok(()));
    assert_eq!(map.take_range(5..5).unwrap().len(), 0);
    assert!(map.is_free(5..5) && map.is_empty());
}

#[test]
fn values_of_any_kind_in_any_form_of_range() {
    let text = String::from("borrowed");
    let mut borrowed: RangeMap<&str> = RangeMap::new();
    borrowed.store(.., &text).unwrap();
    borrowed.store(..=9, "low").unwrap();
    borrowed.store(1 << 60.., "high").unwrap();
    assert_eq!(borrowed.values().copied().collect::<Vec<_>>(), ["low", "borrowed", "high"]);

    // No clone is asked for where nothing is cut.
    struct NotClone(u8);
    let mut owned = RangeMap::new();
    assert!(owned.insert(0..10, NotClone(1)).is_ok());
    owned.get_mut(5).unwrap().0 += 1;
    assert!(owned.store_with(3..5, NotClone(7), |_, _, old| NotClone(old.0)).is_ok());
    assert_eq!(owned.iter().map(|(_, value)| value.0).collect::<Vec<_>>(), [2, 7, 2]);
    let boxes = owned.into_iter().map(|(span, value)| (span, Box::new(value.0)));
    let boxes = RangeMap::from_sorted(boxes).unwrap();
    assert_eq!(boxes.clone(), boxes);
    assert_eq!(format!("{boxes:?}"), "{0x0..=0x2: 2, 0x3..=0x4: 7, 0x5..=0x9: 2}");
}
