//! A search for strings of operations that make a single operation work most: a hill climber, the same in every run.

use crate::strings::{Make, OP_BYTES, Suffered, play};
use crate::workload::SplitMix;

/// A string and what it does.
#[derive(Clone, Debug)]
pub struct Found {
    /// The operations, as bytes.
    pub string: Vec<u8>,
    /// What they do when they are played once.
    pub suffered: Suffered,
}

/// Steps without a better string after which the climb begins anew elsewhere.
const PATIENCE: u64 = 200;

/// Climbs for so many steps among strings of `ops` operations, from random ones or from `known`. Returns the best.
///
/// # Errors
/// A string breaks an invariant.
pub fn climb(make: Make, ops: usize, steps: u64, seed: u64, known: &[Vec<u8>]) -> Result<Found, String> {
    let mut random = SplitMix::new(seed);
    let mut starts = known.iter().filter(|string| !string.is_empty());
    let mut best = None;
    let mut here = of(make, random_string(&mut random, ops), ops)?;
    let mut since = 0;
    for _ in 0..steps {
        if since > PATIENCE {
            let string = starts.next().cloned().unwrap_or_else(|| random_string(&mut random, ops));
            keep(&mut best, &here);
            (here, since) = (of(make, string, ops)?, 0);
        }
        let next = of(make, mutated(&here.string, &mut random), ops)?;
        since = if next.suffered.worst > here.suffered.worst { 0 } else { since + 1 };
        if next.suffered >= here.suffered {
            here = next;
        }
    }
    keep(&mut best, &here);
    Ok(best.unwrap_or(here))
}

fn keep(best: &mut Option<Found>, here: &Found) {
    if best.as_ref().is_none_or(|best| best.suffered < here.suffered) {
        *best = Some(here.clone());
    }
}

fn of(make: Make, string: Vec<u8>, ops: usize) -> Result<Found, String> {
    let suffered = play(make, &string, ops as u64, |_| Ok(()))
        .map_err(|reason| format!("{reason}, after the operations {string:02x?}"))?;
    Ok(Found { string, suffered })
}

/// Few different operations in long runs hurt more than random ones.
fn random_string(random: &mut SplitMix, ops: usize) -> Vec<u8> {
    let mut string = Vec::with_capacity(ops * OP_BYTES);
    while string.len() < ops * OP_BYTES {
        let (op, run) = (op(random), some(random, ops));
        let period = [op, self::op(random)];
        let ops = period.into_iter().cycle().take(run);
        ops.for_each(|op| string.extend(op));
    }
    string.truncate(ops * OP_BYTES);
    string
}

/// From 1 to `most`, each doubling as likely as the next.
fn some(random: &mut SplitMix, most: usize) -> usize {
    let below = 2u64 << random.uniform(u64::from(most.ilog2()) + 1);
    (1 + random.uniform(below) as usize).min(most)
}

fn op(random: &mut SplitMix) -> [u8; OP_BYTES] {
    [random.uniform(256) as u8, random.uniform(256) as u8]
}

/// The string with an operation changed, a run of one operation, or a piece of it copied elsewhere.
fn mutated(string: &[u8], random: &mut SplitMix) -> Vec<u8> {
    let mut string = string.to_vec();
    let ops = string.len() / OP_BYTES;
    for _ in 0..=random.uniform(3) {
        let at = random.uniform(ops as u64) as usize;
        let len = some(random, ops - at);
        let piece = at * OP_BYTES..(at + len) * OP_BYTES;
        match random.uniform(4) {
            0 => string[at * OP_BYTES..][..OP_BYTES].copy_from_slice(&op(random)),
            1 => {
                let op = op(random);
                string[piece].as_chunks_mut::<OP_BYTES>().0.iter_mut().for_each(|place| *place = op);
            }
            2 => {
                let to = random.uniform((ops - len + 1) as u64) as usize;
                string.copy_within(piece, to * OP_BYTES);
            }
            _ => {
                let byte = at * OP_BYTES + random.uniform(OP_BYTES as u64) as usize;
                string[byte] = string[byte].wrapping_add(1 << random.uniform(8));
            }
        }
    }
    string
}
