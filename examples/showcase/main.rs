//! What the moving picture of the README shows: a title screen, a game with a HUD, and a menu that opens over both.
//!
//! ```text
//! cargo run --release --example showcase [-- --frames N --screenshot FILE]
//! ```
//!
//! You should see paper lanterns that rise over a lake, out of focus behind a title that glows. The picture comes into focus from the
//! left to the right, and a HUD appears. Then a menu of frosted glass opens, with a shadow, and the HUD fades as one picture. A lens
//! of clear glass moves from entry to entry, and bends them at its rim. After eight seconds everything is where it was.
//! `scripts/demo-picture` makes the picture.

#[path = "../common/mod.rs"]
mod common;
mod scene;

use bevy::math::ops;
use bevy::prelude::*;
use bevy_gaussian_blur::prelude::*;
use common::example;
use core::f32::consts::PI;

/// After how many seconds everything repeats.
pub const PERIOD: f32 = 8.0;

const PAPER: Color = Color::srgb(1.0, 0.93, 0.82);
const ENTRIES: [&str; 4] = ["Continue", "Journal", "Settings", "Quit"];
/// The height of an entry and of the lens, and the distance between entries.
const ENTRY: f32 = 62.0;

fn main() -> AppExit {
    example("Gaussian blur: showcase", |app, _| {
        app.add_plugins(scene::LakePlugin)
            .add_systems(Startup, (spawn_title, spawn_hud, spawn_menu))
            .add_systems(Update, (focus, show_title, fade_hud, open_menu, move_lens));
    })
}

#[derive(Component)]
struct Title;

#[derive(Component)]
struct Hud;

#[derive(Component)]
struct Menu;

/// The glass of the menu.
#[derive(Component)]
struct Pane;

#[derive(Component)]
struct Lens;

/// How far something has come that begins and ends at these times: from 0 to 1, without a jerk.
fn step(time: f32, from: f32, to: f32) -> f32 {
    let share = ((time - from) / (to - from)).clamp(0.0, 1.0);
    0.5 - 0.5 * ops::cos(PI * share)
}

/// From 0 to 1 and back to 0.
fn between(time: f32, up: [f32; 2], down: [f32; 2]) -> f32 {
    step(time, up[0], up[1]) - step(time, down[0], down[1])
}

/// The seconds since everything began anew.
fn now(time: &Time) -> f32 {
    time.elapsed_secs() % PERIOD
}

fn absolute(node: Node) -> Node {
    Node {
        position_type: PositionType::Absolute,
        ..node
    }
}

fn text(text: &'static str, size: f32, color: Color) -> impl Bundle {
    (Text::new(text), TextFont::from_font_size(size), TextColor(color))
}

fn spawn_title(mut commands: Commands) {
    let glow = DropShadow::glow(46.0, Color::srgb(1.0, 0.5, 0.12));
    let shadow = DropShadow::new(vec2(0.0, 6.0), 14.0, Color::BLACK.with_alpha(0.8));
    commands.spawn((
        Title,
        absolute(Node {
            width: percent(100),
            top: percent(34),
            flex_direction: FlexDirection::Column,
            align_items: AlignItems::Center,
            ..default()
        }),
        UiFilter::default().with_shadow(glow).with_shadow(shadow),
        children![
            text("LANTERN LAKE", 92.0, PAPER),
            text("press any key", 24.0, PAPER.with_alpha(0.8)),
        ],
    ));
}

/// A bar that is filled up to a share.
fn bar(width: f32, share: f32, color: Color) -> impl Bundle {
    let rounded = |width: Val| Node {
        width,
        height: px(12),
        border_radius: BorderRadius::MAX,
        ..default()
    };
    (
        rounded(px(width)),
        BackgroundColor(Color::BLACK.with_alpha(0.55)),
        children![(rounded(percent(100.0 * share)), BackgroundColor(color))],
    )
}

/// A picture of the hero, whose border the bars overlap: when it fades as one picture, nothing shows through.
fn spawn_hud(mut commands: Commands) {
    let round = |size: f32, color: Color| {
        (
            Node {
                width: px(size),
                height: px(size),
                border_radius: BorderRadius::MAX,
                align_items: AlignItems::Center,
                justify_content: JustifyContent::Center,
                ..default()
            },
            BackgroundColor(color),
        )
    };
    let bars = Node {
        flex_direction: FlexDirection::Column,
        row_gap: px(9),
        margin: UiRect::left(px(-12)),
        ..default()
    };
    commands.spawn((
        Hud,
        absolute(Node {
            left: px(36),
            top: px(32),
            align_items: AlignItems::Center,
            ..default()
        }),
        UiFilter::shadow(vec2(0.0, 3.0), 9.0, Color::BLACK.with_alpha(0.7)),
        children![
            (
                round(84.0, Color::srgb(0.85, 0.52, 0.2)),
                ZIndex(1),
                children![(
                    round(74.0, Color::srgb(0.16, 0.1, 0.2)),
                    children![text("7", 38.0, PAPER)]
                )],
            ),
            (
                bars,
                children![
                    bar(250.0, 0.74, Color::srgb(0.83, 0.22, 0.2)),
                    bar(210.0, 0.55, Color::srgb(0.25, 0.55, 0.85)),
                    bar(170.0, 0.9, Color::srgb(0.4, 0.72, 0.3)),
                ],
            ),
        ],
    ));
}

