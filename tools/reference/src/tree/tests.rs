//! The compositor itself, against facts that need no GPU.

use super::{Filter, Glass, Node, Shadow, Transform, Tree};
use crate::color::{Functions, Step};
use crate::storage::Storage;
use crate::{EdgeMode, Picture, gaussian_blur};
use core::f64::consts::PI;

const SIZE: [usize; 2] = [48, 32];

fn tree(nodes: Vec<Node>) -> Tree {
    Tree {
        size: SIZE,
        clear: [0.2, 0.3, 0.4, 1.0],
        nodes,
    }
}

fn picture(nodes: Vec<Node>) -> Picture {
    tree(nodes).picture(Storage::Half)
}

/// The same over nothing.
fn alone(nodes: Vec<Node>) -> Picture {
    let tree = Tree {
        clear: [0.0; 4],
        ..tree(nodes)
    };
    tree.picture(Storage::Half)
}

fn whole(children: Vec<Node>) -> Node {
    Node {
        children,
        ..Node::new([0.0; 2], SIZE.map(|side| side as f64), [0.0; 4])
    }
}

fn filtered(filter: Filter, node: Node) -> Node {
    Node {
        filter: Some(filter),
        ..node
    }
}

fn glass(sigma: f64, node: Node) -> Node {
    Node {
        glass: Some(Glass::new(sigma)),
        ..node
    }
}

fn faded(opacity: f64) -> Filter {
    Filter {
        opacity,
        ..Filter::NEUTRAL
    }
}

fn soft(sigma: f64) -> Filter {
    Filter {
        sigma: [sigma; 2],
        ..Filter::NEUTRAL
    }
}

fn red() -> Node {
    Node::new([8.0, 6.0], [20.0, 12.0], [1.0, 0.0, 0.0, 1.0])
}

fn green() -> Node {
    Node::new([18.0, 10.0], [20.0, 16.0], [0.0, 1.0, 0.0, 0.5])
}

fn assert_near(one: &Picture, other: &Picture, tolerance: f64) {
    let pairs = one.texels.iter().flatten().zip(other.texels.iter().flatten());
    let worst = pairs.fold(0.0_f64, |worst, (one, other)| worst.max((one - other).abs()));
    assert!(worst <= tolerance, "{worst}");
}

#[test]
fn boxes_are_stacked_as_in_bevy() {
    let both = picture(vec![red(), green()]);
    let near = |got: [f64; 4], expected: [f64; 4]| (0..4).all(|i| (got[i] - expected[i]).abs() < 1e-3);
    assert!(near(both.at(35, 20), [0.1, 0.65, 0.2, 1.0]), "{:?}", both.at(35, 20));
    assert!(near(both.at(20, 12), [0.5, 0.5, 0.0, 1.0]), "{:?}", both.at(20, 12));
    let raised = Node { z: 1, ..red() };
    assert_eq!(picture(vec![raised, green()]).at(20, 12), [1.0, 0.0, 0.0, 1.0]);
    let lifted = Node {
        global_z: Some(1),
        ..red()
    };
    let inside = whole(vec![lifted]);
    assert_eq!(
        picture(vec![filtered(faded(0.0), inside), green()]).at(20, 12),
        [1.0, 0.0, 0.0, 1.0]
    );
}

#[test]
fn filters_that_are_nearly_neutral_change_nearly_nothing() {
    let content = || {
        vec![
            red(),
            glass(2.0, Node::new([4.0, 4.0], [30.0, 20.0], [0.0; 4])),
            green(),
        ]
    };
    let plain = picture(content());
    for filter in [faded(0.9999), soft(0.031)] {
        assert_near(&picture(vec![filtered(filter, whole(content()))]), &plain, 2e-3);
    }
}

#[test]
fn a_filter_blurs_its_group_and_nothing_else() {
    let group = alone(vec![red(), green()]);
    let expected = gaussian_blur(&group, [3.0; 2], EdgeMode::Transparent);
    let got = alone(vec![filtered(soft(3.0), whole(vec![red(), green()]))]);
    assert_near(&got, &expected, 1e-3);
    // What lies beyond the viewport is blurred into it.
    let beyond = filtered(soft(3.0), Node::new([48.0, 0.0], [40.0, 32.0], [1.0; 4]));
    let got = alone(vec![beyond]).at(47, 16)[3];
    assert!((got - 0.434).abs() < 2e-3, "{got}");
}

