//! Sliders, on a separate panel of glass, for all glass at once.

use crate::interface::{Glass, glass, label, shadow};
use bevy::prelude::*;
use bevy::ui::{FocusPolicy, RelativeCursorPosition};
use bevy_gaussian_blur::prelude::*;

/// How fast the keys change the radius, in logical pixels per second.
const KEY_SPEED: f32 = 60.0;

/// Adds the sliders, and applies their values to all glass.
pub struct SlidersPlugin;

impl Plugin for SlidersPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Look>().add_systems(Startup, spawn).add_systems(
            Update,
            (drag, change_radius, (apply, show).run_if(resource_changed::<Look>)).chain(),
        );
    }
}

/// The look of ordinary glass.
#[derive(Resource, Clone, PartialEq)]
struct Look {
    /// In logical pixels.
    radius: f32,
    saturation: f32,
    brightness: f32,
    opacity: f32,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            radius: 48.0,
            saturation: 1.0,
            brightness: 1.0,
            opacity: 1.0,
        }
    }
}

/// The setting that a slider changes.
#[derive(Component, Clone, Copy)]
enum Slider {
    Radius,
    Saturation,
    Brightness,
    Opacity,
}

/// The bar that fills a slider from the left to its value.
#[derive(Component)]
struct Bar;

/// The text with a slider's value.
#[derive(Component)]
struct Value;

impl Slider {
    const ALL: [Self; 4] = [Self::Radius, Self::Saturation, Self::Brightness, Self::Opacity];

    /// The largest value. The smallest is 0.
    fn max(self) -> f32 {
        match self {
            Self::Radius => 200.0,
            Self::Saturation => 3.0,
            Self::Brightness => 2.0,
            Self::Opacity => 1.0,
        }
    }

    fn value(self, look: &mut Look) -> &mut f32 {
        match self {
            Self::Radius => &mut look.radius,
            Self::Saturation => &mut look.saturation,
            Self::Brightness => &mut look.brightness,
            Self::Opacity => &mut look.opacity,
        }
    }

    /// Its name and its value.
    fn text(self, look: &Look) -> String {
        match self {
            Self::Radius => format!("radius {:.0}", look.radius),
            Self::Saturation => format!("saturation {:.2}", look.saturation),
            Self::Brightness => format!("brightness {:.2}", look.brightness),
            Self::Opacity => format!("opacity {:.2}", look.opacity),
        }
    }
}

/// Spawns the panel of the sliders, on the right, below the list.
fn spawn(mut commands: Commands) {
    commands
        .spawn((
            Name::new("Sliders"),
            glass(1.0),
            shadow(),
            FocusPolicy::Block,
            Node {
                position_type: PositionType::Absolute,
                right: px(32),
                top: px(374),
                width: px(240),
                border: UiRect::all(px(1)),
                border_radius: BorderRadius::all(px(18)),
                padding: UiRect::all(px(14)),
                flex_direction: FlexDirection::Column,
                row_gap: px(6),
                ..default()
            },
        ))
        .with_children(|panel| {
            for slider in Slider::ALL {
                panel.spawn(track(slider));
            }
        });
}

/// A slider's track, which reacts to the mouse over its whole length.
fn track(slider: Slider) -> impl Bundle {
    (
        slider,
        Interaction::None,
        RelativeCursorPosition::default(),
        Node {
            height: px(26),
            align_items: AlignItems::Center,
            padding: UiRect::horizontal(px(10)),
            border_radius: BorderRadius::all(px(8)),
            ..default()
        },
        BackgroundColor(Color::BLACK.with_alpha(0.25)),
        children![
            (
                Bar,
                Node {
                    position_type: PositionType::Absolute,
                    left: px(0),
                    height: percent(100),
                    border_radius: BorderRadius::all(px(8)),
                    ..default()
                },
                BackgroundColor(Color::WHITE.with_alpha(0.3)),
            ),
            (Value, label("", 15.0)),
        ],
    )
}

/// Sets a held slider to the position of the mouse.
fn drag(mut look: ResMut<Look>, sliders: Query<(&Slider, &Interaction, &RelativeCursorPosition)>) {
    for (slider, interaction, cursor) in &sliders {
        let Some(cursor) = cursor.normalized.filter(|_| *interaction == Interaction::Pressed) else {
            continue;
        };
        // From -1/2 at the left end to 1/2 at the right one.
        let share = (cursor.x + 0.5).clamp(0.0, 1.0);
        let mut wanted = look.clone();
        *slider.value(&mut wanted) = share * slider.max();
        look.set_if_neq(wanted);
    }
}

fn change_radius(time: Res<Time>, keys: Res<ButtonInput<KeyCode>>, mut look: ResMut<Look>) {
    let mut change = 0.0;
    if keys.any_pressed([KeyCode::ArrowUp, KeyCode::Equal, KeyCode::NumpadAdd]) {
        change += 1.0;
    }
    if keys.any_pressed([KeyCode::ArrowDown, KeyCode::Minus, KeyCode::NumpadSubtract]) {
        change -= 1.0;
    }
    if change != 0.0 {
        let radius = look.radius + KEY_SPEED * change * time.delta_secs();
        look.radius = radius.clamp(0.0, Slider::Radius.max());
    }
}

/// Applies the settings to each panel, with the panel's share of the radius.
fn apply(look: Res<Look>, mut panels: Query<(&Glass, &mut BackdropBlur)>) {
    for (glass, mut backdrop) in &mut panels {
        backdrop.blur.radius = glass.share * look.radius;
        backdrop.colors = vec![
            ColorStep::Saturate(look.saturation),
            ColorStep::Brightness(look.brightness),
        ];
        backdrop.opacity = look.opacity;
    }
}

/// Shows the values of the sliders.
fn show(
    look: Res<Look>,
    sliders: Query<(&Slider, &Children)>,
    mut bars: Query<&mut Node, With<Bar>>,
    mut values: Query<&mut Text, With<Value>>,
) {
    for (slider, children) in &sliders {
        for child in children {
            if let Ok(mut bar) = bars.get_mut(*child) {
                let mut look = look.clone();
                bar.width = percent(100.0 * *slider.value(&mut look) / slider.max());
            }
            if let Ok(mut value) = values.get_mut(*child) {
                value.0 = slider.text(&look);
            }
        }
    }
}
