//! Sequences against read-copy-update, by one thread: instructions are counted, of the process and not of the kernel's barrier.

use super::growth::Bound;
use super::meter::Meter;
use super::sequence::{Run, Sequence};
use anyhow::{Context, Result, ensure};
use freehold_rcu::{Backlog, Domain, Reader};

/// All sequences.
pub(super) const SEQUENCES: &[Sequence] = &[
    of("stalled-reader", "retire", stalled_reader).single(Bound::Log, Bound::Log),
    of("stalled-reader", "poll", stalled_poll).single(Bound::Log, Bound::Log),
    // Linear by nature: what comes back grows with n.
    of("all-at-once", "poll", all_at_once),
    // To register a reader is documented as a look at the slots that are taken, and so is a poll.
    of("many-readers", "read", many_readers).mean(Bound::Linear).single(Bound::Log, Bound::Log).up_to(10_000),
    of("many-readers", "poll", many_slots).mean(Bound::Linear).up_to(10_000),
];

const fn of(name: &'static str, op: &'static str, run: Run) -> Sequence {
    Sequence::amortized(name, op, run).in_instructions().single(Bound::Linear, Bound::Linear)
}

const MEASURED: u32 = 16;

type Records<'d> = Backlog<'d, u64>;

fn retire(backlog: &mut Records<'_>, record: u64) -> Result<()> {
    backlog.reserve(1, drop)?;
    backlog.retire(record).ok().context("no room for a record that was reserved")
}

fn poll(backlog: &mut Records<'_>) -> Result<usize> {
    Ok(backlog.poll(drop)?)
}

/// Runs `run` on a backlog of n records behind a reader that stalls, and once more on what is left when the reader is gone.
fn stalled(
    n: u32,
    meter: &mut Meter,
    run: impl FnOnce(&mut Records<'_>, &mut Meter) -> Result<()>,
    last: impl FnOnce(&mut Records<'_>, &mut Meter) -> Result<usize>,
) -> Result<()> {
    let domain = Domain::new();
    let reader = domain.reader()?;
    let guard = reader.read();
    let mut backlog = meter.ready(|_| {
        let mut backlog = Backlog::new(&domain, 2 * n as usize + 4096);
        (0..u64::from(n)).try_for_each(|record| retire(&mut backlog, record))?;
        Ok((backlog, n.into()))
    })?;
    run(&mut backlog, meter)?;
    ensure!(backlog.held() >= n as usize, "records came back while their reader reads");
    drop(guard);
    let back = last(&mut backlog, meter)?;
    ensure!(back >= n as usize && backlog.held() == 0, "records do not come back");
    Ok(())
}

/// One operation in 512 polls, so more are measured.
fn stalled_reader(n: u32, meter: &mut Meter) -> Result<()> {
    let retires = |backlog: &mut Records<'_>, meter: &mut Meter| {
        (0..8 * u64::from(MEASURED)).try_for_each(|record| {
            (0..7).try_for_each(|_| retire(backlog, 0))?;
            meter.measure(|_| retire(backlog, record))
        })
    };
    stalled(n, meter, retires, |backlog, _| poll(backlog))
}

fn stalled_poll(n: u32, meter: &mut Meter) -> Result<()> {
    let polls = |backlog: &mut Records<'_>, meter: &mut Meter| {
        (0..MEASURED).try_for_each(|_| meter.measure(|_| poll(backlog)).map(drop))
    };
    stalled(n, meter, polls, |backlog, _| poll(backlog))
}

/// The reader leaves, and everything comes back at once.
fn all_at_once(n: u32, meter: &mut Meter) -> Result<()> {
    stalled(n, meter, |_, _| Ok(()), |backlog, meter| meter.measure(|_| poll(backlog)))
}

/// A domain with n readers, one of which reads.
fn many_readers(n: u32, meter: &mut Meter) -> Result<()> {
    let domain = Domain::new();
    let readers = readers(n, &domain, meter)?;
    let last = readers.last().context("no reader")?;
    for _ in 0..MEASURED {
        meter.measure(|_| drop(last.read()));
    }
    Ok(())
}

fn readers<'d>(n: u32, domain: &'d Domain, meter: &mut Meter) -> Result<Vec<Reader<'d>>> {
    meter.ready(|_| Ok(((0..n).map(|_| domain.reader()).collect::<Result<_, _>>()?, n.into())))
}

fn many_slots(n: u32, meter: &mut Meter) -> Result<()> {
    let domain = Domain::new();
    let _readers = readers(n, &domain, meter)?;
    let mut backlog = Backlog::new(&domain, 4096);
    for record in 0..MEASURED {
        retire(&mut backlog, record.into())?;
        let back = meter.measure(|_| poll(&mut backlog))?;
        ensure!(back == 1, "{back} records came back, not 1");
    }
    Ok(())
}