#[test]
fn ancestors_clip_the_result_of_a_filter() {
    let list = |child: Node| Node {
        clips: [true; 2],
        children: vec![child],
        ..Node::new([10.0, 8.0], [20.0, 12.0], [0.0; 4])
    };
    let row = || Node::new([-4.0, -4.0], [16.0, 40.0], [1.0; 4]);
    let got = alone(vec![list(filtered(soft(2.0), row()))]);
    let free = alone(vec![filtered(
        soft(2.0),
        Node {
            origin: [6.0, 4.0],
            ..row()
        },
    )]);
    for (x, y) in [(10, 8), (15, 19), (24, 12), (29, 10)] {
        assert!((got.at(x, y)[3] - free.at(x, y)[3]).abs() < 1e-3, "{x}, {y}");
    }
    assert_eq!(got.at(9, 12)[3], 0.0);
    assert_eq!(got.at(12, 20)[3], 0.0);
}

#[test]
fn glass_in_a_group_mirrors_at_grown_clips() {
    let pane = || glass(3.0, Node::new([0.0, -8.0], [30.0, 24.0], [0.0; 4]));
    let list = |filter: Filter| Node {
        clips: [true; 2],
        children: vec![filtered(
            filter,
            Node {
                children: vec![pane()],
                ..Node::new([0.0, 0.0], [30.0, 20.0], [0.0; 4])
            },
        )],
        ..Node::new([10.0, 8.0], [30.0, 20.0], [0.0; 4])
    };
    let below = vec![Node::new([0.0, 0.0], [48.0, 6.0], [1.0; 4])];
    let seen = |filter: Filter| {
        let mut nodes = below.clone();
        nodes.push(list(filter));
        picture(nodes).at(20, 8)[0]
    };
    // At the clip, the white stripe above is out of sight; with a shadow that falls far, it comes into sight.
    assert!((seen(faded(0.99)) - 0.2).abs() < 1e-3);
    let far = Filter {
        shadows: vec![Shadow {
            offset: [0.0, 6.0],
            sigma: [0.0; 2],
            color: [0.0; 4],
            is_glow: false,
            is_inset: false,
        }],
        ..Filter::NEUTRAL
    };
    assert!(seen(far) > 0.3);
}

#[test]
fn colour_above_alpha_is_light() {
    let glow = Shadow {
        offset: [0.0; 2],
        sigma: [4.0; 2],
        color: [0.5, 0.5, 0.5, 1.0],
        is_glow: true,
        is_inset: false,
    };
    let shining = filtered(
        Filter {
            shadows: vec![glow],
            ..Filter::NEUTRAL
        },
        red(),
    );
    let colored = |saturation: f64| {
        let functions = Functions(vec![Step::Saturate(saturation)]);
        let panel = Node::new([0.0; 2], [48.0, 32.0], [0.1, 0.1, 0.1, 0.3]);
        let group = whole(vec![panel, shining.clone()]);
        tree(vec![filtered(
            Filter {
                functions,
                ..Filter::NEUTRAL
            },
            group,
        )])
        .picture(Storage::Srgb8)
    };
    assert_near(&colored(0.999), &colored(1.0), 3.0 / 255.0);
}

/// Black that covers a little less than all of white is inverted to something less than white, which can be seen.
#[test]
fn inverted_black_shows_what_it_does_not_cover() {
    let boxes = [[1.0; 4], [0.0, 0.0, 0.0, 1.0]].map(|color| Node::new([0.0; 2], [48.0, 32.0], color));
    let inverted = Filter {
        functions: Functions(vec![Step::Invert(1.0)]),
        ..Filter::NEUTRAL
    };
    let tree = tree(vec![filtered(inverted, whole(boxes.to_vec()))]);
    let [full, thin] = [Storage::Half, Storage::ThinHalf].map(|storage| tree.picture(storage).texels[0][1]);
    assert!(full == 1.0 && (0.985..0.99).contains(&thin), "{full} and {thin}");
}

#[test]
fn rounded_groups_have_the_area_of_the_box() {
    let card = Node {
        radii: [8.0; 4],
        ..whole(vec![whole(vec![Node::new([0.0; 2], [48.0, 32.0], [1.0; 4])])])
    };
    let rounded = Filter {
        is_rounded: true,
        ..Filter::NEUTRAL
    };
    let covered: f64 = alone(vec![filtered(rounded, card)])
        .texels
        .iter()
        .map(|texel| texel[3])
        .sum();
    let area = 48.0 * 32.0 - (4.0 - PI) * 64.0;
    assert!((covered - area).abs() < 0.005 * area, "{covered} instead of {area}");
}

