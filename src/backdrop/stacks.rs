//! Warns once if glass does not see the picture of another camera below it.
//!
//! Glass sees the texture of its own camera. Cameras of one target share that texture if they agree in all properties by which
//! Bevy caches textures. A camera that clears nothing then paints over the picture of the cameras before it. A camera for the
//! user interface over a camera for the world must do so; otherwise its glass blurs nothing, or its own picture of earlier
//! frames. A camera that covers everything below need not do so: nothing below it is visible.

use crate::paint::PaintInputs;
use crate::schedule::Region;
use bevy::camera::{
    Camera, CameraMainTextureUsages, CameraOutputMode, ClearColorConfig, CompositingSpace, Hdr, NormalizedRenderTarget,
    RenderTarget,
};
use bevy::ecs::entity::EntityHashMap;
use bevy::ecs::name::NameOrEntity;
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::render_resource::{BlendState, TextureUsages};
use bevy::render::sync_world::RenderEntity;
use bevy::window::PrimaryWindow;

/// The properties in which cameras of one target must agree to share a texture.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Texture {
    is_hdr: bool,
    /// Whether it holds encoded values. With a high dynamic range this does not change the texture.
    is_encoded: bool,
    msaa: Msaa,
    usages: TextureUsages,
    /// Two scale factors of an image are two targets.
    scale_factor: f32,
}

/// How a camera clears the texture before it paints.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Clear {
    Nothing,
    /// Cameras below show through unpainted pixels.
    Transparent,
    /// Nothing shows through.
    Covering,
}

/// An active camera and its place among others.
#[derive(Clone, Debug)]
struct Stacked {
    entity: Entity,
    order: isize,
    target: NormalizedRenderTarget,
    viewport: URect,
    texture: Texture,
    clear: Clear,
    /// Whether its picture is written to the target, and not only to the texture.
    is_written: bool,
}

/// A picture that glass does not see.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unseen {
    /// The camera of the picture.
    camera: Entity,
    /// The textures of the camera with the glass and of `camera`.
    textures: [Texture; 2],
    /// The camera that clears the texture in between.
    cleared_by: Option<Entity>,
}

impl Stacked {
    /// The picture of another camera, if it is visible below some glass of this camera, which does not see it.
    fn unseen<I: Iterator<Item = Self>>(&self, other: &Self, glass: URect, all: impl Fn() -> I) -> Option<Unseen> {
        let seen = other.viewport.intersect(self.viewport).intersect(glass);
        if other.order >= self.order || !other.is_written || !other.is_stacked_with(self) || seen.is_empty() {
            return None;
        }
        let up_to_this = |camera: &Self| {
            let is_between = (other.order + 1..self.order).contains(&camera.order) || camera.entity == self.entity;
            is_between && camera.is_stacked_with(self)
        };
        let above = || all().filter(up_to_this);
        if above().any(|camera| camera.clear == Clear::Covering && camera.viewport.intersect(seen) == seen) {
            return None;
        }
        let clears = |camera: &Self| camera.texture == self.texture && camera.clear != Clear::Nothing;
        let cleared_by = above().filter(clears).max_by_key(|camera| camera.order);
        let unseen = Unseen {
            camera: other.entity,
            textures: [self.texture, other.texture],
            cleared_by: cleared_by.map(|camera| camera.entity),
        };
        (unseen.cleared_by.is_some() || self.texture != other.texture).then_some(unseen)
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
    RenderEntity,
    &'static Camera,
    &'static RenderTarget,
    Has<Hdr>,
    Option<&'static CompositingSpace>,
    &'static Msaa,
    &'static CameraMainTextureUsages,
);

/// The cameras of the main world.
#[derive(SystemParam)]
pub struct Stacks<'w, 's> {
    cameras: Query<'w, 's, StackedCamera>,
    names: Query<'w, 's, NameOrEntity>,
    primary_window: Query<'w, 's, Entity, With<PrimaryWindow>>,
    clear_color: Option<Res<'w, ClearColor>>,
}

impl Stacks<'_, '_> {
    /// All active cameras, with their entities in the render world.
    fn all(&self) -> impl Iterator<Item = (Entity, Stacked)> {
        let window = self.primary_window.iter().next();
        let global = self.clear_color.as_ref().map_or(Color::BLACK, |color| color.0);
        let cameras = self.cameras.iter().filter(|(_, _, camera, ..)| camera.is_active);
        cameras.filter_map(
            move |(entity, render_entity, camera, target, is_hdr, space, msaa, usages)| {
                let target = target.normalize(window)?;
                let texture = Texture {
                    is_hdr,
                    is_encoded: !is_hdr && space == Some(&CompositingSpace::Srgb),
                    msaa: *msaa,
                    usages: usages.0,
                    scale_factor: match &target {
                        NormalizedRenderTarget::Image(image) => image.scale_factor,
                        _ => 1.0,
                    },
                };
                let stacked = Stacked {
                    entity,
                    order: camera.order,
                    target,
                    viewport: camera.physical_viewport_rect()?,
                    texture,
                    clear: clear_of(camera, global),
                    is_written: matches!(camera.output_mode, CameraOutputMode::Write { .. }),
                };
                Some((render_entity, stacked))
            },
        )
    }

