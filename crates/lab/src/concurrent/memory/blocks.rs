//! `block`: blocks taken and given back, one at a time.

use super::engines::{Content, KEPT, MEMSET, Memset, Pairs};
use super::rounds::{Took, Turn, in_rounds};
use super::{Bench, SUITE};
use crate::concurrent::Who;
use crate::concurrent::place::{at_once, threads};
use crate::record::count;

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
        for threads in threads() {
            for (who, engine) in &engines {
                bench.progress.tick(&format!(
                    "block: {} KiB, checking {}",
                    count((len / KIB) as u64),
                    who.label()
                ));
                at_once(threads, &|_| Ok(()), &|thread| engine.check(len, thread))
                    .map_err(|wrong| wrong.context(who.label()))?;
            }
            for &content in Content::ALL {
                let with_memset = content == Content::Zeroed && bench.options.wants(&MEMSET);
                let memset = with_memset.then_some((MEMSET, &Memset as &dyn Pairs));
                let all =
                    engines.iter().map(|(who, engine)| (*who, engine.as_ref() as &dyn Pairs)).chain(memset);
                let turns = all.map(|(who, pairs)| turn(who, pairs, len, threads, content)).collect();
                let what =
                    format!("block: {} KiB {}, {threads} threads", count((len / KIB) as u64), content.name());
                in_rounds(bench, &what, false, bench.amount.rounds, turns)?;
            }
        }
    }
    Ok(())
}

fn turn<'a>(who: Who, pairs: &'a dyn Pairs, len: usize, threads: u32, content: Content) -> Turn<'a> {
    let warm = (WARM_BYTES / len).clamp(WARM_BLOCKS.0, WARM_BLOCKS.1);
    let pairs = move |count| {
        anyhow::ensure!(
            pairs.pairs(count, len, content),
            "{}: a block of {len} bytes was refused",
            who.label()
        );
        Ok(())
    };
    let key = who.key(SUITE, "block", content.name()).param("size", len as u64).param("threads", threads);
    let run = move |count| Took::of(threads, &|_| pairs(warm), &|_| pairs(count));
    Turn { key, threads, each: 1, run: Box::new(run) }
}
