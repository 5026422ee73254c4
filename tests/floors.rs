//! The crate is built in floors: a file imports only from strictly lower ones, so nothing depends on itself in a circle.
//!
//! A file directly in `src/`, together with the folder of the same name, is a room. Inside a room files may import each
//! other.

use std::fs;
use std::path::{Path, PathBuf};

/// The rooms of every floor, from the ground up.
const FLOORS: [&[&str]; 7] = [
    &["kernel", "settings", "diagnostics"],
    &["plan"],
    &["uniforms", "textures", "labels"],
    &["pipelines"],
    &["passes"],
    &["camera", "image", "backdrop", "measurements"],
    &["lib"],
];

/// No file may have more lines.
const MOST_LINES: usize = 400;

/// One source file.
struct Source {
    /// Its path below `src/`, with slashes.
    name: String,
    /// The room it belongs to.
    room: String,
    /// How many modules lie between it and the crate's root.
    depth: usize,
    text: String,
}

#[test]
fn every_file_has_a_floor() {
    for source in rust_sources() {
        assert!(
            floor_of(&source.room).is_some(),
            "src/{} is in the room `{}`, which has no floor yet: put it into the table of tests/floors.rs, one floor \
             above the highest room it imports",
            source.name,
            source.room
        );
    }
}

#[test]
fn imports_lead_to_lower_floors() {
    let mut imports = 0;
    let mut wrong = Vec::new();
    for source in rust_sources() {
        let Some(floor) = floor_of(&source.room) else {
            continue;
        };
        for room in imported_rooms(&source) {
            imports += 1;
            let is_lower = floor_of(&room).is_some_and(|other| other < floor);
            if room != source.room && !is_lower {
                wrong.push(format!(
                    "src/{} on floor {floor} imports `{room}` on floor {:?}",
                    source.name,
                    floor_of(&room)
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "imports must lead to lower floors:\n{}",
        wrong.join("\n")
    );
    assert!(
        imports > 20,
        "only {imports} imports were found: this test reads them wrongly"
    );
}

#[test]
fn files_are_short() {
    for (path, text) in files(Path::new("src")) {
        let lines = text.lines().count();
        assert!(
            lines <= MOST_LINES,
            "{} has {lines} lines, more than {MOST_LINES}: split it into a folder of the same name",
            path.display()
        );
    }
}

#[test]
fn paths_are_read_as_the_compiler_reads_them() {
    let source = |name: &str, text: &str| Source::new(name, text.to_owned());
    let rooms = |name: &str, text: &str| imported_rooms(&source(name, text));
    assert_eq!(rooms("image.rs", "use crate::plan::{Axis, row::Row};"), ["plan"]);
    assert_eq!(
        rooms("image.rs", "use crate::{kernel, plan::row, Blur};"),
        ["kernel", "plan", "lib"]
    );
    assert_eq!(rooms("image.rs", "fn f() -> crate::settings::Edge;"), ["settings"]);
    assert_eq!(rooms("image/follow.rs", "use super::Request;"), ["image"]);
    assert_eq!(rooms("image/follow.rs", "use super::super::passes::Job;"), ["passes"]);
    assert_eq!(rooms("image.rs", "use super::passes::Job;"), ["passes"]);
    assert_eq!(
        rooms("image.rs", "//! See crate::plan.\n/// [`x`](crate::plan::x)"),
        [""; 0]
    );
    assert_eq!(rooms("image.rs", "mod tests { use super::*; }"), [""; 0]);
    assert_eq!(rooms("image.rs", "use crate::prelude::*;"), ["lib"]);
}

impl Source {
    fn new(name: &str, text: String) -> Self {
        let modules: Vec<&str> = name.trim_end_matches(".rs").split('/').collect();
        Self {
            name: name.to_owned(),
            room: modules[0].to_owned(),
            depth: modules.len(),
            text,
        }
    }
}

fn floor_of(room: &str) -> Option<usize> {
    FLOORS.iter().position(|rooms| rooms.contains(&room))
}

/// The rooms that a file names, in order of appearance.
fn imported_rooms(source: &Source) -> Vec<String> {
    let code: Vec<&str> = source
        .text
        .lines()
        .map(|line| line.split("//").next().unwrap_or(""))
        .collect();
    let code = code.join("\n");
    let from_crate = names_behind(&code, "crate::").into_iter().map(|name| room_of(&name));
    // As many `super::` as the file is deep lead to the crate's root. Fewer stay in the room.
    let up = "super::".repeat(source.depth);
    let from_super = names_behind(&code, &up)
        .into_iter()
        // A module of tests inside the file means the file itself.
        .filter(|name| floor_of(name).is_some());
    let inside = source.depth > 1 && code.contains("super::") && !code.contains(&up);
    let room = inside.then(|| source.room.clone());
    from_crate.chain(from_super).chain(room).collect()
}

/// A name at the root of the crate: a room, or something that `lib.rs` defines or exports.
fn room_of(name: &str) -> String {
    let is_module = name.starts_with(|letter: char| letter.is_ascii_lowercase());
    let name = if is_module && name != "prelude" { name } else { "lib" };
    name.to_owned()
}

/// The first names of all paths that start with `prefix`, those in braces included.
fn names_behind(code: &str, prefix: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (start, _) in code.match_indices(prefix) {
        let before = code[..start].chars().next_back();
        if before.is_some_and(|letter| letter.is_alphanumeric() || "_:$".contains(letter)) {
            continue;
        }
        let rest = &code[start + prefix.len()..];
        match rest.strip_prefix('{') {
            Some(list) => names.extend(first_names(list)),
            None => names.extend(leading_name(rest)),
        }
    }
    names
}

/// The names at the top of a list in braces, whose opening one is already gone.
fn first_names(list: &str) -> Vec<String> {
    let mut depth = 0;
    let mut names = Vec::new();
    let mut at_start = true;
    for (index, letter) in list.char_indices() {
        match letter {
            '}' if depth == 0 => break,
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => at_start = true,
            _ if at_start && !letter.is_whitespace() => {
                names.extend(leading_name(&list[index..]));
                at_start = false;
            }
            _ => {}
        }
    }
    names
}

fn leading_name(code: &str) -> Option<String> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let end = code.find(|letter| !is_part(letter)).unwrap_or(code.len());
    (end > 0).then(|| code[..end].to_owned())
}

fn rust_sources() -> Vec<Source> {
    let root = Path::new("src");
    let is_rust = |path: &Path| path.extension().is_some_and(|extension| extension == "rs");
    let named = |(path, text): (PathBuf, String)| {
        let name = path.strip_prefix(root).expect("a path below src").to_string_lossy();
        Source::new(&name.replace('\\', "/"), text)
    };
    let all: Vec<Source> = files(root)
        .into_iter()
        .filter(|(path, _)| is_rust(path))
        .map(named)
        .collect();
    assert!(all.len() > 10, "only {} source files were found", all.len());
    all
}

/// All text files of a folder and the folders in it.
fn files(folder: &Path) -> Vec<(PathBuf, String)> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            found.push((path, text));
        }
    }
    found
}
