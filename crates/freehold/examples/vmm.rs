//! A VMM's address space: BARs below and above 4 GiB, hot-plug behind a bridge, a BAR that the guest moves while its
//! doorbell is still registered, two BARs that swap, interrupt numbers, and the machine's move to another host.
//!
//! `cargo run -p freehold --example vmm`

use freehold::kva::{AllocError, MoveError};
use freehold::prelude::*;
use std::error::Error;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

type Failure = Box<dyn Error>;

/// What devices are given: memory-mapped registers at two heights, and interrupt numbers. A value is the device's name.
struct Machine {
    /// For BARs of 32 bits.
    low: AddressSpace<String>,
    /// For BARs of 64 bits, from the top down, away from memory that is plugged in later.
    high: AddressSpace<String>,
    /// Numbers are addresses of a space whose granule is 1.
    interrupts: AddressSpace<String>,
}

impl Machine {
    fn new() -> Result<Self, Failure> {
        // The low window ends at 0xfebf_ffff: an x86 machine has its interrupt controllers above, the first at 0xfec0_0000.
        let (low, high) = (Span::from_size(3 * GIB, GIB - 20 * MIB), Span::from_size(64 * GIB, 64 * GIB));
        let interrupts = Span::new(24, 1023).ok_or("no interrupt")?;
        let mut machine = Self {
            low: AddressSpace::new(low.ok_or("no window")?, Align::PAGE, Placement::Lowest)?,
            high: AddressSpace::new(high.ok_or("no window")?, Align::PAGE, Placement::Highest)?,
            interrupts: AddressSpace::new(interrupts, Align::ONE, Placement::Lowest)?,
        };
        machine.low.alloc_at(Span::from_size(3 * GIB, 64 * KIB).ok_or("empty")?, "firmware".to_string())?;
        Ok(machine)
    }

    /// A BAR is aligned to its size. A device gets all that it needs, or nothing.
    fn plug(&mut self, device: &str, is_wide: bool, bar_bytes: u64) -> Result<(Span, u64), Failure> {
        let window = if is_wide { &mut self.high } else { &mut self.low };
        let bar = window.alloc(&Request::natural(bar_bytes), device.to_string())?;
        match self.interrupts.alloc(&Request::new(1), device.to_string()) {
            Ok(interrupt) => Ok((bar, interrupt.first())),
            Err(refused) => {
                window.free(bar.first())?;
                Err(refused.into())
            }
        }
    }

    /// The guest writes into a BAR whatever it likes. Both places are the device's while `rewire` takes its doorbell down at
    /// one and puts it up at the other, so that nobody else is given an address that still rings.
    fn move_bar(
        &mut self,
        bar: Span,
        to: u64,
        rewire: impl FnOnce(&Self, u64) -> bool,
    ) -> Result<Span, String> {
        let pending = self.low.begin_move(bar.first(), to).map_err(|error| match error {
            MoveError::Place(AllocError::Occupied { region }) => {
                let owner = self.low.region_at(region.first());
                format!("{error}: the {}", owner.map_or("nobody", |owner| owner.value()))
            }
            _ => error.to_string(),
        })?;
        let ended = if rewire(self, to) {
            self.low.commit_move(pending)
        } else {
            self.low.cancel_move(pending).map(|()| bar)
        };
        ended.map_err(|error| error.to_string())
    }

    /// The machine as bytes: one snapshot for each space.
    fn save(&self) -> Result<Vec<Vec<u8>>, Failure> {
        let spaces = [&self.low, &self.high, &self.interrupts];
        let saved = spaces.map(|space| space.to_bytes(|name, to| to.put(name.as_bytes())));
        Ok(saved.into_iter().collect::<Result<_, _>>()?)
    }

    fn load(saved: &[Vec<u8>]) -> Result<Self, Failure> {
        let [low, high, interrupts] = saved else { return Err("a machine has three spaces".into()) };
        let name = |bytes: &[u8]| String::from_utf8(bytes.to_vec());
        Ok(Self {
            low: AddressSpace::from_bytes(low, Placement::Lowest, name)?,
            high: AddressSpace::from_bytes(high, Placement::Highest, name)?,
            interrupts: AddressSpace::from_bytes(interrupts, Placement::Lowest, name)?,
        })
    }
}

