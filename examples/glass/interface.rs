//! The nodes of the user interface, most of which are glass.

use bevy::prelude::*;
use bevy::ui::{FocusPolicy, RelativeCursorPosition};
use bevy_gaussian_blur::prelude::*;

/// A panel of glass.
#[derive(Component)]
pub struct Glass {
    /// Its share of the radius that the slider sets.
    pub share: f32,
}

/// Follows the mouse while it is held. The position is in logical pixels.
#[derive(Component)]
pub struct Draggable(pub Vec2);

/// The dialogue.
#[derive(Component)]
pub struct Modal;

/// The button that closes the dialogue.
#[derive(Component)]
pub struct Close;

/// A node that follows the mouse.
#[derive(Component)]
pub struct Tooltip;

/// Spawns everything.
pub fn spawn(mut commands: Commands) {
    spawn_hud(&mut commands);
    spawn_panels(&mut commands);
    spawn_list(&mut commands);
    spawn_modal(&mut commands);
    spawn_tooltip(&mut commands);
}

/// Glass with a touch of milk and a bright rim.
pub fn glass(share: f32) -> impl Bundle {
    (
        Glass { share },
        BackdropBlur::default(),
        BackgroundColor(Color::WHITE.with_alpha(0.14)),
        BorderColor::all(Color::WHITE.with_alpha(0.35)),
    )
}

/// A soft shadow below a panel.
pub fn shadow() -> BoxShadow {
    BoxShadow::new(Color::BLACK.with_alpha(0.45), px(0), px(8), px(0), px(20))
}

/// White text.
pub fn label(text: &'static str, size: f32) -> impl Bundle {
    (Text::new(text), TextFont::from_font_size(size), TextColor(Color::WHITE))
}

/// A bar along the bottom that is not glass.
fn spawn_hud(commands: &mut Commands) {
    commands
        .spawn((
            Name::new("HUD"),
            Node {
                position_type: PositionType::Absolute,
                bottom: px(0),
                width: percent(100),
                height: px(72),
                padding: UiRect::horizontal(px(24)),
                align_items: AlignItems::Center,
                justify_content: JustifyContent::SpaceBetween,
                ..default()
            },
            BackgroundColor(Color::srgba(0.02, 0.03, 0.08, 0.75)),
        ))
        .with_children(|hud| {
            hud.spawn(label("HARBOUR WATCH", 26.0));
            for (width, hue) in [(150, 0.0), (110, 130.0), (130, 210.0)] {
                hud.spawn((
                    Node {
                        width: px(width),
                        height: px(18),
                        ..default()
                    },
                    BackgroundColor(Color::hsl(hue, 0.9, 0.55)),
                ));
            }
            hud.spawn(label("12 480", 26.0));
        });
}

fn spawn_panels(commands: &mut Commands) {
    let panels = [
        (
            Vec2::new(40.0, 50.0),
            0.0,
            "Drag me",
            "What lies below is blurred, glass included.",
        ),
        (
            Vec2::new(180.0, 150.0),
            -7.0,
            "Tilted",
            "The shape follows the node's transform.",
        ),
        (
            Vec2::new(80.0, 255.0),
            0.0,
            "On top",
            "Its shadow does not darken its own glass.",
        ),
    ];
    for (index, (at, degrees, title, text)) in (0..).zip(panels) {
        commands.spawn((
            Name::new(title),
            glass(1.0),
            shadow(),
            Draggable(at),
            Interaction::None,
            FocusPolicy::Block,
            // Below dragged panels, which get indices from 1 on.
            ZIndex(index - 2),
            UiTransform::from_rotation(Rot2::degrees(degrees)),
            Node {
                position_type: PositionType::Absolute,
                left: px(at.x),
                top: px(at.y),
                width: px(260),
                height: px(150),
                border: UiRect::all(px(1)),
                border_radius: BorderRadius::px(28.0, 28.0, 28.0, 6.0),
                padding: UiRect::all(px(20)),
                flex_direction: FlexDirection::Column,
                row_gap: px(8),
                ..default()
            },
            children![label(title, 26.0), label(text, 16.0)],
        ));
    }
}

/// A list that is longer than its box. At first it is scrolled a little, so that cards are clipped at both ends.
fn spawn_list(commands: &mut Commands) {
    let cards = [
        "Lighthouse",
        "Red boat",
        "Blue boat",
        "Full moon",
        "Lanterns",
        "Barrels",
        "Fence",
        "Old town",
    ];
    commands
        .spawn((
            Name::new("List"),
            Node {
                position_type: PositionType::Absolute,
                right: px(32),
                top: px(40),
                width: px(240),
                height: px(310),
                border: UiRect::all(px(1)),
                padding: UiRect::all(px(12)),
                flex_direction: FlexDirection::Column,
                row_gap: px(12),
                overflow: Overflow::scroll_y(),
                ..default()
            },
            BorderColor::all(Color::WHITE.with_alpha(0.35)),
            ScrollPosition(Vec2::new(0.0, 40.0)),
            RelativeCursorPosition::default(),
            FocusPolicy::Block,
        ))
        .with_children(|list| {
            for card in cards {
                list.spawn((
                    glass(0.8),
                    Node {
                        height: px(72),
                        flex_shrink: 0.0,
                        align_items: AlignItems::Center,
                        padding: UiRect::horizontal(px(18)),
                        border: UiRect::all(px(1)),
                        border_radius: BorderRadius::all(px(18)),
                        ..default()
                    },
                    children![label(card, 20.0)],
                ));
            }
        });
}

/// A dialogue over the bar, with a stronger blur.
fn spawn_modal(commands: &mut Commands) {
    commands.spawn((
        Name::new("Modal"),
        Modal,
        glass(2.0),
        shadow(),
        FocusPolicy::Block,
        GlobalZIndex(1),
        Node {
            position_type: PositionType::Absolute,
            left: percent(50),
            bottom: px(24),
            width: px(400),
            margin: UiRect::left(px(-200)),
            border: UiRect::all(px(1)),
            border_radius: BorderRadius::all(px(24)),
            padding: UiRect::all(px(20)),
            flex_direction: FlexDirection::Column,
            align_items: AlignItems::Center,
            row_gap: px(12),
            ..default()
        },
        children![
            label("Leave the harbour?", 26.0),
            label("The bar behind this is blurred, too.", 16.0),
            (
                Close,
                Interaction::None,
                FocusPolicy::Block,
                Node {
                    padding: UiRect::axes(px(28), px(8)),
                    border_radius: BorderRadius::all(px(12)),
                    ..default()
                },
                BackgroundColor(Color::WHITE.with_alpha(0.25)),
                children![label("Stay (M)", 18.0)],
            ),
        ],
    ));
}

fn spawn_tooltip(commands: &mut Commands) {
    commands.spawn((
        Name::new("Tooltip"),
        Tooltip,
        glass(0.6),
        GlobalZIndex(2),
        Node {
            position_type: PositionType::Absolute,
            left: px(400),
            top: px(120),
            border: UiRect::all(px(1)),
            border_radius: BorderRadius::all(px(10)),
            padding: UiRect::axes(px(14), px(7)),
            ..default()
        },
        children![label("A tooltip is glass, too", 16.0)],
    ));
}
