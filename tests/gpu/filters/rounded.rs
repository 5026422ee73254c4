//! Groups that are clipped to the rounded box of their node.

use super::*;
use crate::backdrop::stage::Ui;
use crate::support::reference::Shape;

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
        let profile = linear([Vec2::ZERO, Vec2::ONE], [0.2, 1.0]);
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
