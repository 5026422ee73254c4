//! Glass over everything that Bevy's user interface can paint.

use super::*;
use crate::support::compositor::Layer;
use bevy::render::render_resource::AsBindGroup;

/// A material with Bevy's own shader: white.
#[derive(Asset, TypePath, AsBindGroup, Debug, Clone)]
pub struct White {}

impl UiMaterial for White {}

/// Declares that the material stays inside the boxes of its nodes.
pub fn declare(app: &mut App) {
    app.add_plugins(bevy_gaussian_blur::BackdropMaterialPlugin::<White>::default());
}

/// Where each kind of node is.
const BACKGROUND: [f32; 4] = [12.0, 10.0, 50.0, 30.0];
const IMAGE: [f32; 4] = [70.0, 8.0, 40.0, 34.0];
const TEXT: [f32; 4] = [10.0, 50.0, 130.0, 30.0];
const GRADIENT: [f32; 4] = [118.0, 12.0, 70.0, 26.0];
const SLICES: [f32; 4] = [12.0, 84.0, 60.0, 26.0];
const MATERIAL: [f32; 4] = [150.0, 50.0, 20.0, 36.0];
const SHADOW: [f32; 4] = [90.0, 88.0, 50.0, 18.0];
const OUTLINE: [f32; 4] = [178.0, 60.0, 18.0, 40.0];

/// The assets that the nodes show.
pub struct Content {
    image: Handle<Image>,
    material: Handle<White>,
}

fn at([left, top, width, height]: [f32; 4]) -> Node {
    node(Vec2::new(left, top), Vec2::new(width, height))
}

/// A stage where the material can be shown.
pub fn stage(backend: BlurBackend) -> (Stage, Content) {
    let mut stage = Stage::with(backend, Kind::Core2d, LDR, |app| {
        app.add_plugins(UiMaterialPlugin::<White>::default());
        // The declaration makes no visible difference.
        if backend == BlurBackend::Compute {
            declare(app);
        }
    });
    let [_, pattern] = inputs::patterns(40, 34);
    let opaque = Picture::from_fn(40, 34, |x, y| {
        let [red, green, blue, _] = pattern.at(x, y);
        [red, green, blue, 1.0]
    });
    let image = stage.headless.add_image(to_image(&opaque, LDR));
    let world = stage.headless.app.world_mut();
    let mut materials = world.resource_mut::<Assets<White>>();
    let material = materials.add(White {});
    (stage, Content { image, material })
}

/// Nodes of all kinds, seen by both cameras: Bevy draws images with slices, a gradient and a material with separate
/// pipelines.
pub fn spawn_all(ui: &mut Ui, parent: Entity, content: &Content) {
    let rounded = Node {
        border_radius: BorderRadius::px(4.0, 15.0, 8.0, 0.0),
        border: UiRect::all(Val::Px(2.0)),
        ..at(BACKGROUND)
    };
    let turned = UiTransform::from_rotation(Rot2::radians(0.2));
    let orange = BackgroundColor(Color::linear_rgba(1.0, 0.3, 0.05, 0.8));
    ui.spawn_in(parent, (rounded, turned, orange, BorderColor::all(Color::WHITE)));
    ui.spawn_in(parent, (at(IMAGE), ImageNode::new(content.image.clone())));
    let text = (
        Text::new("Glass over text"),
        TextFont::from_font_size(17.0),
        TextColor(Color::WHITE),
    );
    ui.spawn_in(parent, (at(TEXT), text, TextShadow::default()));
    let stops = [Color::BLACK, Color::WHITE, Color::linear_rgb(0.0, 0.2, 1.0)].map(ColorStop::auto);
    let gradient = BackgroundGradient::from(LinearGradient::to_bottom_right(stops.to_vec()));
    ui.spawn_in(parent, (at(GRADIENT), gradient));
    let slicer = TextureSlicer {
        border: BorderRect::all(9.0),
        ..default()
    };
    let sliced = ImageNode::new(content.image.clone()).with_mode(NodeImageMode::Sliced(slicer));
    ui.spawn_in(parent, (at(SLICES), sliced));
    ui.spawn_in(parent, (at(MATERIAL), MaterialNode(content.material.clone())));
    let shadow = BoxShadow::new(Color::BLACK, Val::Px(4.0), Val::Px(5.0), Val::Px(3.0), Val::Px(3.0));
    ui.spawn_in(
        parent,
        (at(SHADOW), shadow, BackgroundColor(Color::linear_rgb(0.1, 0.7, 0.2))),
    );
    ui.spawn_in(
        parent,
        (at(OUTLINE), Outline::new(Val::Px(3.0), Val::Px(2.0), Color::WHITE)),
    );
}

