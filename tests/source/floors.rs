//! The crate consists of rooms, which `docs/architecture.md` lists from the ground up. A room imports only from rooms on lower
//! floors, and no file of a room imports itself through others.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The page that lists the rooms of the library.
pub const PAGE: &str = "docs/architecture.md";

/// No file may have more lines.
const MOST_LINES: usize = 600;

/// The sources of a crate.
pub struct Tree {
    folder: &'static str,
    /// The name of its root.
    root: &'static str,
}

pub const LIBRARY: Tree = Tree {
    folder: "src",
    root: "lib",
};

const TOOL: Tree = Tree {
    folder: "tools/blur_image/src",
    root: "main",
};

/// One source file.
pub struct Source {
    /// Its path below the folder without its ending, with slashes.
    pub name: String,
    pub text: String,
}

impl Source {
    /// The code without comments and tests.
    pub fn code(&self) -> String {
        let lines = self.text.lines().map(|line| line.split("//").next().unwrap_or(""));
        // Everything that follows is tests.
        let code: Vec<&str> = lines.take_while(|line| !line.starts_with("mod tests")).collect();
        code.join("\n")
    }
}

/// A room of the library: a file, or a folder with the file of its name.
struct Room {
    name: String,
    touches: String,
}

impl Room {
    /// Reads a line of the table of rooms.
    fn new(row: &str) -> Self {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [name, _, touches] = cells[..] else {
            panic!("{PAGE}: a room has three columns: {row}")
        };
        Self {
            name: name.trim_matches('`').to_owned(),
            touches: touches.to_owned(),
        }
    }
}

pub fn page() -> String {
    fs::read_to_string(PAGE).unwrap_or_else(|error| panic!("{PAGE}: {error}"))
}

/// The rooms in the first table of the page, from the ground up.
fn rooms() -> Vec<Room> {
    let page = page();
    let is_room = |line: &&str| line.starts_with("| `");
    let table = page.lines().skip_while(|line| !is_room(line));
    table.take_while(is_room).map(Room::new).collect()
}

fn room_of(name: &str) -> &str {
    name.split('/').next().unwrap_or(name)
}

