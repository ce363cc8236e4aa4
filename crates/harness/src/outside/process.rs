//! The lab's side: starts the process of an engine, asks it, and says how it ended.

use super::{About, Answer, Op, Plain, Scene, bytes, bytes_mut, request, status};
use crate::last;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Operations of a batch at most: 192 KiB.
const BATCH: usize = 4096;

/// The process of an engine.
#[derive(Debug)]
pub struct Process {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    timeout: Duration,
    batches: u64,
    /// How it ended, once it has.
    ended: Option<String>,
}

impl Process {
    /// Starts the program, which calls [`serve`](super::serve), and hears what its engine says of itself. The engine has `timeout`
    /// for whatever it is asked; then its process is ended.
    ///
    /// # Errors
    /// There is no such program, or what is wrong with the engine.
    pub fn start(program: &mut Command, timeout: Duration) -> Result<(Self, About), String> {
        let piped = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = piped.map_err(|error| format!("its process cannot be started: {error}"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("its process has no pipes".to_owned());
        };
        let mut process = Self { child, input, output, timeout, batches: 0, ended: None };
        let mut head = [0_u64; 4];
        process.read(&mut head).map_err(|how| format!("{how} while it was loaded"))?;
        let [loaded, family, takes, grain] = head;
        if loaded == 0 {
            let mut reason = vec![0; usize::try_from(family).unwrap_or(0).min(4096)];
            process.fill(&mut reason, Instant::now() + timeout)?;
            return Err(String::from_utf8_lossy(&reason).into_owned());
        }
        let small = |word| u32::try_from(word).unwrap_or(u32::MAX);
        Ok((process, About { family: small(family), takes: small(takes), grain: small(grain) }))
    }

    /// Makes a fresh engine, in place of the one before.
    ///
    /// # Errors
    /// The process has ended, and how; or the engine cannot manage that.
    pub fn create(&mut self, scene: &Scene) -> Result<(), String> {
        let head = [request::CREATE, scene.spans.len() as u64, scene.granule, scene.unit_bytes];
        let mut made = [0_u64];
        self.write(&head).and_then(|()| self.write(&scene.spans)).and_then(|()| self.read(&mut made))?;
        if made == [0] { Err("it cannot manage that space".to_owned()) } else { Ok(()) }
    }

    /// Runs operations in batches; nanoseconds, read in the process around its function.
    ///
    /// # Errors
    /// The process has ended: how, and in which batch.
    pub fn run(&mut self, ops: &[Op], answers: &mut [Answer]) -> Result<u64, String> {
        let mut all = 0_u64;
        for (ops, answers) in ops.chunks(BATCH).zip(answers.chunks_mut(BATCH)) {
            let mut took = [0_u64];
            self.batch(request::RUN, ops, answers, &mut took)?;
            all = all.saturating_add(took[0]);
        }
        Ok(all)
    }

    /// Runs operations, each a batch of its own for the engine; the nanoseconds of each.
    ///
    /// # Errors
    /// As of [`run`](Self::run).
    pub fn run_each(&mut self, ops: &[Op], answers: &mut [Answer], took: &mut [u64]) -> Result<(), String> {
        let batches = ops.chunks(BATCH).zip(answers.chunks_mut(BATCH)).zip(took.chunks_mut(BATCH));
        for ((ops, answers), took) in batches {
            self.batch(request::EACH, ops, answers, took)?;
        }
        Ok(())
    }

    fn batch(
        &mut self,
        kind: u64,
        ops: &[Op],
        answers: &mut [Answer],
        took: &mut [u64],
    ) -> Result<(), String> {
        self.batches += 1;
        let asked = self.write(&[kind, ops.len() as u64, 0, 0]).and_then(|()| self.write(ops));
        asked.and_then(|()| self.read(answers)).and_then(|()| self.read(took))?;
        let odd = answers.iter().find(|answer| answer.status > status::EXISTS);
        odd.map_or(Ok(()), |odd| {
            let how =
                format!("answered with status {}, which is none, in batch {}", odd.status, self.batches);
            let _ = self.child.kill();
            let _ = self.child.wait();
            Err(self.ended.insert(how).clone())
        })
    }

    /// Bytes that the engine holds for its own structures, as it says.
    ///
    /// # Errors
    /// The process has ended, and how.
    pub fn bytes(&mut self) -> Result<u64, String> {
        let mut held = [0_u64];
        self.write(&[request::BYTES, 0, 0, 0]).and_then(|()| self.read(&mut held)).map(|()| held[0])
    }

    /// How the process ended, if it has.
    #[must_use]
    pub fn ended(&self) -> Option<&str> {
        self.ended.as_deref()
    }

    fn write<T: Plain>(&mut self, items: &[T]) -> Result<(), String> {
        if let Some(how) = &self.ended {
            return Err(how.clone());
        }
        // The process reads all of a request before it does anything, so this waits for no engine.
        match self.input.write_all(bytes(items)) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.end(&error)),
        }
    }

    fn read<T: Plain>(&mut self, items: &mut [T]) -> Result<(), String> {
        self.fill(bytes_mut(items), Instant::now() + self.timeout)
    }

    fn fill(&mut self, into: &mut [u8], until: Instant) -> Result<(), String> {
        let mut rest = into;
        while !rest.is_empty() {
            match self.ready(until).and_then(|()| self.output.read(rest)) {
                Ok(0) => return Err(self.end(&io::ErrorKind::UnexpectedEof.into())),
                Ok(read) => rest = &mut rest[read..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.end(&error)),
            }
        }
        Ok(())
    }

    /// Waits until the process has said something.
    fn ready(&self, until: Instant) -> io::Result<()> {
        let mut poll = libc::pollfd { fd: self.output.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let left = until.saturating_duration_since(Instant::now()).as_millis();
        let left = libc::c_int::try_from(left).unwrap_or(libc::c_int::MAX);
        // SAFETY: the call writes to the one structure that it is given.
        match unsafe { libc::poll(&raw mut poll, 1, left) } {
            0 => Err(io::ErrorKind::TimedOut.into()),
            1.. => Ok(()),
            _ => Err(io::Error::from_raw_os_error(last("poll").errno)),
        }
    }

    /// Ends the process, if it has not ended itself; how it ended.
    fn end(&mut self, error: &io::Error) -> String {
        let late = error.kind() == io::ErrorKind::TimedOut;
        let until = Instant::now() + if late { Duration::ZERO } else { self.timeout };
        // Who closes the pipe is about to end, unless it closed the pipe alone.
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = self.child.kill();
        let told = self.child.wait().map_or_else(|error| error.to_string(), told);
        let told = if late { format!("did not answer within {:?}", self.timeout) } else { told };
        let batch = if self.batches > 0 { format!(" in batch {}", self.batches) } else { String::new() };
        self.ended.get_or_insert(format!("{told}{batch}")).clone()
    }
}

impl Drop for Process {
    /// The process ends where its input does; one that hangs is killed.
    fn drop(&mut self) {
        if self.ended.is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

fn told(status: ExitStatus) -> String {
    let name = |signal| match signal {
        libc::SIGSEGV => "SIGSEGV".to_owned(),
        libc::SIGABRT => "SIGABRT".to_owned(),
        libc::SIGBUS => "SIGBUS".to_owned(),
        libc::SIGFPE => "SIGFPE".to_owned(),
        libc::SIGILL => "SIGILL".to_owned(),
        libc::SIGKILL => "SIGKILL".to_owned(),
        libc::SIGTERM => "SIGTERM".to_owned(),
        libc::SIGTRAP => "SIGTRAP".to_owned(),
        other => format!("signal {other}"),
    };
    let code = status.code().map_or_else(String::new, |code| format!(" with code {code}"));
    status.signal().map_or_else(|| format!("ended{code}"), |signal| format!("died of {}", name(signal)))
}
