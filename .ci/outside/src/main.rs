//! What a user may take for granted: no unsafe code, values of their own types, errors that `?` passes on.

#![forbid(unsafe_code)]

use freehold::maple::{Plain, PlainValue, WordMap};
use freehold::prelude::*;
use std::error::Error;
use std::sync::Arc;

/// A newtype of an id, as every program has some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Device(u32);

impl PlainValue for Device {
    fn to_bits(self) -> u64 {
        self.0.into()
    }

    fn from_bits(bits: u64) -> Self {
        Self(bits as u32)
    }
}

fn spaces() -> Result<(), Box<dyn Error>> {
    let bus = Span::try_from(0xc000_0000..=0xffff_ffff)?;
    let request = Request::new(0x4000).align("16K".parse()?);
    let mut devices = AddressSpace::new(bus, Align::PAGE, Placement::Lowest)?;
    let mut names = AddressSpace::new(bus, Align::PAGE, Placement::Highest)?;
    let mut shared: AddressSpace<Arc<str>> = AddressSpace::new(bus, Align::PAGE, Placement::Lowest)?;
    let mut words: AddressSpace<&'static str> = AddressSpace::new(bus, Align::PAGE, Placement::Lowest)?;

    let first = devices.alloc(&request, Device(7))?;
    assert_eq!(devices.region_at(first.last()).map(|region| *region.value()), Some(Device(7)));
    let last = names.alloc(&request, "nic".to_owned())?;
    assert_eq!(names.free(last.first())?, (last, "nic".to_owned()));
    assert_eq!(shared.alloc(&request, Arc::from("disk"))?, first);
    assert_eq!(words.alloc(&request, "gpu")?, first);
    println!("{first}: {}", devices.free(first.first() + 8).unwrap_err());
    Ok(())
}

fn maps() -> Result<(), Box<dyn Error>> {
    let mut devices: WordMap<Plain<Device>> = WordMap::new();
    devices.store(Span::try_from(0x1000..0x9000)?, Plain(Device(7)))?;
    devices.remove_range(Span::try_from(0x3000..0x5000)?)?;
    assert_eq!(devices.len(), 2);
    assert_eq!(devices.get(0x6000), Some(Device(7)));

    let mut ids: RangeMap<Device> = RangeMap::new();
    ids.store(0x1000..0x9000, Device(7))?;
    assert_eq!(ids.take_range(0x3000..0x5000)?.next(), Some((Span::try_from(0x3000..0x5000)?, Device(7))));
    assert_eq!(ids.gaps(0x1000..0x9000).next(), Some(Span::try_from(0x3000..0x5000)?));

    let mut names: RangeMap<String> = RangeMap::from([(0..10, "low".to_owned()), (10..20, "high".to_owned())]);
    names.get_mut(5).ok_or("no name")?.push_str("est");
    assert_eq!(names.values().map(String::as_str).collect::<Vec<_>>(), ["lowest", "high"]);
    let shared: RangeMap<Arc<str>> = [(0..10, Arc::from("disk"))].into_iter().collect();
    assert_eq!(shared.get(9).map(|name| &**name), Some("disk"));
    let mut words: RangeMap<&'static str> = RangeMap::new();
    words.insert(.., "all")?;
    println!("{}", words.insert(5.., "more").unwrap_err());
    Ok(())
}

fn objects() -> Result<(), Box<dyn Error>> {
    let mut set: ChunkSet = ChunkSet::new(percpu::Config::new(256 << 10, 4))?;
    let counter = set.alloc(&percpu::Request::new(8).align(8))?;
    assert_eq!(set.free(counter)?, 8);
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    spaces()?;
    maps()?;
    objects()
}
