//! Filters of the user interface: soft text shadows and glows, drop shadows of icons, a panel out of focus, a HUD that fades, a line
//! around text, a list whose ends fade.
//!
//! ```text
//! cargo run --release --example ui_filters [-- --frames N --screenshot FILE]
//! ```
//!
//! You should see a moving scene under a title with a soft shadow and a glow, three icons whose shadows have their shapes, a
//! panel on glass, a score with a line around it, and a list, which fades at both ends as far as there is something to scroll to. It
//! scrolls to and fro. Press D to disable the panel: it goes out of focus and loses its colours. Press H: the HUD in the corner fades
//! as one picture, so its bars do not show through each other. Without a user, the panel is disabled and the HUD is half faded.

mod common;
mod dusk;

use bevy::math::ops;
use bevy::prelude::*;
use bevy_gaussian_blur::prelude::*;
use common::example;
use dusk::{ScenePlugin, viewpoint};

/// How fast the panel and the HUD change, per second.
const SPEED: f32 = 4.0;

fn main() -> AppExit {
    example("Gaussian blur: filters of the user interface", |app, unattended| {
        let state = State {
            is_disabled: unattended.is_active(),
            is_faded: unattended.is_active(),
        };
        app.add_plugins(ScenePlugin)
            .insert_resource(state)
            .add_systems(
                Startup,
                (
                    spawn_camera,
                    spawn_title,
                    spawn_icons,
                    spawn_panel,
                    spawn_hud,
                    spawn_score,
                    spawn_list,
                ),
            )
            .add_systems(Update, (toggle, disable_panel, fade_hud, scroll, fade_ends).chain());
    })
}

/// The switches of the user.
#[derive(Resource)]
struct State {
    is_disabled: bool,
    is_faded: bool,
}

#[derive(Component)]
struct Panel;

#[derive(Component)]
struct Hud;

#[derive(Component)]
struct List;

fn spawn_camera(mut commands: Commands) {
    commands.spawn((Camera3d::default(), viewpoint(9.0)));
}

fn at(left: f32, top: f32, width: f32, height: f32) -> Node {
    Node {
        position_type: PositionType::Absolute,
        left: px(left),
        top: px(top),
        width: px(width),
        height: px(height),
        ..default()
    }
}

fn spawn_title(mut commands: Commands) {
    let title = (
        Text::new("AURORA"),
        TextFont::from_font_size(72.0),
        at(60.0, 40.0, 500.0, 90.0),
    );
    let shadow = DropShadow::new(vec2(0.0, 6.0), 18.0, Color::BLACK);
    let glow = DropShadow::glow(36.0, Color::srgb(0.3, 0.8, 1.0));
    commands.spawn((title, UiFilter::default().with_shadow(glow).with_shadow(shadow)));
}

/// Three icons, each of several nodes: they cast one shadow together.
fn spawn_icons(mut commands: Commands) {
    let row = (
        at(60.0, 160.0, 330.0, 90.0),
        UiFilter::shadow(vec2(6.0, 8.0), 15.0, Color::BLACK.with_alpha(0.9)),
    );
    commands.spawn(row).with_children(|row| {
        for (index, color) in [
            Color::srgb(1.0, 0.8, 0.2),
            Color::srgb(0.9, 0.3, 0.4),
            Color::srgb(0.4, 0.9, 0.5),
        ]
        .into_iter()
        .enumerate()
        {
            let left = 110.0 * index as f32;
            let turned = UiTransform::from_rotation(Rot2::degrees(45.0 * index as f32));
            let bar = |node: Node| (node, turned, BackgroundColor(color));
            row.spawn(bar(at(left, 30.0, 80.0, 26.0)));
            row.spawn(bar(at(left + 27.0, 3.0, 26.0, 80.0)));
        }
    });
}

fn spawn_panel(mut commands: Commands) {
    let panel = Node {
        padding: UiRect::all(px(24)),
        row_gap: px(14),
        flex_direction: FlexDirection::Column,
        border_radius: BorderRadius::all(px(18)),
        ..at(60.0, 300.0, 380.0, 210.0)
    };
    let glass = BackdropBlur::new(40.0).with_color(ColorStep::Saturate(1.4));
    let tint = BackgroundColor(Color::WHITE.with_alpha(0.12));
    commands
        .spawn((Panel, panel, glass, tint, UiFilter::default()))
        .with_children(|panel| {
            panel.spawn((Text::new("Settings"), TextFont::from_font_size(30.0)));
            for (name, share, color) in [
                ("Music", 0.7, Color::srgb(0.2, 0.7, 1.0)),
                ("Effects", 0.4, Color::srgb(1.0, 0.5, 0.2)),
            ] {
                panel.spawn((Text::new(name), TextFont::from_font_size(18.0)));
                let bar = Node {
                    width: percent(100.0 * share),
                    height: px(12),
                    border_radius: BorderRadius::all(px(6)),
                    ..default()
                };
                panel.spawn((bar, BackgroundColor(color)));
            }
        });
}

