//! Devices behind memory-mapped registers: virtual CPUs find the device of each address that a guest touches, without a lock,
//! while a control thread plugs devices in, moves them and takes them out.
//!
//! `cargo run --release -p freehold --features std --example vmm_mmio`

use freehold::maple::MapleTree;
use freehold::maple::maple_tree::WriteError;
use freehold::prelude::*;
use std::error::Error;
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
const ROUNDS: u64 = 2000;

type Failure = Box<dyn Error + Send + Sync>;

/// A device. Its registers are wherever the map says; it only knows how many there are.
struct Device {
    name: String,
    registers: u64,
    reads: AtomicU64,
}

impl Device {
    fn new(name: String, bar_bytes: u64) -> Arc<Self> {
        Arc::new(Self { name, registers: bar_bytes / 8, reads: AtomicU64::new(0) })
    }

    /// Reads a register.
    fn read(&self, offset: u64) -> Option<u64> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        (offset / 8 < self.registers).then_some(offset / 8)
    }
}

/// The control thread's: the map that virtual CPUs look up, and places, which are its own.
struct Bus<'a> {
    devices: &'a MapleTree<Arc<Device>>,
    places: AddressSpace<()>,
}

impl Bus<'_> {
    /// Places a device, and shows it.
    fn plug(&mut self, device: &Arc<Device>) -> Result<Span, Failure> {
        let place = self.places.alloc(&Request::natural(device.registers * 8), ())?;
        self.show(place, device)?;
        Ok(place)
    }

    /// Stores are refused while readers hold back too much of what was replaced: whoever writes waits and tries again.
    fn show(&self, place: Span, device: &Arc<Device>) -> Result<(), Failure> {
        loop {
            match self.devices.insert(place, Arc::clone(device)) {
                Err(refused) if matches!(refused.cause, WriteError::Full { .. }) => std::thread::yield_now(),
                Err(refused) => return Err(refused.cause.to_string().into()),
                Ok(()) => return Ok(()),
            }
        }
    }

    fn hide(&self, place: Span) -> Result<(), Failure> {
        loop {
            match self.devices.erase(place.first()) {
                Err(WriteError::Full { .. }) => std::thread::yield_now(),
                Err(error) => return Err(error.to_string().into()),
                Ok(Some(erased)) if erased == place => return Ok(()),
                Ok(other) => return Err(format!("{other:?} was hidden, not {place}").into()),
            }
        }
    }

    /// Takes a device out. A virtual CPU that found it before may still be in it: it lives as long as that.
    fn unplug(&mut self, place: Span) -> Result<(), Failure> {
        self.hide(place)?;
        // Nobody finds it any more, so the place may be another's.
        self.places.free(place.first())?;
        Ok(())
    }

    /// The guest writes another address into a device's BAR. Accesses at both places reach it until the old one is gone.
    fn move_to(&mut self, place: Span, to: u64, device: &Arc<Device>) -> Result<Span, Failure> {
        let moving = self.places.begin_move(place.first(), to)?;
        let new = Span::from_size(to, place.size_saturating()).ok_or("no such place")?;
        self.show(new, device)?;
        self.hide(place)?;
        Ok(self.places.commit_move(moving)?)
    }
}

/// What a virtual CPU met.
#[derive(Debug, Default)]
struct Exits {
    served: u64,
    nobody: u64,
}

/// A virtual CPU: each exit to the VMM is an address, and the device that has it reads one of its registers.
fn run_guest(devices: &MapleTree<Arc<Device>>, seed: u64, done: &AtomicBool) -> Result<Exits, Failure> {
    let (mut exits, mut random) = (Exits::default(), seed);
    while !done.load(Ordering::Acquire) || exits.served == 0 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let address = BASE + (random >> 33) % (32 * MIB);
        let reading = devices.read();
        match reading.entry_at(address) {
            Some((place, device)) => {
                let register = device.read(address - place.first());
                register.ok_or_else(|| format!("{}: no register at {address:#x} of {place}", device.name))?;
                exits.served += 1;
            }
            None => exits.nobody += 1,
        }
    }
    Ok(exits)
}

/// Plugs devices in, moves them beyond the others, and takes them out.
fn control(bus: &mut Bus, kept: &[(Span, Arc<Device>)]) -> Result<(), Failure> {
    for round in 0..ROUNDS {
        let device = Device::new(format!("hot-plugged {round}"), (4 * KIB) << (round % 6));
        let place = bus.plug(&device)?;
        let to = BASE + 24 * MIB + (round % 32) * 128 * KIB;
        let place = bus.move_to(place, to, &device)?;
        let reading = bus.devices.read();
        let found = reading.get(place.last()).ok_or("the device is lost")?;
        if found.name != device.name {
            return Err(format!("{} is at {place}, not {}", found.name, device.name).into());
        }
        drop(reading);
        bus.unplug(place)?;
        // What stays is found at every moment.
        let (place, device) = &kept[(round % KEPT) as usize];
        let found = bus.devices.get_owned(place.first()).ok_or("a device that stays is lost")?;
        assert!(Arc::ptr_eq(&found, device));
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    let window = Span::from_size(BASE, 32 * MIB).ok_or("no window")?;
    let devices = MapleTree::new();
    let mut bus =
        Bus { devices: &devices, places: AddressSpace::new(window, Align::PAGE, Placement::Lowest)? };
    let mut kept = Vec::new();
    for number in 0..KEPT {
        let device = Device::new(format!("device {number}"), MIB);
        kept.push((bus.plug(&device)?, device));
    }
    let done = AtomicBool::new(false);
    let exits = std::thread::scope(|scope| {
        let (devices, done) = (&devices, &done);
        let guest = |seed| scope.spawn(move || run_guest(devices, seed, done));
        let guests: Vec<_> = (1..=CPUS).map(guest).collect();
        let controlled = control(&mut bus, &kept);
        done.store(true, Ordering::Release);
        let joined = guests.into_iter().map(|guest| guest.join());
        let exits = joined.map(|exits| exits.map_err(|_| Failure::from("a virtual CPU panicked"))?);
        let exits = exits.collect::<Result<Vec<Exits>, Failure>>();
        controlled.and(exits)
    })?;
    let served: u64 = exits.iter().map(|exits| exits.served).sum();
    let nobody: u64 = exits.iter().map(|exits| exits.nobody).sum();
    println!("{ROUNDS} devices came, moved and went; {served} accesses were served, {nobody} were nobody's");
    assert_eq!(devices.len(), KEPT);
    let by_kept: u64 = kept.iter().map(|(_, device)| device.reads.load(Ordering::Relaxed)).sum();
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
