use freehold_lab::data_folder;
use freehold_lab::verify::verify_file;

/// How many columns differ of a table of one row.
fn mismatches([header, row]: [&str; 2]) -> Result<u64, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("anchors.tsv");
    std::fs::write(&file, format!("{header}\n{row}\n")).unwrap();
    let checks = verify_file(&file, &[], &mut || ()).map_err(|error| error.to_string())?;
    Ok(checks.checks.iter().map(|check| check.mismatches).sum())
}

/// The same text with another last digit.
fn changed(text: &str) -> String {
    let (rest, last) = text.split_at(text.len() - 1);
    format!("{rest}{}", if last == "0" { "1" } else { "0" })
}

#[test]
fn every_column_of_a_table_is_compared() {
    let table = std::fs::read_to_string(data_folder().unwrap().join("vectors/kva/anchors.tsv")).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(mismatches([lines[0], lines[1]]), Ok(0));
    // What says what to play comes first.
    let figures = lines[1].split('\t').enumerate();
    let wrong: Vec<String> =
        figures.map(|(at, figure)| if at < 4 { figure.to_owned() } else { changed(figure) }).collect();
    assert_eq!(mismatches([lines[0], &wrong.join("\t")]), Ok(wrong.len() as u64 - 4));
    let more = mismatches([&format!("{}\tsurprise", lines[0]), &format!("{}\t1", lines[1])]).unwrap_err();
    assert!(more.contains("nothing is known of a column \"surprise\""), "{more}");
}