fn spawn_hud(mut commands: Commands) {
    let hud = Node {
        left: auto(),
        right: px(40),
        ..at(0.0, 40.0, 260.0, 120.0)
    };
    commands.spawn((Hud, hud, UiFilter::default())).with_children(|hud| {
        hud.spawn((at(0.0, 0.0, 260.0, 60.0), BackgroundColor(Color::srgb(0.1, 0.1, 0.3))));
        hud.spawn((at(40.0, 30.0, 220.0, 60.0), BackgroundColor(Color::srgb(0.8, 0.2, 0.2))));
        hud.spawn((at(55.0, 42.0, 200.0, 40.0), Text::new("HP 74 / 100")));
    });
}

fn spawn_score(mut commands: Commands) {
    let score = (
        Text::new("12 400"),
        TextFont::from_font_size(54.0),
        TextColor(Color::srgb(1.0, 0.85, 0.3)),
        Node {
            left: auto(),
            right: px(40),
            ..at(0.0, 170.0, 260.0, 80.0)
        },
    );
    commands.spawn((
        score,
        UiFilter::outline(4.0, Color::BLACK).with_shadow(DropShadow::default()),
    ));
}

fn spawn_list(mut commands: Commands) {
    let list = Node {
        left: auto(),
        right: px(40),
        flex_direction: FlexDirection::Column,
        row_gap: px(8),
        overflow: Overflow::scroll_y(),
        ..at(0.0, 280.0, 260.0, 230.0)
    };
    commands.spawn((List, list, UiFilter::default())).with_children(|list| {
        for level in 1..=12 {
            let row = Node {
                padding: UiRect::axes(px(14), px(8)),
                border_radius: BorderRadius::all(px(9)),
                flex_shrink: 0.0,
                ..default()
            };
            let color = BackgroundColor(Color::hsl(25.0 * level as f32, 0.5, 0.4));
            list.spawn((row, color)).with_child(Text::new(format!("Level {level}")));
        }
    });
}

/// Scrolls to the end and back.
fn scroll(time: Res<Time>, mut list: Single<(&ComputedNode, &mut ScrollPosition), With<List>>) {
    let (node, position) = &mut *list;
    let end = (node.content_size() - node.size()).y.max(0.0) * node.inverse_scale_factor();
    position.y = end * (0.5 - 0.5 * ops::cos(0.4 * time.elapsed_secs()));
}

/// Lets the list fade towards ends that hide rows.
fn fade_ends(mut list: Single<(&ComputedNode, &mut UiFilter), With<List>>) {
    let (node, filter) = &mut *list;
    let to_logical = node.inverse_scale_factor();
    let above = node.scroll_position.y * to_logical;
    let below = (node.content_size() - node.size()).y * to_logical - above;
    filter.set_if_neq(UiFilter::fade(UiRect {
        top: px(above.clamp(0.0, 40.0)),
        bottom: px(below.clamp(0.0, 40.0)),
        ..UiRect::ZERO
    }));
}

fn toggle(keys: Res<ButtonInput<KeyCode>>, mut state: ResMut<State>) {
    if keys.just_pressed(KeyCode::KeyD) {
        state.is_disabled = !state.is_disabled;
    }
    if keys.just_pressed(KeyCode::KeyH) {
        state.is_faded = !state.is_faded;
    }
}

fn disable_panel(
    state: Res<State>,
    time: Res<Time>,
    mut panel: Single<&mut UiFilter, With<Panel>>,
    mut eased: Local<f32>,
) {
    *eased = approach(*eased, state.is_disabled, &time);
    let filter = UiFilter::blur(9.0 * *eased).with_color(ColorStep::Saturate(1.0 - 0.8 * *eased));
    panel.set_if_neq(filter);
}

fn fade_hud(state: Res<State>, time: Res<Time>, mut hud: Single<&mut UiFilter, With<Hud>>, mut eased: Local<f32>) {
    *eased = approach(*eased, state.is_faded, &time);
    hud.set_if_neq(UiFilter::opacity(1.0 - 0.5 * *eased));
}

fn approach(value: f32, is_on: bool, time: &Time) -> f32 {
    let step = SPEED * time.delta_secs();
    value + (f32::from(u8::from(is_on)) - value).clamp(-step, step)
}
