//! Warns once if glass does not see the picture of another camera below it.
//!
//! Glass sees the texture of its own camera. Cameras of one target share a texture if they agree in all properties by which Bevy
//! caches textures; a camera that clears nothing then paints over the picture of the cameras before it. A camera for the
//! user interface over a camera for the world must do so; otherwise its glass blurs nothing, or its own picture of earlier
//! frames. A camera that covers everything below need not do so: nothing below it is visible.
//!
//! It compares the textures of the last frame, with the cameras and the glass of that frame, so nothing here repeats how Bevy
//! chooses them.

use crate::paint::PaintInputs;
use bevy::camera::{CameraOutputMode, ClearColorConfig, NormalizedRenderTarget};
use bevy::ecs::entity::{Entities, EntityHashMap};
use bevy::ecs::name::NameOrEntity;
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::camera::ExtractedCamera;
use bevy::render::render_resource::{BlendState, TextureId};
use bevy::render::sync_world::MainEntity;
use bevy::render::view::{ExtractedView, ViewTarget};

/// How a camera clears the texture before it paints.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Clear {
    Nothing,
    /// Cameras below show through unpainted pixels.
    Transparent,
    /// Nothing shows through.
    Covering,
}

impl Clear {
    fn new(camera: &ExtractedCamera, global: Color) -> Self {
        let color = match camera.clear_color {
            ClearColorConfig::None => return Self::Nothing,
            ClearColorConfig::Custom(color) => color,
            ClearColorConfig::Default => global,
        };
        let replaces = matches!(
            camera.output_mode,
            CameraOutputMode::Write {
                blend_state: Some(BlendState::REPLACE),
                ..
            }
        );
        if replaces || color.alpha() >= 1.0 {
            Self::Covering
        } else {
            Self::Transparent
        }
    }
}

/// A camera of the last frame, and its place among others.
#[derive(Clone, Debug)]
struct Stacked {
    entity: Entity,
    order: isize,
    target: NormalizedRenderTarget,
    viewport: URect,
    texture: TextureId,
    clear: Clear,
    /// Whether its picture is written to the target, and not only to the texture.
    is_written: bool,
}

/// The camera of a picture that glass does not see, because it is in another texture, or cleared, and the camera that clears the
/// texture in between.
type Unseen = (Entity, Option<Entity>);

impl Stacked {
    /// The picture of another camera, if it is visible below some glass of this camera, which does not see it.
    fn unseen(&self, other: &Self, glass: URect, all: &[Self]) -> Option<Unseen> {
        let seen = other.viewport.intersect(self.viewport).intersect(glass);
        if other.order >= self.order || !other.is_written || !other.is_stacked_with(self) || seen.is_empty() {
            return None;
        }
        let up_to_this = |camera: &&Self| {
            let is_between = (other.order + 1..self.order).contains(&camera.order) || camera.entity == self.entity;
            is_between && camera.is_stacked_with(self)
        };
        let above = || all.iter().filter(up_to_this);
        if above().any(|camera| camera.clear == Clear::Covering && camera.viewport.intersect(seen) == seen) {
            return None;
        }
        let clears = |camera: &&Self| camera.texture == self.texture && camera.clear != Clear::Nothing;
        let cleared_by = above().filter(clears).max_by_key(|camera| camera.order);
        let cleared_by = cleared_by.map(|camera| camera.entity);
        (cleared_by.is_some() || self.texture != other.texture).then_some((other.entity, cleared_by))
    }

    fn is_stacked_with(&self, other: &Self) -> bool {
        use NormalizedRenderTarget as Target;
        match (&self.target, &other.target) {
            (Target::None { .. }, _) => false,
            (Target::Image(one), Target::Image(two)) => one.handle == two.handle,
            (one, two) => one == two,
        }
    }
}

type StackedCamera = (
    Entity,
    &'static MainEntity,
    &'static ExtractedCamera,
    &'static ExtractedView,
    &'static ViewTarget,
);

