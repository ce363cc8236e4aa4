//! debugfs `percpu_stats`: `NAME : VALUE` lines, of which the counts since boot are of use.

/// Objects allocated and freed since boot.
pub(crate) fn read(text: &str) -> Option<(u64, u64)> {
    let value = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(own, _)| own.trim() == name)?.1.trim().parse().ok()
    };
    Some((value("nr_alloc")?, value("nr_dealloc")?))
}
