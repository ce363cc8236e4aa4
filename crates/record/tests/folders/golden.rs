//! Small recordings as kernels 5.10, 6.1, 6.12 and 6.18 make them, and the traces that they are.

use super::kernels::*;
use super::pages::{Event, Pages, write_folder};
use super::{imported, recording};
use std::fs;

/// The rows behind the header, and what line 1 says.
fn rows(trace: &str) -> (&str, Vec<&str>) {
    let mut lines = trace.lines();
    let first = lines.next().unwrap();
    (first, lines.skip(3).collect())
}

const BASE: u64 = 0xffff_e8ff_ffc0_0000;
const AREA: u64 = 0xffff_c900_00e1_5000;
const ZONE: [(&str, u64); 2] = [("vstart", 0xffff_c900_0000_0000), ("vend", 0xffff_e8ff_ffff_ffff)];

#[test]
fn linux_5_10_says_less_of_percpu_objects() {
    let folder = tempfile::tempdir().unwrap();
    let mut pages = Pages::new(4096);
    let asked = [("size", 16), ("align", 8), ("base_addr", BASE), ("off", 48), ("is_atomic", 1)];
    pages.push(1500, &ALLOC_5_10.record(7, &asked));
    pages.push(1600, &FREE.record(8, &[("base_addr", BASE), ("off", 48)]));
    pages.push(1700, &FREE.record(8, &[("base_addr", BASE), ("off", 96)]));
    pages.push(1800, &FAIL.record(7, &[("size", 65536), ("align", 4), ("reserved", 1)]));
    let events = [ALLOC_5_10, FREE, FAIL, CREATE, DESTROY];
    write_folder(folder.path(), &recording("pcpu", "5.10.0-28", ""), &events, 4096, &[pages.finish()]);
    let (trace, summary) = imported(folder.path()).unwrap();
    assert_eq!(
        trace,
        "#vml-trace v2 kind=pcpu kernel=5.10.0-28 ncpu=2 pagesize=4096 clock=mono possible=2 online=2 source=tracefs \
         arch=x86_64 boot=no\n\
         #workload storm: /bin/storm -n 3\n\
         #lost_records=0\n\
         #dt_ns,cpu,tid,op,obj,chunk,off,size,align,flags,bytes_alloc,site\n\
         500,0,7,A,1,0,48,16,8,2,,\n\
         100,0,8,F,1,0,48,,,,,\n\
         100,0,8,U,,0,96,,,,,\n\
         100,0,7,X,,,,65536,4,1,,\n"
    );
    assert_eq!((summary.events, summary.rows, summary.unknown, summary.lost), (4, 4, 1, 0));
    for field in ["bytes_alloc", "call_site", "gfp_flags"] {
        let said = format!("percpu_alloc_percpu has no field {field}");
        assert!(summary.warnings.contains(&said), "{:?}", summary.warnings);
    }
    assert_eq!(summary.warnings.len(), 3);
}

