//! Every public operation says what it costs: read from the sources, so that one that is added without a bound fails here.

use std::fs;
use std::path::{Path, PathBuf};

/// Crates whose operations have bounds.
const CRATES: [&str; 6] = ["kva", "percpu", "maple", "linux", "rcu", "vmalloc"];

/// The kernel's algorithms keep the kernel's bounds: one sentence on cost for the whole, in the header of its module.
const AS_A_WHOLE: [&str; 3] =
    ["linux/src/kva/rbtree/mod.rs", "linux/src/percpu/mod.rs", "linux/src/maple/mod.rs"];

/// Traits whose methods the library calls and users do not: a placement, and the memory that a user gives.
const CALLED_BACK: [&str; 2] = ["Placement", "Backing"];

/// What a type or module says that covers its methods of one line; all others say it themselves.
const UNLESS: &str = "constant unless a method says otherwise";

/// A function that users can call.
#[derive(Debug)]
struct Operation {
    file: String,
    name: String,
    docs: String,
    is_trivial: bool,
    /// The docs of its type or trait, and of its module.
    around: String,
}

impl Operation {
    fn says_its_cost(&self) -> bool {
        says_cost(&self.docs) || (self.is_trivial && self.around.contains(UNLESS))
    }
}

fn says_cost(docs: &str) -> bool {
    docs.contains("Cost") || docs.contains("O(")
}

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn is_of_tests(path: &Path) -> bool {
    let is_test = |part: &str| {
        let name = part.trim_end_matches(".rs");
        name == "tests"
            || name.ends_with("_tests")
            || ["type_rules", "shuttle_judge", "mutant"].contains(&name)
    };
    path.iter().any(|part| is_test(&part.to_string_lossy()))
}

/// All sources under a folder but tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() && !is_of_tests(Path::new(path.file_name().unwrap())) {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && !is_of_tests(Path::new(path.file_name().unwrap()))
        {
            found.push(path);
        }
    }
}

