use freehold_lab::engine::*;
use freehold_lab::measure::*;
use freehold_lab::workload::{suite::*, whole_space};
use freehold_trace::kva::Op;
use std::time::Duration;
#[derive(Clone)]
struct Together(Interleaved);
impl Source for Together {
    fn next_batch(&mut self, ops: &mut Vec<Op>) -> Option<Piece> {
        self.0.next_batch_by(ops, |phase| if phase == Phase::Body { 2 } else { 100000 }).map(|turn| if turn.batch.phase == Phase::Body { Piece::Part(turn.case.name) } else { Piece::Around })
    }
}
fn main() {
    let args: Vec<u64> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let cases: Vec<_> = CASES.iter().filter(|c| c.mask.is_some_and(|m| m & 127 != 0)).collect();
    let params = Params { loops: args[0], cpus: 4, seed: args[3], ..Params::default() };
    let all = Interleaved::new(&cases, &params, 1).unwrap();
    let mut count = 0; let mut ops = Vec::new();
    let mut s = Together(all.clone());
    while s.next_batch(&mut ops).is_some() { count += ops.len(); ops.clear(); }
    println!("{count} ops");
    let sampling = Sampling { layout: vec![whole_space().unwrap()], objects: all.objects(), ops_per_sample: (args[0] as usize) * 14 * 4 / 120 + 1, samples: 120, rounds: args[1] as usize, limit: Duration::from_secs(args[2]) };
    let engines = find_engines(&["gap-list".into(), "rbtree:linux".into(), "rbtree:lowest".into(), "btree:lowest".into()], Compared::Always).unwrap();
    let t = std::time::Instant::now();
    let sampled = Sampled::measure(&Together(all), &sampling, &engines, &mut |_| {}).unwrap();
    println!("{:?} common {}", t.elapsed(), sampled.common());
    let c = sampled.common();
    for run in &sampled.runs {
        println!("{} {} samples fails {} whole {} ms work {}", run.entry.label(), run.samples.len(), run.failures, format!("{:?}", run.sums(c)), 0);
        for (p, t) in sampled.parts.iter().zip(sampled.totals(run)) { println!("   {p}: {} allocs, {:.1} work {:.0} ns", t.allocs, t.work as f64/t.allocs as f64, t.ns as f64/t.allocs as f64); }
        if run.entry.engine == "gap-list" || run.entry.placement == Some("linux") {
            for (i, (w, n)) in run.work().zip(run.times_ns()).enumerate().step_by(4) { let s=&run.samples[i]; println!("     {i} live {} free {} {:?} {:?}", s.live, s.free_blocks, w.map(|w| (w.least, w.mean, w.greatest)), n.map(|w| (w.least, w.mean, w.greatest))); }
        }
    }
}
