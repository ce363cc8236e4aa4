//! The one list of engines of the percpu family. A new engine is a file with its
//! [`Engine`](freehold_trace::percpu::Engine) and a line here.

use super::{ChunkSetEngine, Scene};
use crate::engine::Listed;
use crate::engine::listed::{engines, facts};
use crate::engine::outside::Library;
use freehold::percpu::{Config, FirstFit, Placement};
use freehold_linux::percpu::{Linux, Linux2017, LinuxFixed};
use freehold_rivals::percpu::{AreaMap, Floor};
use freehold_trace::percpu::{Answer, Driver, Engine, Session};

/// Makes an engine for units of some size, and has its work for later done at once or never.
pub type Make = fn(&Config, balances: bool) -> Result<Box<dyn Session>, String>;

/// What is said of an allocator of per-CPU objects.
#[derive(Clone, Copy, Debug)]
pub struct PercpuFacts {
    /// What sizes are rounded up to and offsets are multiples of, in bytes.
    pub grain_bytes: u64,
    /// Whether it tells pages with memory from others, so that it has requests that cannot wait.
    pub knows_pages: bool,
    /// Makes one.
    pub make: Make,
}

facts! { PercpuFacts, Percpu: Scene => dyn Session, Answer, |facts, scene| (facts.make)(&scene.config, scene.balances);
    const FLOOR: Option<EngineEntry> = Some(FLOOR);

    fn outside(library: &Library) -> Option<Self> {
        // No list makes it: its library does.
        let make: Make = |_, _| Err("it is made by its library".to_owned());
        library.grain_bytes().map(|grain_bytes| Self { grain_bytes, knows_pages: false, make })
    }

    fn start_outside(library: &'static Library, scene: &Scene) -> Result<Box<dyn Session>, String> {
        library.percpu(scene)
    }
}

/// Every engine; the first is the default one, and what ratios are to.
pub const ENGINES: &[EngineEntry] = engines! {
    "bitmap" (Always ours)
        "ChunkSet: bitmaps; the lowest place in a page that has objects, from where the last request alike left off"
        bitmap(chunks::<FirstFit>);
    "bitmap-linux" (Always linux)
        "the bitmap allocator of Linux 6.12 as shipped, with the hint that a free leaves stale"
        bitmap(chunks::<Linux>);
    "bitmap-linux-fixed" (Always) "the same with that hint put right" bitmap(chunks::<LinuxFixed>);
    "bitmap-2017" (Always)
        "the bitmap allocator as posted in 2017; unverified, as no kernel of that age recorded answers"
        bitmap(chunks::<Linux2017>);
    "area-map" (Always estimated)
        "what Linux had from 3.15 to 4.13: each chunk's areas in an array of integers, moved as they come and go"
        PercpuFacts {
            grain_bytes: 2,
            knows_pages: false,
            make: |config, balances| boxed(AreaMap::new(config.unit_bytes), balances),
        };
};

/// The engine that does no work.
pub const FLOOR: EngineEntry = Listed::new(
    "floor",
    "no work at all: addresses that go up",
    PercpuFacts {
        grain_bytes: 1,
        knows_pages: false,
        make: |_, balances| boxed(Ok(Floor::default()), balances),
    },
);

/// An allocator of bitmaps.
const fn bitmap(make: Make) -> PercpuFacts {
    PercpuFacts { grain_bytes: 4, knows_pages: true, make }
}

fn chunks<P: Placement + Clone + 'static>(
    config: &Config,
    balances: bool,
) -> Result<Box<dyn Session>, String> {
    boxed(ChunkSetEngine::<P>::new(config), balances)
}

fn boxed<E: Engine + 'static>(engine: Result<E, String>, balances: bool) -> Result<Box<dyn Session>, String> {
    Ok(Box::new(Driver::new(engine?, balances)))
}
