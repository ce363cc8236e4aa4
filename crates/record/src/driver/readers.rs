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
use std::path::{Path, PathBuf};
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

/// A CPU's buffer.
#[derive(Debug)]
pub(crate) struct Pipe {
    pub(crate) cpu: u32,
    /// Its `trace_pipe_raw`, and the name that people know it by.
    pub(crate) from: PathBuf,
    pub(crate) shown: PathBuf,
    /// The file for it.
    pub(crate) to: PathBuf,
}

/// The threads.
#[derive(Debug)]
pub(crate) struct Readers {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Result<(), Failure>>>,
}

impl Readers {
    /// Starts a thread for each pipe.
    pub(crate) fn start(pipes: Vec<Pipe>, sub_buffer: usize) -> Result<Self, Failure> {
        let cpus = online();
        let mut readers = Self { stop: Arc::new(AtomicBool::new(false)), threads: Vec::new() };
        for Pipe { cpu, from, shown, to } in pipes {
            let pipe = OpenOptions::new().read(true).custom_flags(NON_BLOCKING).open(from);
            let pipe = pipe.map_err(Failure::file(&shown, "read"))?;
            let file = File::create(&to).map_err(Failure::file(&to, "written"))?;
            let at = cpus.iter().position(|one| *one == cpu).unwrap_or(0);
            let other = cpus.get((at + 1) % cpus.len()).copied();
            let (stop, name) = (Arc::clone(&readers.stop), shown.clone());
            let thread = thread::Builder::new().name(format!("reader {cpu}")).spawn(move || {
                // A reader that stays on the CPU it reads of works as well, a little more in the way.
                other.map(|other| Thread::current().move_to(other));
                copy((pipe, &name), (file, &to), sub_buffer, &stop)
            });
            readers.threads.push(thread.map_err(Failure::file(&shown, "read"))?);
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
        for thread in self.threads.drain(..) {
            let name = thread.thread().name().unwrap_or_default().to_owned();
            let panicked = || Failure::file(Path::new(&name), "joined")(io::Error::other("it panicked"));
            done = done.and(thread.join().unwrap_or_else(|_| Err(panicked())));
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

/// Copies sub-buffers until the buffer is empty after `stop` was set. The paths are for errors.
fn copy(
    (mut from, pipe): (impl Read, &Path),
    (to, file): (impl Write, &Path),
    sub_buffer: usize,
    stop: &AtomicBool,
) -> Result<(), Failure> {
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
                    to.write_all(&bytes).map_err(Failure::file(file, "written"))?;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::file(pipe, "read")(error)),
            }
        }
        if stopped {
            return to.flush().map_err(Failure::file(file, "written"));
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
        copy((Reads(reads), Path::new("pipe")), (&mut to, Path::new("file")), 8, &stop).unwrap();
        assert_eq!(to, [[1; 8], [2, 2, 2, 0, 0, 0, 0, 0], [3; 8]].concat());
    }

    #[test]
    fn an_error_names_the_file_that_it_is_of() {
        let copied = |end: io::Result<Vec<u8>>, room: usize| {
            let (reads, mut room) = (vec![Ok(vec![1; 8]), end], vec![0; room]);
            let (from, to) = ((Reads(reads), Path::new("pipe")), (&mut room[..], Path::new("file")));
            copy(from, to, 8, &AtomicBool::new(true)).unwrap_err().to_string()
        };
        assert_eq!(copied(Err(io::Error::other("gone")), 8), "pipe cannot be read: gone");
        assert!(copied(Ok(vec![2; 8]), 8).starts_with("file cannot be written: "));
    }
}
