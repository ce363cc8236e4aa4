//! `freehold reproduce`: what others have published, measured again beside ours. A study here measures; what is shown of it,
//! and under which words, is in `bench/studies/`, and what was published in `bench/published/`.

pub mod kva_2019;
pub mod maple_2025;
pub mod percpu_2017;

use crate::engine::{Compared, EngineEntry};
use crate::failure::usage;
use crate::record::Results;
use crate::{Progress, data_folder};
use freehold::units::Bytes;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What can be reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Publication {
    /// "Reworking of KVA allocator in Linux kernel", Linux Plumbers Conference 2019.
    #[value(name = "kva-2019")]
    Kva2019,
    /// "percpu: replace area map allocator with bitmap allocator", 2017.
    #[value(name = "percpu-2017")]
    Percpu2017,
    /// "Track node vacancy to reduce worst case allocation counts", 2025.
    #[value(name = "maple-2025")]
    Maple2025,
}

impl Publication {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kva2019 => "kva-2019",
            Self::Percpu2017 => "percpu-2017",
            Self::Maple2025 => "maple-2025",
        }
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

/// The bundled traces whose names end in one of these, and those of the folder that have another name.
///
/// # Errors
/// A folder cannot be read, or has none.
pub fn traces(folder: Option<&Path>, endings: &[&str]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = traces_in(&data_folder()?.join("traces"), endings)?;
    if let Some(folder) = folder {
        let named = format!("--traces {}", folder.display());
        let others = traces_in(folder, endings).or_else(|error| usage(format!("{named}: {error}")))?;
        if others.is_empty() {
            return usage(format!("{named}: no file ends in {}", endings.join(" or ")));
        }
        let name = |file: &PathBuf| file.file_name().map(ToOwned::to_owned);
        let bundled: BTreeSet<_> = files.iter().filter_map(name).collect();
        files
            .extend(others.into_iter().filter(|file| name(file).is_none_or(|name| !bundled.contains(&name))));
    }
    files.sort();
    Ok(files)
}

fn traces_in(folder: &Path, endings: &[&str]) -> std::io::Result<Vec<PathBuf>> {
    let files = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut files: Vec<PathBuf> = files.collect::<std::io::Result<_>>()?;
    files.retain(|file| endings.iter().any(|ending| file.to_string_lossy().ends_with(ending)));
    Ok(files)
}

/// The engines of these names, in this order.
fn engines(names: &[&str]) -> anyhow::Result<Vec<EngineEntry>> {
    let mut entries = Vec::new();
    for name in names {
        entries.extend(EngineEntry::find(&[(*name).to_owned()], Compared::IfNamed)?);
    }
    Ok(entries)
}
