//! Threads that move what the kernel's buffers have into files, one for each CPU.
//!
//! ```text
//!   buffer of CPU N --- trace_pipe_raw ---> thread, on another CPU --- whole sub-buffers ---> cpuN.raw
//! ```
//!
//! Nothing is parsed. A buffer is emptied every few milliseconds, so that its size has to be that of a burst and not that of the recording.
//! Cost: one copy of each sub-buffer; memory for 64 of them a CPU.

use super::failure::Failure;
use super::machine::online;
use freehold_harness::threads::Thread;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How long a thread waits when a buffer is empty.
const PAUSE: Duration = Duration::from_millis(10);
/// Sub-buffers that are written at once.
const AT_ONCE: usize = 64;
/// `O_NONBLOCK`: an empty buffer is no reason to wait in the kernel, which wakes a reader for each event.
const NON_BLOCKING: i32 = libc::O_NONBLOCK;

/// The threads.
#[derive(Debug)]
pub(crate) struct Readers {
    stop: Arc<AtomicBool>,
    threads: Vec<(PathBuf, JoinHandle<io::Result<()>>)>,
}

impl Readers {
    /// Starts a thread for each of `pipes`: a CPU, its `trace_pipe_raw`, and the file for it.
    pub(crate) fn start(pipes: &[(u32, PathBuf, PathBuf)], sub_buffer: usize) -> Result<Self, Failure> {
        let cpus = online();
        let mut readers = Self { stop: Arc::new(AtomicBool::new(false)), threads: Vec::new() };
        for (cpu, pipe, file) in pipes {
            let from = OpenOptions::new().read(true).custom_flags(NON_BLOCKING).open(pipe);
            let from = from.map_err(Failure::file(pipe, "read"))?;
            let to = File::create(file).map_err(Failure::file(file, "written"))?;
            let at = cpus.iter().position(|one| one == cpu).unwrap_or(0);
            let other = cpus.get((at + 1) % cpus.len()).copied();
            let stop = Arc::clone(&readers.stop);
            let thread = thread::Builder::new().name(format!("reader {cpu}")).spawn(move || {
                // A reader that stays on the CPU it reads of works as well, a little more in the way.
                other.map(|other| Thread::current().move_to(other));
                copy(from, to, sub_buffer, &stop)
            });
            readers.threads.push((pipe.clone(), thread.map_err(Failure::file(pipe, "read"))?));
        }
        Ok(readers)
    }

    /// Stops them once the buffers are empty, which they are soon after tracing is off.
    pub(crate) fn stop(mut self) -> Result<(), Failure> {
        self.join()
    }

    fn join(&mut self) -> Result<(), Failure> {
        // Release: pairs with the load of a reader, which reads what was in the buffer before.
        self.stop.store(true, Ordering::Release);
        let mut done = Ok(());
        for (pipe, thread) in self.threads.drain(..) {
            let copied = thread.join().unwrap_or_else(|_| Err(io::Error::other("its thread panicked")));
            done = done.and(copied.map_err(Failure::file(&pipe, "copied")));
        }
        done
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        // There is an error already.
        let _ = self.join();
    }
}

/// Copies sub-buffers until the buffer is empty after `stop` was set.
fn copy(mut from: impl Read, to: impl Write, sub_buffer: usize, stop: &AtomicBool) -> io::Result<()> {
    let mut to = BufWriter::with_capacity(AT_ONCE * sub_buffer, to);
    let mut bytes = vec![0; sub_buffer];
    loop {
        let stopped = stop.load(Ordering::Acquire);
        loop {
            match from.read(&mut bytes) {
                // The end of a file that stands for a buffer.
                Ok(0) => break,
                // A sub-buffer that is not full ends with what was in it before.
                Ok(length) => {
                    bytes[length..].fill(0);
                    to.write_all(&bytes)?;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        if stopped {
            return to.flush();
        }
        thread::sleep(PAUSE);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops at once")]
mod tests {
    use super::*;

    /// What a pipe gives, read by read.
    struct Reads(Vec<io::Result<Vec<u8>>>);

    impl Read for Reads {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let read = self.0.remove(0)?;
            into[..read.len()].copy_from_slice(&read);
            Ok(read.len())
        }
    }

    #[test]
    fn sub_buffers_are_copied_whole() {
        let stop = AtomicBool::new(true);
        let mut to = Vec::new();
        let interrupted = Err(io::ErrorKind::Interrupted.into());
        let reads = vec![Ok(vec![1; 8]), interrupted, Ok(vec![2; 3]), Ok(vec![3; 8])];
        copy(Reads(reads), &mut to, 8, &stop).unwrap();
        assert_eq!(to, [[1; 8], [2, 2, 2, 0, 0, 0, 0, 0], [3; 8]].concat());
    }

    #[test]
    fn a_buffer_that_cannot_be_read_is_an_error() {
        let reads = vec![Ok(vec![1; 8]), Err(io::Error::other("gone"))];
        let copied = copy(Reads(reads), &mut Vec::new(), 8, &AtomicBool::new(false));
        assert_eq!(copied.unwrap_err().to_string(), "gone");
    }
}
