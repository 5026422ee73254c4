//! A pause menu: the whole game, its user interface included, goes softly out of focus behind a sharp menu.
//!
//! ```text
//! cargo run --example pause_menu [-- --frames N --screenshot FILE]
//! ```
//!
//! You should see a moving scene at dusk with a score and a bar at the bottom. Press Escape: the game stands still.
//! Within a third of a second scene, score and bar go out of focus, paler and darker, without a jump, while buttons
//! slide in from the left and the last item found from the right. Both are sharp, because they are children of the
//! glass. Press Escape again, or the first button: everything goes back just as softly.
//!
//! A blur of the camera would leave the score sharp, or blur the menu as well. While the game runs, the menu is hidden,
//! and its glass costs nothing. During the pause the glass is frozen: once it has been eased in, nothing is blurred any
//! more. (The example `freeze` stops the world behind it as well.) Without a user, the game is paused after 20 frames.

mod common;
mod dusk;

use bevy::camera::Hdr;
use bevy::post_process::bloom::Bloom;
use bevy::prelude::*;
use bevy::ui::FocusPolicy;
use bevy_gaussian_blur::prelude::*;
use common::example;
use dusk::{ScenePlugin, viewpoint};

/// The glass's radius during a pause, in logical pixels.
const PAUSED_RADIUS: f32 = 36.0;

/// How long the game takes to go out of focus, in seconds.
const EASING_TIME: f32 = 0.35;

/// How far both sides of the menu slide, in logical pixels: out of the window.
const SLIDE: f32 = 420.0;

/// The frame of the pause without a user.
const PAUSE_AT: u32 = 20;

fn main() -> AppExit {
    example("Gaussian blur: pause menu", |app, unattended| {
        let frame = unattended
            .is_active()
            .then_some(PAUSE_AT.min(unattended.frames().div_ceil(2)));
        app.add_plugins(ScenePlugin)
            .insert_resource(PauseAt { frame })
            .init_resource::<Pause>()
            .add_systems(Startup, (spawn_camera, spawn_hud, spawn_menu))
            .add_systems(Update, (press_key, press_button, stop_time, ease).chain());
    })
}

/// Whether the game is paused, and how far it has gone out of focus.
#[derive(Resource, Default)]
struct Pause {
    is_on: bool,
    /// From 0, in focus, to 1.
    progress: f32,
}

/// When to pause without a user.
#[derive(Resource)]
struct PauseAt {
    frame: Option<u32>,
}

/// The glass over the game, and the parent of the nodes that stay sharp during a pause.
#[derive(Component)]
struct Menu;

/// Slides in from this far to the right, in logical pixels.
#[derive(Component)]
struct Slide(f32);

/// The action of a button.
#[derive(Component, Clone, Copy)]
enum Choice {
    Resume,
    Quit,
}

fn spawn_camera(mut commands: Commands) {
    commands.spawn((
        Name::new("Camera"),
        Camera3d::default(),
        viewpoint(9.0),
        Hdr,
        Bloom::NATURAL,
    ));
}

fn label(text: &'static str, size: f32) -> impl Bundle {
    (Text::new(text), TextFont::from_font_size(size), TextColor(Color::WHITE))
}

/// The user interface of the game, which is blurred with the scene.
fn spawn_hud(mut commands: Commands) {
    commands.spawn((
        Name::new("HUD"),
        Node {
            position_type: PositionType::Absolute,
            bottom: px(24),
            width: percent(100),
            padding: UiRect::horizontal(px(32)),
            align_items: AlignItems::Center,
            justify_content: JustifyContent::SpaceBetween,
            ..default()
        },
        children![
            label("12 480", 36.0),
            (
                Node {
                    width: px(240),
                    height: px(20),
                    ..default()
                },
                BackgroundColor(Color::srgb(0.2, 0.85, 0.4)),
            ),
            label("Escape: pause", 24.0),
        ],
    ));
}

