//! `freehold reproduce`: what others have published, measured again beside ours. A study here measures; what is shown of it,
//! and under which words, is in `bench/studies/`, and what was published in `bench/published.tsv`.

pub mod kva_2019;
pub mod maple_2025;
pub mod percpu_2017;

use crate::Progress;
use crate::failure::usage;
use crate::named::named;
use crate::record::Results;
use freehold::units::Bytes;
use std::path::PathBuf;

named! {
    /// What can be reproduced.
    argument Publication {
        Kva2019 "kva-2019"
            "\"Reworking of KVA allocator in Linux kernel\", Linux Plumbers Conference 2019."
        Percpu2017 "percpu-2017"
            "\"percpu: replace area map allocator with bitmap allocator\", 2017."
        Maple2025 "maple-2025"
            "\"Track node vacancy to reduce worst case allocation counts\", 2025."
    }
}

/// How it is reproduced.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Options {
    /// As long as it was published: of the talk 120 samples, of about a second of the slowest engine each; of the
    /// posting 2^20 objects; of the series both recorded streams.
    #[arg(long)]
    pub full: bool,
    /// Of kva-2019 and maple-2025: stop after so many of its samples, 120 at most; what is measured beside them becomes
    /// shorter, too.
    #[arg(long, value_name = "N")]
    pub samples: Option<usize>,
    /// Of kva-2019 and maple-2025: a folder with traces (*.kva.csv.zst, *.vma.csv.zst) beside the bundled ones.
    #[arg(long, value_name = "DIR")]
    pub traces: Option<PathBuf>,
    /// Of percpu-2017: bytes of a chunk for each CPU, like 32K, 256K (if not said otherwise) or 1M. The area map's
    /// times grow with it, so that 1M takes longer than a minute.
    #[arg(long, value_name = "BYTES")]
    pub unit: Option<Bytes>,
    /// Of percpu-2017: so many objects; what is measured beside them becomes less, too.
    #[arg(long, value_name = "N", conflicts_with = "full")]
    pub objects: Option<u32>,
}

impl Options {
    /// What is asked for can be had of the publication.
    fn check(&self, what: Publication) -> anyhow::Result<()> {
        let foreign = match what {
            Publication::Kva2019 | Publication::Maple2025 => {
                [("--unit", self.unit.is_some()), ("--objects", self.objects.is_some())]
            }
            Publication::Percpu2017 => {
                [("--samples", self.samples.is_some()), ("--traces", self.traces.is_some())]
            }
        };
        match foreign.iter().find(|(_, given)| *given) {
            Some((option, _)) => usage(format!("{option}: {} has no such thing", what.name())),
            None => Ok(()),
        }
    }

    /// How many of a study's samples are wanted.
    fn samples(&self, most: usize) -> anyhow::Result<usize> {
        match self.samples.unwrap_or(most) {
            samples if (1..=most).contains(&samples) => Ok(samples),
            samples => usage(format!("--samples {samples}: there are 1 to {most}")),
        }
    }
}

/// Reproduces a publication.
///
/// # Errors
/// Data cannot be read, or an engine answers wrong.
pub fn run(what: Publication, options: &Options, progress: &mut Progress) -> anyhow::Result<Results> {
    options.check(what)?;
    match what {
        Publication::Kva2019 => kva_2019::run(options, progress),
        Publication::Percpu2017 => percpu_2017::run(options, progress),
        Publication::Maple2025 => maple_2025::run(options, progress),
    }
}
