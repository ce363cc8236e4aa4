//! The one list of engines of the percpu family. A new engine is a file with its
//! [`Engine`](freehold_trace::percpu::Engine) and a line here.

use super::{ChunkSetEngine, Floor, Session};
use freehold::percpu::{Config, FirstFit, Linux, Linux2017, LinuxFixed};
use freehold_rivals::percpu::AreaMap;
use freehold_trace::percpu::{Driver, Engine};

/// Makes an engine for units of some size, and has its work for later done at once or never.
pub type Make = fn(&Config, balances: bool) -> Result<Box<dyn Session>, String>;

/// An engine that the lab can drive.
#[derive(Clone, Copy, Debug)]
pub struct EngineEntry {
    /// The engine's name.
    pub engine: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// What sizes are rounded up to and offsets are multiples of, in bytes.
    pub grain_bytes: u64,
    /// Whether it tells pages with memory from others, so that it has requests that cannot wait.
    pub knows_pages: bool,
    /// Makes one.
    pub make: Make,
}

/// Every engine; the first is the default one, and what ratios are to.
pub const ENGINES: &[EngineEntry] = &[
    EngineEntry {
        engine: "bitmap",
        about: "bitmaps; the lowest place in a page that has objects, from where the last request alike left off",
        grain_bytes: 4,
        knows_pages: true,
        make: |config, balances| boxed(ChunkSetEngine::<FirstFit>::new(config), balances),
    },
    EngineEntry {
        engine: "bitmap-linux",
        about: "the bitmap allocator of Linux 6.12 as shipped, with the hint that a free leaves stale",
        grain_bytes: 4,
        knows_pages: true,
        make: |config, balances| boxed(ChunkSetEngine::<Linux>::new(config), balances),
    },
    EngineEntry {
        engine: "bitmap-linux-fixed",
        about: "the same with that hint put right",
        grain_bytes: 4,
        knows_pages: true,
        make: |config, balances| boxed(ChunkSetEngine::<LinuxFixed>::new(config), balances),
    },
    EngineEntry {
        engine: "bitmap-2017",
        about: "the bitmap allocator as posted in 2017; unverified, as no kernel of that age recorded answers",
        grain_bytes: 4,
        knows_pages: true,
        make: |config, balances| boxed(ChunkSetEngine::<Linux2017>::new(config), balances),
    },
    EngineEntry {
        engine: "area-map",
        about: "what Linux had from 3.15 to 4.13: each chunk's areas in an array of integers, moved as they come and go",
        grain_bytes: 2,
        knows_pages: false,
        make: |config, balances| boxed(AreaMap::new(config.unit_bytes), balances),
    },
];

/// The engine that does no work.
pub const FLOOR: EngineEntry = EngineEntry {
    engine: "floor",
    about: "no work at all: addresses that go up",
    grain_bytes: 1,
    knows_pages: false,
    make: |_, balances| boxed(Ok(Floor::default()), balances),
};

fn boxed<E: Engine + 'static>(engine: Result<E, String>, balances: bool) -> Result<Box<dyn Session>, String> {
    Ok(Box::new(Driver::new(engine?, balances)))
}
