//! rust-vmm's `vm-device`: devices on a shared space, against its own manager behind a lock of readers and writers, with devices
//! plugged and unplugged beside the look-ups, and without.

use crate::glue::vm_device::{Bus, Device};
use clients::Answer;
use clients::table::{Effort, Row, compare};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;
use std::time::Duration;
use vm_device::bus::{MmioAddress, MmioRange};
use vm_device::device_manager::{IoManager, MmioManager};
use vm_device::{DeviceMmio, bus::MmioAddressOffset};

/// Devices that stay, each with registers of so many bytes, at twice that distance.
const DEVICES: u64 = 64;
const DEVICE_BYTES: u64 = 4096;
/// Where the first is.
const BASE: u64 = 3 << 30;
/// Between two changes of who plugs.
const PAUSE: Duration = Duration::from_micros(200);

pub fn run(effort: Effort) -> Answer<Vec<Row>> {
    let (ours, its) = (Bus::new()?, RwLock::new(IoManager::new()));
    for number in 0..DEVICES {
        plug_both(&ours, &its, number)?;
    }
    let mut rows = Vec::new();
    for (readers, at_most) in [(1, 1.0), (2, 1.0 / 1.6)] {
        for plugs in [false, true] {
            let what = format!("reads, threads: {readers}{}", if plugs { ", plugs beside" } else { "" });
            let each = effort.of(2_000_000);
            let row = compare(
                effort,
                &what,
                each * readers,
                || pass(&ours, readers, each, plugs),
                || pass(&its, readers, each, plugs),
            )?;
            rows.push(row.at_most(at_most));
        }
    }
    Ok(rows)
}

fn plug_both(ours: &Bus, its: &RwLock<IoManager>, number: u64) -> Answer<()> {
    Machine::plug(ours, number, Arc::new(Registers(AtomicU64::new(0))))?;
    Machine::plug(its, number, Arc::new(Registers(AtomicU64::new(0))))
}

/// A bus that threads share.
trait Machine: Sync {
    fn plug(&self, number: u64, device: Arc<Registers>) -> Answer<()>;
    fn unplug(&self, number: u64) -> Answer<()>;
    fn read(&self, address: MmioAddress, data: &mut [u8]) -> bool;
}

fn base(number: u64) -> MmioAddress {
    MmioAddress(BASE + number * 2 * DEVICE_BYTES)
}

fn range(number: u64) -> Answer<MmioRange> {
    Ok(MmioRange::new(base(number), DEVICE_BYTES)?)
}

impl Machine for Bus {
    fn plug(&self, number: u64, device: Arc<Registers>) -> Answer<()> {
        Bus::plug(self, range(number)?, device as Arc<Device>)
    }

    fn unplug(&self, number: u64) -> Answer<()> {
        Bus::unplug(self, base(number)).map(drop)
    }

    fn read(&self, address: MmioAddress, data: &mut [u8]) -> bool {
        Bus::read(self, address, data)
    }
}

impl Machine for RwLock<IoManager> {
    fn plug(&self, number: u64, device: Arc<Registers>) -> Answer<()> {
        let mut manager = self.write().unwrap_or_else(PoisonError::into_inner);
        Ok(manager.register_mmio(range(number)?, device)?)
    }

    fn unplug(&self, number: u64) -> Answer<()> {
        let mut manager = self.write().unwrap_or_else(PoisonError::into_inner);
        manager.deregister_mmio(base(number)).map(drop).ok_or_else(|| "nothing to unplug".into())
    }

    fn read(&self, address: MmioAddress, data: &mut [u8]) -> bool {
        self.read().unwrap_or_else(PoisonError::into_inner).mmio_read(address, data).is_ok()
    }
}

/// A device each of whose registers has its own address.
struct Registers(AtomicU64);

impl DeviceMmio for Registers {
    fn mmio_read(&self, base: MmioAddress, offset: MmioAddressOffset, data: &mut [u8]) {
        let value = base.0 + offset + self.0.load(Ordering::Relaxed);
        data.copy_from_slice(&value.to_le_bytes()[..data.len()]);
    }

    fn mmio_write(&self, _base: MmioAddress, _offset: MmioAddressOffset, data: &[u8]) {
        self.0.store(data.len() as u64, Ordering::Relaxed);
    }
}

/// Reads `each` registers in each of `readers` threads, while one more thread plugs and unplugs if it is asked to.
fn pass(machine: &impl Machine, readers: usize, each: usize, plugs: bool) -> Answer<()> {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let plugging = plugs.then(|| scope.spawn(|| change(machine, &done)));
        let reading: Vec<_> =
            (0..readers).map(|reader| scope.spawn(move || look_up(machine, reader as u64, each))).collect();
        let read: Vec<_> = reading.into_iter().map(thread::ScopedJoinHandle::join).collect();
        done.store(true, Ordering::Release);
        let changed = plugging.map(thread::ScopedJoinHandle::join);
        for joined in read.into_iter().chain(changed) {
            joined.map_err(|_| "a thread panicked")??;
        }
        Ok(())
    })
}

/// Reads registers in no order. All that stay answer, with their address; what lies between devices does not.
fn look_up(machine: &impl Machine, reader: u64, each: usize) -> Answer<()> {
    let mut random = reader + 1;
    for _ in 0..each {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = BASE + ((random >> 33) % (DEVICES * 2 * DEVICE_BYTES)) / 8 * 8;
        let is_registers = (at - BASE) % (2 * DEVICE_BYTES) < DEVICE_BYTES;
        let mut data = [0; 8];
        let answered = machine.read(MmioAddress(at), &mut data);
        if answered != is_registers || (answered && u64::from_le_bytes(data) != at) {
            return Err(format!("{at:#x}: answered {answered} with {data:?}").into());
        }
    }
    Ok(())
}

/// Plugs a device behind the others and takes it out, until the look-ups are done.
fn change(machine: &impl Machine, done: &AtomicBool) -> Answer<()> {
    for turn in 0.. {
        if done.load(Ordering::Acquire) {
            break;
        }
        let number = DEVICES + turn % 16;
        machine.plug(number, Arc::new(Registers(AtomicU64::new(0))))?;
        machine.unplug(number)?;
        thread::sleep(PAUSE);
    }
    Ok(())
}
