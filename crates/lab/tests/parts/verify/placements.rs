use freehold_lab::verify::verify_file;

/// What differs of a recording of two objects, one of them freed, and of lines of statistics.
fn differs(lines: &[&str]) -> Option<String> {
    let mut text =
        "# unit 32768 page 4096 cpus 2 variant stock balance off seed 1 digest_every 1000\n".to_owned();
    text.push_str("a 6 4 0 0\na 6 4 0 8\nf 0\n");
    lines.iter().for_each(|line| text.push_str(&format!("s {line}\n")));
    text.push_str("# end ops 3 handles 2 live 1\n");
    let file = std::env::temp_dir().join(format!("freehold-placements-{}.txt", std::process::id()));
    std::fs::write(&file, text).unwrap();
    let checks = verify_file(&file, &[], &mut || ());
    std::fs::remove_file(&file).unwrap();
    checks.unwrap().checks.remove(0).first.map(|first| first.got)
}

#[test]
fn statistics_are_compared() {
    let right =
        ["nr_alloc :  2", "nr_cur_alloc: 1", "nr_max_alloc: 2", "max_alloc_size: 8", "Chunk:", "nr_alloc: 1"];
    assert_eq!(differs(&right), None);
    // The brackets tell which of the chunk's lists it is on, and what follows the colon which chunk it is.
    for heading in ["Chunk (sidelined):", "Chunk (to_depopulate):", "  Chunk: <- First Chunk"] {
        assert_eq!(differs(&[heading, "nr_alloc: 1"]), None, "{heading}");
        assert_eq!(differs(&[heading, "nr_alloc: 2"]).as_deref(), Some("nr_alloc: 1"), "{heading}");
    }
    assert_eq!(differs(&["nr_dealloc :  2"]).as_deref(), Some("nr_dealloc :  1"));
    assert_eq!(differs(&["Chunk:", "free_bytes: 32768"]).as_deref(), Some("free_bytes: 32760"));
}