#[test]
fn inset_shadows_fall_into_the_group() {
    let inset = Filter {
        shadows: vec![Shadow {
            offset: [0.0; 2],
            sigma: [2.0; 2],
            color: [0.0, 0.0, 0.0, 1.0],
            is_glow: false,
            is_inset: true,
        }],
        ..Filter::NEUTRAL
    };
    let got = alone(vec![filtered(inset, red())]);
    assert_eq!(got.at(7, 10), [0.0; 4], "nothing beside it");
    assert!(
        got.texels.iter().all(|texel| texel[3] == 0.0 || texel[3] == 1.0),
        "its alpha stays"
    );
    let [rim, middle] = [got.at(8, 12)[0], got.at(18, 12)[0]];
    assert!((0.5..0.65).contains(&rim) && middle > 0.99, "{rim}, {middle}");
}

#[test]
fn panes_that_share_a_backdrop_do_not_see_each_other() {
    let dark = Functions(vec![Step::Brightness(0.0)]);
    let pane = |origin: [f64; 2], functions: Functions| Node {
        glass: Some(Glass {
            functions,
            sees_surroundings: true,
            ..Glass::new(2.0)
        }),
        ..Node::new(origin, [20.0, 20.0], [0.0; 4])
    };
    let panes = || {
        whole(vec![
            pane([4.0, 4.0], dark.clone()),
            pane([14.0, 6.0], Functions::NEUTRAL),
        ])
    };
    let shared = Node {
        shares_backdrop: true,
        ..panes()
    };
    let near = |got: [f64; 4], expected: f64| (got[0] - expected).abs() < 1e-3;
    assert!(near(picture(vec![shared]).at(15, 10), 0.2));
    assert!(picture(vec![panes()]).at(15, 10)[0] < 0.05);
}

#[test]
fn blurs_follow_the_axes_of_upright_nodes() {
    let scaled = |angle: f64| {
        let node = Node {
            transform: Transform {
                scale: [3.0, 1.0 / 3.0],
                angle,
                ..Transform::NONE
            },
            ..Node::new([23.0, 15.0], [1.0, 3.0], [1.0; 4])
        };
        let got = alone(vec![filtered(soft(2.0), node)]);
        let sum: f64 = got.texels.iter().map(|texel| texel[3]).sum();
        let variance = |axis: usize| {
            let of = |(index, texel): (usize, &[f64; 4])| {
                let place = [index % SIZE[0], index / SIZE[0]][axis] as f64 + 0.5;
                texel[3] * (place - [23.5, 16.5][axis]).powi(2)
            };
            got.texels.iter().enumerate().map(of).sum::<f64>() / sum
        };
        [variance(0), variance(1)]
    };
    let [across, down] = scaled(0.0);
    assert!((across - 36.0).abs() < 2.0, "{across}");
    assert!(down < 1.0, "{down}");
}

/// What a group hides beyond its border is not seen by glass either, whether the group in which it lies has a border or not.
#[test]
fn glass_sees_nothing_beyond_the_border_around() {
    let ending = |edge: EdgeMode, node: Node| {
        let filter = Filter {
            edge,
            opacity: 0.9,
            ..Filter::NEUTRAL
        };
        filtered(filter, node)
    };
    let seen = |edge: EdgeMode| {
        let pane = glass(4.0, Node::new([0.0; 2], [30.0, 20.0], [0.0; 4]));
        let inner = Node {
            children: vec![pane],
            ..Node::new([0.0; 2], [30.0, 20.0], [1.0; 4])
        };
        let outer = Node {
            children: vec![ending(edge, inner)],
            ..Node::new([8.0, 6.0], [10.0, 20.0], [0.0; 4])
        };
        picture(vec![ending(EdgeMode::Clamp, outer)]).at(16, 15)[0]
    };
    let [open, ends] = [EdgeMode::Transparent, EdgeMode::Renormalize].map(seen);
    assert!(open < 0.7, "white ends a pixel or two away: {open}");
    assert!((open - ends).abs() < 0.07, "{open} and {ends}");
}
