//! Frosted glass over a moving scene: panels to drag, a dialogue, a tooltip and a list that scrolls.
//!
//! ```text
//! cargo run --example glass [-- --frames N --screenshot FILE]
//! ```
//!
//! You should see a harbour at dusk, balloons rising in front of it, and glass over both:
//! - on the left, three panels that overlap. Drag them with the mouse: the dragged one comes to the front, and blurs
//!   everything below it, including other glass and its text. One panel is tilted. Each has a shadow, which does not
//!   darken its own glass;
//! - below, a dialogue with a blur twice as strong, over a bar of the user interface. M opens and closes it;
//! - on the right, a list with cards of glass. Scroll it with the wheel: the list clips the cards;
//! - below it, sliders for all glass: radius, saturation, brightness and opacity. Up and Down (or + and -) change the
//!   radius, too. At a radius of 0, the glass still changes the colours; with neutral colours too, it disappears and costs nothing;
//! - a small tooltip at the mouse, over everything else.
//!
//! All text stays sharp. Balloons beside a panel do not shine into it. Without a user, the tooltip stays in its place.

#[path = "../common/mod.rs"]
mod common;
mod interface;
mod scene;
mod sliders;

use bevy::input::mouse::{AccumulatedMouseScroll, MouseScrollUnit};
use bevy::prelude::*;
use bevy::ui::RelativeCursorPosition;
use common::example;
use interface::{Close, Draggable, Modal, Tooltip};

/// How far the list scrolls per notch of the wheel, in logical pixels.
const LINE: f32 = 24.0;

fn main() -> AppExit {
    example("Gaussian blur: glass", |app, unattended| {
        app.add_plugins((scene::HarbourPlugin, sliders::SlidersPlugin))
            .add_systems(Startup, interface::spawn)
            .add_systems(Update, (drag, scroll, toggle_modal));
        if !unattended.is_active() {
            app.add_systems(Update, follow_mouse);
        }
    })
}

/// Moves the held panel with the mouse, and brings it to the front.
fn drag(
    window: Single<&Window>,
    mut last: Local<Option<Vec2>>,
    mut front: Local<i32>,
    mut panels: Query<(Ref<Interaction>, &mut Draggable, &mut Node, &mut ZIndex)>,
) {
    let cursor = window.cursor_position();
    let moved = cursor.zip(*last).map_or(Vec2::ZERO, |(now, before)| now - before);
    *last = cursor;
    for (interaction, mut panel, mut node, mut layer) in &mut panels {
        if *interaction != Interaction::Pressed {
            continue;
        }
        if interaction.is_changed() {
            *front += 1;
            layer.0 = *front;
        }
        if moved != Vec2::ZERO {
            panel.0 += moved;
            node.left = px(panel.0.x);
            node.top = px(panel.0.y);
        }
    }
}

/// Scrolls the list under the mouse.
fn scroll(
    wheel: Res<AccumulatedMouseScroll>,
    mut lists: Query<(&RelativeCursorPosition, &ComputedNode, &mut ScrollPosition)>,
) {
    let unit = match wheel.unit {
        MouseScrollUnit::Line => LINE,
        MouseScrollUnit::Pixel => 1.0,
    };
    for (cursor, list, mut position) in &mut lists {
        if wheel.delta.y != 0.0 && cursor.cursor_over() {
            let most = (list.content_size() - list.size()).y.max(0.0) * list.inverse_scale_factor();
            position.0.y = (position.0.y - unit * wheel.delta.y).clamp(0.0, most);
        }
    }
}

/// Opens and closes the dialogue with its key, and closes it with its button.
fn toggle_modal(
    keys: Res<ButtonInput<KeyCode>>,
    buttons: Query<&Interaction, (Changed<Interaction>, With<Close>)>,
    mut modals: Query<&mut Visibility, With<Modal>>,
) {
    let is_clicked = buttons.iter().any(|interaction| *interaction == Interaction::Pressed);
    if !is_clicked && !keys.just_pressed(KeyCode::KeyM) {
        return;
    }
    for mut visibility in &mut modals {
        *visibility = if *visibility == Visibility::Hidden {
            Visibility::Inherited
        } else {
            Visibility::Hidden
        };
    }
}

/// Keeps the tooltip at the mouse, and inside the window.
fn follow_mouse(window: Single<&Window>, mut tooltips: Query<(&mut Node, &ComputedNode), With<Tooltip>>) {
    let Some(cursor) = window.cursor_position() else {
        return;
    };
    for (mut node, computed) in &mut tooltips {
        let most = window.size() - computed.size() * computed.inverse_scale_factor();
        let at = (cursor + Vec2::new(16.0, 20.0)).min(most);
        node.left = px(at.x);
        node.top = px(at.y);
    }
}
