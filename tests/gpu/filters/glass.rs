//! Glass inside groups: it sees the picture below the group, and over it what the group has painted so far.

use super::*;
use crate::backdrop::pane::Pane;
use bevy::camera::CameraMainTextureUsages;

/// Opaque glass covers the shadow of its own node. That also holds if the node is filtered: its picture lies over the glass, with a
/// hole in place of the shadow.
#[test]
fn own_glass_covers_the_shadow_of_its_node() {
    on_one(Kind::Core2d, LDR, |group| {
        let shadow = BoxShadow::new(
            Color::linear_rgba(0.0, 0.3, 0.0, 0.8),
            Val::Px(5.0),
            Val::Px(6.0),
            Val::Px(2.0),
            Val::Px(4.0),
        );
        let pane = Pane::new([40.0, 20.0, 100.0, 70.0], BackdropBlur::from_sigma(4.0));
        let mut show = |filter: UiFilter, is_nested: bool| {
            group.show((), |ui, parent| {
                boxes(ui, parent);
                let parent = if is_nested {
                    ui.spawn_in(parent, (whole_over(), UiFilter::opacity(0.999)))
                } else {
                    parent
                };
                if let Some(card) = ui.pane_in(parent, (pane.bundle(), shadow.clone(), filter.clone())) {
                    let inside = node(Vec2::splat(20.0), Vec2::splat(25.0));
                    ui.spawn_in(card, (inside, BackgroundColor(Color::linear_rgba(0.9, 0.1, 0.1, 0.5))));
                }
            });
            let [_, got, _] = group.pictures();
            got
        };
        let neutral = show(UiFilter::default(), false);
        let nearly = show(UiFilter::opacity(0.999), false);
        let nested = show(UiFilter::opacity(0.999), true);
        group.assert_within("own-shadow", &nearly, &neutral, 1.0 / 255.0);
        group.assert_within("own-shadow-nested", &nested, &neutral, 1.5 / 255.0);
    });
}

/// A node over its siblings, as large as the viewport.
fn whole_over() -> Node {
    node(Vec2::ZERO, Vec2::new(203.0, 117.0))
}

/// Glass inside a group needs a copy of what lies below. On a camera whose texture cannot be copied, the group has no glass.
#[test]
fn a_camera_that_cannot_be_copied() {
    on_one(Kind::Core2d, LDR, |group| {
        group.show((), boxes);
        let [below, _, alone] = group.pictures();
        let filter = UiFilter::opacity(0.6);
        let usages = TextureUsages::RENDER_ATTACHMENT | TextureUsages::TEXTURE_BINDING;
        let camera = group.stage.glass.camera;
        group.stage.headless.insert(camera, CameraMainTextureUsages(usages));
        let pane = Pane::new([40.0, 20.0, 100.0, 70.0], BackdropBlur::from_sigma(3.0));
        group.show(filter.clone(), |ui, parent| {
            boxes(ui, parent);
            ui.pane_in(parent, pane.bundle());
        });
        let [_, got, _] = group.pictures();
        group.assert_painted("no-copy", &got, &over(&below, &filtered(&alone, &filter, LDR)));
    });
}
