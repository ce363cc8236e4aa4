//! The passes over the samples: one that checks and counts, then the timed rounds.

use super::{Sample, Sampled, SampledRun, Sampling};
use crate::engine::{EngineEntry, Session, Takes};
use crate::family::Checker;
use crate::family::{Family, Kva};
use crate::hash::Fnv;
use crate::run::turns::in_turn;
use crate::run::{Cost, clock};
use crate::workload::{Piece, Source};
use freehold::units::Align;
use freehold_trace::kva::{Answer, Op};
use std::time::{Duration, Instant};

/// The operations of one sample.
#[derive(Default)]
struct Chunk {
    ops: Vec<Op>,
    /// Where each run of batches of one kind ends.
    ends: Vec<(usize, Piece)>,
}

impl Chunk {
    /// The next sample's operations; false if there are none left.
    fn refill(&mut self, source: &mut impl Source, ops_per_sample: usize) -> bool {
        self.ops.clear();
        self.ends.clear();
        let mut sampled = 0;
        while sampled < ops_per_sample.max(1) {
            let from = self.ops.len();
            let Some(piece) = source.next_batch(&mut self.ops) else { break };
            if piece != Piece::Around {
                sampled += self.ops.len() - from;
            }
            match self.ends.last_mut() {
                Some(last) if last.1 == piece => last.0 = self.ops.len(),
                _ => self.ends.push((self.ops.len(), piece)),
            }
        }
        !self.ops.is_empty()
    }

    /// The operations of each run of batches, and what they are.
    fn pieces(&self) -> impl Iterator<Item = (&[Op], Piece)> {
        self.cut(self.ends.iter().copied())
    }

    /// The same, sampled batches of different parts together.
    fn stretches(&self) -> impl Iterator<Item = (&[Op], bool)> {
        let around = |piece: Piece| piece == Piece::Around;
        let alike = self.ends.chunk_by(move |a, b| around(a.1) == around(b.1));
        self.cut(alike.filter_map(move |run| run.last().map(|&(end, piece)| (end, around(piece)))))
    }

    fn cut<T>(&self, ends: impl Iterator<Item = (usize, T)>) -> impl Iterator<Item = (&[Op], T)> {
        let mut from = 0;
        ends.map(move |(end, what)| {
            let ops = self.ops.get(from..end).unwrap_or_default();
            from = end;
            (ops, what)
        })
    }
}

/// An engine in its checked run.
struct Counting {
    session: Box<dyn Session>,
    checker: Checker,
    spent: Duration,
}

impl Sampled {
    /// Checks, counts and times `source` on every engine. `tick` hears what is being done.
    ///
    /// # Errors
    /// An engine gives a wrong answer, or lacks an operation.
    pub fn measure(
        source: &impl Source,
        sampling: &Sampling,
        engines: &[EngineEntry],
        tick: &mut dyn FnMut(&str),
    ) -> anyhow::Result<Self> {
        let mut sampled = Self::default();
        sampled.check(&mut source.clone(), sampling, engines, tick)?;
        for round in 0..sampling.rounds {
            tick(&format!("timing, round {} of {}", round + 1, sampling.rounds));
            sampled.time(&mut source.clone(), sampling, round, tick)?;
        }
        Ok(sampled)
    }

    fn check(
        &mut self,
        source: &mut impl Source,
        sampling: &Sampling,
        engines: &[EngineEntry],
        tick: &mut dyn FnMut(&str),
    ) -> anyhow::Result<()> {
        let mut counting = Vec::new();
        for entry in engines {
            let session = session(entry, sampling).map_err(anyhow::Error::msg)?;
            let checker = Checker::new(&sampling.layout);
            counting.push(Counting { session, checker, spent: Duration::ZERO });
            self.runs.push(SampledRun::new(*entry));
        }
        let mut chunk = Chunk::default();
        for number in 0..sampling.samples {
            if !chunk.refill(source, sampling.ops_per_sample) {
                break;
            }
            tick(&format!("checking, sample {} of {}", number + 1, sampling.samples));
            self.note_parts(&chunk);
            for (run, counting) in self.runs.iter_mut().zip(&mut counting) {
                run.out_of_time |= number > 0 && counting.spent > sampling.limit;
                if !run.out_of_time {
                    let label = run.entry.label();
                    let counted = run.count(&chunk, counting);
                    counted.map_err(|reason| anyhow::anyhow!("{label}: sample {number}: {reason}"))?;
                }
            }
            self.compare_exact(number)?;
        }
        self.more = chunk.refill(source, 1);
        for counting in counting {
            counting.session.validate().map_err(anyhow::Error::msg)?;
        }
        Ok(())
    }

    fn note_parts(&mut self, chunk: &Chunk) {
        for (ops, piece) in chunk.pieces() {
            let Piece::Part(name) = piece else { continue };
            let part = self.parts.iter().position(|part| *part == name).unwrap_or_else(|| {
                self.parts.push(name);
                self.parts.len() - 1
            });
            let part = u8::try_from(part).unwrap_or(u8::MAX);
            self.part_of.extend(ops.iter().filter(|op| !op.is_free()).map(|_| part));
        }
    }

    /// Engines of exact lowest placement must have answered a sample alike.
    fn compare_exact(&self, number: usize) -> anyhow::Result<()> {
        let exact = self.runs.iter().filter(|run| run.entry.takes == Takes::Lowest);
        let mut answers = exact.filter_map(|run| Some((run.entry.label(), run.samples.get(number)?.answers)));
        let Some((first, expected)) = answers.next() else { return Ok(()) };
        match answers.find(|&(_, answers)| answers != expected) {
            Some((other, _)) => anyhow::bail!("{first} and {other} differ in sample {number}"),
            None => Ok(()),
        }
    }