fn main() -> Result<(), Failure> {
    let mut machine = Machine::new()?;
    let (nic, nic_interrupt) = machine.plug("nic", false, 128 * KIB)?;
    let (disk, _) = machine.plug("disk", false, 16 * KIB)?;
    let (gpu, _) = machine.plug("gpu", true, 4 * GIB)?;
    println!("nic at {nic}, disk at {disk}, gpu at {gpu}; the nic interrupts by {nic_interrupt}");

    // An exit to the VMM: whose address is it?
    let owner = machine.low.region_at(disk.first() + 0x123).ok_or("nobody's")?;
    assert_eq!(owner.value(), "disk");

    // A bad place is refused, and the error leads to who is there.
    let refused =
        machine.move_bar(disk, nic.first() + 0x4000, |_, _| true).err().ok_or("on top of the nic")?;
    println!("the disk stays: {refused}");
    assert!(refused.ends_with("is in the way: the nic"));
    assert!(machine.move_bar(disk, u64::MAX - 1, |_, _| true).is_err());

    // A good one is the disk's before the old one is anybody else's.
    let disk = machine.move_bar(disk, nic.first() + MIB, |machine, to| {
        let at = |address| machine.low.region_at(address).map(|region| region.value().as_str());
        at(disk.first()) == Some("disk") && at(to) == Some("disk")
    })?;
    println!("the disk has moved to {disk}");

    // Firmware lays out anew: two BARs of one size swap, which no order of single moves can do.
    let (sound, _) = machine.plug("sound", false, 16 * KIB)?;
    machine.low.rearrange(&[(disk.first(), sound), (sound.first(), disk)])?;
    let owner = machine.low.region_at(sound.first()).ok_or("lost")?;
    assert_eq!(owner.value(), "disk");

    // A bridge is plugged in: a window of its own, in which it places what is behind it.
    let mut bridge: AddressSpace<String> =
        machine.low.carve(&Request::natural(16 * MIB), "bridge".to_string(), Placement::Lowest)?;
    let camera = bridge.alloc(&Request::natural(MIB), "camera".to_string())?;
    println!("{}", machine.low.free(bridge.span().first()).err().ok_or("freed under the bridge")?);

    // The machine moves to another host while the disk is on its way, and goes on there.
    let pending = machine.low.begin_move(sound.first(), sound.first() + 2 * MIB)?;
    let (saved, behind) = (machine.save()?, bridge.to_bytes(|name, to| to.put(name.as_bytes()))?);
    let mut machine = Machine::load(&saved)?;
    let name = |bytes: &[u8]| String::from_utf8(bytes.to_vec());
    let mut bridge: AddressSpace<String> = AddressSpace::from_bytes(&behind, Placement::Lowest, name)?;
    // A snapshot has the bridge's window, but not what is behind it: the restored bridge becomes the window's space again.
    machine.low.adopt(bridge.span().first(), &mut bridge)?;
    assert!(machine.low.commit_move(pending).is_err(), "a token is of the space that gave it out");
    let pending = machine.low.pending_moves().next().ok_or("the move is lost")?;
    println!(
        "migrated in {} bytes; the disk arrives at {}",
        saved.concat().len() + behind.len(),
        machine.low.commit_move(pending)?
    );

    // Unplugged too early, the bridge stays as it is.
    let refused = machine.low.take_back(bridge).err().ok_or("the camera is lost")?;
    println!("{refused}");
    let mut bridge = refused.value;
    bridge.free(camera.first())?;
    let (window, device) = machine.low.take_back(bridge)?;
    println!("the {device} gave back {window}");
    for region in &machine.low {
        println!("{} {}", region.span(), region.value());
    }
    assert_eq!(machine.low.len(), 4);
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn runs() -> Result<(), Box<dyn std::error::Error>> {
        super::main()
    }
}
