//! Traces as Parquet files, and back to the same text.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test stops at once")]

use freehold_trace::{FileKind, Form, Suite, open};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The Parquet file of a text.
fn parquet(trace: &str) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    Form::Parquet.write(&mut bytes, |out| out.write_all(trace.as_bytes()))?;
    Ok(bytes)
}

/// A file of this test alone.
fn file(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("freehold-{}-{name}.parquet", std::process::id()))
}

fn text(file: &Path) -> String {
    let mut text = String::new();
    open(file).unwrap().read_to_string(&mut text).unwrap();
    text
}

/// The text that comes back of a trace, and the kind of the file in between.
fn back(name: &str, trace: &str) -> (String, FileKind) {
    let file = file(name);
    fs::write(&file, parquet(trace).unwrap()).unwrap();
    let read = (text(&file), FileKind::of(&file).unwrap());
    fs::remove_file(file).unwrap();
    read
}

#[test]
fn every_family_comes_back_as_it_was() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/traces");
    for (name, kind) in [
        ("bpfvm.kva.csv.zst", FileKind::Trace(Suite::Kva)),
        ("netns.pcpu.csv.zst", FileKind::Trace(Suite::Percpu)),
        ("pynumpy.vma.csv.zst", FileKind::Trace(Suite::Maple)),
        ("mt_all_stress.mt.csv.zst", FileKind::TreeEvents),
    ] {
        let trace = text(&data.join(name));
        let (read, of) = back(name, &trace);
        assert!(trace == read, "{name}: {} bytes become {}", trace.len(), read.len());
        assert_eq!(of, kind, "{name}");
    }
}

const GAPS: &str =
    "#vml-trace v2 kind=kva kernel=6.18.44 ncpu=2 pagesize=4096 clock=mono pools=drained source=tracefs
#workload storm: BPF maps made and dropped
#lost_records=3
#dt_ns,cpu,tid,op,obj,addr,size,align,vstart,vend,aux
0,0,0,L,,ffffc90000158000,20480,,,,1
1500,1,812,A,2,1000,20480,16384,ffffc90000000000,ffffe8ffffffffff,
# lost 3 cpu 0
90,0,12,W,,,,,,,start helper
#task 12 kworker/0:1
";

#[test]
fn gaps_and_names_of_tasks_come_back_in_their_places() {
    assert_eq!(back("gaps", GAPS).0, GAPS);
    // A column of which a value is no number as it is written here is text, and so is that value.
    let odd = GAPS.replace(",1000,20480,", ",0x1000,020480,");
    assert_eq!(back("odd", &odd).0, odd);
}

#[test]
fn what_is_no_trace_is_refused() {
    for wrong in ["", "a,b\n1,2\n", &GAPS.replace("start helper", "start,helper")] {
        assert!(parquet(wrong).is_err(), "{wrong}");
    }
    let (file, bytes) = (file("damaged"), parquet(GAPS).unwrap());
    for at in [5, bytes.len() / 2, bytes.len() - 9] {
        fs::write(&file, &bytes[..at]).unwrap();
        assert!(open(&file).is_err(), "the first {at} bytes");
    }
    fs::remove_file(file).unwrap();
}

#[test]
fn a_damaged_file_is_an_error_or_a_text() {
    let (whole, file) = (parquet(GAPS).unwrap(), file("damaged"));
    let footer =
        whole.len() - 8 - u32::from_le_bytes(*whole[whole.len() - 8..].first_chunk().unwrap()) as usize;
    let mut refused = 0;
    for at in footer..whole.len() - 8 {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        fs::write(&file, bytes).unwrap();
        let read = open(&file).map(drop);
        refused += u32::from(read.is_err());
    }
    fs::remove_file(file).unwrap();
    assert!(refused > 100, "{refused}");
}
