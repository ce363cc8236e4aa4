//! What commands are about, and what a file holds.

use crate::named::named;
pub use freehold_trace::{FileKind as Kind, Suite};

named! {
    /// What is benched or stressed.
    argument Subject {
        Kva "kva" "Address ranges."
        Percpu "percpu" "Objects that exist once per CPU."
        Maple "maple" "Maps from ranges to entries."
        Counters "counters" "Counters and histograms of threads."
        Readers "readers" "Maps of ranges that threads share; bench alone."
        Pools "pools" "Address spaces that threads share; bench alone."
        Memory "memory" "Memory of vmalloc, mmap and mallocs; bench alone."
    }
}

named! {
    /// What is stressed.
    argument Stressed {
        Kva "kva" "Address ranges."
        Percpu "percpu" "Objects that exist once per CPU."
        Maple "maple" "Maps from ranges to entries."
        Counters "counters" "Counters and histograms of threads."
        Pools "pools" "Address spaces that threads share; with --adversary alone."
        Memory "memory" "Memory of vmalloc; with --adversary alone."
        Rcu "rcu" "Grace periods; with --adversary alone."
    }
}