#[test]
fn linux_6_1_has_callers_of_objects_and_no_events_of_areas() {
    let folder = tempfile::tempdir().unwrap();
    let asked = |off, gfp| {
        let place = [("size", 4), ("align", 4), ("base_addr", BASE), ("off", off)];
        let more = [("call_site", 0xffff_ffff_8100_0123), ("bytes_alloc", 16), ("gfp_flags", gfp)];
        ALLOC_6_1.record(7, &[&place[..], &more].concat())
    };
    // A sub-buffer of 64 KiB, with a long record, a long time, a whole time and a record that was taken back.
    let mut pages = Pages::new(65536);
    pages.push(2000, &asked(0, 0xcc0));
    pages.push(2001 + (1 << 40), &asked(4, 0x40_0cc0));
    pages.padding(40);
    pages.absolute(1 << 41);
    pages.push((1 << 41) + 9, &CREATE.record(9, &[("base_addr", BASE + 0x10_0000)]));
    let mut long = DESTROY.record(9, &[("base_addr", BASE + 0x10_0000)]);
    long.resize(400, 0xee);
    pages.push((1 << 41) + 10, &long);
    pages.push((1 << 41) + 11, &asked(0, 0));
    // A destroyed chunk's address comes again as another chunk.
    pages.push((1 << 41) + 12, &CREATE.record(9, &[("base_addr", BASE + 0x10_0000)]));
    let events = [ALLOC_6_1, FREE, FAIL, CREATE, DESTROY];
    write_folder(folder.path(), &recording("pcpu", "6.1.0-18", ""), &events, 65536, &[pages.finish()]);
    let symbols =
        "ffffffff81000000 T mm_init\nffffffff81000100 t futex_hash_allocate\nffffffff81000200 D data\n";
    fs::write(folder.path().join("kallsyms"), symbols).unwrap();
    // A name that was cut off within a letter spoils no other.
    fs::write(folder.path().join("saved_cmdlines"), b"7 bash\n8 caf\xc3\n9 kworker/0:1\n").unwrap();
    let stats =
        |allocs, frees| format!("  nr_alloc            : {allocs:>8}\n  nr_dealloc          : {frees:>8}\n");
    fs::write(folder.path().join("percpu_stats.start"), stats(100, 50)).unwrap();
    fs::write(folder.path().join("percpu_stats.end"), stats(103, 51)).unwrap();
    let (trace, summary) = imported(folder.path()).unwrap();
    assert_eq!(
        rows(&trace).1,
        [
            "1000,0,7,A,1,0,0,4,4,0,16,futex_hash_allocate",
            "1099511627777,0,7,A,2,0,4,4,4,4,16,futex_hash_allocate",
            "1099511625784,0,9,C,,1,,,,,,",
            "1,0,9,D,,1,,,,,,",
            "1,0,0,G,1,0,0,,,,,",
            "0,0,7,A,3,0,0,4,4,0,16,futex_hash_allocate",
            "1,0,9,C,,2,,,,,,",
            "#task 7 bash",
            "#task 9 kworker/0:1",
        ]
    );
    assert_eq!((summary.implied_frees, summary.differences), (1, Some(1)), "one free was not seen");
    assert!(summary.warnings.is_empty(), "{:?}", summary.warnings);

    let odd = recording("pcpu", "6.1.0-18", "").replace("pagesize=4096", "pagesize=0");
    fs::write(folder.path().join("recording"), odd).unwrap();
    let error = imported(folder.path()).unwrap_err().to_string();
    assert!(error.contains("a page of 0 bytes is no power of two"), "{error}");

    fs::write(folder.path().join("recording"), recording("kva", "6.1.0-18", "")).unwrap();
    let error = imported(folder.path()).unwrap_err().to_string();
    let words = ["vmalloc:alloc_vmap_area", "Linux has it from 6.2 on", "this recording is 6.1.0-18"];
    assert!(words.iter().all(|word| error.contains(word)), "{error}");
}

#[test]
fn linux_6_1_stores_into_trees() {
    let folder = tempfile::tempdir().unwrap();
    let mut pages = Pages::new(4096);
    let node = 0xffff_8882_7e22_b80c;
    for (time, node, value) in [(1001, node, 0xffff_8883_08e0_e840), (1002, node + 256, 0), (1003, node, 0)] {
        let at = [("fn", 0xffff_ffff_8252_18d0), ("min", 0), ("max", u64::MAX), ("index", 0x1000)];
        let what = [("last", 0x1fff), ("piv", 0), ("val", value), ("node", node)];
        pages.push(time, &TREE_WRITE.record(20, &[at, what].concat()));
    }
    write_folder(folder.path(), &recording("mt", "6.1.0", ""), &[TREE_WRITE], 4096, &[pages.finish()]);
    let (trace, summary) = imported(folder.path()).unwrap();
    assert_eq!(
        rows(&trace).1,
        [
            "1,0,20,w,ffffffff825218d0,0,0,ffffffffffffffff,1000,1fff,0,ffff888308e0e840",
            "1,0,20,w,ffffffff825218d0,1,0,ffffffffffffffff,1000,1fff,0,0",
            "1,0,20,w,ffffffff825218d0,0,0,ffffffffffffffff,1000,1fff,0,0",
        ]
    );
    assert!(summary.warnings.is_empty());
}

