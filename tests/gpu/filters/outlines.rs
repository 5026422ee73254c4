//! Lines around groups, against the float64 compositor.

use super::content::boxes;
use super::group::on_one;
use crate::backdrop::stage::{HDR, LDR};
use crate::support::reference::tree::{Filter, Glass, Node, Outline, Shadow, Transform, Tree};
use crate::support::reference::{EdgeMode, Functions, Picture, Step, Storage};
use crate::support::scene::Kind;
use crate::trees::assert_shown;
use bevy::color::Color;
use bevy_gaussian_blur::prelude::UiFilter;

const YELLOW: [f64; 4] = [0.9, 0.7, 0.05, 1.0];

fn outlined(width: f64) -> Filter {
    Filter {
        outline: Some(Outline { width, color: YELLOW }),
        ..Filter::NEUTRAL
    }
}

/// A group of a rounded card, a thin stem, and a box that is not opaque.
fn icon(filter: Filter) -> Node {
    Node {
        radii: [9.0; 4],
        filter: Some(filter),
        children: vec![
            Node::new([40.0, -8.0], [1.0, 16.0], [0.9, 0.1, 0.1, 1.0]),
            Node::new([30.0, 12.0], [24.0, 18.0], [0.2, 0.6, 0.9, 0.5]),
            Node::new([-9.0, 18.0], [6.0, 6.0], [0.2, 0.9, 0.3, 0.07]),
        ],
        ..Node::new([26.0, 20.0], [34.0, 24.0], [0.8, 0.9, 0.8, 1.0])
    }
}

fn over_stripes(nodes: Vec<Node>) -> Tree {
    let stripe = |index: usize| Node::new([index as f64 * 12.0, 0.0], [6.0, 64.0], [0.1, 0.2, 0.5, 1.0]);
    Tree {
        size: [96, 64],
        clear: [0.3, 0.4, 0.5, 1.0],
        nodes: (0..8).map(stripe).chain(nodes).collect(),
    }
}

fn assert_icons(icons: Vec<(String, Vec<Node>)>) {
    let trees: Vec<(String, Tree)> = icons
        .into_iter()
        .map(|(name, nodes)| (format!("outline-{name}"), over_stripes(nodes)))
        .collect();
    assert_shown(LDR, &trees);
    assert_shown(HDR, &trees);
}

#[test]
fn lines_have_their_width() {
    let widths = [0.05, 0.3, 1.0, 2.5, 8.0, 16.0, 40.0];
    let mut icons: Vec<(String, Vec<Node>)> = widths
        .into_iter()
        .map(|width| (format!("{width}"), vec![icon(outlined(width))]))
        .collect();
    let turned = Transform {
        angle: 0.4,
        scale: [1.2, 0.8],
        ..Transform::NONE
    };
    let node = Node {
        transform: turned,
        ..icon(outlined(3.0))
    };
    icons.push(("turned".into(), vec![node]));
    assert_icons(icons);
}

/// The line is that of the blurred, coloured and faded group; shadows fall from both, and insets on the group alone.
#[test]
fn lines_surround_what_else_is_done() {
    let shadow = |is_inset| Shadow {
        offset: [5.0, 4.0],
        sigma: [2.0; 2],
        color: [0.3, 0.0, 0.2, 0.8],
        is_glow: false,
        is_inset,
    };
    let line = outlined(3.0);
    let half = Some(Outline {
        width: 3.0,
        color: [0.9, 0.7, 0.05, 0.5],
    });
    let filters = [
        (
            "blur",
            Filter {
                sigma: [2.0; 2],
                ..line.clone()
            },
        ),
        (
            "border",
            Filter {
                sigma: [2.0; 2],
                edge: EdgeMode::Mirror,
                ..line.clone()
            },
        ),
        (
            "colours",
            Filter {
                functions: Functions(vec![Step::Invert(1.0)]),
                ..line.clone()
            },
        ),
        (
            "shadow",
            Filter {
                shadows: vec![shadow(false)],
                ..line.clone()
            },
        ),
        (
            "blurred-shadow",
            Filter {
                sigma: [1.5; 2],
                shadows: vec![shadow(false), shadow(true)],
                ..line.clone()
            },
        ),
        (
            "inset",
            Filter {
                shadows: vec![shadow(true)],
                ..line.clone()
            },
        ),
        (
            "opacity",
            Filter {
                opacity: 0.5,
                outline: half,
                shadows: vec![shadow(false)],
                ..line.clone()
            },
        ),
        (
            "fade",
            Filter {
                fade: [0.0, 9.0, 0.0, 12.0],
                ..line.clone()
            },
        ),
        (
            "rounded",
            Filter {
                is_rounded: true,
                ..line
            },
        ),
    ];
    assert_icons(filters.map(|(name, filter)| (name.into(), vec![icon(filter)])).into());
}

/// Groups on one page, inside of each other, with glass, and under a clip.
#[test]
fn lines_beside_and_inside_each_other() {
    let small = |x: f64, color: [f64; 4]| Node {
        filter: Some(outlined(6.0)),
        ..Node::new([x, 20.0], [9.0, 20.0], color)
    };
    let beside = vec![small(10.0, [1.0; 4]), small(24.0, [0.9, 0.1, 0.1, 1.0])];
    let mut outer = icon(outlined(2.0));
    outer.children.push(Node {
        filter: Some(outlined(3.0)),
        ..Node::new([8.0, 6.0], [12.0, 8.0], [0.1, 0.1, 0.1, 1.0])
    });
    let mut with_glass = icon(outlined(3.0));
    with_glass.children.push(Node {
        glass: Some(Glass::new(2.0)),
        ..Node::new([4.0, 4.0], [24.0, 12.0], [0.0; 4])
    });
    let list = Node {
        clips: [true; 2],
        children: vec![icon(outlined(5.0))],
        ..Node::new([8.0, 6.0], [56.0, 32.0], [0.0; 4])
    };
    assert_icons(vec![
        ("beside".into(), beside),
        ("nested".into(), vec![outer]),
        ("glass".into(), vec![with_glass]),
        ("clip".into(), vec![list]),
    ]);
}

/// A width that grows from 0 changes no pixel by more than its growth, and eight bits.
#[test]
fn a_line_grows_without_a_jump() {
    let picture = |width: f64| over_stripes(vec![icon(outlined(width))]).picture(Storage::Half);
    let mut before = over_stripes(vec![Node {
        filter: None,
        ..icon(outlined(0.0))
    }])
    .picture(Storage::Half);
    for step in 1..=48 {
        let now = picture(f64::from(step) / 16.0);
        let most = largest_difference(&before, &now);
        assert!(most <= 1.0 / 16.0 + 1.0 / 255.0, "step {step}: {most}");
        before = now;
    }
}

/// The same on the GPU: the thinnest lines are hardly visible.
#[test]
fn thin_lines_are_hardly_visible() {
    on_one(Kind::Core2d, LDR, |group| {
        let mut shown = |width: f32| {
            group.show(UiFilter::outline(width, Color::BLACK), boxes);
            let [_, filtered, _] = group.pictures();
            filtered
        };
        let [none, thin] = [0.0, 0.01].map(&mut shown);
        let most = largest_difference(&none, &thin);
        // The group is stored before, in eight bits of encoded light. A line that jumped would be 64 levels.
        assert!(most <= 8.0 / 255.0, "{} levels", most * 255.0);
    });
}

fn largest_difference(one: &Picture, other: &Picture) -> f64 {
    let texels = one.texels.iter().flatten().zip(other.texels.iter().flatten());
    texels.map(|(one, other)| (one - other).abs()).fold(0.0, f64::max)
}
