//! Groups that fade towards sides of their node, against the float64 compositor.

use super::group::on_one;
use crate::backdrop::pane::node;
use crate::backdrop::stage::{HDR, LDR, Ui};
use crate::support::reference::tree::{Filter, Glass, Node, Shadow, Transform, Tree};
use crate::support::reference::{EdgeMode, Functions, Step, Storage};
use crate::support::scene::Kind;
use crate::trees::assert_shown;
use bevy::ecs::system::RunSystemOnce;
use bevy::prelude::{
    BackgroundColor, BorderColor, Color, Component, ComputedNode, Overflow, Query, ScrollPosition, UiRect, Val, Vec2,
    With, default,
};
use bevy_gaussian_blur::prelude::UiFilter;

/// Stripes, and over them a group that reaches beyond its node, which clips it or not.
fn list(filter: Filter, is_clipped: bool) -> Node {
    Node {
        filter: Some(filter),
        clips: [is_clipped; 2],
        children: vec![
            Node::new([-8.0, 4.0], [40.0, 12.0], [0.9, 0.1, 0.1, 1.0]),
            Node::new([14.0, 10.0], [30.0, 40.0], [0.2, 0.6, 0.9, 0.5]),
        ],
        ..Node::new([22.0, 13.0], [44.0, 34.0], [0.8, 0.9, 0.8, 1.0])
    }
}

fn over_stripes(node: Node) -> Tree {
    let stripe = |index: usize| Node::new([index as f64 * 12.0, 0.0], [6.0, 64.0], [0.9, 0.5, 0.1, 1.0]);
    Tree {
        size: [96, 64],
        clear: [0.3, 0.4, 0.5, 1.0],
        nodes: (0..8).map(stripe).chain([node]).collect(),
    }
}

fn fade(fade: [f64; 4]) -> Filter {
    Filter {
        fade,
        ..Filter::NEUTRAL
    }
}

fn assert_lists(lists: Vec<(&str, Node)>) {
    let trees: Vec<(String, Tree)> = lists
        .into_iter()
        .map(|(name, list)| (format!("fade-{name}"), over_stripes(list)))
        .collect();
    assert_shown(LDR, &trees);
    assert_shown(HDR, &trees);
}

#[test]
fn groups_fade_towards_their_sides() {
    let both = [0.0, 12.0, 0.0, 9.0];
    let with = |transform: Transform, filter: Filter| Node {
        transform,
        ..list(filter, false)
    };
    let turned = Transform {
        angle: 0.4,
        scale: [1.2, 0.9],
        ..Transform::NONE
    };
    assert_lists(vec![
        ("left", list(fade([10.0, 0.0, 0.0, 0.0]), true)),
        ("top", list(fade([0.0, 10.0, 0.0, 0.0]), true)),
        ("right", list(fade([0.0, 0.0, 10.0, 0.0]), true)),
        ("bottom", list(fade([0.0, 0.0, 0.0, 10.0]), true)),
        ("ends", list(fade(both), true)),
        ("ends-meet", list(fade([0.0, 30.0, 0.0, 50.0]), true)),
        ("corners", list(fade([12.0; 4]), false)),
        ("beyond", list(fade([0.0, 12.0, 0.0, 0.0]), false)),
        ("thin", list(fade([0.6, 0.3, 1.0, 0.75]), true)),
        ("turned", with(turned, fade([8.0, 12.0, 0.0, 5.0]))),
    ]);
}