fn spawn_menu(mut commands: Commands) {
    let (width, corner) = (380.0, 30.0);
    let entries = ENTRIES.map(|entry| {
        let node = Node {
            height: px(ENTRY),
            align_items: AlignItems::Center,
            ..default()
        };
        (node, children![text(entry, 32.0, PAPER)])
    });
    let pane = Node {
        width: px(width),
        padding: UiRect::all(px(28)),
        flex_direction: FlexDirection::Column,
        align_items: AlignItems::Center,
        border: UiRect::all(px(1)),
        border_radius: BorderRadius::all(px(corner)),
        ..default()
    };
    let lens = absolute(Node {
        width: px(width - 60.0),
        height: px(ENTRY),
        left: px(29),
        border_radius: BorderRadius::MAX,
        ..default()
    });
    let all = absolute(Node {
        width: percent(100),
        height: percent(100),
        align_items: AlignItems::Center,
        justify_content: JustifyContent::Center,
        ..default()
    });
    let menu = commands.spawn((Menu, all, UiFilter::default())).id();
    let pane = commands
        .spawn((
            Pane,
            pane,
            BackdropBlur::new(0.0),
            BackgroundColor(Color::srgba(0.35, 0.25, 0.45, 0.22)),
            BorderColor::all(Color::WHITE.with_alpha(0.28)),
            BoxShadow::new(Color::BLACK.with_alpha(0.6), px(0), px(18), px(0), px(46)),
            ChildOf(menu),
        ))
        .id();
    for entry in entries {
        commands.spawn((entry, ChildOf(pane)));
    }
    let glass = BackdropLens {
        bevel: 14.0,
        displacement: 12.0,
        dispersion: 0.15,
        rim_light: 0.7,
        ..default()
    };
    commands.spawn((Lens, lens, BackdropBlur::new(0.0), glass, ChildOf(pane)));
}

/// The picture comes into focus from the left to the right, and goes out of it in the same direction.
fn focus(time: Res<Time>, camera: Single<(&mut GaussianBlur, &mut BlurProfile)>) {
    let (mut blur, mut profile) = camera.into_inner();
    let time = now(&time);
    let sharpens = time < 4.0;
    let front = if sharpens {
        step(time, 0.9, 2.4)
    } else {
        step(time, 6.5, 7.9)
    };
    let edge = -0.35 + 1.35 * front;
    let shares = if sharpens { [0.0, 1.0] } else { [1.0, 0.0] };
    *profile = BlurProfile::Linear {
        start: vec2(edge, 0.5),
        end: vec2(edge + 0.35, 0.5),
        from: shares[0],
        to: shares[1],
    };
    let is_sharp = (2.4..6.5).contains(&time);
    blur.radius = if is_sharp { 0.0 } else { 34.0 };
}

fn show_title(time: Res<Time>, mut title: Single<&mut UiFilter, With<Title>>) {
    let time = now(&time);
    title.opacity = 1.0 - step(time, 0.7, 1.4) + step(time, 7.2, 7.9);
}

fn fade_hud(time: Res<Time>, mut hud: Single<&mut UiFilter, With<Hud>>) {
    let time = now(&time);
    let shown = between(time, [1.6, 2.2], [6.5, 7.1]);
    hud.opacity = shown * (1.0 - 0.7 * opened(time));
}

/// The menu fades in as one picture, glass included, while its blur grows.
fn open_menu(
    time: Res<Time>,
    menu: Single<(&mut UiFilter, &mut Visibility), With<Menu>>,
    pane: Single<(&mut BackdropBlur, &mut UiTransform), With<Pane>>,
) {
    let open = opened(now(&time));
    let (mut filter, mut visibility) = menu.into_inner();
    filter.opacity = open;
    visibility.set_if_neq(if open > 0.0 {
        Visibility::Inherited
    } else {
        Visibility::Hidden
    });
    let (mut glass, mut transform) = pane.into_inner();
    glass.blur.radius = 54.0 * open;
    transform.translation.y = px(46.0 * (1.0 - open));
}

/// How far the menu is open.
fn opened(time: f32) -> f32 {
    between(time, [2.8, 3.5], [5.9, 6.5])
}

/// The lens goes down from entry to entry, and back to the second.
fn move_lens(time: Res<Time>, lens: Single<(&mut Node, &mut BackdropLens), With<Lens>>) {
    let time = now(&time);
    let (mut node, mut glass) = lens.into_inner();
    let place = step(time, 3.8, 4.2) + step(time, 4.4, 4.8) - step(time, 5.1, 5.5);
    node.top = px(28.0 + ENTRY * place);
    glass.displacement = 12.0 * opened(time);
}
