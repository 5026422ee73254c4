//! Groups in clips, under transforms, beyond the viewport, at other scale factors, and hidden.

use super::content::boxes;
use super::group::{Group, clipped, layers, on_one, paint, whole};
use crate::backdrop::pane::node;
use crate::backdrop::pane::node as at;
use crate::backdrop::stage::{LDR, Ui};
use crate::support::reference::{Picture, tree};
use crate::support::scene::Kind;
use crate::trees::assert_shown;
use bevy::prelude::*;
use bevy_gaussian_blur::prelude::*;

fn shadowed() -> UiFilter {
    UiFilter::shadow(Vec2::new(6.0, 5.0), 9.0, Color::linear_rgba(0.0, 0.0, 0.2, 0.9)).with_radius(3.0)
}

/// The overflow of the filtered node clips the group before the filter; the overflow of its ancestors clips the result.
#[test]
fn clips() {
    on_one(Kind::Core2d, LDR, |group| {
        let filter = shadowed();
        let clip = |origin: Vec2, size: Vec2| Node {
            overflow: Overflow::clip(),
            ..node(origin, size)
        };
        group.show((), boxes);
        let [below, _, alone] = group.pictures();
        let list = [50, 35, 120, 80];
        group.show((), |ui, parent| {
            let list = ui.spawn_in(parent, clip(Vec2::new(50.0, 35.0), Vec2::new(70.0, 45.0)));
            let node = ui.spawn_in(
                list,
                (node(Vec2::new(-50.0, -35.0), Vec2::new(203.0, 117.0)), filter.clone()),
            );
            boxes(ui, node);
        });
        let [_, got, _] = group.pictures();
        let layers_of = |alone: &Picture| layers(alone, &filter, 1.0, LDR);
        let result: Vec<Picture> = layers_of(&alone).iter().map(|layer| clipped(layer, list)).collect();
        group.assert_painted("clip-outside", &got, &paint(&below, &result, LDR));

        // Bevy clips rotated nodes by moving their vertices, so the reference needs Bevy's picture of the clipped group.
        group.show((), |ui, parent| {
            let list = ui.spawn_in(parent, clip(Vec2::new(50.0, 35.0), Vec2::new(70.0, 45.0)));
            if ui.is_glass {
                ui.insert(list, filter.clone());
            }
            let moved = ui.spawn_in(list, node(Vec2::new(-50.0, -35.0), Vec2::new(203.0, 117.0)));
            boxes(ui, moved);
        });
        let [_, got, alone] = group.pictures();
        group.assert_painted("clip-inside", &got, &paint(&below, &layers_of(&alone), LDR));
    });
}

/// The scale of a node also scales the lengths of its filter. Its rotation does not turn them.
#[test]
fn transforms_and_scales() {
    on_one(Kind::Core2d, LDR, |group| {
        let turned = UiTransform {
            scale: Vec2::splat(0.8),
            rotation: Rot2::radians(0.5),
            ..default()
        };
        let filter = shadowed();
        let turned_boxes = |ui: &mut Ui, parent: Entity, filter: Option<UiFilter>| {
            let node = ui.spawn_in(parent, (whole(), turned));
            if let Some(filter) = filter {
                ui.insert(node, filter);
            }
            boxes(ui, node);
        };
        group.show((), |ui, parent| turned_boxes(ui, parent, None));
        let [below, _, alone] = group.pictures();
        group.show((), |ui, parent| turned_boxes(ui, parent, Some(filter.clone())));
        let [_, got, _] = group.pictures();
        group.assert_painted("turned", &got, &paint(&below, &layers(&alone, &filter, 0.8, LDR), LDR));
    });
}

/// Content beyond the viewport is blurred into it.
#[test]
fn beyond_the_viewport() {
    on_one(Kind::Core2d, LDR, |group| {
        let filter = UiFilter::from_sigma(5.0).with_shadow(DropShadow::new(Vec2::new(-12.0, 0.0), 6.0, Color::BLACK));
        group.show((), boxes);
        let [below, _, alone] = group.pictures();
        // With the boxes in the middle, the viewport shows the whole result. Then the group moves.
        let known = layers(&alone, &filter, 1.0, LDR);
        for [right, down] in [[80_i32, 0], [-100, 20], [0, -60], [110, 60]] {
            let moved = |ui: &mut Ui, parent: Entity| {
                let node = ui.spawn_in(
                    parent,
                    (
                        node(Vec2::new(right as f32, down as f32), Vec2::new(203.0, 117.0)),
                        filter.clone(),
                    ),
                );
                boxes(ui, node);
            };
            group.show((), moved);
            let [_, got, _] = group.pictures();
            let moved = |layer: &Picture| {
                Picture::from_fn(below.width, below.height, |x, y| {
                    let (x, y) = (x as i32 - right, y as i32 - down);
                    let is_known = (0..203).contains(&x) && (0..117).contains(&y);
                    if is_known {
                        layer.at(x as usize, y as usize)
                    } else {
                        [0.0; 4]
                    }
                })
            };
            let result: Vec<Picture> = known.iter().map(moved).collect();
            group.assert_painted(&format!("beyond-{right}-{down}"), &got, &paint(&below, &result, LDR));
        }
    });
}

