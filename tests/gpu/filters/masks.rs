//! A filter whose mask is not there yet, or cannot be read, is painted sharp. Other filters of its camera are as usual.

use super::group::on_one;
use super::*;
use crate::backdrop::stage::Ui;
use crate::support::formats::quantised;
use crate::support::scene::whole;

const SIGMA: f32 = 4.0;

/// What the parent of the first group shows.
const CLIP: [usize; 4] = [50, 35, 110, 70];

/// A faded group, clipped by its parent.
fn faded(ui: &mut Ui, parent: Entity, filter: impl Bundle) {
    let [left, top, right, bottom] = CLIP.map(|side| side as f32);
    let place = node(Vec2::new(left, top), Vec2::new(right - left, bottom - top));
    let list = Node {
        overflow: Overflow::clip(),
        ..place
    };
    let list = ui.spawn_in(parent, list);
    let moved = node(-Vec2::new(left, top), Vec2::new(203.0, 117.0));
    let group = ui.spawn_in(list, (moved, filter));
    boxes(ui, group);
}

/// A blurred group.
fn blurred(ui: &mut Ui, parent: Entity, filter: impl Bundle) -> Entity {
    let group = ui.spawn_in(parent, (whole(), filter));
    let corner = node(Vec2::new(120.0, 25.0), Vec2::new(24.0, 30.0));
    ui.spawn_in(group, (corner, BackgroundColor(Color::linear_rgba(0.2, 0.9, 0.3, 0.7))));
    group
}

struct Shown {
    faded: UiFilter,
    blurred: UiFilter,
    alone: [Picture; 2],
}

impl Shown {
    fn new(group: &mut Group) -> Self {
        group.show((), |ui, parent| faded(ui, parent, ()));
        let [.., first] = group.pictures();
        group.show((), |ui, parent| {
            blurred(ui, parent, ());
        });
        let [.., second] = group.pictures();
        Self {
            faded: UiFilter::opacity(0.5),
            blurred: UiFilter::from_sigma(SIGMA).with_opacity(0.8),
            alone: [clipped(&first, CLIP), second],
        }
    }

    /// Spawns both groups, the second with a mask.
    fn spawn(&self, group: &mut Group, mask: &Handle<Image>) -> Entity {
        group.stage.clear();
        let camera = group.stage.glass.camera;
        let profile = BlurProfile::Mask(mask.clone());
        let entity = core::cell::Cell::new(Entity::PLACEHOLDER);
        group.stage.add(camera, true, &|ui: &mut Ui| {
            let node = ui.spawn(whole());
            faded(ui, node, self.faded.clone());
            entity.set(blurred(ui, node, (self.blurred.clone(), profile.clone())));
        });
        group.stage.headless.warm_up();
        entity.get()
    }

    /// Asserts that the first group is filtered as usual, and that the second one shows this picture, faded.
    fn check(&self, group: &Group, name: &str, second: &Picture) {
        let [below, got, _] = group.pictures();
        let painted = over(&below, &filtered(&self.alone[0], &self.faded, LDR));
        let sharp = UiFilter::opacity(self.blurred.opacity);
        let painted = over(&quantised(&painted, LDR), &filtered(second, &sharp, LDR));
        group.assert_within(name, &got, &painted, 1.0 / 255.0);
    }
}

#[test]
fn a_mask_that_loads() {
    on_one(Kind::Core2d, LDR, |group| {
        let shown = Shown::new(group);
        let mask = group.stage.headless.reserve_image();
        shown.spawn(group, &mask);
        shown.check(group, "mask-loading", &shown.alone[1]);
        let all = Picture::from_fn(2, 2, |_, _| [1.0; 4]);
        group
            .stage
            .headless
            .insert_image(&mask, to_image(&all, TextureFormat::R8Unorm));
        group.stage.headless.warm_up();
        let soft = gaussian_blur(&shown.alone[1], [f64::from(SIGMA); 2], EdgeMode::Transparent);
        shown.check(group, "mask-there", &soft);
    });
}

/// A profile out of range is reported once, as for cameras and glass.
#[test]
fn profiles_out_of_range_are_reported() {
    let mut group = Group::new(BlurBackend::Fragment, Kind::Core2d, LDR);
    let profile = linear([Vec2::ZERO, Vec2::ONE], [0.0, f32::NAN]);
    let name = Name::new("filter-with-nan");
    group.show((UiFilter::from_sigma(SIGMA), profile, name), boxes);
    assert_eq!(logs::count("the BlurProfile of filter-with-nan"), 1);
}

#[test]
fn masks_that_cannot_be_read() {
    on_one(Kind::Core2d, LDR, |group| {
        let shown = Shown::new(group);
        let all = Picture::from_fn(2, 2, |_, _| [1.0; 4]);
        let mut mask = to_image(&all, TextureFormat::R8Unorm);
        mask.texture_view_descriptor = Some(TextureViewDescriptor {
            dimension: Some(TextureViewDimension::D2Array),
            ..default()
        });
        let mask = group.stage.headless.add_image(mask);
        let error = BlurError::UnsupportedMask {
            format: TextureFormat::R8Unorm,
        };
        let said = |entity: Entity| logs::count(&format!("the UiFilter of entity {entity}: {error}"));
        let entity = shown.spawn(group, &mask);
        shown.check(group, "mask-unreadable", &shown.alone[1]);
        let once = said(entity);
        assert!(once > 0, "the filter is named");
        group.stage.headless.frame();
        assert_eq!(said(entity), once, "it is said once");
    });
}
