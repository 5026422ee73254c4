//! Trees in words: one line for each node, with everything that is not as usual.

use crate::support::reference::tree::{Filter, Glass, Node, Transform, Tree, Visibility};
use crate::support::reference::{EdgeMode, Functions};
use core::fmt::Write;

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
    let ([x, y], [width, height]) = (node.origin, node.size);
    let mut parts = vec![format!("node at {x}, {y} of {width}x{height}, {:?}", node.color)];
    let mut add = |is_unusual: bool, part: String| {
        if is_unusual {
            parts.push(part);
        }
    };
    add(node.radii != [0.0; 4], format!("radii {:?}", node.radii));
    add(node.border.is_some(), format!("{:?}", node.border));
    add(node.ring.is_some(), format!("{:?}", node.ring));
    add(node.stamp.is_some(), format!("a stamp {:?}", node.stamp));
    add(node.scroll != [0.0; 2], format!("scrolled by {:?}", node.scroll));
    add(!node.is_displayed, "not displayed".into());
    add(node.transform != Transform::NONE, format!("{:?}", node.transform));
    add(node.z != 0, format!("z {}", node.z));
    add(
        node.global_z.is_some(),
        format!("global z {}", node.global_z.unwrap_or(0)),
    );
    add(node.clips != [false; 2], format!("clips {:?}", node.clips));
    add(node.is_free, "free of clips".into());
    add(
        node.visibility != Visibility::Inherited,
        format!("{:?}", node.visibility),
    );
    add(node.shares_backdrop, "shares its backdrop".into());
    if let Some(glass) = &node.glass {
        parts.push(of_glass(glass));
    }
    if let Some(filter) = &node.filter {
        parts.push(of_filter(filter));
    }
    parts.join(", ")
}

fn of_functions(functions: &Functions) -> impl Iterator<Item = String> {
    functions.0.iter().map(|step| format!("{step:?}"))
}

fn of_sigma([x, y]: [f64; 2]) -> String {
    if x == y {
        format!("sigma {x}")
    } else {
        format!("sigma {x}, {y}")
    }
}

fn of_glass(glass: &Glass) -> String {
    let mut parts = vec![of_sigma(glass.sigma)];
    if let Some(ramp) = glass.ramp {
        parts.push(format!("{ramp:?}"));
    }
    if glass.edge != EdgeMode::Mirror {
        parts.push(format!("{:?}", glass.edge));
    }
    if glass.sees_surroundings {
        parts.push("surroundings".into());
    }
    parts.extend(of_functions(&glass.functions));
    if glass.opacity < 1.0 {
        parts.push(format!("opacity {}", glass.opacity));
    }
    if let Some(lens) = glass.lens {
        parts.push(format!("{lens:?}"));
    }
    if glass.fallback[3] > 0.0 {
        parts.push(format!("fallback {:?}", glass.fallback));
    }
    format!("glass ({})", parts.join(", "))
}

fn of_filter(filter: &Filter) -> String {
    let mut parts = Vec::new();
    if filter.sigma != [0.0; 2] {
        parts.push(of_sigma(filter.sigma));
    }
    if let Some(ramp) = filter.ramp {
        parts.push(format!("{ramp:?}"));
    }
    if filter.edge != EdgeMode::Transparent {
        parts.push(format!("{:?}", filter.edge));
    }
    parts.extend(of_functions(&filter.functions));
    for shadow in &filter.shadows {
        let kind = match (shadow.is_inset, shadow.is_glow) {
            (false, false) => "shadow",
            (false, true) => "glow",
            (true, false) => "inset shadow",
            (true, true) => "inset glow",
        };
        let ([x, y], sigma) = (shadow.offset, of_sigma(shadow.sigma));
        parts.push(format!("{kind} at {x}, {y} with {sigma} of {:?}", shadow.color));
    }
    if filter.opacity < 1.0 {
        parts.push(format!("opacity {}", filter.opacity));
    }
    if filter.is_rounded {
        parts.push("rounded".into());
    }
    if let Some(outline) = filter.outline {
        parts.push(format!("{outline:?}"));
    }
    if filter.fade != [0.0; 4] {
        parts.push(format!("fades over {:?}", filter.fade));
    }
    format!("filter ({})", parts.join(", "))
}