/// The filter of a hidden node applies to visible children. Groups that are transparent or not displayed are invisible.
#[test]
fn hidden_and_transparent() {
    on_one(Kind::Core2d, LDR, |group| {
        let filter = shadowed();
        group.show((), boxes);
        let [below, _, alone] = group.pictures();
        let result = paint(&below, &layers(&alone, &filter, 1.0, LDR), LDR);
        group.show((filter.clone(), Visibility::Hidden), |ui, parent| {
            let visible = ui.spawn_in(parent, (whole(), Visibility::Visible));
            boxes(ui, visible);
        });
        let [_, got, _] = group.pictures();
        group.assert_painted("hidden", &got, &result);

        group.show(filter.clone().with_opacity(0.0), boxes);
        let [below, got, _] = group.pictures();
        assert!(got == below, "what is transparent is seen");
        group.show((), |ui, parent| {
            let gone = Node {
                display: Display::None,
                ..whole()
            };
            let gone = ui.spawn_in(parent, (gone, filter.clone()));
            boxes(ui, gone);
        });
        let [below, got, _] = group.pictures();
        assert!(got == below, "what is not displayed is seen");
    });
}

fn check_scale(group: &mut Group) {
    group.stage.set_scale_factor(2.0);
    let target = group.alone.target.clone();
    group.alone.retarget(&mut group.stage.headless, target, 2.0);
    group.scale = 2.0;
    let small = |ui: &mut Ui, parent: Entity| {
        let node = ui.spawn_in(parent, at(Vec2::new(-10.0, -8.0), Vec2::new(101.0, 58.0)));
        let text = (Text::new("Aa"), TextFont::from_font_size(14.0));
        ui.spawn_in(node, (at(Vec2::new(40.0, 25.0), Vec2::new(30.0, 20.0)), text));
    };
    group.check(
        "scale-factor-2",
        &UiFilter::shadow(Vec2::new(2.0, 1.5), 4.0, Color::BLACK),
        small,
    );
}

/// Lengths are in logical pixels of the user interface.
#[test]
fn scale_factors() {
    on_one(Kind::Core2d, LDR, check_scale);
}

/// Stripes with a clipped list over them, in which a filtered row has these children.
fn list(filter: tree::Filter, scrolled: f64, children: Vec<tree::Node>) -> tree::Tree {
    let stripe = |index: i32| {
        let color = if index % 3 == 0 {
            [0.9, 0.7, 0.1, 1.0]
        } else {
            [0.1, 0.2, 0.8, 1.0]
        };
        tree::Node::new([0.0, f64::from(index) * 7.0], [96.0, 4.0], color)
    };
    let row = tree::Node {
        filter: Some(filter),
        children,
        ..tree::Node::new([2.0, scrolled], [56.0, 26.0], [0.7, 0.1, 0.1, 0.5])
    };
    let list = tree::Node {
        clips: [true; 2],
        children: vec![row],
        ..tree::Node::new([12.0, 10.0], [60.0, 40.0], [0.2, 0.2, 0.2, 0.3])
    };
    tree::Tree {
        size: [96, 64],
        clear: [0.4, 0.4, 0.4, 1.0],
        nodes: (0..9).map(stripe).chain([list]).collect(),
    }
}

/// Filters of which the first does not reach beyond a pixel.
fn row_filters() -> [(&'static str, tree::Filter); 4] {
    let faded = tree::Filter {
        opacity: 0.8,
        ..tree::Filter::NEUTRAL
    };
    let soft = tree::Filter {
        sigma: [1.5; 2],
        ..tree::Filter::NEUTRAL
    };
    let shadow = tree::Shadow {
        offset: [2.0, -3.0],
        sigma: [1.0; 2],
        color: [0.0, 0.0, 0.0, 0.8],
        is_glow: false,
        is_inset: false,
    };
    let shadowed = tree::Filter {
        shadows: vec![shadow],
        ..soft.clone()
    };
    // It reaches farther on one side than on the other.
    let hard = tree::Filter {
        shadows: vec![tree::Shadow {
            offset: [2.0, 4.0],
            sigma: [0.0; 2],
            ..shadow
        }],
        ..faded.clone()
    };
    [("faded", faded), ("soft", soft), ("shadowed", shadowed), ("hard", hard)]
}

/// A tooltip with `OverrideClip` in a row of a list is visible beyond the list, as without a filter.
#[test]
fn tooltips_of_filtered_rows() {
    let trees = row_filters().map(|(name, filter)| {
        let tooltip = tree::Node {
            is_free: true,
            ..tree::Node::new([40.0, -6.0], [34.0, 12.0], [0.1, 0.9, 0.3, 0.9])
        };
        (format!("tooltip-{name}"), list(filter, 20.0, vec![tooltip]))
    });
    assert_shown(LDR, &trees);
}

/// A pane in a filtered row mirrors at its box, cut by the clip of the list, which is grown by the reach of the row's filter.
#[test]
fn glass_in_rows_of_a_scrolled_list() {
    let mut trees = Vec::new();
    for (name, filter) in row_filters() {
        for scrolled in [-17.0, -3.0, 8.0, 20.0, 29.0, 36.0] {
            for sees_surroundings in [false, true] {
                let glass = tree::Glass {
                    sees_surroundings,
                    ..tree::Glass::new(3.0)
                };
                let pane = tree::Node {
                    glass: Some(glass),
                    ..tree::Node::new([6.0, 2.0], [40.0, 22.0], [0.0; 4])
                };
                let tree = list(filter.clone(), scrolled, vec![pane]);
                trees.push((format!("scrolled-{name}-{scrolled}-{sees_surroundings}"), tree));
            }
        }
    }
    assert_shown(LDR, &trees);
}
