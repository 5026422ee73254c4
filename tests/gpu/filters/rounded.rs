//! Groups that are clipped to the rounded box of their node.

use super::group::on_one;
use crate::backdrop::pane::{Pane, node};
use crate::backdrop::stage::{HDR, LDR, Ui};
use crate::support::difference::worst_difference;
use crate::support::reference::{Picture, Shape};
use crate::support::scene::Kind;
use bevy::prelude::*;
use bevy_gaussian_blur::prelude::*;

const COLOUR: [f32; 3] = [0.9, 0.2, 0.1];

/// A card whose content is larger than the card.
fn card(ui: &mut Ui, card: &Pane, filter: UiFilter) -> Entity {
    let [red, green, blue] = COLOUR;
    let card = ui.spawn((card.node(), card.transform(), filter));
    let content = node(Vec2::splat(-30.0), Vec2::new(170.0, 130.0));
    ui.spawn_in(card, (content, BackgroundColor(Color::linear_rgb(red, green, blue))));
    card
}

/// The picture below, with the colour in the shape of the card.
fn covered(below: &Picture, card: &Pane, opacity: f64) -> Picture {
    let panel = card.panel(1.0);
    Picture::from_fn(below.width, below.height, |x, y| {
        let (below, share) = (below.at(x, y), opacity * panel.coverage(x, y));
        let [red, green, blue] = COLOUR.map(f64::from);
        let colour = [red, green, blue, 1.0];
        [0, 1, 2, 3].map(|channel| below[channel] * (1.0 - share) + colour[channel] * share)
    })
}

/// Asserts a difference of at most 10/255 at the rim, and elsewhere of 1.5/255, and what eight bits round of a faded group and of the
/// result. Glass ends at the sides of its box, but the curve covers half of the pixels along them: of a turned or scaled card, these are left out.
fn assert_covered(name: &str, got: &Picture, expected: &Picture, card: &Pane) {
    let panel = card.panel(1.0);
    let coverage = |x: usize, y: usize| panel.coverage(x, y);
    for (x, y) in (1..got.height - 1).flat_map(|y| (1..got.width - 1).map(move |x| (x, y))) {
        let around = (y - 1..=y + 1).flat_map(|y| (x - 1..=x + 1).map(move |x| (x, y)));
        let mut around = around;
        let is_near = around.any(|(u, v)| coverage(u, v) != coverage(x, y));
        let limit = match coverage(x, y) {
            _ if is_near && !card.is_plain() => continue,
            0.0 | 1.0 => 2.5,
            _ => 10.0,
        };
        let (got, expected) = (got.at(x, y), expected.at(x, y));
        for channel in 0..3 {
            let off = 255.0 * (got[channel] - expected[channel]).abs();
            assert!(
                off <= limit,
                "{name}: {got:?} at ({x}, {y}), {expected:?} expected: off by {off}/255"
            );
        }
    }
}

/// Upright, turned and scaled; alone, faded, and inside another rounded group.
#[test]
fn groups_end_at_the_curve() {
    for format in [LDR, HDR] {
        on_one(Kind::Core2d, format, |group| {
            let pane =
                || Pane::new([40.0, 25.0, 90.0, 60.0], BackdropBlur::default()).with_radii([4.0, 18.0, 30.0, 0.0]);
            let cards = [pane(), pane().turned(0.4), pane().scaled(1.2, 0.8)];
            for (card_index, pane) in cards.iter().enumerate() {
                for opacity in [1.0, 0.5] {
                    group.stage.clear();
                    let camera = group.stage.glass.camera;
                    let filter = UiFilter::rounded().with_opacity(opacity);
                    group.stage.add(camera, true, &|ui: &mut Ui| {
                        card(ui, pane, filter.clone());
                    });
                    group.stage.headless.warm_up();
                    let [below, got, _] = group.pictures();
                    let expected = covered(&below, pane, f64::from(opacity));
                    assert_covered(&format!("card {card_index}, {opacity}"), &got, &expected, pane);
                }
            }
        });
    }
}

/// Glass inside a rounded group is cut by its curve, and pixels outside keep their bits.
#[test]
fn glass_inside_is_cut_by_the_curve() {
    on_one(Kind::Core2d, LDR, |group| {
        let pane = Pane::new([40.0, 25.0, 90.0, 60.0], BackdropBlur::default()).with_radii([24.0; 4]);
        group.stage.clear();
        let camera = group.stage.glass.camera;
        group.stage.add(camera, true, &|ui: &mut Ui| {
            let card = card(ui, &pane, UiFilter::rounded());
            let glass = (
                node(Vec2::splat(-20.0), Vec2::new(150.0, 110.0)),
                BackdropBlur::new(12.0).with_color(ColorStep::Invert(1.0)),
            );
            ui.spawn_in(card, glass);
        });
        group.stage.headless.warm_up();
        let [below, got, _] = group.pictures();
        let panel = pane.panel(1.0);
        let texels = (0..got.height).flat_map(|y| (0..got.width).map(move |x| (x, y)));
        for (x, y) in texels {
            match panel.coverage(x, y) {
                0.0 => assert_eq!(got.at(x, y), below.at(x, y), "({x}, {y}) is outside"),
                1.0 => assert!(
                    got.at(x, y)[0] < 0.4,
                    "({x}, {y}): {:?} is not the inverted card",
                    got.at(x, y)
                ),
                _ => {}
            }
        }
    });
}

