//! Glass that refracts: a capsule to drag over a picture with text, and glass of three kinds.
//!
//! ```text
//! cargo run --release --example lens [-- --frames N --screenshot FILE]
//! ```
//!
//! You should see a harbour behind lines of text, and a capsule of glass over it. Drag the capsule: its rim bends what lies below, and
//! shines where the light falls on it. The sliders on the right change the capsule: the radius of its blur, the width of its rim, how
//! far the rim moves the picture, how far it moves blue beyond red, and its light. Below, from left to right: clear glass that
//! magnifies, frosted glass that shows its surroundings, and thick glass with the colours of a prism.

mod common;

use bevy::camera::ScalingMode;
use bevy::prelude::*;
use bevy::ui::RelativeCursorPosition;
use bevy_gaussian_blur::prelude::*;
use common::example;

const LINE: &str = "Glass is a picture of what lies behind it, and its rim is a lens.  ";

fn main() -> AppExit {
    example("Gaussian blur: lenses", |app, _| {
        app.add_systems(Startup, (spawn_scene, spawn_glass, spawn_sliders).chain())
            .add_systems(Update, (drag, slide, show).chain());
    })
}

/// The capsule, with its top left corner.
#[derive(Component)]
struct Capsule(Vec2);

/// A slider of the capsule: its name, its least and its largest value, and the setting.
#[derive(Component, Clone, Copy)]
struct Slider(&'static str, [f32; 2], Setting);

type Setting = for<'a> fn(&'a mut BackdropBlur, &'a mut BackdropLens) -> &'a mut f32;

const SLIDERS: [Slider; 5] = [
    Slider("radius", [0.0, 60.0], |glass, _| &mut glass.blur.radius),
    Slider("bevel", [0.0, 60.0], |_, lens| &mut lens.bevel),
    Slider("displacement", [-60.0, 60.0], |_, lens| &mut lens.displacement),
    Slider("dispersion", [0.0, 1.0], |_, lens| &mut lens.dispersion),
    Slider("rim light", [0.0, 1.0], |_, lens| &mut lens.rim_light),
];

fn at(left: f32, top: f32, width: f32, height: f32) -> Node {
    Node {
        position_type: PositionType::Absolute,
        left: px(left),
        top: px(top),
        width: px(width),
        height: px(height),
        align_items: AlignItems::Center,
        justify_content: JustifyContent::Center,
        ..default()
    }
}

fn spawn_scene(mut commands: Commands, assets: Res<AssetServer>) {
    let (max_width, max_height) = (1280.0, 720.0);
    commands.spawn((
        Camera2d,
        Projection::Orthographic(OrthographicProjection {
            scaling_mode: ScalingMode::AutoMax { max_width, max_height },
            ..OrthographicProjection::default_2d()
        }),
    ));
    commands.spawn(Sprite::from_image(assets.load("scene.png")));
    for (line, top) in (20..700).step_by(34).enumerate() {
        let text = LINE.chars().cycle().skip(11 * line).take(150).collect::<String>();
        let color = TextColor(Color::hsl(29.0 * line as f32, 0.8, 0.8));
        let layout = TextLayout::no_wrap();
        commands.spawn((
            at(-20.0, top as f32, 1400.0, 30.0),
            children![(Text::new(text), TextFont::from_font_size(21.0), color, layout)],
        ));
    }
}

fn spawn_glass(mut commands: Commands) {
    let capsule = Capsule(vec2(120.0, 90.0));
    let node = |node: Node, radius: f32| Node {
        border_radius: BorderRadius::all(px(radius)),
        ..node
    };
    let lens = |bevel: f32, displacement: f32, dispersion: f32| BackdropLens {
        bevel,
        displacement,
        dispersion,
        ..default()
    };
    commands.spawn((
        node(at(capsule.0.x, capsule.0.y, 380.0, 130.0), 65.0),
        (capsule, Interaction::None, GlobalZIndex(2)),
        (
            BackdropBlur::new(6.0).with_color(ColorStep::Brightness(1.1)),
            lens(40.0, 30.0, 0.2),
        ),
    ));
    let frosted = BackdropBlur::new(30.0)
        .with_color(ColorStep::Saturate(1.4))
        .with_grain(0.5);
    for (index, (name, glass, lens)) in [
        ("clear", BackdropBlur::new(0.0), lens(40.0, 26.0, 0.0)),
        (
            "frosted",
            frosted.with_sampling(BackdropSampling::Surroundings),
            lens(28.0, -40.0, 0.0),
        ),
        ("thick", BackdropBlur::new(3.0), lens(70.0, 45.0, 0.4)),
    ]
    .into_iter()
    .enumerate()
    {
        let place = node(at(60.0 + 215.0 * index as f32, 350.0, 190.0, 190.0), 36.0);
        let label = (Text::new(name), TextFont::from_font_size(24.0), TextShadow::default());
        commands.spawn((place, GlobalZIndex(1), glass, lens, children![label]));
    }
}

fn spawn_sliders(mut commands: Commands) {
    for (index, slider) in SLIDERS.into_iter().enumerate() {
        let bar = (at(0.0, 0.0, 0.0, 30.0), BackgroundColor(Color::WHITE.with_alpha(0.3)));
        commands.spawn((
            (slider, Interaction::None, RelativeCursorPosition::default()),
            at(720.0, 60.0 + 44.0 * index as f32, 220.0, 30.0),
            BackgroundColor(Color::BLACK.with_alpha(0.7)),
            children![bar, (Text::default(), TextFont::from_font_size(16.0))],
        ));
    }
}

/// Moves the held capsule with the mouse.
fn drag(
    window: Single<&Window>,
    mut last: Local<Option<Vec2>>,
    capsule: Single<(&Interaction, &mut Capsule, &mut Node)>,
) {
    let cursor = window.cursor_position();
    let moved = cursor.zip(*last).map_or(Vec2::ZERO, |(now, before)| now - before);
    *last = cursor;
    let (interaction, mut capsule, mut node) = capsule.into_inner();
    if *interaction == Interaction::Pressed {
        capsule.0 += moved;
        (node.left, node.top) = (px(capsule.0.x), px(capsule.0.y));
    }
}

/// Sets a held slider to the position of the mouse.
fn slide(
    sliders: Query<(&Slider, &Interaction, &RelativeCursorPosition)>,
    capsule: Single<(&mut BackdropBlur, &mut BackdropLens), With<Capsule>>,
) {
    let (mut glass, mut lens) = capsule.into_inner();
    for (Slider(_, [least, most], setting), interaction, cursor) in &sliders {
        if let Some(cursor) = cursor.normalized.filter(|_| *interaction == Interaction::Pressed) {
            *setting(&mut glass, &mut lens) = least + (cursor.x + 0.5).clamp(0.0, 1.0) * (most - least);
        }
    }
}

/// Shows the values of the sliders.
fn show(
    sliders: Query<(&Slider, &Children)>,
    capsule: Single<(&BackdropBlur, &BackdropLens), With<Capsule>>,
    mut bars: Query<&mut Node>,
    mut texts: Query<&mut Text>,
) {
    let (mut glass, mut lens) = (capsule.0.clone(), *capsule.1);
    for (Slider(name, [least, most], setting), children) in &sliders {
        let value = *setting(&mut glass, &mut lens);
        for child in children {
            if let Ok(mut text) = texts.get_mut(*child) {
                text.set_if_neq(Text(format!("{name} {value:.2}")));
            } else if let Ok(mut bar) = bars.get_mut(*child) {
                bar.width = percent(100.0 * (value - least) / (most - least));
            }
        }
    }
}
