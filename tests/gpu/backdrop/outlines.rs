//! Glass and groups end where Bevy's nodes end, antialiased or not: at rims and elliptical corners, and at clips that are turned. Over
//! white, black glass is a black node, and so is a group whose content is black.
//!
//! On Bevy 0.20, corners have two radii, and clips turn with their nodes. On 0.19 corners are circles, and clips upright.

use super::stage::SIZE;
use super::*;
use crate::support::compositor::tolerance;
use std::f32::consts::FRAC_PI_4;

/// Makes a node black, for the camera with glass by glass or by a filter.
type Blacken = fn(&mut Ui, Entity);

/// Asserts that nodes look alike on both cameras, and that they are visible.
fn assert_alike(stage: &mut Stage, name: &str, blacken: Blacken, build: impl Fn(&mut Ui) -> Entity) {
    let white = Square::new([0.0, 0.0, SIZE.x as f32, SIZE.y as f32], [1.0; 4]);
    let [background, got] = stage.shown(|ui| {
        ui.spawn(white.bundle());
        let node = build(ui);
        if ui.is_glass {
            blacken(ui, node);
        } else {
            ui.insert(node, BackgroundColor(Color::BLACK));
        }
    });
    let black = background.texels.iter().filter(|texel| texel[0] < 0.01).count();
    assert!(black > 200, "{name}: {black} pixels are black");
    let name = stage.name(name);
    let expected = within_rounding(&got, &background, LDR);
    let worst = assert_close(&name, &got, &expected, &RGBA, tolerance(LDR, 1.0));
    println!("{name}: {:.3}/255", worst * 255.0);
}

fn sharp_glass(ui: &mut Ui, node: Entity) {
    ui.insert(node, BackdropBlur::new(0.0).with_color(ColorStep::Brightness(0.0)));
}

fn blurred_glass(ui: &mut Ui, node: Entity) {
    ui.insert(node, BackdropBlur::new(12.0).with_color(ColorStep::Brightness(0.0)));
}

/// Fills a node and its surroundings.
fn fill(ui: &mut Ui, parent: Entity, components: impl Bundle) {
    let larger = node(Vec2::splat(-60.0), Vec2::splat(400.0));
    ui.spawn_in(parent, (larger, components));
}

fn rounded_group(ui: &mut Ui, node: Entity) {
    ui.insert(node, UiFilter::rounded());
    fill(ui, node, BackgroundColor(Color::BLACK));
}

fn rounded_group_with_glass(ui: &mut Ui, node: Entity) {
    ui.insert(node, UiFilter::rounded());
    fill(ui, node, BackgroundColor(Color::WHITE));
    fill(ui, node, BackdropBlur::new(6.0).with_color(ColorStep::Brightness(0.0)));
}

/// The radii of top left, top right, bottom right and bottom left, each along x and y.
type Radii = [[f32; 2]; 4];

/// Gives a node corners. On Bevy 0.19, whose corners have one radius, each gets the radius along x.
fn round(node: &mut Node, radii: Radii) {
    let corners = ["top_left", "top_right", "bottom_right", "bottom_left"];
    for (corner, [x, y]) in corners.into_iter().zip(radii) {
        for (path, radius) in [("", x), (".x", x), (".y", y)] {
            if let Ok(value) = node.path_mut::<Val>(&*format!("border_radius.{corner}{path}")) {
                *value = Val::Px(radius);
            }
        }
    }
}

#[test]
fn elliptical_corners() {
    on_one(Kind::Core2d, LDR, |stage| {
        let shapes: [([f32; 4], Radii); 3] = [
            ([1.0, 20.0, 200.0, 60.0], [[100.0, 30.0]; 4]),
            (
                [60.0, 8.0, 60.0, 100.0],
                [[5.0, 40.0], [30.0, 20.0], [25.0, 50.0], [0.0, 30.0]],
            ),
            (
                [30.0, 10.0, 140.0, 20.0],
                [[70.0, 3.0], [8.0, 8.0], [50.0, 10.0], [20.0, 1.0]],
            ),
        ];
        for (index, (place, radii)) in shapes.into_iter().enumerate() {
            let pane = Pane::new(place, BackdropBlur::default());
            let shown = |pane: Pane| {
                let mut node = pane.node();
                round(&mut node, radii);
                move |ui: &mut Ui| ui.spawn((node.clone(), pane.transform()))
            };
            for anti_alias in [UiAntiAlias::On, UiAntiAlias::Off] {
                stage.insert(anti_alias);
                let mirrored = pane.clone().scaled(-0.9, 1.2).moved(0.3, 0.45);
                for (transform, pane) in [pane.clone(), pane.clone().turned(0.4), mirrored]
                    .into_iter()
                    .enumerate()
                {
                    let name = |what: &str| format!("corners-{what}-{index}-{transform}-{anti_alias:?}");
                    assert_alike(stage, &name("sharp"), sharp_glass, shown(pane.clone()));
                    assert_alike(stage, &name("blurred"), blurred_glass, shown(pane));
                }
                // The curve of a group also covers a part of the pixels along its sides, which shows between pixels.
                let name = |what: &str| format!("corners-{what}-{index}-{anti_alias:?}");
                assert_alike(stage, &name("group"), rounded_group, shown(pane.clone()));
                assert_alike(
                    stage,
                    &name("group-with-glass"),
                    rounded_group_with_glass,
                    shown(pane.clone()),
                );
            }
        }
    });
}