/// A node's own border and background are drawn as ever; its descendants end where its background does: at the inner curve.
#[test]
fn the_border_of_a_card_is_no_part_of_its_content() {
    on_one(Kind::Core2d, LDR, |group| {
        let red = || BorderColor::all(Color::linear_rgb(1.0, 0.0, 0.0));
        let mut shown = |size: Vec2, radius: BorderRadius, background: f32, overflows: bool| {
            group.stage.clear();
            let camera = group.stage.glass.camera;
            group.stage.add(camera, true, &|ui: &mut Ui| {
                let card = Node {
                    border: UiRect::all(Val::Px(10.0)),
                    border_radius: radius,
                    ..node(Vec2::new(40.0, 25.0), size)
                };
                let fill = |alpha: f32| BackgroundColor(Color::linear_rgba(1.0, 1.0, 1.0, alpha));
                let card = ui.spawn((card, red(), fill(background), UiFilter::rounded()));
                if overflows {
                    ui.spawn_in(card, (node(Vec2::splat(-30.0), Vec2::new(170.0, 130.0)), fill(1.0)));
                }
            });
            group.stage.headless.warm_up();
            let [_, got, _] = group.pictures();
            got
        };
        let round = BorderRadius::all(Val::Px(20.0));
        let got = shown(Vec2::new(100.0, 60.0), round, 0.0, true);
        let near = |got: [f64; 4], expected: [f64; 3]| (0..3).all(|i| (got[i] - expected[i]).abs() < 1e-2);
        assert!(near(got.at(54, 39), [1.0; 3]), "white inside: {:?}", got.at(54, 39));
        assert!(
            near(got.at(45, 55), [1.0, 0.0, 0.0]),
            "a red border: {:?}",
            got.at(45, 55)
        );
        // But for the rim, the content covers what the background of the node itself covers.
        for (size, radius, inner) in [
            (Vec2::new(100.0, 60.0), round, 10.0),
            (Vec2::new(100.0, 40.0), BorderRadius::MAX, 10.0),
        ] {
            let [content, background] =
                [(0.0, true), (1.0, false)].map(|(alpha, overflows)| shown(size, radius, alpha, overflows));
            let padding_box = Shape {
                centre: [90.0, 25.0 + 0.5 * f64::from(size.y)],
                size: [80.0, f64::from(size.y) - 20.0],
                axes: [[1.0, 0.0], [0.0, 1.0]],
                radii: [inner; 4],
            };
            for (x, y) in (0..content.height).flat_map(|y| (0..content.width).map(move |x| (x, y))) {
                let covered = padding_box.outlined([x as f64, y as f64]);
                let (content, background) = (content.at(x, y), background.at(x, y));
                assert!(
                    covered > 0.0 && covered < 1.0 || (0..3).all(|i| (content[i] - background[i]).abs() < 0.02),
                    "({x}, {y}): {content:?}, {background:?} expected"
                );
            }
        }
    });
}

/// Glass in a rounded group sees nothing of what the box cuts off, with a `BlurProfile` beside the filter, too: a child that is never shown
/// changed it by .342.
#[test]
fn glass_inside_sees_no_overflow_beside_a_profile() {
    on_one(Kind::Core2d, LDR, |group| {
        let profile = BlurProfile::Linear {
            start: Vec2::ZERO,
            end: Vec2::ONE,
            from: 0.2,
            to: 1.0,
        };
        let mut shown = |overflows: bool| {
            group.stage.clear();
            let camera = group.stage.glass.camera;
            group.stage.add(camera, true, &|ui: &mut Ui| {
                let card = Node {
                    border_radius: BorderRadius::all(Val::Px(12.0)),
                    ..node(Vec2::new(60.0, 25.0), Vec2::new(90.0, 60.0))
                };
                let filter = UiFilter::rounded().with_radius(9.0);
                let card = ui.spawn((card, filter, profile.clone()));
                if overflows {
                    let white = BackgroundColor(Color::WHITE);
                    ui.spawn_in(card, (node(Vec2::new(-40.0, 10.0), Vec2::new(38.0, 40.0)), white));
                }
                let glass = BackdropBlur::new(24.0).with_sampling(BackdropSampling::Surroundings);
                ui.spawn_in(card, (node(Vec2::ZERO, Vec2::new(40.0, 60.0)), glass));
            });
            group.stage.headless.warm_up();
            let [_, got, _] = group.pictures();
            got
        };
        let off = worst_difference(&shown(true), &shown(false));
        assert_eq!(off.value, 0.0, "a child beyond the box changes {off:?}");
    });
}
