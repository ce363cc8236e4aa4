use freehold::units::Span;
use freehold_lab::engine::maple::trees;
use freehold_lab::verify::maple::streams::Replay;
use freehold_trace::maple::{Digest, StoreType, StreamRecord, StreamWrite, TreeFlags, Used};

fn write(tree: u32, first: u64, last: u64, null: bool) -> StreamRecord {
    let span = Span::new(first, last).unwrap_or(Span::ALL);
    let used = Some(Used { taken: 0, handed_back: 0, height: 1 });
    let write = StreamWrite {
        store_type: StoreType::NodeStore,
        flags: TreeFlags::default(),
        null,
        bulk: false,
        height: 1,
        span,
        calculation: None,
        used,
    };
    StreamRecord::Write { tree, write }
}

fn destroy(tree: u32, ranges: &[(u64, u64)]) -> StreamRecord {
    let mut digest = Digest::default();
    for (first, last) in ranges {
        digest.push(*first);
        digest.push(*last);
    }
    StreamRecord::Destroy { tree, entries: ranges.len() as u64, digest: digest.value() }
}

/// Every engine's mismatches.
fn mismatches(end: StreamRecord) -> Vec<u64> {
    let appear = |tree| StreamRecord::Appear { tree, flags: TreeFlags::default() };
    let records = [
        appear(1),
        write(1, 5, 20, false),
        appear(2),
        StreamRecord::Duplicate { tree: 2, source: 1 },
        write(1, 8, 9, true),
        write(2, 10, 30, false),
        destroy(1, &[(5, 7), (10, 20)]),
        end,
    ];
    let replays = trees(TreeFlags { alloc: true, rcu: false }).into_iter().map(Replay::new);
    let finished = replays.map(|mut replay| {
        (1..).zip(&records).for_each(|(at, record)| replay.record(at, record));
        replay.finish(9)
    });
    finished.map(|checked| checked.mismatches).collect()
}

#[test]
fn contents_are_held_against_their_digests() {
    assert!(mismatches(destroy(2, &[(5, 9), (10, 30)])).iter().all(|&differ| differ == 0));
    for wrong in [&[(5, 30)][..], &[(5, 9), (10, 31)], &[]] {
        assert!(mismatches(destroy(2, wrong)).iter().all(|&differ| differ == 1), "{wrong:?}");
    }
    // A store is refused by what is no empty tree any more.
    let again = StreamRecord::Duplicate { tree: 2, source: 2 };
    assert!(mismatches(again).iter().all(|&differ| differ == 1));
}
