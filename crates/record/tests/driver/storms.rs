//! Loads to record, as commands: this program again, with the load in its environment.

use freehold_harness::bpf::Map;
use freehold_sys::{Reservation, SysError};
use freehold_trace::SplitMix;
use std::env;
use std::os::unix::process::CommandExt;
use std::thread;
use std::time::Duration;

/// Threads of a load, and mappings that each of them makes.
pub(crate) const THREADS: usize = 16;
pub(crate) const MAPPINGS: usize = 500;

/// The variable that names a load: its name, and how much of it.
const STORM: &str = "FREEHOLD_STORM";

/// The command that runs a load.
pub(crate) fn command(name: &str) -> [&'static str; 6] {
    // Leaked, as a test has one for a moment.
    let leak = |text: String| &*text.leak();
    let program = env::current_exe().unwrap().into_os_string().into_string().unwrap();
    ["env", leak(format!("{STORM}={name}")), leak(program), "--exact", "storms::a_storm_runs", "--nocapture"]
}

/// Areas of the kernel: arrays of many sizes, some of which are kept for a while.
pub(crate) fn areas(number: usize) -> Result<(), SysError> {
    let (mut random, mut kept) = (SplitMix::new(1), Vec::new());
    for _ in 0..number {
        let most = if random.uniform(8) == 0 { 500 } else { 40 };
        let pages = 9 + random.uniform(most) as u32;
        kept.push(Map::array(pages * 4096)?);
        if kept.len() > 200 {
            kept.swap_remove(random.uniform(200) as usize);
        }
    }
    // The kernel frees them a moment later, and shall not be listing its areas then.
    drop(kept);
    thread::sleep(Duration::from_millis(200));
    Ok(())
}

/// Per-CPU objects: `number` are allocated, and freed at once.
pub(crate) fn objects(number: u32) -> Result<(), SysError> {
    Map::percpu_hash(number).map(drop)
}

/// Stacks of threads, in the kernel and here.
fn threads(number: usize) {
    for _ in 0..number.div_ceil(40) {
        let batch: Vec<_> = (0..40).map(|_| thread::spawn(thread::yield_now)).collect();
        batch.into_iter().for_each(|thread| thread.join().unwrap());
    }
}

/// Mappings, by threads of one address space at the same time.
fn mappings(each: usize) {
    thread::scope(|scope| {
        for seed in 0..THREADS {
            scope.spawn(move || {
                let (mut random, mut kept) = (SplitMix::new(seed as u64), Vec::new());
                for _ in 0..each {
                    let pages = 1 + random.uniform(3) as usize;
                    let reserved = Reservation::new(pages * 4096).unwrap();
                    if random.uniform(2) == 0 {
                        reserved.commit(0..4096).unwrap();
                    }
                    kept.push(reserved);
                    if kept.len() > 2 {
                        kept.swap_remove(random.uniform(2) as usize);
                    }
                }
            });
        }
    });
}

#[test]
fn a_storm_runs() {
    let asked = env::var(STORM).unwrap_or_default();
    let (name, number) = asked.split_once(':').unwrap_or((&asked, ""));
    let number = |usual: usize| number.parse().unwrap_or(usual);
    match name {
        "areas" => areas(number(3000)).unwrap(),
        "threads" => threads(number(10_000)),
        "objects" => (0..4).for_each(|_| objects(number(75_000) as u32).unwrap()),
        "mappings" => mappings(number(MAPPINGS)),
        // A thread that is not the first one executes a program, while another one maps.
        "executing" => {
            thread::spawn(|| mappings(usize::MAX));
            let error = std::process::Command::new("cat").arg("/dev/null").exec();
            panic!("{error}");
        }
        // A little of each that needs no rights.
        "" => {
            threads(40);
            mappings(10);
        }
        other => panic!("no load {other:?}"),
    }
}