/// The name of the type that an item is of: `impl<V> Region<'_, V> {` is of `Region`.
fn type_name(item: &str) -> String {
    let mut rest = item.trim_start_matches("pub ").trim_start_matches("unsafe ");
    for word in ["impl", "trait ", "struct ", "enum "] {
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    if rest.starts_with('<') {
        let mut depth = 0;
        let end = rest.char_indices().find(|&(_, c)| {
            depth += i32::from(c == '<') - i32::from(c == '>');
            depth == 0
        });
        rest = end.map_or("", |(at, _)| &rest[at + 1..]);
    }
    let rest = rest.split(" for ").last().unwrap_or(rest).trim_start();
    rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// The docs of each public type of some sources.
fn types(texts: &[(String, String)]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (_, text) in texts {
        let mut docs = String::new();
        for line in text.lines().map(str::trim_start) {
            if let Some(doc) = line.strip_prefix("///") {
                docs.push_str(doc);
                docs.push('\n');
            } else if ["pub struct ", "pub enum ", "pub trait "].iter().any(|item| line.starts_with(item)) {
                found.push((type_name(line), std::mem::take(&mut docs)));
            } else if !line.starts_with("#[") && !line.is_empty() {
                docs.clear();
            }
        }
    }
    found
}

/// What the module says of itself.
fn header(text: &str) -> String {
    text.lines().filter_map(|line| line.strip_prefix("//!")).collect::<Vec<_>>().join("\n")
}

/// The public functions of a source.
fn operations(file: &str, text: &str, types: &[(String, String)]) -> Vec<Operation> {
    let module: String =
        text.lines().filter_map(|line| line.strip_prefix("//!")).collect::<Vec<_>>().join("\n");
    let lines: Vec<&str> = text.lines().collect();
    let (mut found, mut docs, mut of, mut hidden) = (Vec::new(), String::new(), String::new(), false);
    let (mut in_trait, mut skips) = (false, false);
    for (at, whole) in lines.iter().enumerate() {
        let line = whole.trim_start();
        let at_margin = whole.len() == line.len();
        let is_impl = line.trim_start_matches("unsafe ").starts_with("impl");
        if at_margin && (is_impl || line.contains("trait ") && line.starts_with("pub ")) {
            (of, in_trait) =
                (type_name(line), line.starts_with("pub trait ") || line.starts_with("pub unsafe trait "));
            skips = hidden || CALLED_BACK.contains(&of.as_str()) || (is_impl && line.contains(" for "));
        } else if at_margin && line.starts_with('}') {
            (of, in_trait, skips) = (String::new(), false, false);
        }
        if let Some(doc) = line.strip_prefix("///") {
            docs.push_str(doc);
            docs.push('\n');
            continue;
        }
        if line.starts_with("#[") {
            hidden |= line.contains("doc(hidden)") || line.contains("cfg(test)");
            continue;
        }
        let function =
            ["pub fn ", "pub const fn ", "pub unsafe fn "].iter().find_map(|start| line.strip_prefix(start));
        let function = function.or_else(|| line.strip_prefix("fn ").filter(|_| in_trait));
        if let Some(rest) = function.filter(|_| !hidden && !skips) {
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let name = if of.is_empty() { name } else { format!("{of}::{name}") };
            let of_type = types.iter().filter(|(type_of, _)| *type_of == of).map(|(_, docs)| docs.as_str());
            let around = of_type.chain([module.as_str()]).collect::<Vec<_>>().join("\n");
            let body = lines[at..].iter().position(|line| line.ends_with('{') || line.ends_with('}'));
            let body = body.map_or(at, |opens| at + opens);
            let is_trivial =
                lines[body].ends_with('}') || lines.get(body + 2).is_some_and(|line| line.trim() == "}");
            found.push(Operation { file: file.to_owned(), name, docs: docs.clone(), is_trivial, around });
        }
        if !line.is_empty() {
            docs.clear();
            hidden = false;
        }
    }
    found
}

/// The text of each source of a crate, by its path from the folder of crates.
fn texts(name: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    sources(&crates().join(name).join("src"), &mut files);
    let read = |path: PathBuf| {
        let file = path.strip_prefix(crates()).unwrap().display().to_string();
        (file, fs::read_to_string(&path).unwrap())
    };
    files.into_iter().map(read).collect()
}

#[test]
fn every_public_operation_says_what_it_costs() {
    let (mut count, mut missing) = (0, Vec::new());
    for name in CRATES {
        let texts = texts(name);
        let types = types(&texts);
        let folders = AS_A_WHOLE.map(|module| module.trim_end_matches("mod.rs"));
        for (file, text) in &texts {
            if folders.iter().any(|folder| file.starts_with(folder)) {
                if AS_A_WHOLE.contains(&file.as_str()) && !says_cost(&header(text)) {
                    missing.push(format!("{file}: the module"));
                }
                continue;
            }
            let operations = operations(file, text, &types);
            count += operations.len();
            let silent = operations.iter().filter(|operation| !operation.says_its_cost());
            missing.extend(silent.map(|operation| format!("{}: {}", operation.file, operation.name)));
        }
    }
    assert!(count > 300, "{count} operations are not all");
    assert!(missing.is_empty(), "these say nothing of their cost:\n{}", missing.join("\n"));
}

#[test]
fn an_operation_without_cost_is_found() {
    let text = "//! A module.\n\n/// A type. Cost: constant unless a method says otherwise.\npub struct Set;\n\n\
                impl<V> Set<V> {\n    /// How many.\n    pub fn len(&self) -> usize {\n        self.len\n    }\n\n    \
                /// Looks at all.\n    #[must_use]\n    pub fn sum(&self) -> u64 {\n        let all = self.all();\n        \
                all.sum()\n    }\n\n    /// Cost: O(1).\n    pub fn first(&self) -> u64 {\n        let first = 1;\n        \
                first\n    }\n\n    pub(crate) fn hidden(&self) {}\n}\n\npub trait Fits {\n    /// No word of it.\n    \
                fn fit(\n        &self,\n    ) -> bool;\n}\n";
    let texts = [("a.rs".to_owned(), text.to_owned())];
    let found = operations("a.rs", text, &types(&texts));
    let names: Vec<_> = found.iter().map(|operation| operation.name.as_str()).collect();
    assert_eq!(names, ["Set::len", "Set::sum", "Set::first", "Fits::fit"]);
    let silent: Vec<_> = found.iter().filter(|operation| !operation.says_its_cost()).collect();
    let silent: Vec<_> = silent.iter().map(|operation| operation.name.as_str()).collect();
    assert_eq!(silent, ["Set::sum", "Fits::fit"]);
}