#[test]
fn imports_lead_to_lower_rooms() {
    let rooms = rooms();
    let floor = |name: &str| {
        let place = rooms.iter().position(|room| room.name == room_of(name));
        place.unwrap_or_else(|| panic!("{name} is in no room of {PAGE}"))
    };
    let mut imports = 0;
    let mut wrong = Vec::new();
    for (name, imported) in LIBRARY.imports() {
        for other in imported.iter().filter(|other| room_of(other) != room_of(&name)) {
            imports += 1;
            if floor(other) >= floor(&name) {
                wrong.push(format!("{name} imports {other}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "imports must lead to rooms on lower floors:\n{}",
        wrong.join("\n")
    );
    assert!(
        imports > 80,
        "only {imports} imports were found: this test reads them wrongly"
    );
}

#[test]
fn rooms_exist_and_touch_what_they_may() {
    let rooms = rooms();
    for room in &rooms {
        let file = format!("src/{}.rs", room.name);
        assert!(Path::new(&file).exists(), "{PAGE} names a room without {file}");
    }
    let mut wrong = Vec::new();
    for source in LIBRARY.sources() {
        let room = rooms.iter().find(|room| room.name == room_of(&source.name));
        let room = room.unwrap_or_else(|| panic!("{} is in no room of {PAGE}", source.name));
        let paths = paths_in(&source.code());
        let names = |part: &str| paths.iter().flatten().any(|name| name == part);
        let renders = paths
            .iter()
            .any(|path| path.starts_with(&["bevy", "render"].map(str::to_owned)));
        let has_systems = ["Commands", "Plugin", "Query", "Res", "ResMut"].into_iter().any(names);
        let is_right = match room.touches.as_str() {
            "plain values" => !renders && !has_systems,
            "the main world" => !renders,
            "both worlds" | "the GPU" => true,
            other => panic!("{PAGE}: what is \"{other}\"?"),
        };
        if !is_right {
            wrong.push(format!("{} touches more than {}", source.name, room.touches));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_page_names_files_that_exist() {
    let page = page();
    let names = page.split('`').skip(1).step_by(2);
    let is_path = |name: &&str| name.contains('/') && name.contains('.') && !name.contains(' ');
    let files: Vec<&str> = names.filter(is_path).collect();
    assert!(files.len() > 40, "only {} files were found in {PAGE}", files.len());
    let missing: Vec<_> = files.iter().filter(|file| !Path::new(file).exists()).collect();
    assert!(missing.is_empty(), "{PAGE} names files that do not exist: {missing:?}");
}

#[test]
fn recipes_name_all_files() {
    let page = page();
    for (title, words) in [
        ("A colour function", &["HueRotate"][..]),
        (
            "An edge mode",
            &["EdgeMode::Mirror", "EdgeMode::Wrap", "EdgeMode::Renormalize"],
        ),
    ] {
        let recipe = page.split("\n### ").find(|recipe| recipe.starts_with(title));
        let recipe = recipe.unwrap_or_else(|| panic!("{PAGE} has no recipe \"{title}\""));
        let names = |source: &Source| words.iter().any(|word| source.code().contains(word));
        // A setting may have any edge mode as its default.
        let is_default = |source: &Source| title == "An edge mode" && room_of(&source.name) == "settings";
        let sources = LIBRARY.sources().into_iter();
        let involved = sources.filter(|source| names(source) && !is_default(source));
        let files = involved.map(|source| format!("src/{}.rs", source.name));
        let missing: Vec<String> = files.filter(|file| !recipe.contains(&format!("`{file}`"))).collect();
        assert!(missing.is_empty(), "{PAGE}: the recipe \"{title}\" misses {missing:?}");
    }
}

#[test]
fn no_file_imports_itself_in_a_circle() {
    for tree in [LIBRARY, TOOL] {
        let mut imports = tree.imports();
        // A file whose imports have all been removed is in no circle.
        loop {
            let left: Vec<String> = imports.keys().cloned().collect();
            imports.retain(|_, imported| imported.iter().any(|other| left.contains(other)));
            if imports.len() == left.len() {
                break;
            }
        }
        assert!(
            imports.is_empty(),
            "{}: in or above a circle: {imports:#?}",
            tree.folder
        );
    }
}

#[test]
fn files_are_short() {
    for (path, text) in files(Path::new(LIBRARY.folder)) {
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
    let files = |name: &str, text: &str| {
        LIBRARY.imported_files(&Source {
            name: name.to_owned(),
            text: text.to_owned(),
        })
    };
    assert_eq!(
        files("image", "use crate::plan::{BlurPlan, axis::Axis, pass::{A, B}};"),
        ["plan", "plan/axis", "plan/pass"]
    );
    assert_eq!(files("image", "fn f() -> crate::settings::Edge;"), ["settings"]);
    assert_eq!(
        files("image/prepare", "use super::request::Request;"),
        ["image/request"]
    );
    assert_eq!(files("image/prepare", "use super::super::gpu::Job;"), ["gpu"]);
    assert_eq!(files("plan", "pub use axis::MIN_SIGMA;"), ["plan/axis"]);
    assert_eq!(files("gpu", "commands.add(prepare::init);"), ["gpu/prepare"]);
    assert_eq!(
        files("image", "//! See crate::plan.\n/// [`x`](crate::plan::x)"),
        [""; 0]
    );
    assert_eq!(files("image", "use crate::prelude::*;"), ["lib"]);
    assert_eq!(files("errors", "mod tests {\n use super::*;\n}"), [""; 0]);
}

impl Tree {
    /// The imports of every file.
    fn imports(&self) -> BTreeMap<String, Vec<String>> {
        let sources = self.sources().into_iter();
        sources
            .map(|source| (source.name.clone(), self.imported_files(&source)))
            .collect()
    }

    /// The other files that a file names, sorted.
    fn imported_files(&self, source: &Source) -> Vec<String> {
        let mut found: Vec<String> = paths_in(&source.code())
            .iter()
            .filter_map(|path| self.file_of(&source.name, path))
            .filter(|file| *file != source.name)
            .collect();
        found.sort();
        found.dedup();
        found
    }

    /// The file that a path in the file `from` leads to, `None` if it leads out of the crate or to the same file.
    fn file_of(&self, from: &str, path: &[String]) -> Option<String> {
        let here: Vec<&str> = from.split('/').filter(|part| *part != self.root).collect();
        let names: Vec<&str> = path.iter().map(String::as_str).collect();
        let ups = names.iter().take_while(|name| **name == "super").count();
        let target: Vec<&str> = match names[0] {
            // `pub(super)`, or a name of this file.
            _ if names.len() == 1 => return None,
            "crate" => names[1..].to_vec(),
            "super" => here[..here.len().checked_sub(ups)?]
                .iter()
                .chain(&names[ups..])
                .copied()
                .collect(),
            // A child of this file, or an item of another crate.
            _ => here.iter().chain(&names).copied().collect(),
        };
        let lengths = (1..=target.len()).rev();
        let file = lengths
            .map(|length| target[..length].join("/"))
            .find(|file| Path::new(&format!("{}/{file}.rs", self.folder)).exists());
        match names[0] {
            "crate" | "super" => Some(file.unwrap_or_else(|| self.root.to_owned())),
            _ => file.filter(|file| file.len() > from.len() && *from != *self.root),
        }
    }

    pub fn sources(&self) -> Vec<Source> {
        let root = Path::new(self.folder);
        let named = |(path, text): (PathBuf, String)| {
            let name = path.strip_prefix(root).ok()?.with_extension("");
            let name = name.to_string_lossy().replace('\\', "/");
            let is_test = name.split('/').any(|part| part == "tests");
            let is_rust = path.extension().is_some_and(|extension| extension == "rs");
            (is_rust && !is_test).then_some(Source { name, text })
        };
        let all: Vec<Source> = files(root).into_iter().filter_map(named).collect();
        assert!(all.len() > 10, "only {} source files were found", all.len());
        all
    }
}

/// All paths of a text, with lists in braces expanded.
fn paths_in(code: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    let mut rest = code;
    while let Some(start) = rest.find(|letter: char| letter.is_alphabetic() || letter == '_') {
        rest = read_path(&rest[start..], &[], &mut paths);
    }
    paths
}

/// Reads a path at the start of a text. Returns what comes after it.
fn read_path<'a>(text: &'a str, before: &[String], paths: &mut Vec<Vec<String>>) -> &'a str {
    let mut path = before.to_vec();
    let mut rest = text;
    loop {
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        let end = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        path.push(rest[..end].to_owned());
        rest = &rest[end..];
        let Some(next) = rest.strip_prefix("::") else {
            break;
        };
        if let Some(list) = next.strip_prefix('{') {
            return read_list(list, &path, paths);
        }
        if !next.starts_with(is_part) {
            break;
        }
        rest = next;
    }
    paths.push(path);
    rest
}

/// Reads a list whose opening brace has been consumed.
fn read_list<'a>(list: &'a str, before: &[String], paths: &mut Vec<Vec<String>>) -> &'a str {
    let mut rest = list.trim_start();
    loop {
        if let Some(after) = rest.strip_prefix('}') {
            return after;
        }
        rest = match rest.chars().next() {
            Some(letter) if letter.is_alphanumeric() || letter == '_' => read_path(rest, before, paths),
            Some(letter) => &rest[letter.len_utf8()..],
            None => return rest,
        };
        rest = rest.trim_start();
    }
}

/// All text files of a folder and the folders in it.
pub fn files(folder: &Path) -> Vec<(PathBuf, String)> {
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