/// Warns of glass that does not see the picture below it, once for each cause.
pub fn report_unseen(
    inputs: Res<PaintInputs>,
    cameras: Query<StackedCamera>,
    clear_color: Option<Res<ClearColor>>,
    names: Extract<Query<NameOrEntity>>,
    entities: &Entities,
    mut reported: Local<EntityHashMap<String>>,
) {
    forget_gone(&mut reported, entities);
    if inputs.cameras.is_empty() || cameras.iter().nth(1).is_none() {
        return;
    }
    let global = clear_color.map_or(Color::BLACK, |color| color.0);
    let all = cameras.iter().filter_map(|(entity, _, camera, view, target)| {
        let [x, y, width, height] = view.viewport.to_array();
        Some(Stacked {
            entity,
            order: camera.order,
            target: camera.target.clone()?,
            viewport: URect::new(x, y, x + width, y + height),
            texture: target.main_texture().id(),
            clear: Clear::new(camera, global),
            is_written: matches!(camera.output_mode, CameraOutputMode::Write { .. }),
        })
    });
    let all: Vec<Stacked> = all.collect();
    for upper in &all {
        let Some(glass) = glass_on(&inputs, upper.entity) else {
            continue;
        };
        let unseen = all
            .iter()
            .filter_map(|other| Some((other.order, upper.unseen(other, glass, &all)?)));
        let Some((_, unseen)) = unseen.max_by_key(|(order, _)| *order) else {
            reported.remove(&upper.entity);
            continue;
        };
        // Textures are made anew now and then, so the words are compared, and not the textures.
        let message = message(&cameras, &names, upper.entity, unseen);
        if reported.get(&upper.entity) != Some(&message) {
            warn!("{message}");
            reported.insert(upper.entity, message);
        }
    }
}

/// Forgets what has been said of cameras that are gone.
fn forget_gone(reported: &mut EntityHashMap<String>, entities: &Entities) {
    reported.retain(|camera, _| entities.contains_spawned(*camera));
}

/// The texels that contain all glass of a camera.
fn glass_on(inputs: &PaintInputs, camera: Entity) -> Option<URect> {
    let camera = inputs.cameras.iter().find(|found| found.picture.camera == camera)?;
    let painted = camera.schedule.glass().map(|(_, placed)| placed.region.painted);
    let painted = painted.filter(|region| !region.is_empty());
    painted.reduce(|all, region| all.union(region))
}

fn message(
    cameras: &Query<StackedCamera>,
    names: &Query<NameOrEntity>,
    upper: Entity,
    (lower, cleared_by): Unseen,
) -> String {
    let name = |camera: Entity| {
        let main = cameras.get(camera).map_or(camera, |(_, main, ..)| main.id());
        names
            .get(main)
            .map_or_else(|_| main.to_string(), |name| name.to_string())
    };
    let mut causes = Vec::new();
    if let Ok([(.., texture), (.., other)]) = cameras.get_many([upper, lower])
        && texture.main_texture().id() != other.main_texture().id()
    {
        causes.push(format!("their textures differ {}", difference([texture, other])));
    }
    if let Some(camera) = cleared_by {
        let name = name(camera);
        causes.push(format!("{name} clears the texture: give it `ClearColorConfig::None`"));
    }
    let [upper, lower] = [upper, lower].map(name);
    let causes = causes.join(", and ");
    format!("the glass on the camera {upper} does not see what the camera {lower} shows below it, because {causes}")
}

/// In what the textures of two cameras differ, with the values of both and the settings that decide it.
fn difference(textures: [&ViewTarget; 2]) -> String {
    let formats = textures.map(|texture| texture.main_texture().format());
    let sampled = textures.map(ViewTarget::sampled_main_texture);
    let samples = sampled.map(|sampled| sampled.map_or(1, |sampled| sampled.sample_count()));
    let usages = textures.map(|texture| texture.main_texture().usage());
    if formats[0] != formats[1] {
        format!("in format, {formats:?}: give both the same `Hdr` and `CompositingSpace`")
    } else if samples[0] != samples[1] {
        format!("in samples, {samples:?}: give both the same `Msaa`")
    } else if usages[0] != usages[1] {
        format!("in usages, {usages:?}: give both the same `CameraMainTextureUsages`")
    } else {
        "in nothing but the scale factors of their targets: give both the same".to_owned()
    }
}

#[cfg(test)]
mod tests;
