//! The definitions that shaders are compiled with are explained where `shaders/common/pass.wgsl` and others begin.

use super::floors::files;
use std::collections::BTreeSet;
use std::path::Path;

type Names = BTreeSet<String>;

/// The texts of files in `src` by their ending.
fn texts(folder: &str, endings: &[&str]) -> Vec<String> {
    let is_one = |path: &Path| {
        path.extension()
            .is_some_and(|ending| endings.iter().any(|one| ending == *one))
    };
    let all = files(Path::new(folder)).into_iter();
    all.filter(|(path, _)| is_one(path)).map(|(_, text)| text).collect()
}

/// The shaders: in the syntax of Bevy 0.19, or in the one of the port to 0.20.
fn shaders() -> Vec<String> {
    let shaders = texts("src/shaders", &["wgsl", "wesl"]);
    assert!(shaders.len() > 20, "only {} shaders were found", shaders.len());
    shaders
}

/// The names in capitals of a text.
fn capitals(text: &str) -> impl Iterator<Item = String> {
    let is_part = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
    let words = text.split(move |letter| !is_part(letter));
    let is_name = |word: &&str| word.len() > 1 && word.starts_with(|letter: char| letter.is_ascii_uppercase());
    words.filter(is_name).map(str::to_owned)
}

/// The comment with which a shader begins.
fn head(shader: &str) -> impl Iterator<Item = &str> {
    shader.lines().take_while(|line| line.starts_with("//"))
}

/// The definitions on which a part of a shader depends.
fn conditions(shader: &str) -> Names {
    let is_condition = |line: &&str| ["#ifdef", "#ifndef", "@if("].iter().any(|word| line.contains(word));
    let code = shader.lines().filter(|line| !line.starts_with("//"));
    let conditions = code.filter(is_condition).filter_map(|line| line.split(')').next());
    conditions.flat_map(capitals).collect()
}

/// The definitions that a comment explains, each at the start of a line: `//   MAKES_FINITE   this pass reads ..`.
fn explained(shader: &str) -> Names {
    let lists = head(shader).filter_map(|line| line.strip_prefix("//   "));
    let names = lists.filter(|list| list.starts_with(|letter: char| letter.is_ascii_uppercase()));
    names
        .filter_map(|list| list.split("  ").next())
        .flat_map(capitals)
        .collect()
}

#[test]
fn conditions_of_shaders_are_explained() {
    let shaders = shaders();
    let comments: Names = shaders
        .iter()
        .flat_map(|shader| head(shader))
        .flat_map(capitals)
        .collect();
    let is_explained = |name: &String| {
        // One line explains `STORE_<FORMAT>`.
        comments.contains(name)
            || comments
                .iter()
                .any(|known| known.ends_with('_') && name.starts_with(known.as_str()))
    };
    let all: Names = shaders.iter().flat_map(|shader| conditions(shader)).collect();
    assert!(all.len() > 30, "only {} conditions were found", all.len());
    let missing: Vec<_> = all.iter().filter(|name| !is_explained(name)).collect();
    assert!(missing.is_empty(), "no comment explains {missing:?}");
}

#[test]
fn explained_definitions_exist() {
    let code = texts("src", &["rs"]).concat();
    let all: Names = shaders().iter().flat_map(|shader| explained(shader)).collect();
    assert!(all.len() > 30, "only {} explanations were found", all.len());
    let is_defined = |name: &String| code.contains(&format!("\"{name}\""));
    let wrong: Vec<_> = all.iter().filter(|name| !is_defined(name)).collect();
    assert!(
        wrong.is_empty(),
        "comments explain {wrong:?}, which no pipeline defines"
    );
}