fn spawn_menu(mut commands: Commands, assets: Res<AssetServer>) {
    commands
        .spawn((
            Name::new("Menu"),
            Menu,
            BackdropBlur::new(0.0),
            Visibility::Hidden,
            // Over the game's own user interface.
            GlobalZIndex(1),
            Node {
                width: percent(100),
                height: percent(100),
                padding: UiRect::horizontal(px(60)),
                align_items: AlignItems::Center,
                justify_content: JustifyContent::SpaceBetween,
                ..default()
            },
        ))
        .with_children(|menu| {
            menu.spawn((
                Slide(-SLIDE),
                side(),
                children![
                    label("Paused", 64.0),
                    button(Choice::Resume, "Resume"),
                    button(Choice::Quit, "Quit"),
                ],
            ));
            menu.spawn((
                Slide(SLIDE),
                side(),
                children![
                    (
                        ImageNode::new(assets.load("sprite.png")),
                        Node {
                            width: px(256),
                            height: px(256),
                            ..default()
                        },
                    ),
                    label("Harbour star", 32.0),
                    label("Found 3 of 5", 20.0),
                ],
            ));
        });
}

fn side() -> Node {
    Node {
        width: px(320),
        flex_direction: FlexDirection::Column,
        row_gap: px(14),
        ..default()
    }
}

fn button(choice: Choice, text: &'static str) -> impl Bundle {
    (
        choice,
        Interaction::None,
        FocusPolicy::Block,
        Node {
            width: percent(100),
            padding: UiRect::axes(px(24), px(14)),
            border_radius: BorderRadius::all(px(8)),
            ..default()
        },
        BackgroundColor(button_colour(Interaction::None)),
        children![label(text, 26.0)],
    )
}

fn button_colour(interaction: Interaction) -> Color {
    let alpha = match interaction {
        Interaction::Pressed => 0.6,
        Interaction::Hovered => 0.35,
        Interaction::None => 0.12,
    };
    Color::WHITE.with_alpha(alpha)
}

/// Pauses or resumes the game when the key is pressed.
fn press_key(keys: Res<ButtonInput<KeyCode>>, pause_at: Res<PauseAt>, mut frame: Local<u32>, mut pause: ResMut<Pause>) {
    *frame += 1;
    if keys.just_pressed(KeyCode::Escape) || pause_at.frame == Some(*frame) {
        pause.is_on = !pause.is_on;
    }
}

fn press_button(
    mut buttons: Query<(&Interaction, &Choice, &mut BackgroundColor), Changed<Interaction>>,
    mut pause: ResMut<Pause>,
    mut exit: MessageWriter<AppExit>,
) {
    for (interaction, choice, mut background) in &mut buttons {
        background.0 = button_colour(*interaction);
        if *interaction != Interaction::Pressed {
            continue;
        }
        match choice {
            Choice::Resume => pause.is_on = false,
            Choice::Quit => {
                exit.write(AppExit::Success);
            }
        }
    }
}

/// Freezes the picture behind the menu in the frame in which time stops.
fn stop_time(
    pause: Res<Pause>,
    mut game_time: ResMut<Time<Virtual>>,
    menu: Single<Entity, With<Menu>>,
    mut commands: Commands,
) {
    if pause.is_on == game_time.is_paused() {
        return;
    }
    if pause.is_on {
        game_time.pause();
        commands.entity(*menu).insert(FreezeBlur);
    } else {
        game_time.unpause();
        commands.entity(*menu).remove::<FreezeBlur>();
    }
}

/// Eases the glass and the menu in and out. It uses real time, because the game's time stands still in a pause.
fn ease(
    time: Res<Time<Real>>,
    mut pause: ResMut<Pause>,
    mut menus: Query<(&mut BackdropBlur, &mut Visibility), With<Menu>>,
    mut sides: Query<(&Slide, &mut UiTransform)>,
) {
    let step = time.delta_secs() / EASING_TIME;
    let change = if pause.is_on { step } else { -step };
    pause.progress = (pause.progress + change).clamp(0.0, 1.0);
    // The cubic "smoothstep": a soft start and end.
    let eased = pause.progress * pause.progress * (3.0 - 2.0 * pause.progress);
    for (mut glass, mut visibility) in &mut menus {
        glass.blur.radius = PAUSED_RADIUS * eased;
        glass.colors = vec![
            ColorStep::Saturate(1.0 - 0.4 * eased),
            ColorStep::Brightness(1.0 - 0.35 * eased),
        ];
        *visibility = if eased > 0.0 {
            Visibility::Inherited
        } else {
            Visibility::Hidden
        };
    }
    for (slide, mut transform) in &mut sides {
        transform.translation = Val2::px(slide.0 * (1.0 - eased), 0.0);
    }
}
