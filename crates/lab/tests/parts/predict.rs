//! Predictions of recordings: exact counts of the bundled ones, settings, and rows that no kernel writes.

use freehold_lab::data_folder;
use freehold_lab::predict::{Kind, Predicted, Settings, Way, predict, predict_events};
use freehold_trace::Lines;
use freehold_trace::kva::Events;

const HEAD: &str = "#vml-trace v1 kind=kva kernel=6.18.44 ncpu=2 pagesize=4096 clock=mono possible=2 pools=drained\n\
    #workload w: made up\n#lost_records=0\n#dt_ns,cpu,tid,op,obj,addr,size,align,vstart,vend,aux\n";
const STRICT: Way = Way { strict: true, free_running: false };
const FREE: Way = Way { strict: false, free_running: true };

fn settings(texts: &[&str]) -> Settings {
    Settings::read(&texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>()).unwrap()
}

fn bundled(name: &str, texts: &[&str], way: Way) -> Predicted {
    predict(&data_folder().unwrap().join(name), &settings(texts), way).unwrap()
}

fn made_up(rows: &str, way: Way) -> Result<Predicted, String> {
    let lines = Lines::from_text("made-up.kva.csv", &format!("{HEAD}{rows}"));
    let events = Events::new(lines).map_err(|error| error.to_string())?;
    predict_events(events, &Settings::default(), way).map_err(|error| format!("{error:#}"))
}

/// An allocation of so many pages at a page of the zone.
fn alloc(object: u32, page: u64, pages: u64, cpu: u32) -> String {
    format!("1,{cpu},7,A,{object},{:x},{},1,100000,10000000,\n", 0x10_0000 + page * 4096, pages * 4096)
}

#[test]
fn the_drained_recording_is_predicted() {
    let of = |way| bundled("drained/bpfstorm.kva.csv.zst", &[], way);
    let (predicted, strict, free) = (of(Way::default()), of(STRICT), of(FREE));
    assert_eq!([predicted.right(), strict.right(), predicted.allocations()], [5_915, 5_895, 5_918]);
    assert_eq!(
        [Kind::BeforePurge, Kind::Origin, Kind::Unknown].map(|kind| predicted.kinds[kind as usize]),
        [10, 2, 0]
    );
    assert_eq!((predicted.counts.purges, predicted.unmatched), (376, 0));
    assert_eq!(free.right(), 2_577);
}

#[test]
fn each_rule_is_worth_something() {
    let of = |texts: &[&str]| bundled("traces/bpfvm.kva.csv.zst", texts, Way::default()).right();
    let recorded = of(&[]);
    for other in [
        "lazy=off",
        "pools=off",
        "pools=shared",
        "pools=fifo",
        "decay=6.9",
        "decay=off",
        "decay=tail",
        "refill=highest",
    ] {
        let right = of(&[other]);
        assert!(right * 10 < recorded * 9, "{other}: {right} of {recorded}");
    }
    assert!(of(&["lazy=off", "pools=off"]) * 10 < recorded);
}

#[test]
fn names_that_there_are_not_are_refused() {
    let refused = |text: &str| Settings::read(&[text.to_owned()]).unwrap_err().to_string();
    assert!(refused("pool=off").contains("did you mean \"pools\"?"), "{}", refused("pool=off"));
    assert!(refused("decay=tial").contains("did you mean \"tail\"?"), "{}", refused("decay=tial"));
    assert!(refused("nodes=129").contains("from 1 to 128"));
    assert!(refused("lazy-limit=").contains("a number from 1"));
}

#[test]
fn a_pool_hands_out_what_was_purged() {
    let purged = [
        alloc(1, 0, 2, 1),
        alloc(2, 2, 2, 1),
        "1,0,9,F,1,100000,8192,,,,\n1,0,9,P,,100000,8192,,,,1\n".to_owned(),
    ]
    .concat();
    let predicted = made_up(&format!("{purged}{}", alloc(3, 0, 2, 1)), STRICT).unwrap();
    assert_eq!((predicted.right(), predicted.allocations(), predicted.kinds[Kind::Pool as usize]), (3, 3, 1));
    let other_cpu = made_up(&format!("{purged}{}", alloc(3, 0, 2, 0)), STRICT).unwrap();
    assert_eq!(other_cpu.kinds[Kind::Elsewhere as usize], 1, "the other CPU's pool is empty");
}

#[test]
fn rows_that_no_kernel_writes_are_counted_or_refused() {
    for way in [Way::default(), STRICT, FREE] {
        let first = alloc(1, 0, 1, 0);
        let more = made_up(&format!("{first}1,0,9,P,,100000,4096,,,,18446744073709551615\n"), way).unwrap();
        assert!(more.unmatched > 0, "a purge of more than was freed");
        let twice =
            made_up(&format!("{first}1,0,9,F,1,100000,4096,,,,\n1,0,9,F,1,100000,4096,,,,\n"), way).unwrap();
        assert_eq!(twice.unmatched, 1);
        let unknown = made_up(&format!("{first}1,0,9,U,,100000,4096,,,,\n1,0,9,U,,,,,,,\n"), way).unwrap();
        assert!(unknown.unmatched >= 2);
        let upon = made_up(&format!("{first}{}", alloc(2, 0, 3, u32::MAX)), way).unwrap();
        assert_eq!(upon.allocations(), 2, "a CPU above all nodes, where something lives");
        assert!(
            made_up(&format!("{first}1,0,7,A,2,100000,0,1,100000,10000000,\n"), way)
                .unwrap_err()
                .contains(":6:")
        );
        assert!(
            made_up(&format!("{first}1,0,7,A,2,100001,4096,1,100000,10000000,\n"), way)
                .unwrap_err()
                .contains("pages")
        );
        assert!(
            made_up(&format!("{first}1,0,7,A,2,0,4096,1,100000,10000000,\n"), way)
                .unwrap_err()
                .contains("first page")
        );
        assert!(made_up("", way).unwrap_err().contains("no allocation"));
    }
}
