use freehold::kva::{AddressSpace, Placement, Request};
use freehold::units::{Align, Span};
use freehold_lab::Progress;
use freehold_lab::concurrent::every_cpu::{on_engine, stress_every_cpu};
use freehold_lab::concurrent::pools::pool::{Pool, whole};
use freehold_lab::run::stress::{Options, cases_of};
use std::sync::{Mutex, PoisonError};
use std::thread::{ThreadId, current};

fn asked(cases: &[&str]) -> Options {
    Options {
        cases: cases.iter().map(|&name| name.to_owned()).collect(),
        threads: Some(3),
        loops: Some(50),
        sizes: vec![100],
        seed: 20_190_909,
        ..Options::default()
    }
}

#[test]
fn every_space_stands_every_case() {
    let results = stress_every_cpu(&asked(&[]), &mut Progress::default()).unwrap();
    assert!(!results.failed, "{:?}", results.notes);
    let counts = results.records.iter().filter(|record| record.key.op == "operations");
    assert!(counts.clone().count() == 4 && counts.clone().all(|record| record.value > 10_000.0));
    assert!(results.notes.iter().any(|note| note.ends_with("does not have the requests of: pcpu_alloc")));
}

/// Gives away again what it has handed out, and each thread finds what it was given all the same: only who holds what else tells.
struct Liar(Mutex<Given>);

/// What is free, and what each thread was given.
type Given = (AddressSpace<()>, Vec<(ThreadId, Span)>);

impl Liar {
    fn space(&self) -> std::sync::MutexGuard<'_, Given> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pool for Liar {
    fn alloc(&self, _: u64) -> Option<u64> {
        None
    }

    fn alloc_request(&self, request: &Request) -> Option<Span> {
        let (space, handed_out) = &mut *self.space();
        let span = space.alloc(request, ()).ok()?;
        if span.size_saturating() > 0x8000 {
            space.free(span.first()).ok()?;
        }
        let this = current().id();
        handed_out.retain(|(thread, other)| *thread != this || !other.overlaps(span));
        handed_out.push((this, span));
        Some(span)
    }

    fn free(&self, first: u64) -> bool {
        self.space().0.free(first).is_ok() || first != 0
    }

    fn locate(&self, address: u64) -> Option<Span> {
        let this = current().id();
        let has = |(thread, span): &&(ThreadId, Span)| *thread == this && span.contains(address);
        self.space().1.iter().find(has).map(|(_, span)| *span)
    }

    fn settle(&self) -> usize {
        1
    }
}

#[test]
fn a_space_that_hands_out_what_is_taken_is_caught() {
    let space = AddressSpace::new(whole(), Align::PAGE, Placement::Lowest).unwrap();
    let options = asked(&["churn"]);
    let cases = cases_of(&options).unwrap();
    let reason =
        on_engine(&Liar(Mutex::new((space, Vec::new()))), &options, &cases, 2, None).unwrap_err().to_string();
    assert!(reason.contains("churn on thread") && reason.contains(" is taken"), "{reason}");
}
