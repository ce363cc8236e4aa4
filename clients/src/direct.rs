//! A buffer pool that reads past the page cache (`O_DIRECT`): its frames are slots, which are aligned to their distance, against
//! aligned allocations of the program's allocator.

use clients::Answer;
use clients::table::{Effort, Row, compare};
use freehold_vmalloc::{RetainPolicy, SlotLayout, VirtualMemory, Zero};
use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::ops::Deref;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use std::ptr::NonNull;

const FRAME_BYTES: usize = 64 << 10;
/// What devices want addresses to be multiples of.
const ALIGN: usize = 4096;
/// Frames of the file, and those that are in memory at once.
const FILE_FRAMES: usize = 512;
const MOST_FRAMES: usize = 128;

pub fn run(effort: Effort) -> Answer<Vec<Row>> {
    let Some(file) = Numbered::new()? else {
        println!("not run: O_DIRECT, which the file system of {} lacks", std::env::temp_dir().display());
        return Ok(Vec::new());
    };
    let vm = VirtualMemory::builder().retain(RetainPolicy::bytes(1 << 30)).build()?;
    let reads = effort.of(1_000);
    let mut rows = Vec::new();
    for guard_bytes in [0, ALIGN] {
        let layout =
            SlotLayout::new(FRAME_BYTES).guard(guard_bytes).zero(Zero::No).count(2 * MOST_FRAMES as u64);
        let slots = vm.slots(&layout)?;
        let slot = |number| {
            let mut slot = slots.get()?;
            file.file.read_exact_at(&mut slot, Numbered::offset(number))?;
            Ok(slot)
        };
        let what = format!("reads of 64 KiB, guard {guard_bytes}");
        let row = compare(
            effort,
            &what,
            reads,
            || pass(reads, slot),
            || pass(reads, |number| Boxed::read(&file, number)),
        )?;
        rows.push(row);
    }
    Ok(rows)
}

/// Passes `reads` frames in no order through a pool, of which the first to come is the first to go; each is read by the device, and
/// compared when it goes.
fn pass<F: Deref<Target = [u8]>>(reads: usize, read: impl Fn(usize) -> Answer<F>) -> Answer<()> {
    let mut pool: VecDeque<(usize, F)> = VecDeque::with_capacity(MOST_FRAMES);
    for turn in 0..reads {
        if pool.len() == MOST_FRAMES
            && let Some((number, frame)) = pool.pop_front()
        {
            Numbered::check(number, &frame)?;
        }
        let number = turn * 7919 % FILE_FRAMES;
        pool.push_back((number, read(number)?));
    }
    pool.iter().try_for_each(|(number, frame)| Numbered::check(*number, frame))
}

/// A frame of the program's allocator.
struct Boxed(NonNull<u8>);

#[allow(unsafe_code, reason = "the standard library has no box of aligned bytes")]
mod boxed {
    use super::{ALIGN, Answer, Boxed, Deref, FRAME_BYTES, NonNull, Numbered};
    use std::alloc::Layout;
    use std::io;
    use std::os::fd::AsRawFd;

    const LAYOUT: Layout = match Layout::from_size_align(FRAME_BYTES, ALIGN) {
        Ok(layout) => layout,
        Err(_) => unreachable!(),
    };

    impl Boxed {
        /// A frame that holds what the file has.
        pub(super) fn read(file: &Numbered, number: usize) -> Answer<Self> {
            // SAFETY: the layout has bytes.
            let start = NonNull::new(unsafe { std::alloc::alloc(LAYOUT) }).ok_or("no memory for a frame")?;
            let frame = Self(start);
            let at = Numbered::offset(number) as i64;
            // SAFETY: the frame has so many bytes, which nobody else has.
            let read =
                unsafe { libc::pread(file.file.as_raw_fd(), frame.0.as_ptr().cast(), FRAME_BYTES, at) };
            if read == FRAME_BYTES as isize { Ok(frame) } else { Err(io::Error::last_os_error().into()) }
        }
    }

    impl Deref for Boxed {
        type Target = [u8];

        fn deref(&self) -> &[u8] {
            // SAFETY: the frame has so many bytes, and all were read.
            unsafe { NonNull::slice_from_raw_parts(self.0, FRAME_BYTES).as_ref() }
        }
    }

    impl Drop for Boxed {
        fn drop(&mut self) {
            // SAFETY: it was allocated by this layout.
            unsafe { std::alloc::dealloc(self.0.as_ptr(), LAYOUT) }
        }
    }
}

/// A file whose words are numbers in order, read past the page cache; removed when dropped.
struct Numbered {
    file: File,
    path: PathBuf,
}

impl Numbered {
    /// `None` where the file system has no such reads.
    fn new() -> Answer<Option<Self>> {
        let path = std::env::temp_dir().join(format!("freehold-clients-{}", std::process::id()));
        let words = 0..(FILE_FRAMES * FRAME_BYTES / 8) as u64;
        let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        let mut written = File::create_new(&path)?;
        written.write_all(&bytes)?;
        written.sync_all()?;
        let mut numbered = Self { file: written, path };
        match OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(&numbered.path) {
            Ok(file) => numbered.file = file,
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        Ok(Some(numbered))
    }

    fn offset(number: usize) -> u64 {
        (number * FRAME_BYTES) as u64
    }

    /// A frame is aligned, and holds what the file has at its number.
    fn check(number: usize, frame: &[u8]) -> Answer<()> {
        if !frame.as_ptr().addr().is_multiple_of(ALIGN) {
            return Err(format!("frame {number} is not aligned").into());
        }
        let words = (Self::offset(number) / 8..).map(u64::to_le_bytes);
        match frame.chunks_exact(8).zip(words).position(|(read, written)| read != written) {
            Some(word) => Err(format!("word {word} of frame {number} is not what was written").into()),
            None => Ok(()),
        }
    }
}

impl Drop for Numbered {
    fn drop(&mut self) {
        // A file in the folder of temporary ones.
        let _ = std::fs::remove_file(&self.path);
    }
}
