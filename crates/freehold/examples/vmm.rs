//! A VMM's PCI windows: a bridge gets a window of the host's bus and places the BARs of its devices in it on its
//! own, a guest's bad move is refused with the name of who is in the way, the machine migrates to a host that keeps
//! its spaces otherwise, and an unplugged bridge gives its window back.
//!
//! `cargo run -p freehold --example vmm`

use freehold::kva::{AllocError, BTree, ResizeError};
use freehold::prelude::*;
use std::error::Error;
use std::string::FromUtf8Error;

const MIB: u64 = 1 << 20;

/// A bridge owns its window; nothing ties it to the bus but that the bus knows it when it comes back.
struct Bridge {
    window: AddressSpace<String, BTree>,
}

impl Bridge {
    fn plug(bus: &mut AddressSpace<String>, name: &str) -> Result<Self, Box<dyn Error>> {
        let align = Align::new(MIB).ok_or("no power of two")?;
        let request = Request::new(16 * MIB).align(align);
        Ok(Self { window: bus.carve(&request, name.to_string(), Placement::Lowest)? })
    }

    /// A BAR is aligned to its size.
    fn place_bar(&mut self, owner: &str, size_bytes: u64) -> Result<Span, Box<dyn Error>> {
        let align = Align::new(size_bytes).ok_or("a BAR's size is a power of two")?;
        let request = Request::new(size_bytes).align(align);
        Ok(self.window.alloc(&request, owner.to_string())?)
    }

    /// What the guest writes into a BAR may be anything. The BAR stays where it is unless it can move.
    fn move_bar(&mut self, bar: Span, to: u64) -> Result<Span, String> {
        let last = to.saturating_add(bar.last() - bar.first());
        let place =
            Request::new(bar.size_saturating()).within(to, last).map_err(|error| error.to_string())?;
        self.window.move_to(bar.first(), place.window).map_err(|error| match error {
            ResizeError::Size(AllocError::Occupied { region }) => {
                let owner = self.window.region_at(region.first());
                format!("{error}: the {}", owner.map_or("nobody", |owner| owner.value()))
            }
            _ => error.to_string(),
        })
    }
}

/// The whole machine as bytes: one snapshot for each space. A value is its name.
fn save(bus: &AddressSpace<String>, bridge: &Bridge) -> Result<[Vec<u8>; 2], Box<dyn Error>> {
    Ok([
        bus.snapshot(|name, to| to.put(name.as_bytes()))?,
        bridge.window.snapshot(|name, to| to.put(name.as_bytes()))?,
    ])
}

/// The machine on another host, which places BARs from the top.
fn load([bus, window]: &[Vec<u8>; 2]) -> Result<(AddressSpace<String>, Bridge), Box<dyn Error>> {
    let name = |bytes: &[u8]| -> Result<String, FromUtf8Error> { String::from_utf8(bytes.to_vec()) };
    let mut bus = AddressSpace::restore(bus, Placement::Lowest, name)?;
    let mut window = AddressSpace::restore(window, Placement::Highest, name)?;
    bus.adopt(window.span().first(), &mut window)?;
    Ok((bus, Bridge { window }))
}

fn main() -> Result<(), Box<dyn Error>> {
    let below_4g = "0xc0000000..=0xfebfffff".parse()?;
    let mut bus: AddressSpace<String> = AddressSpace::new(below_4g, Align::PAGE, Placement::Lowest)?;
    bus.alloc_at("0xc0000000+64K".parse()?, "firmware".to_string())?;

    let mut bridge = Bridge::plug(&mut bus, "bridge 1")?;
    let nic = bridge.place_bar("nic", 128 << 10)?;
    let disk = bridge.place_bar("disk", 16 << 10)?;
    println!("bridge 1 has {}: nic at {nic}, disk at {disk}", bridge.window.span());

    // An exit to the VMM: whose address is it?
    let owner = bridge.window.region_at(disk.first() + 0x123).ok_or("nobody's")?;
    assert_eq!(owner.value(), "disk");

    let refused = bridge.move_bar(disk, nic.first() + 0x4000).err().ok_or("placed on top of the nic")?;
    println!("the disk stays at {disk}: {refused}");
    assert_eq!(refused, "0xc0100000..=0xc011ffff is in the way: the nic");
    assert!(bridge.move_bar(disk, u64::MAX - 1).is_err());
    let disk = bridge.move_bar(disk, nic.first() + MIB)?;

    // The bus cannot give the window to anyone else meanwhile.
    println!("{}", bus.free(bridge.window.span().first()).err().ok_or("freed under the bridge")?);

    let saved = save(&bus, &bridge)?;
    let (mut bus, mut bridge) = load(&saved)?;
    println!("migrated in {} bytes", saved.iter().map(Vec::len).sum::<usize>());
    assert_eq!(save(&bus, &bridge)?, saved);
    let gpu = bridge.place_bar("gpu", 4 * MIB)?;
    assert_eq!(gpu.first(), 0xc0c0_0000);

    // Unplugged too early, the bridge stays as it is.
    let refused = bus.take_back(bridge.window).err().ok_or("devices lost")?;
    println!("{refused}");
    let mut window = refused.value;
    for bar in [nic, disk, gpu] {
        window.free(bar.first())?;
    }
    let (span, owner) = bus.take_back(window)?;
    println!("{owner} gave back {span}");
    assert_eq!(bus.len(), 1);
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn runs() -> Result<(), Box<dyn std::error::Error>> {
        super::main()
    }
}