/// Asserts that every node is painted.
fn assert_all_are_seen(scene: &Picture, interface: &Picture) {
    let outline = [173.0, 55.0, 5.0, 50.0];
    for place in [BACKGROUND, IMAGE, TEXT, GRADIENT, SLICES, MATERIAL, SHADOW, outline] {
        let [left, top, width, height] = place.map(|side| side as usize);
        let [origin, size] = [[left, top], [width, height]];
        assert_ne!(
            scene.crop(origin, size),
            interface.crop(origin, size),
            "nothing at {place:?}"
        );
    }
}

#[test]
fn glass_over_all_kinds_of_nodes() {
    for backend in one_backend() {
        let (mut stage, content) = stage(backend);
        stage.headless.warm_up();
        let [scene, _] = stage.pictures();
        let panes = [
            Pane::new([5.0, 4.0, 190.0, 100.0], glass(2.0)),
            Pane::new([40.0, 20.0, 120.0, 80.0], glass(7.0)).with_radii([10.0; 4]),
        ];
        for (index, pane) in panes.iter().enumerate() {
            stage.show(|ui| {
                spawn_all(ui, ui.root, &content);
                ui.pane(pane);
            });
            stage.check(&format!("all-kinds-{index}"), &[pane.layer()]);
        }
        let [interface, _] = stage.pictures();
        assert_all_are_seen(&scene, &interface);
    }
}

/// Each kind alone: below the glass, and between two panes.
#[test]
fn every_kind_alone() {
    type Spawn = fn(&mut Ui, &Content);
    let spawn: [(&str, [f32; 4], Spawn); 4] = [
        ("image", IMAGE, |ui, content| {
            ui.spawn((at(IMAGE), ImageNode::new(content.image.clone())));
        }),
        ("text", TEXT, |ui, _| {
            let text = (Text::new("Over text"), TextFont::from_font_size(22.0));
            ui.spawn((at(TEXT), text, TextColor(Color::WHITE)));
        }),
        ("gradient", GRADIENT, |ui, _| {
            let stops = [Color::BLACK, Color::WHITE].map(ColorStop::auto);
            ui.spawn((
                at(GRADIENT),
                BackgroundGradient::from(LinearGradient::to_right(stops.to_vec())),
            ));
        }),
        ("material", MATERIAL, |ui, content| {
            ui.spawn((at(MATERIAL), MaterialNode(content.material.clone())));
        }),
    ];
    for backend in one_backend() {
        let (mut stage, content) = stage(backend);
        for (name, place, spawn) in spawn {
            let lower = Pane::new(beside(place), glass(2.0));
            let pane = Pane::new(around(place), glass(3.0));
            stage.show(|ui| {
                spawn(ui, &content);
                ui.pane(&pane);
            });
            stage.check(&format!("kind-{name}"), &[pane.layer()]);
            // The lower pane does not touch the node, so both pictures still differ in glass alone.
            stage.show(|ui| {
                ui.pane(&lower);
                spawn(ui, &content);
                ui.pane(&pane);
            });
            stage.check(&format!("kind-between-{name}"), &layers(&[lower, pane]));
        }
    }
}

/// A box a little larger than a place.
fn around([left, top, width, height]: [f32; 4]) -> [f32; 4] {
    [left - 6.0, top - 5.0, width + 11.0, height + 12.0]
}

/// A box at the left or the right of a place, which it does not touch.
fn beside([left, top, width, height]: [f32; 4]) -> [f32; 4] {
    let beside = if left > 60.0 { left - 34.0 } else { left + width + 4.0 };
    [beside, top + 2.0, 30.0, height]
}

/// Nodes after the last pane, before the first one and between them, next to a crowd that keeps batches long.
#[test]
fn a_crowd_of_nodes() {
    for backend in one_backend() {
        let (mut stage, _) = stage(backend);
        let panes = [
            Pane::new([20.0, 10.0, 70.0, 90.0], glass(3.0)),
            Pane::new([110.0, 15.0, 80.0, 90.0], glass(5.0)),
            Pane::new([60.0, 30.0, 90.0, 50.0], glass(2.0)),
        ];
        let squares: Vec<Square> = (0..160).map(square).collect();
        stage.show(|ui| {
            for (index, square) in squares.iter().enumerate() {
                if index % 50 == 10 {
                    ui.pane(&panes[index / 50]);
                }
                ui.paint(square.bundle());
            }
        });
        let mut expected = Vec::<Layer>::new();
        for (index, square) in squares.iter().enumerate() {
            if index % 50 == 10 {
                expected.push(panes[index / 50].layer());
            }
            expected.push(square.layer());
        }
        stage.check("crowd", &expected);
    }
}

/// Small squares all over the place, in colours that any format holds exactly.
fn square(index: usize) -> Square {
    let bit = |bit: usize| f32::from(u8::from((index >> bit) & 1 == 1));
    let (x, y) = (index * 37 % 190, index * 71 % 105);
    Square::new([x as f32, y as f32, 7.0, 6.0], [bit(0), bit(1), bit(2), 1.0])
}
