//! The content of groups.

use super::*;
use crate::backdrop::stage::Ui;

/// Overlapping boxes, half transparent, round, turned and with a shadow, and text, in the middle of the viewport.
pub fn boxes(ui: &mut Ui, parent: Entity) {
    let at = |[left, top, width, height]: [f32; 4]| node(Vec2::new(left, top), Vec2::new(width, height));
    let round = Node {
        border_radius: BorderRadius::all(Val::Px(9.0)),
        ..at([45.0, 30.0, 60.0, 40.0])
    };
    let shadow = BoxShadow::new(Color::BLACK, Val::Px(3.0), Val::Px(4.0), Val::Px(1.0), Val::Px(3.0));
    ui.spawn_in(
        parent,
        (round, BackgroundColor(Color::linear_rgba(0.9, 0.3, 0.05, 0.8)), shadow),
    );
    let turned = UiTransform::from_rotation(Rot2::radians(0.3));
    let blue = BackgroundColor(Color::linear_rgba(0.05, 0.2, 0.9, 0.6));
    ui.spawn_in(parent, (at([85.0, 45.0, 50.0, 30.0]), turned, blue));
    let text = (
        Text::new("A group"),
        TextFont::from_font_size(18.0),
        TextColor(Color::WHITE),
    );
    ui.spawn_in(parent, (at([60.0, 48.0, 90.0, 30.0]), text));
}