    fn time(
        &mut self,
        source: &mut impl Source,
        sampling: &Sampling,
        round: usize,
        tick: &mut dyn FnMut(&str),
    ) -> anyhow::Result<()> {
        let mut sessions = Vec::new();
        for run in &self.runs {
            let pair = [session(&run.entry, sampling), session(&run.entry, sampling)];
            let [single, whole] = pair.map(|session| session.map_err(anyhow::Error::msg));
            sessions.push([single?, whole?]);
        }
        let cost_ns = clock::cost_ns();
        let mut chunk = Chunk::default();
        let samples = self.runs.iter().map(|run| run.samples.len()).max().unwrap_or(0);
        for number in 0..samples {
            chunk.refill(source, sampling.ops_per_sample);
            tick(&format!("timing, round {}, sample {} of {samples}", round + 1, number + 1));
            in_turn(round + number, self.runs.iter_mut().zip(&mut sessions), |(run, [single, whole])| {
                let timed = run.time(number, &chunk, single.as_mut(), whole.as_mut(), cost_ns);
                timed.map_err(|reason| anyhow::anyhow!("{}: sample {number}: {reason}", run.entry.label()))
            })?;
        }
        Ok(())
    }
}

fn session(entry: &EngineEntry, sampling: &Sampling) -> Result<Box<dyn Session>, String> {
    let mut session = (entry.make)(&sampling.layout, Align::PAGE)?;
    session.expect_objects(sampling.objects);
    Ok(session)
}

fn add(hash: &mut Fnv, answers: &[Answer]) {
    for answer in answers {
        let (kind, start) = match answer {
            Answer::At(start) => (1, *start),
            Answer::NoRoom => (2, 0),
            Answer::Freed => (3, 0),
            Answer::NotLive => (4, 0),
            Answer::Unsupported => (5, 0),
        };
        hash.word(kind);
        hash.word(start);
    }
}

impl SampledRun {
    fn new(entry: EngineEntry) -> Self {
        Self { entry, costs: Vec::new(), samples: Vec::new(), failures: 0, out_of_time: false }
    }

    /// Runs a sample with every answer checked and all work counted.
    fn count(&mut self, chunk: &Chunk, counting: &mut Counting) -> Result<(), String> {
        let started = Instant::now();
        let Counting { session, checker, spent } = counting;
        let mut sample = Sample::default();
        let from = self.costs.len();
        let mut answers = Vec::with_capacity(chunk.ops.len());
        for (ops, around) in chunk.stretches() {
            let stretch = if around { &mut sample.around } else { &mut sample.sampled };
            for op in ops {
                let (answer, tally) = session.run_counted(op);
                let at = answers.len();
                checker.check(op, answer).map_err(|reason| format!("operation {at}: {reason}"))?;
                if answer == Answer::Unsupported {
                    return Err(format!("operation {at}: there is no such request"));
                }
                stretch.ops += 1;
                let work = Kva::work(&tally);
                stretch.work += work;
                if !(around || op.is_free()) {
                    let work = u32::try_from(work).unwrap_or(u32::MAX);
                    self.costs.push(Cost { work, ns: u32::MAX });
                }
                self.failures += u64::from(answer == Answer::NoRoom);
                answers.push(answer);
            }
        }
        add(&mut sample.answers, &answers);
        session.free_blocks(&mut |_| sample.free_blocks += 1);
        sample.allocs = from..self.costs.len();
        sample.live = checker.live();
        self.samples.push(sample);
        *spent += started.elapsed();
        Ok(())
    }

    /// Times a sample, if the engine got so far: operation by operation on `single`, in one go on `whole`.
    fn time(
        &mut self,
        number: usize,
        chunk: &Chunk,
        single: &mut dyn Session,
        whole: &mut dyn Session,
        cost_ns: u64,
    ) -> Result<(), String> {
        let Some(sample) = self.samples.get_mut(number) else { return Ok(()) };
        let costs = self.costs.get_mut(sample.allocs.clone()).unwrap_or_default();
        let mut costs = costs.iter_mut();
        let (mut one_by_one, mut in_one_go) = (Fnv::default(), Fnv::default());
        let mut spent = [Duration::ZERO; 2];
        for (ops, around) in chunk.stretches() {
            let mut answers = vec![Answer::default(); ops.len()];
            let mut took = vec![0; ops.len()];
            single.run_timed(ops, &mut answers, &mut took);
            add(&mut one_by_one, &answers);
            let times = ops.iter().zip(&took).filter(|(op, _)| !(around || op.is_free()));
            for ((_, took), cost) in times.zip(&mut costs) {
                cost.ns = cost.ns.min(u32::try_from(took.saturating_sub(cost_ns)).unwrap_or(u32::MAX));
            }
            let [sampled, others] = &mut spent;
            let before = Instant::now();
            whole.run(ops, &mut answers);
            *(if around { others } else { sampled }) += before.elapsed();
            add(&mut in_one_go, &answers);
        }
        if one_by_one != sample.answers || in_one_go != sample.answers {
            return Err("another answer than in the checked run".to_owned());
        }
        for (stretch, spent) in [&mut sample.sampled, &mut sample.around].into_iter().zip(spent) {
            stretch.ns.push(u64::try_from(spent.as_nanos()).unwrap_or(u64::MAX));
        }
        Ok(())
    }
}
