//! Trees in words: one line for each node, with everything that is not as usual.

use crate::support::reference::tree::{Filter, Glass, Node, Tree};
use core::fmt::{Debug, Write};

pub fn describe(tree: &Tree) -> String {
    let mut text = format!("{}x{}, cleared to {:?}\n", tree.size[0], tree.size[1], tree.clear);
    nodes(&tree.nodes, 1, &mut text);
    text
}

fn nodes(nodes_of: &[Node], depth: usize, text: &mut String) {
    for node in nodes_of {
        let _ = writeln!(text, "{}{}", "    ".repeat(depth), line(node));
        nodes(&node.children, depth + 1, text);
    }
}

fn line(node: &Node) -> String {
    let (origin, size, color) = (node.origin, node.size, node.color);
    let alone = Node {
        glass: None,
        filter: None,
        children: Vec::new(),
        ..node.clone()
    };
    let mut parts = vec![format!("node at {origin:?} of {size:?}, {color:?}")];
    parts.extend(unusual(&alone, &Node::new(origin, size, color)));
    if let Some(glass) = &node.glass {
        parts.push(format!("glass ({})", unusual(glass, &Glass::new(0.0)).join(", ")));
    }
    if let Some(filter) = &node.filter {
        parts.push(format!("filter ({})", unusual(filter, &Filter::NEUTRAL).join(", ")));
    }
    parts.join(", ")
}

/// The fields in which a struct differs from the usual one, as they are printed.
fn unusual<T: Debug>(value: &T, usual: &T) -> Vec<String> {
    let pairs = fields(value).into_iter().zip(fields(usual));
    pairs
        .filter(|(field, usual)| field != usual)
        .map(|(field, _)| field)
        .collect()
}

/// The fields of a struct: what commas separate that are in no inner braces.
fn fields(value: &impl Debug) -> Vec<String> {
    let text = format!("{value:?}");
    let (_, inside) = text.split_once(" { ").expect("a struct has fields");
    let (mut depth, mut fields) = (0, vec![String::new()]);
    for letter in inside.strip_suffix(" }").unwrap_or(inside).chars() {
        depth += i32::from("{[(".contains(letter)) - i32::from("}])".contains(letter));
        match letter {
            ',' if depth == 0 => fields.push(String::new()),
            _ => fields.last_mut().expect("there is one").push(letter),
        }
    }
    fields.iter().map(|field| field.trim().into()).collect()
}
