//! Any bytes as a recording of another tool, or as a file of a folder of raw bytes: an error names the file, and a trace that was
//! written is read back. The first byte chooses which file the others are.
#![no_main]

use freehold_record::import::{Options, import};
use freehold_trace::{Kind, Lines, kva, mt, percpu, vma};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

/// A folder that is whole, of which one file is replaced at a time.
static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |file: &str| folder.path().join(file);
    for (file, text) in FILES {
        fs::create_dir_all(at(file).parent().expect("a folder")).expect("a folder");
        fs::write(at(file), text).expect("a file");
    }
    folder
});

const RECORDING: &str = "#freehold-recording v1\nkind=kva\nrelease=6.18\npagesize=4096\npossible=2\nstart_ns=1\n\
                         end_ns=9\nsource=tracefs\n";
const HEADER: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
                      \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
                      \tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
const ALLOC: &str = "name: alloc_vmap_area\nID: 1\nformat:\n\
                     \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\
                     \tfield:unsigned long addr;\toffset:8;\tsize:8;\tsigned:0;\n\
                     \tfield:unsigned long size;\toffset:16;\tsize:8;\tsigned:0;\n\
                     \tfield:unsigned long align;\toffset:24;\tsize:8;\tsigned:0;\n\
                     \tfield:unsigned long vstart;\toffset:32;\tsize:8;\tsigned:0;\n\
                     \tfield:unsigned long vend;\toffset:40;\tsize:8;\tsigned:0;\n";
const FREE: &str = "name: free_vmap_area_noflush\nID: 2\nformat:\n\
                    \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\
                    \tfield:unsigned long va_start;\toffset:8;\tsize:8;\tsigned:0;\n\
                    \tfield:unsigned long nr_lazy;\toffset:16;\tsize:8;\tsigned:0;\n\
                    \tfield:unsigned long nr_lazy_max;\toffset:24;\tsize:8;\tsigned:0;\n";
const FILES: [(&str, &str); 7] = [
    ("recording", RECORDING),
    ("events/header_page", HEADER),
    ("events/vmalloc/alloc_vmap_area/format", ALLOC),
    ("events/vmalloc/free_vmap_area_noflush/format", FREE),
    ("cpu0.raw", ""),
    ("vmallocinfo.start", "0xffffc90000000000-0xffffc90000005000   20480 a+0x1/0x2 vmap\n"),
    ("saved_cmdlines", "5 bash\n"),
];

fn imported(file: &Path, kind: Option<Kind>) {
    let (mut trace, options) = (Vec::new(), Options { kind, ..Options::default() });
    match import(&[file.to_owned()], &options, &mut trace) {
        Ok(summary) => {
            let lines = Lines::from_bytes("trace", trace);
            let rows = match summary.kind {
                Some(Kind::Pcpu) => count(percpu::Events::new(lines).expect("a header")),
                Some(Kind::Vma) => count(vma::Events::new(lines).expect("a header")),
                Some(Kind::Mt) => count(mt::Events::new(lines).expect("a header")),
                _ => count(kva::Events::new(lines).expect("a header")),
            };
            assert_eq!(rows as u64, summary.rows);
        }
        Err(error) => {
            let error = error.to_string();
            let named = FOLDER.path().to_str().expect("UTF-8");
            assert!(error.contains(named) || error.starts_with("the event at "), "{error}");
        }
    }
}

libfuzzer_sys::fuzz_target!(
    // `.ci/fuzz` reads it.
    init: eprintln!("engines of ours: 1"),
    |bytes: &[u8]| {
        let Some((which, bytes)) = bytes.split_first() else { return };
        let folder = FOLDER.path();
        match FILES.get(*which as usize) {
            Some((file, whole)) => {
                fs::write(folder.join(file), bytes).expect("a file");
                imported(folder, None);
                fs::write(folder.join(file), whole).expect("a file");
            }
            None => {
                let kinds = [None, Some(Kind::Kva), Some(Kind::Pcpu), Some(Kind::Vma), Some(Kind::Mt)];
                let file = folder.join("one");
                fs::write(&file, bytes).expect("a file");
                imported(&file, kinds[*which as usize % kinds.len()]);
                fs::remove_file(&file).expect("a file");
            }
        }
    }
);

/// How many rows there are, all of which can be read.
fn count<T, E: std::fmt::Debug>(rows: impl Iterator<Item = Result<T, E>>) -> usize {
    rows.fold(0, |count, row| row.map(|_| count + 1).expect("a row"))
}
