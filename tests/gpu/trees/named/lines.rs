//! Lines around groups.

use super::*;
use crate::support::reference::Storage;
use crate::support::reference::tree::Outline;

fn lined(width: f64, filter: Filter) -> Filter {
    let color = [0.9, 0.7, 0.05, 1.0];
    let outline = Some(Outline { width, color });
    Filter { outline, ..filter }
}

/// A line alone.
fn line(width: f64) -> Filter {
    lined(width, Filter::NEUTRAL)
}

/// A group of a rounded card, a thin stem, and a box that is not opaque.
fn icon(filter: Filter) -> Node {
    Node {
        radii: [9.0; 4],
        filter: Some(filter),
        children: vec![
            plain([40.0, -8.0, 1.0, 16.0], [0.9, 0.1, 0.1, 1.0]),
            plain([30.0, 12.0, 24.0, 18.0], [0.2, 0.6, 0.9, 0.5]),
            plain([-9.0, 18.0, 6.0, 6.0], [0.2, 0.9, 0.3, 0.07]),
        ],
        ..plain([26.0, 20.0, 34.0, 24.0], [0.8, 0.9, 0.8, 1.0])
    }
}

fn shown(nodes: Vec<Node>) -> Tree {
    over_stripes([0.1, 0.2, 0.5, 1.0], nodes)
}

fn assert_icons(icons: impl IntoIterator<Item = (String, Vec<Node>)>) {
    let trees = icons
        .into_iter()
        .map(|(name, nodes)| (format!("outline-{name}"), shown(nodes)));
    let trees: Vec<Named> = trees.collect();
    assert_shown(LDR, &trees);
    assert_shown(HDR, &trees);
}

#[test]
fn lines_have_their_width() {
    let widths = [0.05, 0.3, 1.0, 2.5, 8.0, 16.0, 40.0];
    let icons = widths.map(|width| (format!("{width}"), vec![icon(line(width))]));
    let askew = turned(0.4, scaled([1.2, 0.8], icon(line(3.0))));
    assert_icons(icons.into_iter().chain([("turned".into(), vec![askew])]));
}

/// The line is that of the blurred, coloured and faded group; shadows fall from both, and insets on the group alone.
#[test]
fn lines_surround_what_else_is_done() {
    let beside = shadow([5.0, 4.0], 2.0, [0.3, 0.0, 0.2, 0.8]);
    let mut faint = casting([beside], line(3.0));
    faint.opacity = 0.5;
    faint.outline.iter_mut().for_each(|line| line.color[3] = 0.5);
    let ending = Filter {
        edge: EdgeMode::Mirror,
        ..soft(2.0)
    };
    let fading = Filter {
        fade: [0.0, 9.0, 0.0, 12.0],
        ..line(3.0)
    };
    let filters = [
        ("blur", lined(3.0, soft(2.0))),
        ("border", lined(3.0, ending)),
        ("colours", lined(3.0, colored([Step::Invert(1.0)]))),
        ("shadow", casting([beside], line(3.0))),
        (
            "blurred-shadow",
            casting([beside, inset(beside)], lined(3.0, soft(1.5))),
        ),
        ("inset", casting([inset(beside)], line(3.0))),
        ("opacity", faint),
        ("fade", fading),
        ("rounded", curved(line(3.0))),
    ];
    assert_icons(filters.map(|(name, filter)| (name.into(), vec![icon(filter)])));
}

/// Groups on one page, inside of each other, with glass, and under a clip.
#[test]
fn lines_beside_and_inside_each_other() {
    let small = |width: f64, place, color| Node {
        filter: Some(line(width)),
        ..plain(place, color)
    };
    let beside = vec![
        small(6.0, [10.0, 20.0, 9.0, 20.0], [1.0; 4]),
        small(6.0, [24.0, 20.0, 9.0, 20.0], [0.9, 0.1, 0.1, 1.0]),
    ];
    let with = |width: f64, child| {
        let mut icon = icon(line(width));
        icon.children.push(child);
        icon
    };
    let inner = small(3.0, [8.0, 6.0, 12.0, 8.0], [0.1, 0.1, 0.1, 1.0]);
    let list = Node {
        clips: [true; 2],
        children: vec![icon(line(5.0))],
        ..plain([8.0, 6.0, 56.0, 32.0], [0.0; 4])
    };
    assert_icons([
        ("beside".into(), beside),
        ("nested".into(), vec![with(2.0, inner)]),
        (
            "glass".into(),
            vec![with(3.0, pane([4.0, 4.0, 24.0, 12.0], Glass::new(2.0)))],
        ),
        ("clip".into(), vec![list]),
    ]);
}

/// A width that grows from 0 changes no pixel by more than its growth, and eight bits.
#[test]
fn a_line_grows_without_a_jump() {
    let picture = |node| shown(vec![node]).picture(Storage::Half);
    let filter = None;
    let mut before = picture(Node {
        filter,
        ..icon(line(0.0))
    });
    for step in 1..=48 {
        let now = picture(icon(line(f64::from(step) / 16.0)));
        let most = super::worst_difference(&before, &now).value;
        assert!(most <= 1.0 / 16.0 + 1.0 / 255.0, "step {step}: {most}");
        before = now;
    }
}
