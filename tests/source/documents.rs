//! The documents: the README is short, and no link leads nowhere.

use std::fs;
use std::path::{Path, PathBuf};

/// The README and all documents, with their text.
fn documents() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = fs::read_dir(root.join("docs")).expect("there are documents");
    let mut paths: Vec<_> = folder.map(|entry| entry.expect("it can be read").path()).collect();
    paths.extend(["README.md", "CONTRIBUTING.md", "tools/blur_image/README.md"].map(|name| root.join(name)));
    let paths = paths
        .into_iter()
        .filter(|path| path.extension().is_some_and(|kind| kind == "md"));
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("it can be read");
        (path, text)
    };
    paths.map(read).collect()
}

/// The lines of a document that are not code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// The anchors of all headings, as GitHub makes them.
fn anchors(text: &str) -> Vec<String> {
    let headings = prose(text).filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let letters = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = letters
            .chars()
            .filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
        kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
    };
    headings.map(anchor).collect()
}

/// The targets of all links but those to web sites.
fn links(text: &str) -> Vec<String> {
    let lines: Vec<&str> = prose(text).collect();
    let text = lines.join("\n");
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let targets = targets.map(|(target, _)| target.to_owned());
    targets.filter(|target| !target.contains(":")).collect()
}

#[test]
fn every_link_leads_somewhere() {
    for (path, text) in documents() {
        for link in links(&text) {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                "" => path.clone(),
                file => path.parent().expect("it is in a folder").join(file),
            };
            assert!(target.exists(), "{}: there is no {link}", path.display());
            if !anchor.is_empty() {
                let there = anchors(&fs::read_to_string(&target).expect("it can be read"));
                let found = there.iter().any(|other| other == anchor);
                assert!(found, "{}: no heading for {link}; there are {there:?}", path.display());
            }
        }
    }
}

/// What does not fit is in `docs/`.
#[test]
fn the_readme_has_at_most_200_lines() {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("it can be read");
    assert!(readme.lines().count() <= 200, "{} lines", readme.lines().count());
}