/// Two CPUs; the event of the CPU with the lower number is first where times tie.
fn areas(alloc: Event, snapshots: bool, more: &str) -> (tempfile::TempDir, [Pages; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let placed = |addr, align| [&[("addr", addr), ("size", 20480), ("align", align)], &ZONE[..]].concat();
    let [mut zero, mut one] = [Pages::new(4096), Pages::new(4096)];
    one.push(2000, &alloc.record(12, &placed(AREA, 16384)));
    zero.push(2000, &alloc.record(11, &placed(AREA + 0x8000, 1)));
    let freed = |addr, lazy| [("va_start", addr), ("nr_lazy", lazy), ("nr_lazy_max", 16384)];
    one.push(2100, &AREA_FREE.record(0, &freed(AREA, 7)));
    one.push(2200, &PURGE.record(90, &[("start", AREA), ("end", AREA + 0x5000), ("npurged", 2)]));
    zero.push(2300, &PURGE.record(90, &[("start", u64::MAX), ("end", 0), ("npurged", 0)]));
    if snapshots {
        let start = "0xffffc90000000000-0xffffc90000005000   20480 irq_init_percpu_irqstack+0xca/0x100 vmap\n\
                     0xffffc90000064000-0xffffc90000069000   20480 unpurged vm_area\n\
                     0xffffc90000010000-0xffffc90000015000   20480 unpurged vm_area\n\
                     0xffffe8ffffc00000-0xffffe8ffffe00000 2097152 pcpu_get_vm_areas+0x0/0x1230 vmalloc\n";
        fs::write(folder.path().join("vmallocinfo.start"), start).unwrap();
        let end = "0xffffc90000e1d000-0xffffc90000e22000   20480 kernel_clone+0x94/0x3e0 pages=4 vmalloc N0=4\n\
                   0xffffc90000000000-0xffffc90000005000   20480 irq_init_percpu_irqstack+0xca/0x100 vmap\n\
                   0xffffe8ffffc00000-0xffffe8ffffe00000 2097152 pcpu_get_vm_areas+0x0/0x1230 vmalloc\n";
        fs::write(folder.path().join("vmallocinfo.end"), end).unwrap();
    }
    let events = [alloc, AREA_FREE, PURGE, WORK_START, CREATE];
    write_folder(folder.path(), &recording("kva", "6.12.9", more), &events, 4096, &[]);
    (folder, [zero, one])
}

fn write_cpus(folder: &tempfile::TempDir, pages: [Pages; 2]) {
    for (cpu, pages) in pages.into_iter().enumerate() {
        fs::write(folder.path().join(format!("cpu{cpu}.raw")), pages.finish()).unwrap();
    }
}

#[test]
fn linux_6_12_with_moved_fields_and_without_snapshots() {
    let (folder, pages) = areas(AREA_ALLOC_MOVED, false, "");
    write_cpus(&folder, pages);
    let (trace, summary) = imported(folder.path()).unwrap();
    let (first, rows) = rows(&trace);
    assert_eq!(
        first,
        "#vml-trace v2 kind=kva kernel=6.12.9 ncpu=2 pagesize=4096 clock=mono possible=2 online=2 pools=drained \
         source=tracefs arch=x86_64 boot=no"
    );
    assert_eq!(
        rows,
        [
            "1000,0,11,A,1,ffffc90000e1d000,20480,1,ffffc90000000000,ffffe8ffffffffff,",
            "0,1,12,A,2,ffffc90000e15000,20480,16384,ffffc90000000000,ffffe8ffffffffff,",
            "100,1,0,F,2,ffffc90000e15000,,,,,7/16384",
            "100,1,90,P,,ffffc90000e15000,20480,,,,2",
            "100,0,90,P,,,,,,,0",
        ]
    );
    assert_eq!(summary.differences, None);
    assert!(summary.warnings.iter().any(|what| what == "alloc_vmap_area has no field failed"));
    assert!(summary.warnings.iter().any(|what| what.contains("no snapshot of areas")));
}

#[test]
fn linux_6_18_with_snapshots_agrees_at_the_end() {
    let (folder, mut pages) = areas(AREA_ALLOC, true, "");
    let placed = [&[("addr", 0), ("size", 4096), ("align", 1), ("failed", 1)], &ZONE[..]].concat();
    pages[0].push(2400, &AREA_ALLOC.record(11, &placed));
    pages[0].push(2500, &WORK_START.record(90, &[("function", 0xffff_ffff_8100_0010)]));
    pages[0].push(2600, &CREATE.record(9, &[("base_addr", BASE + 0x20_0000)]));
    // More than was freed, and what nobody knows of.
    pages[0].push(2700, &PURGE.record(90, &[("start", AREA), ("end", AREA + 0x5000), ("npurged", 9)]));
    fs::write(folder.path().join("kallsyms"), "ffffffff81000000 t purge_vmap_node\n").unwrap();
    write_cpus(&folder, pages);
    let (trace, summary) = imported(folder.path()).unwrap();
    assert_eq!(
        rows(&trace).1,
        [
            "0,0,0,I,1,ffffc90000000000,20480,,,,irq_init_percpu_irqstack",
            "0,0,0,L,,ffffc90000064000,20480,,,,0",
            "0,0,0,L,,ffffc90000010000,20480,,,,1",
            "0,0,0,I,2,ffffe8ffffc00000,2097152,,,,pcpu_get_vm_areas",
            "1000,0,11,A,3,ffffc90000e1d000,20480,1,ffffc90000000000,ffffe8ffffffffff,",
            "0,1,12,A,4,ffffc90000e15000,20480,16384,ffffc90000000000,ffffe8ffffffffff,",
            "100,1,0,F,4,ffffc90000e15000,,,,,7/16384",
            "100,1,90,P,,ffffc90000e15000,20480,,,,2",
            "100,0,90,P,,,,,,,0",
            "100,0,11,X,,,4096,1,ffffc90000000000,ffffe8ffffffffff,",
            "100,0,90,W,,,,,,,start helper",
            "100,0,9,C,,ffffe8ffffe00000,,,,,",
            "100,0,90,P,,ffffc90000e15000,20480,,,,9 unsure",
        ]
    );
    assert_eq!(summary.differences, Some(0));
    assert_eq!(summary.warnings, ["1 purges took more areas than were freed: they are marked unsure"]);
    // An area that is not there any more, and one that is there and was not made.
    let end = "0xffffc90000e40000-0xffffc90000e45000   20480 kernel_clone+0x94/0x3e0 pages=4 vmalloc N0=4\n\
               0xffffc90000000000-0xffffc90000005000   20480 irq_init_percpu_irqstack+0xca/0x100 vmap\n";
    fs::write(folder.path().join("vmallocinfo.end"), end).unwrap();
    let (_, summary) = imported(folder.path()).unwrap();
    assert_eq!(summary.differences, Some(3), "the chunk, too, is not there any more");
}

#[test]
fn what_happens_during_the_first_snapshot_is_undone_in_it() {
    let (folder, mut pages) = areas(AREA_ALLOC, true, "snapshot_start=1900 2150\nsnapshot_end=8000 9000\n");
    // The snapshot has the area that was allocated while it was taken, and the one that was freed only as lazy.
    let start = "0xffffc90000e1d000-0xffffc90000e22000   20480 kernel_clone+0x94/0x3e0 pages=4 vmalloc N0=4\n\
                 0xffffc90000040000-0xffffc90000045000   20480 unpurged vm_area\n";
    fs::write(folder.path().join("vmallocinfo.start"), start).unwrap();
    let freed = [("va_start", 0xffff_c900_0004_0000), ("nr_lazy", 9), ("nr_lazy_max", 16384)];
    pages[0].push(2400, &AREA_FREE.record(0, &freed));
    write_cpus(&folder, pages);
    // Freed at 2140, within the snapshot.
    let mut early = Pages::new(4096);
    early.push(1500, &AREA_FREE.record(0, &[("va_start", AREA), ("nr_lazy", 1), ("nr_lazy_max", 16384)]));
    early.push(2140, &AREA_FREE.record(0, &freed));
    fs::write(folder.path().join("cpu2.raw"), early.finish()).unwrap();
    let (trace, summary) = imported(folder.path()).unwrap();
    let rows = rows(&trace).1;
    assert_eq!(rows[0], "0,0,0,I,1,ffffc90000040000,20480,,,,");
    assert_eq!(rows[1], "1000,0,11,A,2,ffffc90000e1d000,20480,1,ffffc90000000000,ffffe8ffffffffff,");
    assert!(rows.contains(&"40,2,0,F,1,ffffc90000040000,,,,,9/16384"), "{rows:?}");
    assert!(summary.warnings.contains(&"1 events before the first snapshot are in it already".to_owned()));
    assert_eq!(summary.unknown, 1, "the second free of one address");
}

#[test]
fn more_events_during_the_first_snapshot_than_are_undone_are_said() {
    let (folder, mut pages) = areas(AREA_ALLOC, true, "snapshot_start=1900 9000000\n");
    for at in 0..1 << 16 {
        let freed = [("va_start", AREA), ("nr_lazy", 1), ("nr_lazy_max", 16384)];
        pages[0].push(3000 + at, &AREA_FREE.record(0, &freed));
    }
    write_cpus(&folder, pages);
    let (_, summary) = imported(folder.path()).unwrap();
    assert!(summary.warnings.iter().any(|what| what.contains("more than 65536 events")), "{summary:?}");
}

#[test]
fn lost_events_are_said_where_they_are_and_in_the_header() {
    let (folder, mut pages) = areas(AREA_ALLOC, false, "lost.1=9\n");
    pages[0].lose(Some(70));
    pages[0].push(
        3000,
        &AREA_FREE.record(0, &[("va_start", AREA + 0x8000), ("nr_lazy", 9), ("nr_lazy_max", 10)]),
    );
    pages[0].lose(None);
    pages[0].push(3100, &PURGE.record(90, &[("start", u64::MAX), ("end", 0)]));
    write_cpus(&folder, pages);
    fs::write(
        folder.path().join("cpu0.stats"),
        "entries: 3\noverrun: 0\ncommit overrun: 0\ndropped events: 71\n",
    )
    .unwrap();
    let (trace, summary) = imported(folder.path()).unwrap();
    assert_eq!(
        summary.lost, 80,
        "of CPU 0 what is larger: 71 of its statistics, of its gaps 70 and one that is not told"
    );
    assert!(trace.contains("#lost_records=80\n"));
    let end: Vec<&str> = trace.lines().rev().take(4).collect();
    assert_eq!(end[3], "# lost 70 cpu 0");
    assert_eq!(end[2], "700,0,0,F,1,ffffc90000e1d000,,,,,9/10");
    assert_eq!(end[1], "# lost ? cpu 0");
    assert_eq!(end[0], "100,0,90,P,,,,,,,0");
}

#[test]
fn linux_6_18_follows_processes() {
    let folder = tempfile::tempdir().unwrap();
    let mut pages = Pages::new(4096);
    pages.push(1100, &EXEC.record(50, &[("pid", 50)]));
    let asked = [("len", 8192), ("prot", 3), ("flags", 0x22), ("fd", u64::MAX)];
    pages.push(1200, &ENTER_MMAP.record(50, &asked));
    pages.push(1250, &NEW_TASK.record(50, &[("pid", 51), ("clone_flags", 0x3d_0f00)]));
    pages.push(1300, &EXIT_MMAP_CALL.record(50, &[("ret", 0x7f00_0000_0000)]));
    pages.push(
        1400,
        &ENTER_MADVISE.record(51, &[("start", 0x7f00_0000_0000), ("len_in", 4096), ("behavior", 10)]),
    );
    pages.push(1450, &EXIT_MADVISE.record(51, &[("ret", 0)]));
    // An advice that changes no mapping, whose begin the filter leaves out; and a call that had begun before.
    pages.push(1470, &EXIT_MADVISE.record(51, &[("ret", 0)]));
    pages.push(1480, &EXIT_MMAP_CALL.record(51, &[("ret", 0x7f00_0000_0000)]));
    pages.push(1500, &NEW_TASK.record(50, &[("pid", 52), ("clone_flags", 0x11)]));
    pages.push(
        1600,
        &ENTER_MMAP.record(52, &[("len", 4096), ("prot", 1), ("flags", 2), ("fd", 3), ("off", 0x1000)]),
    );
    pages.push(1700, &EXIT_MMAP_CALL.record(52, &[("ret", (-12i64).cast_unsigned())]));
    pages.push(1800, &EXIT.record(52, &[("pid", 52)]));
    pages.push(1900, &EXIT.record(51, &[("pid", 51)]));
    pages.push(2000, &EXIT.record(50, &[("pid", 50)]));
    let events = [ENTER_MMAP, EXIT_MMAP_CALL, ENTER_MADVISE, EXIT_MADVISE, NEW_TASK, EXEC, EXIT];
    write_folder(folder.path(), &recording("vma", "6.18.44", "pid=50\n"), &events, 4096, &[pages.finish()]);
    let maps = "7f0000000000-7f0000002000 rw-p 00000000 00:00 0 \n\
                7ffd7607b000-7ffd7609c000 rw-p 00000000 00:00 0                          [stack]\n\
                ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n";
    fs::write(folder.path().join("maps.50.end"), maps).unwrap();
    let (trace, summary) = imported(folder.path()).unwrap();
    assert_eq!(
        rows(&trace).1,
        [
            "100,0,50,x,,,,,,,,0",
            "150,0,50,t,0,,,51,3d0f00,,,0",
            "50,0,50,m,0,0,8192,3,22,0,0,7f0000000000",
            "150,0,51,a,0,7f0000000000,4096,10,,,,0",
            "50,0,50,f,0,,,52,11,,,1",
            "200,0,52,m,1,0,4096,1,2,-1,1000,-12",
            "100,0,52,e,1,,,,,,,1",
            "0,0,52,z,1,,,,,,,",
            "100,0,51,e,0,,,,,,,0",
            "100,0,50,e,0,,,,,,,1",
            "0,0,50,z,0,,,,,,,",
        ]
    );
    assert_eq!(summary.differences, Some(0));
    assert_eq!(summary.warnings, ["1 calls returned whose begin was not recorded"]);
    fs::write(folder.path().join("maps.50.end"), maps.replace("2000 rw", "3000 rw")).unwrap();
    assert_eq!(imported(folder.path()).unwrap().1.differences, Some(1));

    // What ptrace saw beside it: a program's own mappings, and an end before the kernel's events tell of it.
    let log =
        "900 0 50 exec sh\n1110 0 50 exec sh\n1120 0 50 map 400000 401000 5 p file 1:7 0\n1990 0 50 exit\n";
    fs::write(folder.path().join("events.log"), log).unwrap();
    let program = "400000-401000 r-xp 00000000 00:01 7                          /bin/sh\n";
    // A file's name may be any bytes.
    let named = [program.trim_end().as_bytes(), b"\xff\n", maps.as_bytes()].concat();
    fs::write(folder.path().join("maps.50.end"), named).unwrap();
    let (trace, summary) = imported(folder.path()).unwrap();
    let all = rows(&trace).1;
    assert_eq!(
        all[..3],
        ["0,0,50,x,,,,,,,,0", "120,0,50,k,0,400000,4096,5,file,1,0,400000", "130,0,50,t,0,,,51,3d0f00,,,0"]
    );
    assert_eq!(all[10..], ["90,0,50,e,0,,,,,,,1", "0,0,50,z,0,,,,,,,", "#task 50 sh"]);
    assert_eq!((summary.differences, summary.unknown), (Some(0), 0));

    // A snapshot of a process that goes on: a call that returns meanwhile may be in it or not, and what is later is not in it.
    fs::remove_file(folder.path().join("events.log")).unwrap();
    let taken = recording("vma", "6.18.44", "pid=50\nsnapshot_start=1000 1000\nsnapshot_end=1290 1295\n");
    fs::write(folder.path().join("recording"), taken).unwrap();
    for (maps, differences) in [(maps, 0), (&maps[maps.find("7ffd").unwrap()..], 0), (program, 1)] {
        fs::write(folder.path().join("maps.50.end"), maps).unwrap();
        assert_eq!(imported(folder.path()).unwrap().1.differences, Some(differences), "{maps}");
    }
}

/// Before a program runs, the kernel gives up the address space that its process had, and looks for room in another one.
#[test]
fn a_program_has_its_space_until_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let gone =
        Event { system: "mmap", name: "exit_mmap", id: 123, fields: &[("void * mm", 8, 8, 0)], ..EXEC };
    let search = Event {
        system: "mmap",
        name: "vm_unmapped_area",
        id: 124,
        fields: &[
            ("unsigned long addr", 8, 8, 0),
            ("unsigned long flags", 16, 8, 0),
            ("unsigned long length", 24, 8, 0),
            ("unsigned long low_limit", 32, 8, 0),
            ("unsigned long high_limit", 40, 8, 0),
            ("unsigned long align_mask", 48, 8, 0),
            ("unsigned long align_offset", 56, 8, 0),
        ],
        ..EXEC
    };
    let mut pages = Pages::new(4096);
    pages.push(1050, &gone.record(50, &[]));
    pages.push(1060, &search.record(50, &[("addr", 0x7000), ("length", 4096), ("high_limit", 0x8000)]));
    pages.push(1100, &EXEC.record(50, &[("pid", 50)]));
    pages
        .push(1200, &ENTER_MMAP.record(50, &[("len", 4096), ("prot", 3), ("flags", 0x22), ("fd", u64::MAX)]));
    pages.push(1300, &EXIT_MMAP_CALL.record(50, &[("ret", 0x7f00_0000_0000)]));
    pages.push(1400, &gone.record(50, &[]));
    pages.push(1500, &EXIT.record(50, &[("pid", 50)]));
    let events = [ENTER_MMAP, EXIT_MMAP_CALL, EXEC, EXIT, gone, search];
    write_folder(folder.path(), &recording("vma", "6.18.44", "pid=50\n"), &events, 4096, &[pages.finish()]);
    fs::write(folder.path().join("events.log"), "900 0 50 exec sh\n1110 0 50 exec sh\n").unwrap();
    let (trace, _) = imported(folder.path()).unwrap();
    assert_eq!(
        rows(&trace).1,
        [
            "0,0,50,x,,,,,,,,0",
            "300,0,50,m,0,0,4096,3,22,0,0,7f0000000000",
            "200,0,50,e,0,,,,,,,1",
            "0,0,50,z,0,,,,,,,",
            "#task 50 sh",
        ]
    );
}

