//! The extents of a file: which of its bytes lie where on a disk. Space is allocated, a part is overwritten, a hole is punched,
//! what that frees goes back to the disk, each cut extent gets its own checksums, extents are gone through from the end, and
//! the table is written to JSON and read again.
//!
//! `cargo run -p freehold --features serde --example extents`

use freehold::prelude::*;
use std::error::Error;

const BLOCK: u64 = 4096;

/// Where the bytes of a range begin on the disk, and a checksum for each block of them.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Extent {
    disk: u64,
    checksums: Vec<u32>,
}

impl Extent {
    /// The part of the extent that holds the bytes `part` of the bytes `whole`.
    fn part(&self, whole: Span, part: Span) -> Self {
        let (from, to) = (part.first() - whole.first(), part.last() + 1 - whole.first());
        let blocks = (from / BLOCK) as usize..to.div_ceil(BLOCK) as usize;
        Self { disk: self.disk + from, checksums: self.checksums[blocks].to_vec() }
    }
}

/// Stands for a checksum of the block's bytes.
fn checksum(disk: u64) -> u32 {
    (disk / BLOCK).wrapping_mul(0x9e37_79b9) as u32
}

/// The disk's space, each region with the name of its file.
struct Disk {
    space: AddressSpace<&'static str>,
}

impl Disk {
    fn alloc(&mut self, size: u64) -> Result<Extent, Box<dyn Error>> {
        let place = self.space.alloc(&Request::new(size), "a.db")?;
        let blocks = (place.first()..=place.last()).step_by(BLOCK as usize);
        Ok(Extent { disk: place.first(), checksums: blocks.map(checksum).collect() })
    }
}

#[derive(Default)]
struct File {
    extents: RangeMap<Extent>,
}

impl File {
    /// Writes bytes anew: to new space, as a file system without overwriting does.
    fn write(&mut self, disk: &mut Disk, bytes: Span) -> Result<(), Box<dyn Error>> {
        let extent = disk.alloc(bytes.size_saturating())?;
        // What is removed comes back whole; what stays of a cut extent is the part of it that it is.
        self.free(disk, bytes)?;
        self.extents.insert(bytes, extent)?;
        Ok(())
    }

    /// Punches a hole. The extents at its ends are cut, and the disk has the space of the rest again, whatever parts of
    /// its regions that is.
    fn free(&mut self, disk: &mut Disk, bytes: Span) -> Result<(), Box<dyn Error>> {
        for (gone, extent) in
            self.extents.take_range_with(bytes, |whole, part, extent| extent.part(whole, part))?
        {
            let place = Span::from_size(extent.disk, gone.size_saturating()).ok_or("no such place")?;
            let freed: u128 = disk.space.free_range(place)?.map(|(part, _)| part.size_bytes()).sum();
            assert_eq!(freed, place.size_bytes(), "the disk had all of it for this file");
        }
        Ok(())
    }

    /// The place on the disk of a byte, and the checksum of its block.
    fn find(&self, byte: u64) -> Option<(u64, u32)> {
        let (span, extent) = self.extents.entry_at(byte)?;
        let offset = byte - span.first();
        Some((extent.disk + offset, *extent.checksums.get((offset / BLOCK) as usize)?))
    }

    fn print(&self, what: &str) {
        println!("{what}: {} extents, the last first", self.extents.len());
        for (bytes, extent) in self.extents.iter().rev() {
            println!("  {bytes} is at {:#x}, {} blocks", extent.disk, extent.checksums.len());
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut disk = Disk {
        space: AddressSpace::new((0x10_0000..0x20_0000).try_into()?, Align::PAGE, Placement::Lowest)?,
    };
    let mut file = File::default();
    file.write(&mut disk, (0..16 * BLOCK).try_into()?)?;
    file.write(&mut disk, (16 * BLOCK..32 * BLOCK).try_into()?)?;
    file.print("written");

    // Over the end of the first extent and the start of the second: both are cut, and keep their own checksums.
    file.write(&mut disk, (12 * BLOCK..20 * BLOCK).try_into()?)?;
    file.print("overwritten in part");
    for byte in [0, 11 * BLOCK + 5, 12 * BLOCK, 20 * BLOCK, 32 * BLOCK - 1] {
        let (place, sum) = file.find(byte).ok_or("a byte is in a hole")?;
        assert_eq!(sum, checksum(place), "each block has its own checksum, wherever its extent was cut");
    }
    assert_eq!(file.find(20 * BLOCK).map(|(place, _)| place), Some(0x10_0000 + 20 * BLOCK));
    // What was overwritten were two extents that touch on the disk: one place is free, between two regions.
    let hole = Span::try_from(0x10_c000..0x11_4000)?;
    assert_eq!(disk.space.free_blocks().next(), Some(hole));

    file.free(&mut disk, (2 * BLOCK..4 * BLOCK).try_into()?)?;
    let holes: Vec<Span> = file.extents.gaps(..32 * BLOCK).collect();
    assert_eq!(holes, [Span::try_from(2 * BLOCK..4 * BLOCK)?]);
    // The next write takes the lowest hole that is large enough.
    file.write(&mut disk, (2 * BLOCK..4 * BLOCK).try_into()?)?;
    assert_eq!(file.find(2 * BLOCK).map(|(place, _)| place), Some(0x10_2000));

    file.free(&mut disk, (12 * BLOCK..20 * BLOCK).try_into()?)?;
    file.free(&mut disk, (30 * BLOCK..u64::MAX).try_into()?)?;
    file.print("a hole, and truncated");
    let used: u128 = disk.space.allocated_ranges().map(Span::size_bytes).sum();
    assert_eq!(used, u128::from(22 * BLOCK), "the disk has what the file does not need");
    let (stats, sizes) = (disk.space.stats(), disk.space.free_sizes());
    println!(
        "on the disk: {} regions, {} free blocks, {} of at least 8 blocks; fragmentation {:.2}",
        stats.regions,
        stats.free_blocks,
        sizes.blocks_from((8 * BLOCK).ilog2() as usize),
        stats.fragmentation()
    );

    #[cfg(feature = "serde")]
    {
        let text = serde_json::to_string(&file.extents)?;
        let read: RangeMap<Extent> = serde_json::from_str(&text)?;
        assert_eq!(read, file.extents);
        println!("as JSON: {} bytes", text.len());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn runs() -> Result<(), Box<dyn std::error::Error>> {
        super::main()
    }
}
