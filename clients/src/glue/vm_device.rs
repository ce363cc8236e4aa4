//! rust-vmm's devices on `SharedSpace`, which virtual CPUs read without a lock.

use clients::Answer;
use freehold::kva::SharedSpace;
use freehold::prelude::{Align, Placement, Span};
use std::sync::Arc;
use vm_device::DeviceMmio;
use vm_device::bus::{MmioAddress, MmioRange};

pub type Device = dyn DeviceMmio + Send + Sync;

pub struct Bus(SharedSpace<Device>);

impl Bus {
    pub fn new() -> Answer<Self> {
        Ok(Self(SharedSpace::new(Span::ALL, Align::ONE, Placement::Lowest)?))
    }

    pub fn plug(&self, range: MmioRange, device: Arc<Device>) -> Answer<()> {
        let span = Span::new(range.base().0, range.last().0).ok_or("a range that ends before it begins")?;
        self.0.alloc_at(span, device).map_err(|rejected| rejected.to_string())?;
        Ok(())
    }

    pub fn unplug(&self, base: MmioAddress) -> Answer<Arc<Device>> {
        Ok(self.0.free(base.0)?.1)
    }

    /// Whether a device has all of it.
    pub fn read(&self, address: MmioAddress, data: &mut [u8]) -> bool {
        let reading = self.0.read();
        let Some((span, device)) = reading.entry_at(address.0) else { return false };
        let offset = address.0 - span.first();
        if data.len() as u64 > span.last() - address.0 + 1 {
            return false;
        }
        device.mmio_read(MmioAddress(span.first()), offset, data);
        true
    }
}