/// The first thread ends, another one executes a program as it, and then that ends.
#[test]
fn a_process_whose_other_thread_executes_a_program_ends_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut pages = Pages::new(4096);
    let mmap = [("len", 4096), ("prot", 3), ("flags", 0x22), ("fd", u64::MAX)];
    pages.push(1100, &EXEC.record(50, &[("pid", 50)]));
    pages.push(1200, &ENTER_MMAP.record(50, &mmap));
    pages.push(1300, &EXIT_MMAP_CALL.record(50, &[("ret", 0x7f00_0000_0000)]));
    pages.push(1400, &NEW_TASK.record(50, &[("pid", 51), ("clone_flags", 0x3d_0f00)]));
    pages.push(1500, &EXIT.record(50, &[("pid", 50)]));
    pages.push(1600, &ENTER_MMAP.record(50, &mmap));
    pages.push(1700, &EXIT_MMAP_CALL.record(50, &[("ret", 0x7f00_0000_2000)]));
    pages.push(1800, &EXIT.record(50, &[("pid", 50)]));
    let events = [ENTER_MMAP, EXIT_MMAP_CALL, NEW_TASK, EXEC, EXIT];
    write_folder(folder.path(), &recording("vma", "6.18.44", "pid=50\n"), &events, 4096, &[pages.finish()]);
    fs::write(folder.path().join("maps.50.end"), "7f0000002000-7f0000003000 rw-p 00000000 00:00 0 \n")
        .unwrap();
    let (_, summary) = imported(folder.path()).unwrap();
    assert_eq!((summary.differences, summary.unknown), (Some(0), 0));
}

