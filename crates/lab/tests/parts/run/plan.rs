use freehold_lab::engine::{Compared, EngineEntry};
use freehold_lab::family::Kva;
use freehold_lab::run::plan::{Plan, Stop, run};
use std::cell::RefCell;

/// Notes who is asked for what.
#[derive(Default)]
struct Noted(RefCell<Vec<String>>);

impl Plan<Kva> for Noted {
    type Run = String;

    fn name(&self) -> String {
        "noted".to_owned()
    }

    fn rounds(&self) -> [usize; 2] {
        [2, 2]
    }

    fn prepare(&self, entry: &EngineEntry) -> Result<String, Stop> {
        match entry.engine {
            "splay" => Err(Stop::LeftOut("slow".to_owned())),
            "naive" => Err(Stop::Wrong("lies".to_owned())),
            name => Ok(name.to_owned()),
        }
    }

    fn turn(&self, run: &mut String, [round, turn]: [usize; 2]) -> Result<(), String> {
        self.0.borrow_mut().push(format!("{round}{turn} {run}"));
        Ok(())
    }
}

#[test]
fn engines_take_turns_and_who_cannot_is_left_out() {
    let find = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        EngineEntry::find(&names, Compared::IfNamed).unwrap()
    };
    let noted = Noted::default();
    let (runs, left_out) = run(&noted, &find(&["gap-list", "splay", "mmap"]), &mut |_| ()).unwrap();
    assert_eq!((runs.len(), left_out[0].1.as_str()), (2, "slow"));
    let [a, b] = ["gap-list", "mmap"];
    let order = [["00", a], ["00", b], ["01", b], ["01", a], ["10", b], ["10", a], ["11", a], ["11", b]];
    assert_eq!(*noted.0.borrow(), order.map(|[at, who]| format!("{at} {who}")));
    let error = run(&noted, &find(&["naive"]), &mut |_| ()).unwrap_err();
    assert_eq!(error.to_string(), "noted: naive: lies");
}
