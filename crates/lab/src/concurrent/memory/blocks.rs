//! `block`: blocks taken and given back, one at a time.

use super::engines::{Content, KEPT, MEMSET, memset};
use super::rounds::{Took, Turn, in_rounds};
use super::{Bench, SUITE};
use crate::concurrent::Who;
use crate::concurrent::place::{at_once, threads};
use crate::record::{Field, count};

const KIB: usize = 1 << 10;
/// Bytes of blocks, when it is to be quick and when it is not.
const QUICK: &[usize] = &[4 * KIB, 64 * KIB, 1024 * KIB, 16_384 * KIB];
const USUAL: &[usize] = &[4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, 1024 * KIB, 4096 * KIB, 16_384 * KIB];
/// Before it is timed, a thread goes through so many bytes, in blocks of a number between these.
const WARM_BYTES: usize = 1 << 20;
const WARM_BLOCKS: (usize, usize) = (2, 64);

pub(super) fn run(bench: &mut Bench) -> anyhow::Result<()> {
    let engines = bench.memories(KEPT)?;
    for &len in if bench.options.quick { QUICK } else { USUAL } {
        let kib = count((len / KIB) as u64);
        for threads in threads() {
            for (who, engine) in &engines {
                bench.progress.tick(&format!("block: {kib} KiB, checking {}", who.label()));
                at_once(threads, &|_| Ok(()), &|thread| engine.check(len, thread))
                    .map_err(|wrong| wrong.context(who.label()))?;
            }
            for &content in Content::ALL {
                let mut turns = Vec::new();
                for (who, engine) in &engines {
                    let pairs = move |count| engine.pairs(count, len, content);
                    turns.push(turn(*who, Box::new(pairs), len, threads, content));
                }
                if content == Content::Zeroed && bench.options.wants(&MEMSET) {
                    let pairs = Box::new(move |count| memset(count, len));
                    turns.push(turn(MEMSET, pairs, len, threads, content));
                }
                let what = format!("block: {kib} KiB {}, {threads} threads", content.name());
                in_rounds(bench, &what, false, bench.amount.rounds, turns)?;
            }
        }
    }
    Ok(())
}

/// Takes and gives back so many blocks; whether all went well.
type Pairs<'a> = Box<dyn Fn(usize) -> bool + Sync + 'a>;

fn turn(who: Who, pairs: Pairs<'_>, len: usize, threads: u32, content: Content) -> Turn<'_> {
    let warm = (WARM_BYTES / len).clamp(WARM_BLOCKS.0, WARM_BLOCKS.1);
    let pairs = move |count| {
        anyhow::ensure!(pairs(count), "{}: a block of {len} bytes was refused", who.label());
        Ok(())
    };
    let key =
        who.key(SUITE, "block", content.name()).param(Field::Size, len as u64).param(Field::Threads, threads);
    let run = move |count| Took::of(threads, &|_| pairs(warm), &|_| pairs(count));
    Turn { key, threads, each: 1, run: Box::new(run) }
}