/// A static program may do no call before it executes the next one.
#[test]
fn a_program_that_does_nothing_but_execute_another_has_a_space_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let kernel = recording("vma", "6.18", "pid=50\n").replace("=tracefs", "=ptrace");
    fs::write(folder.path().join("recording"), kernel).unwrap();
    let log = "1000 0 50 exec nice\n\
               1010 0 50 map 400000 403000 5 p file 1099511627776:7 0\n\
               1020 0 50 exec true\n\
               1030 0 50 map 500000 501000 5 p file 1099511627776:8 0\n\
               1040 0 50 exit\n";
    fs::write(folder.path().join("events.log"), log).unwrap();
    fs::write(folder.path().join("maps.50.end"), "500000-501000 r-xp 00000000 100:00 8     /bin/true\n")
        .unwrap();
    let (trace, summary) = imported(folder.path()).unwrap();
    assert_eq!(
        rows(&trace).1[..5],
        [
            "0,0,50,x,,,,,,,,0",
            "10,0,50,k,0,400000,12288,5,file,1,0,400000",
            "10,0,50,z,0,,,,,,,",
            "0,0,50,x,0,,,,,,,1",
            "10,0,50,k,1,500000,4096,5,file,2,0,500000",
        ]
    );
    assert_eq!(summary.differences, Some(0));
}

