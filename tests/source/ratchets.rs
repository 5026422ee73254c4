//! What one has to know to change the library: its types, their names, its words, and what lives from frame to frame. These numbers
//! only go down: a new type or a new store replaces others, or has a reason for which a line here is changed.

use super::floors::{LIBRARY, PAGE, Source, page};
use std::collections::{BTreeMap, BTreeSet};

/// No more structs, enums and traits.
const MOST_TYPES: usize = 259;

/// No more values that live from frame to frame and decide what a frame does.
const MOST_STORES: usize = 13;

/// No more rows of words.
const MOST_WORDS: usize = 30;

/// Functions are not named by these words: `of` and `on` are found everywhere, and say nothing.
const PREPOSITIONS: [&str; 9] = ["of", "on", "one", "it", "in", "to", "by", "there", "other"];

/// The word at the start of a text.
fn word(text: &str) -> &str {
    let end = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    &text[..end.unwrap_or(text.len())]
}

/// The word after this one in a line of code.
fn word_after<'a>(line: &'a str, keyword: &str) -> Option<&'a str> {
    let starts = line.match_indices(keyword).map(|(start, _)| start);
    let is_word = |start: &usize| {
        line[..*start]
            .chars()
            .next_back()
            .is_none_or(|letter| " (".contains(letter))
    };
    let rests = starts
        .filter(is_word)
        .filter_map(|start| line[start..].strip_prefix(keyword)?.strip_prefix(' '));
    rests.map(word).find(|word| !word.is_empty())
}

/// The names of all structs, enums and traits, with the file of each.
fn types() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for source in LIBRARY.sources() {
        for line in source.code().lines() {
            let mut names = ["struct", "enum", "trait"]
                .into_iter()
                .filter_map(|keyword| word_after(line, keyword));
            found.extend(names.next().map(|name| (name.to_owned(), source.name.clone())));
        }
    }
    assert!(
        found.len() > 100,
        "only {} types were found: this test reads them wrongly",
        found.len()
    );
    found
}

#[test]
fn the_number_of_types_does_not_grow() {
    let count = types().len();
    assert!(
        count <= MOST_TYPES,
        "{count} types, more than {MOST_TYPES}: which ones do they replace?"
    );
}

#[test]
fn no_type_has_the_name_of_another_one() {
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, file) in types() {
        files.entry(name).or_default().push(file);
    }
    files.retain(|_, files| files.len() > 1);
    assert!(files.is_empty(), "these names mean several things: {files:#?}");
}

#[test]
fn functions_say_what_they_do_and_comments_what_is_the_same() {
    let mut wrong = Vec::new();
    for source in LIBRARY.sources() {
        let code = source.code();
        let names = code.lines().filter_map(|line| word_after(line, "fn"));
        let unsaid = names
            .filter(|name| PREPOSITIONS.contains(name))
            .map(|name| format!("fn {name}"));
        let comments = source
            .text
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix("/// The same"));
        let vague = |rest: &&str| {
            let next = word(rest.trim_start());
            rest.starts_with('.')
                || [&PREPOSITIONS[..], &["with", "without", "for", "as", "if", "when"]]
                    .concat()
                    .contains(&next)
        };
        let vague = comments.filter(vague).map(|rest| format!("the same{rest}"));
        wrong.extend(unsaid.chain(vague).map(|found| format!("{}: {found}", source.name)));
    }
    assert!(
        wrong.is_empty(),
        "these names and comments refer to what one must look for: {wrong:#?}"
    );
}

/// What lives from frame to frame, as the code of a file declares it: resources and components of the plugin's own, by the names of
/// their types, and locals, by the names of their systems and of themselves.
fn stored(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    let code = source.code();
    let (mut owner, mut is_stored) = ("", false);
    for line in code.lines() {
        if let Some(name) = ["fn", "struct", "enum"]
            .into_iter()
            .find_map(|keyword| word_after(line, keyword))
        {
            if core::mem::take(&mut is_stored) {
                found.push(name.to_owned());
            }
            owner = name;
        }
        if line.trim_start().starts_with("#[derive(") {
            let mut derived = line.split(|letter: char| !letter.is_alphanumeric());
            is_stored |= derived.any(|name| ["Resource", "Component"].contains(&name));
        }
        if let Some((before, _)) = line.split_once(": Local<") {
            let name = before.rsplit(' ').next().unwrap_or("");
            found.push(format!("{owner}::{name}"));
        }
    }
    found
}

/// The names in the first column of a table of the page, below a title.
fn listed(page: &str, title: &str) -> Vec<String> {
    let section = page.split("\n### ").find(|section| section.starts_with(title));
    let section = section.unwrap_or_else(|| panic!("{PAGE} has no section \"{title}\""));
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.filter_map(|row| row.trim_matches('|').split('|').next());
    cells
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_page_lists_what_lives_from_frame_to_frame() {
    let page = page();
    let (stores, others) = (listed(&page, "What decides"), listed(&page, "What does not"));
    let listed: BTreeSet<&String> = stores.iter().chain(&others).collect();
    // Settings are the user's.
    let sources = LIBRARY
        .sources()
        .into_iter()
        .filter(|source| !source.name.starts_with("settings"));
    let stored: Vec<String> = sources.flat_map(|source| stored(&source)).collect();
    let stored: BTreeSet<&String> = stored.iter().collect();
    assert!(
        stored.len() > 20,
        "only {stored:?} were found: this test reads them wrongly"
    );
    let missing: Vec<_> = stored.difference(&listed).collect();
    assert!(missing.is_empty(), "{PAGE} does not list {missing:?}");
    let gone: Vec<_> = listed.difference(&stored).collect();
    assert!(gone.is_empty(), "{PAGE} lists what does not exist: {gone:?}");
    let count = stores.len();
    assert!(
        count <= MOST_STORES,
        "{count} stores, more than {MOST_STORES}: which ones do they replace?"
    );
}

#[test]
fn words_are_few() {
    let page = page();
    let words = page
        .split("\n## Words")
        .nth(1)
        .unwrap_or_else(|| panic!("{PAGE} has no words"));
    let rows = words.lines().filter(|line| line.starts_with("| ")).count() - 1;
    assert!(
        (10..=MOST_WORDS).contains(&rows),
        "{rows} rows of words, more than {MOST_WORDS}"
    );
}
