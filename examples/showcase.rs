//! What the moving picture of the README shows: a title, panes and a HUD over a scene, all in motion.
//!
//! ```text
//! cargo run --release --example showcase [-- --frames N --screenshot FILE]
//! ```
//!
//! You should see lights that circle over a harbour at dusk. A large pane of glass moves to and fro while its blur grows and shrinks,
//! a capsule of clear glass, whose rim is a lens, passes in front of it, the title has a soft shadow and a glow, and the HUD fades as one picture. After
//! four seconds everything is where it was. `scripts/demo-picture` makes the picture.

mod common;

use bevy::camera::ScalingMode;
use bevy::math::ops;
use bevy::prelude::*;
use bevy_gaussian_blur::prelude::*;
use common::example;
use core::f32::consts::TAU;

/// After how many seconds everything repeats.
const PERIOD: f32 = 4.0;

fn main() -> AppExit {
    example("Gaussian blur: showcase", |app, _| {
        app.add_systems(Startup, (spawn_scene, spawn_title, spawn_glass, spawn_hud))
            .add_systems(Update, (circle, slide, sweep, fade));
    })
}

/// Circles around a place, starting at an angle, this many times in a period.
#[derive(Component)]
struct Circling {
    around: Vec2,
    start: f32,
    times: f32,
}

/// Moves to and fro between two places, in logical pixels from the left.
#[derive(Component)]
struct Sliding(f32, f32);

/// The largest radius of a blur that grows and shrinks.
#[derive(Component)]
struct Sweeping(f32);

#[derive(Component)]
struct Hud;

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
    for light in 0..24 {
        // Multiples of irrational numbers are evenly spread without looking regular.
        let spread = |number: f32| (number * light as f32).fract();
        let circling = Circling {
            around: vec2(1300.0 * spread(0.618_034) - 650.0, 640.0 * spread(0.754_878) - 320.0),
            start: TAU * spread(0.569_84),
            times: if light % 2 == 0 { 1.0 } else { -1.0 },
        };
        let sprite = Sprite {
            color: Color::hsl(360.0 * spread(0.414_214), 0.85, 0.65),
            custom_size: Some(Vec2::splat(16.0 + 30.0 * spread(0.324_718))),
            ..default()
        };
        commands.spawn((sprite, circling, Transform::from_xyz(0.0, 0.0, 1.0)));
    }
}

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

fn spawn_title(mut commands: Commands) {
    let title = (Text::new("AURORA"), TextFont::from_font_size(84.0));
    let shadow = DropShadow::new(vec2(0.0, 8.0), 20.0, Color::BLACK);
    let glow = DropShadow::glow(40.0, Color::srgb(0.3, 0.8, 1.0));
    let filter = UiFilter::default().with_shadow(glow).with_shadow(shadow);
    commands.spawn((title, at(60.0, 40.0, 500.0, 110.0), filter));
}

fn spawn_glass(mut commands: Commands) {
    let rounded = |node: Node, radius: f32| Node {
        border_radius: BorderRadius::all(px(radius)),
        ..node
    };
    let label = |text: &'static str, size: f32| (Text::new(text), TextFont::from_font_size(size));
    commands.spawn((
        rounded(at(0.0, 190.0, 420.0, 240.0), 28.0),
        BackdropBlur::new(0.0).with_saturation(1.4),
        BackgroundColor(Color::WHITE.with_alpha(0.12)),
        Sliding(60.0, 480.0),
        Sweeping(70.0),
        children![label("Frosted glass", 40.0)],
    ));
    commands.spawn((
        rounded(at(0.0, 380.0, 260.0, 96.0), 48.0),
        BackdropBlur::new(3.0).with_brightness(1.1),
        BackdropLens {
            bevel: 40.0,
            displacement: 40.0,
            dispersion: 0.4,
            rim_light: 0.6,
            ..default()
        },
        Sliding(640.0, 120.0),
        children![label("a lens", 26.0)],
    ));
}

fn spawn_hud(mut commands: Commands) {
    let bar = |node: Node, color: Color| (node, BackgroundColor(color));
    commands.spawn((
        Hud,
        at(640.0, 40.0, 260.0, 110.0),
        UiFilter::default(),
        children![
            bar(at(0.0, 0.0, 260.0, 60.0), Color::srgb(0.1, 0.1, 0.3)),
            bar(at(40.0, 30.0, 220.0, 60.0), Color::srgb(0.8, 0.2, 0.2)),
            (at(50.0, 40.0, 200.0, 40.0), Text::new("HP 74 / 100")),
        ],
    ));
}

/// How far the period has come, as an angle.
fn angle(time: &Time) -> f32 {
    TAU * time.elapsed_secs() / PERIOD
}

/// From 0 to 1 and back in a period.
fn wave(angle: f32) -> f32 {
    0.5 - 0.5 * ops::cos(angle)
}

fn circle(time: Res<Time>, mut circling: Query<(&Circling, &mut Transform)>) {
    for (circle, mut transform) in &mut circling {
        let offset = Vec2::from_angle(circle.start + circle.times * angle(&time));
        transform.translation = (circle.around + 70.0 * offset).extend(transform.translation.z);
    }
}

fn slide(time: Res<Time>, mut sliding: Query<(&Sliding, &mut Node)>) {
    for (Sliding(from, to), mut node) in &mut sliding {
        node.left = px(from + (to - from) * wave(angle(&time)));
    }
}

fn sweep(time: Res<Time>, mut panes: Query<(&Sweeping, &mut BackdropBlur)>) {
    for (Sweeping(radius), mut glass) in &mut panes {
        glass.blur.radius = radius * wave(2.0 * angle(&time));
    }
}

fn fade(time: Res<Time>, mut hud: Single<&mut UiFilter, With<Hud>>) {
    hud.opacity = 1.0 - 0.75 * wave(angle(&time));
}