#[test]
fn what_ptrace_saw_is_a_folder_too() {
    let folder = tempfile::tempdir().unwrap();
    let kernel = recording("vma", "6.18", "pid=50\nstack_limit=8388608\n").replace("=tracefs", "=ptrace");
    fs::write(folder.path().join("recording"), kernel).unwrap();
    let log = "1000 0 50 exec python3\n\
               1010 0 50 map 400000 403000 5 p file 1099511627776:7 0\n\
               1020 0 50 call mmap 0 2000 3 22 ffffffffffffffff 0 = 140737353875456 -\n\
               1030 0 50 call mmap 0 1000 1 2 3 0 = 140737353871360 1099511627776:7\n\
               1040 0 50 thread 51 3d0f00\n\
               1050 0 51 exit\n\
               1060 0 50 exit\n";
    fs::write(folder.path().join("events.log"), log).unwrap();
    let maps = "400000-403000 r-xp 00000000 100:00 7                                     /usr/bin/python3\n\
                7ffff7fbf000-7ffff7fc2000 rw-p 00000000 00:00 0 \n";
    fs::write(folder.path().join("maps.50.end"), maps).unwrap();
    let (trace, summary) = imported(folder.path()).unwrap();
    let (first, rows) = rows(&trace);
    assert!(first.ends_with(" source=ptrace arch=x86_64 boot=no stack_limit=8388608"), "{first}");
    assert_eq!(
        rows,
        [
            "0,0,50,x,,,,,,,,0",
            "10,0,50,k,0,400000,12288,5,file,1,0,400000",
            "10,0,50,m,0,0,8192,3,22,0,0,7ffff7fc0000",
            "10,0,50,m,0,0,4096,1,2,1,0,7ffff7fbf000",
            "10,0,50,t,0,,,51,3d0f00,,,0",
            "10,0,51,e,0,,,,,,,0",
            "10,0,50,e,0,,,,,,,1",
            "0,0,50,z,0,,,,,,,",
            "#task 50 python3",
        ]
    );
    assert_eq!((summary.differences, summary.unknown), (Some(0), 0));
    fs::write(folder.path().join("events.log"), log.replace(" = 1407", " : 1407")).unwrap();
    let error = imported(folder.path()).unwrap_err().to_string();
    assert!(error.contains("events.log:3: \"=\" must stand where"), "{error}");
}