/// A shadow, a blur and colours are those of the faded group; opacity fades it further.
#[test]
fn everything_else_is_done_to_the_faded_group() {
    let both = fade([0.0, 12.0, 0.0, 9.0]);
    let shadow = |is_inset, is_glow| Shadow {
        offset: [4.0, 3.0],
        sigma: [2.0; 2],
        color: [0.3, 0.0, 0.2, 0.8],
        is_glow,
        is_inset,
    };
    let with = |shadows: Vec<Shadow>| Filter {
        shadows,
        ..both.clone()
    };
    let blurred = |edge| Filter {
        sigma: [2.5; 2],
        edge,
        ..both.clone()
    };
    let colored = Functions(vec![Step::Sepia(0.7), Step::Invert(1.0)]);
    let glowing = Node {
        children: vec![list(
            Filter {
                shadows: vec![shadow(false, true)],
                ..Filter::NEUTRAL
            },
            false,
        )],
        ..list(
            Filter {
                functions: Functions(vec![Step::Brightness(0.7)]),
                ..both.clone()
            },
            false,
        )
    };
    assert_lists(vec![
        ("shadow", list(with(vec![shadow(false, false)]), false)),
        (
            "inset",
            list(with(vec![shadow(true, false), shadow(false, false)]), false),
        ),
        ("blur", list(blurred(EdgeMode::Transparent), false)),
        ("border", list(blurred(EdgeMode::Mirror), false)),
        (
            "colours",
            list(
                Filter {
                    functions: colored.clone(),
                    ..both.clone()
                },
                false,
            ),
        ),
        (
            "blurred-colours",
            list(
                Filter {
                    functions: colored,
                    ..blurred(EdgeMode::Transparent)
                },
                false,
            ),
        ),
        (
            "opacity",
            list(
                Filter {
                    opacity: 0.5,
                    ..with(vec![shadow(false, false)])
                },
                false,
            ),
        ),
        ("glow-inside", glowing),
    ]);
}

/// Glass in the group fades with it, glass of the node itself does not; rounded and faded groups lie in each other.
#[test]
fn with_glass_and_groups_inside() {
    let both = fade([6.0, 12.0, 0.0, 9.0]);
    let mut with_glass = list(both.clone(), true);
    with_glass.children.push(Node {
        glass: Some(Glass::new(2.0)),
        ..Node::new([6.0, 2.0], [30.0, 30.0], [0.0; 4])
    });
    let own = Node {
        glass: Some(Glass::new(2.0)),
        color: [0.0; 4],
        ..list(both.clone(), true)
    };
    let rounded = Node {
        radii: [12.0; 4],
        ..list(
            Filter {
                is_rounded: true,
                ..both.clone()
            },
            false,
        )
    };
    let mut nested = list(both.clone(), false);
    nested.children.push(Node {
        origin: [10.0, 8.0],
        ..list(both, true)
    });
    assert_lists(vec![
        ("glass", with_glass),
        ("own-glass", own),
        ("rounded", rounded),
        ("nested", nested),
    ]);
}

/// A length that grows from 0 moves no pixel of a clipped list at once: by at most a quarter in every eighth of a pixel.
#[test]
fn a_length_grows_without_a_jump() {
    let picture = |length: f64| over_stripes(list(fade([0.0, length, 0.0, 0.0]), true)).picture(Storage::Half);
    let mut before = picture(0.0);
    for step in 1..=40 {
        let now = picture(f64::from(step) / 8.0);
        let texels = before.texels.iter().flatten().zip(now.texels.iter().flatten());
        let most = texels.map(|(one, other)| (one - other).abs()).fold(0.0, f64::max);
        assert!(most <= 0.25, "step {step}: {most}");
        before = now;
    }
}

/// Beside a list: the recipe of `docs/questions.md`.
#[derive(Component)]
struct FadingEnds;

fn fade_ends(mut lists: Query<(&ComputedNode, &mut UiFilter), With<FadingEnds>>) {
    for (node, mut filter) in &mut lists {
        let to_logical = node.inverse_scale_factor();
        let above = node.scroll_position.y * to_logical;
        let below = (node.content_size() - node.size()).y * to_logical - above;
        let fade = UiRect {
            top: Val::Px(above.clamp(0.0, 24.0)),
            bottom: Val::Px(below.clamp(0.0, 24.0)),
            ..UiRect::ZERO
        };
        if filter.fade != fade {
            filter.fade = fade;
        }
    }
}