/// Whether the app is one of Bevy 0.20, for which version 0.2 is.
fn has_new_outlines() -> bool {
    !env!("CARGO_PKG_VERSION").starts_with("0.1.")
}

fn recolored_group(ui: &mut Ui, node: Entity) {
    ui.insert(
        node,
        (
            UiFilter::default().with_color(ColorStep::Brightness(0.0)),
            BackgroundColor(Color::WHITE),
        ),
    );
}

fn blurred_group(ui: &mut Ui, node: Entity) {
    ui.insert(node, UiFilter::from_sigma(3.0));
    fill(ui, node, BackgroundColor(Color::BLACK));
}

fn glass_in_a_group(ui: &mut Ui, node: Entity) {
    ui.insert(node, UiFilter::from_sigma(3.0));
    fill(ui, node, BackdropBlur::new(6.0).with_color(ColorStep::Brightness(0.0)));
}

fn glass_of_a_group(ui: &mut Ui, node: Entity) {
    let glass = BackdropBlur::new(6.0).with_color(ColorStep::Brightness(0.0));
    ui.insert(node, (glass, UiFilter::from_sigma(3.0)));
}

/// Nodes that clip, one inside the other, and a node in the innermost that is larger than all of them.
fn clips(ui: &mut Ui, boxes: &[(Pane, Overflow)]) -> Entity {
    let (mut parent, mut origin) = (ui.root, Vec2::ZERO);
    for (pane, overflow) in boxes {
        let node = Node {
            overflow: *overflow,
            ..pane.node_in(origin)
        };
        parent = ui.spawn_in(parent, (node, pane.transform()));
        origin = pane.origin;
    }
    let pane = Pane::new([-100.0, -150.0, 420.0, 400.0], BackdropBlur::default()).turned(-0.15);
    ui.spawn_in(parent, (pane.node_in(origin), pane.transform()))
}

#[test]
fn turned_clips() {
    if !has_new_outlines() {
        return;
    }
    let pane = |place, angle| Pane::new(place, BackdropBlur::default()).turned(angle);
    let outer = pane([75.0, 35.0, 60.0, 40.0], FRAC_PI_4);
    let inner = [80.0, 30.0, 60.0, 40.0];
    let clip = Overflow::clip();
    let cases: [&[(Pane, Overflow)]; 7] = [
        &[(outer.clone(), clip)],
        &[(outer.clone(), Overflow::clip_x())],
        &[(outer.clone().scaled(-1.3, 0.7), clip)],
        &[(outer.clone(), clip), (pane(inner, 0.0), clip)],
        &[(outer.clone(), clip), (pane(inner, -0.3), clip)],
        &[(pane([30.0, 10.0, 90.0, 90.0], 0.0), clip), (pane(inner, 0.6), clip)],
        &[(outer, Overflow::scroll_y()), (pane(inner, -FRAC_PI_4), clip)],
    ];
    let kinds: [(&str, Blacken); 6] = [
        ("sharp", sharp_glass),
        ("blurred", blurred_glass),
        ("recolored group", recolored_group),
        ("blurred group", blurred_group),
        ("glass in a group", glass_in_a_group),
        ("glass of a group", glass_of_a_group),
    ];
    on_one(Kind::Core2d, LDR, |stage| {
        for (index, boxes) in cases.iter().enumerate() {
            for (kind, blacken) in kinds {
                // Glass in a group is painted on visible pixels only, so what lies beyond is blurred into them.
                let reaches_border = index == 1;
                if !(reaches_border && kind == "glass in a group") {
                    assert_alike(stage, &format!("clips-{kind}-{index}"), blacken, |ui| clips(ui, boxes));
                }
            }
        }
        // Clips count from the viewport, not from the texture.
        let viewport = viewport(UVec2::new(13, 9), SIZE - UVec2::new(20, 12));
        for view in [stage.plain.camera, stage.glass.camera] {
            stage.headless.get_mut::<Camera>(view).viewport = Some(viewport.clone());
        }
        for (kind, blacken) in kinds {
            assert_alike(stage, &format!("clips-{kind}-viewport"), blacken, |ui| {
                clips(ui, cases[4])
            });
        }
    });
}
