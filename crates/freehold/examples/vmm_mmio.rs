//! Devices behind memory-mapped registers: virtual CPUs find the device of each address that a guest touches, without a lock,
//! while a control thread plugs devices in, moves them and takes them out. An unplugged device is closed before that thread goes on.
//!
//! `cargo run --release -p freehold --features std --example vmm_mmio`

use freehold::kva::SharedSpace;
use freehold::prelude::*;
use std::error::Error;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
/// Where devices are placed.
const BASE: u64 = 3 * GIB;
/// Virtual CPUs.
const CPUS: u64 = 3;
/// Devices that stay from the start to the end.
const KEPT: u64 = 16;
/// Devices that are plugged in, moved and taken out.
const ROUNDS: u64 = 200;

type Failure = Box<dyn Error + Send + Sync>;

/// What the bus knows of a device: its registers are wherever the bus says.
trait Device: Send + Sync {
    fn read(&self, offset: u64) -> Option<u64>;
}

/// A device without a backend. It only knows how many registers it has.
struct Timer {
    registers: u64,
    reads: AtomicU64,
}

impl Device for Timer {
    fn read(&self, offset: u64) -> Option<u64> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        (offset / 8 < self.registers).then_some(offset / 8)
    }
}

/// A device whose backend is a connection, which must be closed before a device like it is plugged in again.
struct Disk {
    registers: u64,
    backend: UnixStream,
}

impl Device for Disk {
    fn read(&self, offset: u64) -> Option<u64> {
        (offset / 8 < self.registers).then(|| self.backend.as_raw_fd() as u64)
    }
}

type Bus = SharedSpace<dyn Device>;

/// What a virtual CPU met.
#[derive(Debug, Default)]
struct Exits {
    served: u64,
    nobody: u64,
}

/// A virtual CPU: each exit to the VMM is an address, and the device that has it reads one of its registers.
fn run_guest(bus: &Bus, seed: u64, done: &AtomicBool) -> Result<Exits, Failure> {
    let (mut exits, mut random) = (Exits::default(), seed);
    while !done.load(Ordering::Acquire) || exits.served == 0 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let address = BASE + (random >> 33) % (32 * MIB);
        let reading = bus.read();
        match reading.entry_at(address) {
            Some((place, device)) => {
                let register = device.read(address - place.first());
                register.ok_or_else(|| format!("no register at {address:#x} of {place}"))?;
                exits.served += 1;
            }
            None => exits.nobody += 1,
        }
    }
    Ok(exits)
}

/// Plugs disks in, moves them beyond the others, takes them out, and closes the connection of each.
fn control(bus: &Bus) -> Result<(), Failure> {
    for round in 0..ROUNDS {
        let bytes = (4 * KIB) << (round % 6);
        let (backend, mut server) = UnixStream::pair()?;
        let place = bus.alloc(&Request::natural(bytes), Arc::new(Disk { registers: bytes / 8, backend }))?;

        // The guest writes another address into the BAR. Accesses reach the device at both places until the commit.
        let pending = bus.begin_move(place.first(), BASE + 24 * MIB + (round % 32) * 128 * KIB)?;
        let place = bus.commit_move(pending)?;

        // From now on no access finds the disk. It does not wait: a virtual CPU that found the disk before may still be in it.
        let (_, device) = bus.free(place.first())?;
        // Waits until those virtual CPUs have left.
        bus.synchronize()?;
        // The last `Arc`: this closes the connection.
        drop(device);
        // The other end of a closed connection has nothing to read; that of an open one would wait.
        server.set_nonblocking(true)?;
        let read = server.read(&mut [0]);
        if read.as_ref().ok() != Some(&0) {
            return Err(format!("the backend of the disk at {place} is still open: {read:?}").into());
        }
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    let window = Span::from_size(BASE, 32 * MIB).ok_or("no window")?;
    let bus = Bus::new(window, Align::PAGE, Placement::Lowest)?;
    let mut kept = Vec::new();
    for _ in 0..KEPT {
        let timer = Arc::new(Timer { registers: MIB / 8, reads: AtomicU64::new(0) });
        bus.alloc(&Request::natural(MIB), Arc::clone(&timer) as Arc<dyn Device>)?;
        kept.push(timer);
    }
    let done = AtomicBool::new(false);
    let exits = std::thread::scope(|scope| {
        let (bus, done) = (&bus, &done);
        let guest = |seed| scope.spawn(move || run_guest(bus, seed, done));
        let guests: Vec<_> = (1..=CPUS).map(guest).collect();
        let controlled = control(bus);
        done.store(true, Ordering::Release);
        let joined = guests.into_iter().map(|guest| guest.join());
        let exits = joined.map(|exits| exits.map_err(|_| Failure::from("a virtual CPU panicked"))?);
        let exits = exits.collect::<Result<Vec<Exits>, Failure>>();
        controlled.and(exits)
    })?;
    let served: u64 = exits.iter().map(|exits| exits.served).sum();
    let nobody: u64 = exits.iter().map(|exits| exits.nobody).sum();
    println!(
        "{ROUNDS} disks came, moved and went, each closed; {served} accesses were served, {nobody} were nobody's"
    );
    assert_eq!(bus.len() as u64, KEPT);
    let by_kept: u64 = kept.iter().map(|timer| timer.reads.load(Ordering::Relaxed)).sum();
    assert!(by_kept > 0 && by_kept <= served);
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn runs() -> Result<(), super::Failure> {
        super::main()
    }
}
