//! Real programs: what their calls ask for, and their address spaces as films.

use super::bulk::{ours, over_time};
use super::forms::drawn;
use super::ledger::PLANNERS;
use super::percent;
use super::planned::Program;
use super::{row, shape};
use crate::commands::reproduce::Part;
use crate::output::{Row, Table, count};
use crate::report::film::Film;
use crate::report::section::Figure;
use crate::report::{Key, Section};
use crate::workload::vma::{Fault, contradictions};

/// The part.
pub(super) fn part(programs: &[Program]) -> Part {
    let mismatches = |program: &Program| contradictions(&program.faults);
    let all: u64 = programs.iter().map(mismatches).sum();
    let calls: u64 = programs.iter().map(|program| program.workload.ops.len() as u64).sum();
    let films = programs.iter().map(|program| {
        let at_ns = program.workload.at_ns.as_deref().unwrap_or_default();
        let seconds = |op: usize| at_ns.get(op).copied().unwrap_or(0) as f64 / 1e9;
        Figure::Film(Film::new(program.film.clone(), &program.workload.name, seconds))
    });
    let section = Section {
        id: "programs",
        title: "The address spaces of recorded programs".to_owned(),
        about: vec![
            "Every mmap, munmap, mprotect, madvise, mremap, brk, fork, exec and exit of these programs was applied to \
             maps of areas, in the order in which the calls returned, and had to meet what an address space would \
             hold then. The kernel's own searches for a gap were asked of the tree, too, and had to find the same."
                .to_owned(),
        ],
        figures: films.collect(),
        tables: vec![requests(programs), faults(programs)],
    };
    let keys = vec![Key {
        value: format!("{} of {}", count(all), count(calls)),
        text: "calls of recorded programs met something else than the kernel did".to_owned(),
    }];
    let notes = programs
        .iter()
        .map(|program| format!("{}: {}.", program.workload.name, program.workload.description))
        .collect();
    Part { section, keys, notes, rows: programs.iter().flat_map(rows).collect(), ..Part::default() }
}

/// One program in short, without its film.
pub(super) fn brief(program: &Program) -> Part {
    let name = program.workload.name.clone();
    let mut figures = vec![
        Figure::Histograms(drawn(
            "Nodes asked for by a store",
            "How often each number of nodes was asked for; a bar is a share of the most in its column. Worst: Linux up to \
             6.15. Vacancy: since 6.16. Exact: ours, which is also what is taken.",
            &ours(program, Clone::clone),
        )),
        Figure::Plot(over_time(program, &format!("the calls of {name}"))),
    ];
    figures.extend(shape::plots(program));
    let section = Section {
        id: "maple",
        title: format!("What the address spaces of {name} ask for"),
        about: vec![
            "Before the kernel stores into the tree of an address space it asks for the nodes that this may take. Here \
             every store of the recorded calls is planned by its two formulas and by ours, on the same trees."
                .to_owned(),
        ],
        figures,
        tables: vec![requests(std::slice::from_ref(program))],
    };
    Part { section, rows: rows(program), ..Part::default() }
}

fn requests(programs: &[Program]) -> Table {
    let mut table = Table::new(
        "What the stores of recorded programs ask for",
        &["trace", "calls", "spaces", "areas at most", "stores"],
    );
    for (_, name) in PLANNERS {
        table.header.push(format!("{name}, nodes"));
    }
    table.header.extend(["exact/vacancy".to_owned(), "taken".to_owned(), "mismatches".to_owned()]);
    for program in programs {
        let most = |figure: fn(&crate::engine::vma::Footprint) -> u64| {
            program.points.iter().map(|point| figure(&point.footprint)).max().unwrap_or(0)
        };
        let totals = program.ledger.totals();
        let mut cells = vec![
            program.workload.name.clone(),
            count(program.workload.ops.len() as u64),
            count(most(|footprint| footprint.spaces)),
            count(most(|footprint| footprint.areas)),
            count(program.stores()),
        ];
        cells.extend(totals.map(count));
        cells.extend([percent(totals[2], totals[1]), count(program.taken)]);
        cells.push(count(contradictions(&program.faults)));
        table.row(cells);
    }
    table
}

fn faults(programs: &[Program]) -> Table {
    let mut table = Table::new("Calls that met something else than they might", &["what"]);
    table.header.extend(programs.iter().map(|program| program.workload.name.clone()));
    for (fault, what) in Fault::ALL {
        let mut cells = vec![what.to_owned()];
        cells.extend(programs.iter().map(|program| count(program.faults.get(&fault).copied().unwrap_or(0))));
        table.row(cells);
    }
    table
}

fn rows(program: &Program) -> Vec<Row> {
    let totals = program.ledger.totals();
    let row = |((_, planner), total): (&(_, &'static str), u64)| Row {
        file: program.workload.file.clone(),
        count: Some(program.stores()),
        nodes_requested: Some(total),
        nodes_used: Some(program.taken),
        mismatches: Some(contradictions(&program.faults)),
        ..row(&program.workload.name, true, planner, "total")
    };
    PLANNERS.iter().zip(totals).map(row).collect()
}
