//! The process of the engine: loads it, and runs what comes through the pipe until that is closed.

use super::library::Library;
use super::{Answer, Op, Plain, Scene, Span, VERSION, bytes, bytes_mut, request};
use crate::last;
use std::ffi::c_void;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::FromRawFd;
use std::path::Path;
use std::time::Instant;

/// `struct freehold_scene`
#[repr(C)]
struct RawScene {
    spans: *const Span,
    span_count: usize,
    granule: u64,
    unit_bytes: u64,
}

/// `struct freehold_engine`
#[repr(C)]
struct Table {
    version: u32,
    family: u32,
    takes: u32,
    grain: u32,
    create: Option<unsafe extern "C" fn(*const RawScene) -> *mut c_void>,
    run_batch: Option<unsafe extern "C" fn(*mut c_void, *const Op, *mut Answer, usize)>,
    bytes: Option<unsafe extern "C" fn(*const c_void) -> usize>,
    destroy: Option<unsafe extern "C" fn(*mut c_void)>,
}

/// The most operations or spans that come at once.
const MOST: u64 = 1 << 24;

/// Serves the engine of a shared object over standard input and output until the input ends. What the engine itself prints goes to
/// standard error.
///
/// # Errors
/// The pipe breaks. What is wrong with the object is told through the pipe.
pub fn serve(path: &Path) -> io::Result<()> {
    // An engine that hangs does not see that its input ends, and would outlive the lab.
    // SAFETY: the call takes numbers.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    // SAFETY: the calls concern numbers of open files alone.
    let out = unsafe { libc::dup(1) };
    // SAFETY: as above.
    if out < 0 || unsafe { libc::dup2(2, 1) } < 0 {
        return Err(io::Error::other(last("dup").to_string()));
    }
    // SAFETY: the number is new, and nobody else has it.
    let mut out = unsafe { File::from_raw_fd(out) };
    let mut input = io::stdin().lock();
    let table = match load(path) {
        Ok(table) => table,
        Err(reason) => {
            put(&mut out, &[0, reason.len() as u64, 0, 0])?;
            return out.write_all(reason.as_bytes());
        }
    };
    put(&mut out, &[1, table.0.family.into(), table.0.takes.into(), table.0.grain.into()])?;
    let mut engine: Option<Engine> = None;
    loop {
        let mut head = [0_u64; 4];
        match input.read_exact(bytes_mut(&mut head)) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            read => read?,
        }
        let [kind, n, granule, unit_bytes] = head;
        match (kind, &mut engine) {
            (request::CREATE, _) => {
                let scene = Scene { spans: take(&mut input, n)?, granule, unit_bytes };
                engine = table.create(&scene);
                put(&mut out, &[u64::from(engine.is_some())])?;
            }
            (request::RUN, Some(engine)) => {
                let ops: Vec<Op> = take(&mut input, n)?;
                let mut answers = vec![Answer::default(); ops.len()];
                let took = engine.run(&ops, &mut answers);
                put(&mut out, &answers)?;
                put(&mut out, &[took])?;
            }
            (request::EACH, Some(engine)) => {
                let ops: Vec<Op> = take(&mut input, n)?;
                let (mut answers, mut took) = (vec![Answer::default(); ops.len()], vec![0; ops.len()]);
                for ((op, answer), took) in ops.iter().zip(&mut answers).zip(&mut took) {
                    *took = engine.run(std::slice::from_ref(op), std::slice::from_mut(answer));
                }
                put(&mut out, &answers)?;
                put(&mut out, &took)?;
            }
            (request::BYTES, Some(engine)) => put(&mut out, &[engine.bytes()])?,
            _ => return Err(io::Error::other("no such request")),
        }
    }
}

fn put<T: Plain>(out: &mut File, items: &[T]) -> io::Result<()> {
    out.write_all(bytes(items))
}

fn take<T: Plain>(input: &mut impl Read, n: u64) -> io::Result<Vec<T>> {
    let count =
        usize::try_from(n).ok().filter(|_| n <= MOST).ok_or_else(|| io::Error::other("too many at once"))?;
    let mut items = vec![T::default(); count];
    input.read_exact(bytes_mut(&mut items)).map(|()| items)
}

/// The functions of an object that stays loaded, none of which is missing.
#[derive(Clone, Copy)]
struct Loaded(&'static Table);

fn load(path: &Path) -> Result<Loaded, String> {
    let at = Library::open(path)?.symbol(c"freehold_engine")?.cast::<Table>();
    // SAFETY: a symbol of that name begins with its version, which the header demands; it stays loaded.
    let version = unsafe { (*at).version };
    if version != VERSION {
        return Err(format!(
            "it is of version {version} of freehold_engine.h, which is at version {VERSION}"
        ));
    }
    // SAFETY: a table of this version has these fields; it is constant and stays loaded.
    let table = unsafe { &*at };
    if !(1..=3).contains(&table.family) || table.takes > 3 {
        return Err(format!("it is of family {} and takes {}, which are none", table.family, table.takes));
    }
    let whole = table.create.is_some() && table.run_batch.is_some() && table.bytes.is_some();
    if whole && table.destroy.is_some() {
        Ok(Loaded(table))
    } else {
        Err("a function of its table is NULL".to_owned())
    }
}

impl Loaded {
    fn create(self, scene: &Scene) -> Option<Engine> {
        let raw = RawScene {
            spans: scene.spans.as_ptr(),
            span_count: scene.spans.len(),
            granule: scene.granule,
            unit_bytes: scene.unit_bytes,
        };
        // SAFETY: the function is of the header's type; the scene is whole, and there until it returns.
        let engine = unsafe { self.0.create?(&raw const raw) };
        (!engine.is_null()).then(|| Engine { table: self.0, engine })
    }
}

/// An engine at work.
struct Engine {
    table: &'static Table,
    engine: *mut c_void,
}

impl Engine {
    /// Runs a batch; nanoseconds.
    fn run(&mut self, ops: &[Op], answers: &mut [Answer]) -> u64 {
        assert_eq!(ops.len(), answers.len(), "an answer for each operation");
        let Some(run_batch) = self.table.run_batch else { return 0 };
        let before = Instant::now();
        // SAFETY: the function is of the header's type, the engine is its own, and both arrays have so many items.
        unsafe { run_batch(self.engine, ops.as_ptr(), answers.as_mut_ptr(), ops.len()) };
        u64::try_from(before.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn bytes(&self) -> u64 {
        // SAFETY: the function is of the header's type, and the engine is its own.
        self.table.bytes.map_or(0, |bytes| unsafe { bytes(self.engine) } as u64)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        if let Some(destroy) = self.table.destroy {
            // SAFETY: the function is of the header's type; the engine is its own, and nobody has it afterwards.
            unsafe { destroy(self.engine) };
        }
    }
}
