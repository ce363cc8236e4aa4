//! A map written and read again; what is no map is refused.

use freehold_maple::{RangeMap, RangeSet, WordMap};
use freehold_units::Span;

fn refusal(text: &str) -> String {
    serde_json::from_str::<WordMap<u32>>(text).unwrap_err().to_string()
}

#[test]
fn written_and_read_again() {
    let entries = (0..1000u64).map(|at| (Span::new(16 * at, 16 * at + 7).unwrap(), at as u32));
    let last = (Span::new(1 << 50, u64::MAX).unwrap(), 7);
    let map: WordMap<u32> = WordMap::from_sorted(entries.chain([last])).unwrap();
    let text = serde_json::to_string(&map).unwrap();
    assert!(text.starts_with("[[0,7,0],[16,23,1],"));
    let read: WordMap<u32> = serde_json::from_str(&text).unwrap();
    read.validate().unwrap();
    assert!(read == map);
    assert_eq!(serde_json::from_str::<WordMap<u32>>("[]").unwrap().len(), 0);
}

#[test]
fn what_is_refused() {
    let overlap = refusal("[[0,7,1],[7,9,2]]");
    assert!(overlap.contains("entry 1, 0x7..=0x9, does not begin behind"), "{overlap}");
    let order = refusal("[[8,9,1],[0,1,2]]");
    assert!(order.contains("0x0..=0x1"), "{order}");
    let upside_down = refusal("[[5,4,1]]");
    assert!(upside_down.contains("0x5, is above its last, 0x4"), "{upside_down}");
    assert!(refusal("[[0,1,2],[-1,3,4]]").contains("expected u64"));
    assert!(refusal("{}").contains("a sequence of first index"));
    assert!(refusal("[[0,1]]").contains("length"));
}

#[test]
fn values_of_any_type() {
    let map = RangeMap::from([(0..8, "low".to_owned()), (16..24, "high".to_owned())]);
    let text = serde_json::to_string(&map).unwrap();
    assert_eq!(text, r#"[[0,7,"low"],[16,23,"high"]]"#);
    let read: RangeMap<String> = serde_json::from_str(&text).unwrap();
    read.validate().unwrap();
    assert_eq!(read, map);
    let refused = serde_json::from_str::<RangeMap<String>>(r#"[[0,7,"a"],[7,9,"b"]]"#).unwrap_err();
    assert!(refused.to_string().contains("entry 1"), "{refused}");
}

#[test]
fn keys_of_any_type() {
    let map = RangeMap::<u8, char>::from_iter([('a'..='f', 1), ('\u{d7ff}'..='\u{e000}', 2)]);
    let text = serde_json::to_string(&map).unwrap();
    assert_eq!(text, "[[\"a\",\"f\",1],[\"\u{d7ff}\",\"\u{e000}\",2]]");
    let read: RangeMap<u8, char> = serde_json::from_str(&text).unwrap();
    read.validate().unwrap();
    assert_eq!(read, map);
    assert!(serde_json::from_str::<RangeMap<u8, char>>(r#"[["b","a",1]]"#).is_err());
    assert!(serde_json::from_str::<RangeMap<u8, u8>>(r#"[[0,256,1]]"#).is_err());
}

#[test]
fn a_set_returns_from_its_text() {
    let set: RangeSet<char> = ['a'..='c', 'x'..='z'].into_iter().collect();
    let text = serde_json::to_string(&set).unwrap();
    assert_eq!(text, r#"[["a","c"],["x","z"]]"#);
    assert_eq!(serde_json::from_str::<RangeSet<char>>(&text).unwrap(), set);
    assert!(serde_json::from_str::<RangeSet>("[]").unwrap().is_empty());
    let refusal = |text| serde_json::from_str::<RangeSet>(text).unwrap_err().to_string();
    assert!(refusal("[[0,7],[8,9]]").contains("they are one range"), "two forms of one set");
    assert!(refusal("[[0,7],[7,9]]").contains("does not begin behind"));
    assert!(refusal("[[9,0]]").contains("is above its last"));
}