    fn name(&self, camera: Entity) -> String {
        self.names
            .get(camera)
            .map_or_else(|_| camera.to_string(), |name| name.to_string())
    }
}

fn clear_of(camera: &Camera, global: Color) -> Clear {
    let color = match camera.clear_color {
        ClearColorConfig::None => return Clear::Nothing,
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
        Clear::Covering
    } else {
        Clear::Transparent
    }
}

/// Warns of glass that does not see the picture below it, once for each cause.
pub fn report_unseen(inputs: Res<PaintInputs>, stacks: Extract<Stacks>, mut reported: Local<EntityHashMap<Unseen>>) {
    if inputs.cameras.is_empty() || stacks.cameras.iter().nth(1).is_none() {
        return;
    }
    // The texels that contain all glass of a camera.
    let glass_on = |render_entity: Entity| {
        let camera = inputs
            .cameras
            .iter()
            .find(|camera| camera.picture.camera == render_entity)?;
        let (picture, seen) = (&camera.picture, camera.picture.seen_pixels());
        let regions = camera
            .backdrops
            .iter()
            .map(|backdrop| Region::new(backdrop, picture, backdrop.clip, seen));
        let painted = regions.flatten().map(|region| region.painted);
        painted.reduce(|all, region| all.union(region))
    };
    for (render_entity, upper) in stacks.all() {
        let Some(glass) = glass_on(render_entity) else {
            continue;
        };
        let all = || stacks.all().map(|(_, camera)| camera);
        let unseen = all().filter_map(|other| Some((other.order, upper.unseen(&other, glass, all)?)));
        match unseen.max_by_key(|(order, _)| *order) {
            Some((_, unseen)) => {
                if reported.insert(upper.entity, unseen) != Some(unseen) {
                    warn!("{}", message(&stacks, upper.entity, &unseen));
                }
            }
            None => {
                reported.remove(&upper.entity);
            }
        }
    }
}

fn message(stacks: &Stacks, upper: Entity, unseen: &Unseen) -> String {
    let [upper_name, lower_name] = [upper, unseen.camera].map(|camera| stacks.name(camera));
    let differences = differences(&unseen.textures, [&upper_name, &lower_name]);
    let mut causes = Vec::new();
    let mut remedies = Vec::new();
    if !differences.is_empty() {
        causes.push(format!("their textures differ: {}", differences.join(", ")));
        remedies.push("give both cameras the same settings".to_owned());
    }
    if let Some(camera) = unseen.cleared_by {
        let name = stacks.name(camera);
        causes.push(format!("{name} clears the texture"));
        remedies.push(format!("give {name} `ClearColorConfig::None`"));
    }
    format!(
        "the glass on the camera {upper_name} does not see what the camera {lower_name} shows below it, because {}; {}",
        causes.join(", and "),
        remedies.join(", and "),
    )
}

/// The differences of two textures, in words.
fn differences([upper, lower]: &[Texture; 2], [upper_name, lower_name]: [&str; 2]) -> Vec<String> {
    let mut found = Vec::new();
    let mut only = |component: &str, has: [bool; 2]| {
        if has[0] != has[1] {
            let name = if has[0] { upper_name } else { lower_name };
            found.push(format!("only {name} has `{component}`"));
        }
    };
    only("Hdr", [upper.is_hdr, lower.is_hdr]);
    if upper.is_hdr == lower.is_hdr {
        only("CompositingSpace::Srgb", [upper.is_encoded, lower.is_encoded]);
    }
    if upper.msaa != lower.msaa {
        let [one, two] = [upper.msaa, lower.msaa];
        found.push(format!("`Msaa` is {one:?} on {upper_name} and {two:?} on {lower_name}"));
    }
    if upper.usages != lower.usages {
        let [one, two] = [upper.usages, lower.usages];
        found.push(format!(
            "`CameraMainTextureUsages` are {one:?} on {upper_name} and {two:?} on {lower_name}"
        ));
    }
    if upper.scale_factor != lower.scale_factor {
        let [one, two] = [upper.scale_factor, lower.scale_factor];
        found.push(format!(
            "the target's scale factor is {one} on {upper_name} and {two} on {lower_name}"
        ));
    }
    found
}

#[cfg(test)]
mod tests;