/// Only ends that hide something fade, and from nothing on: at the start, near it, in the middle and at the end.
#[test]
fn ends_of_a_list_fade_as_far_as_they_hide_something() {
    on_one(Kind::Core2d, LDR, |group| {
        group.stage.clear();
        let camera = group.stage.glass.camera;
        let lists = std::sync::Mutex::new(Vec::new());
        group.stage.add(camera, true, &|ui: &mut Ui| {
            let list = bevy::prelude::Node {
                overflow: Overflow::scroll_y(),
                ..node(Vec2::new(40.0, 25.0), Vec2::new(66.0, 60.0))
            };
            let white = BackgroundColor(Color::linear_rgb(1.0, 1.0, 1.0));
            let list = ui.spawn((list, FadingEnds, UiFilter::default()));
            ui.spawn_in(list, (node(Vec2::ZERO, Vec2::new(66.0, 200.0)), white));
            lists.lock().expect("no test panicked").push(list);
        });
        let list = lists.into_inner().expect("no test panicked")[0];
        for (scrolled, [top, bottom]) in [
            (0.0, [0.0, 24.0]),
            (3.0, [3.0, 24.0]),
            (70.0, [24.0, 24.0]),
            (137.0, [24.0, 3.0]),
            (140.0, [24.0, 0.0]),
        ] {
            let world = group.stage.headless.app.world_mut();
            world.entity_mut(list).insert(ScrollPosition(Vec2::new(0.0, scrolled)));
            group.stage.headless.warm_up();
            let world = group.stage.headless.app.world_mut();
            world.run_system_once(fade_ends).expect("it has what it needs");
            group.stage.headless.warm_up();
            let [below, got, _] = group.pictures();
            for y in 25..85_usize {
                let from = |inwards: f64, length: f64| if length > 0.0 { (inwards / length).min(1.0) } else { 1.0 };
                let share = from(y as f64 - 24.5, top) * from(84.5 - y as f64, bottom);
                let expected = share + below.at(70, y)[1] * (1.0 - share);
                let off = 255.0 * (got.at(70, y)[1] - expected).abs();
                assert!(off <= 3.0, "scrolled by {scrolled}, row {y}: off by {off}/255");
            }
        }
    });
}

/// Lengths count from the padding box, in logical pixels, or in percent of it along their axis.
#[test]
fn lengths_count_from_the_padding_box() {
    on_one(Kind::Core2d, LDR, |group| {
        let mut shown = |fade: UiRect| {
            group.stage.clear();
            let camera = group.stage.glass.camera;
            group.stage.add(camera, true, &|ui: &mut Ui| {
                let white = || Color::linear_rgb(1.0, 1.0, 1.0);
                let list = bevy::prelude::Node {
                    border: UiRect::new(Val::Px(10.0), Val::Px(4.0), Val::Px(6.0), Val::Px(14.0)),
                    ..node(Vec2::new(40.0, 25.0), Vec2::new(66.0, 60.0))
                };
                ui.spawn((
                    list,
                    BorderColor::all(white()),
                    BackgroundColor(white()),
                    UiFilter::fade(fade),
                ));
            });
            group.stage.headless.warm_up();
            let [below, got, _] = group.pictures();
            [below, got]
        };
        // The padding box: 50 to 102, and 31 to 71.
        let sides = [
            (UiRect::left(Val::Px(13.0)), [13.0, 0.0, 0.0, 0.0]),
            (UiRect::left(Val::Percent(25.0)), [13.0, 0.0, 0.0, 0.0]),
            (UiRect::top(Val::Percent(50.0)), [0.0, 20.0, 0.0, 0.0]),
            (
                UiRect {
                    right: Val::Px(8.0),
                    bottom: Val::Px(10.0),
                    ..default()
                },
                [0.0, 0.0, 8.0, 10.0],
            ),
        ];
        for (setting, lengths) in sides {
            let padding_box = crate::support::reference::Shape {
                centre: [76.0, 51.0],
                size: [52.0, 40.0],
                axes: [[1.0, 0.0], [0.0, 1.0]],
                radii: [0.0; 4],
            };
            let [below, got] = shown(setting);
            for (x, y) in (26..84).flat_map(|y| (41..105).map(move |x| (x, y))) {
                let share = padding_box.faded([x as f64, y as f64], lengths);
                for channel in 0..3 {
                    let expected = share + below.at(x, y)[channel] * (1.0 - share);
                    let off = 255.0 * (got.at(x, y)[channel] - expected).abs();
                    assert!(off <= 3.0, "{setting:?} at ({x}, {y}): off by {off}/255");
                }
            }
        }
    });
}
