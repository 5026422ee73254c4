//! Intermediate textures: one set for all blurs.
//!
//! No two blurs run at the same time, and none needs what is left of another, so blurs of one size share their textures.
//! What has not been used for a few frames is given back.

use crate::formats::Resolved;
use crate::plan::BlurPlan;
use crate::plan::pass::Surface;
use bevy::image::ToExtents;
use bevy::math::UVec2;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::render_resource::{
    TextureDescriptor, TextureDimension, TextureFormat, TextureUsages, TextureView, TextureViewDescriptor,
};
use bevy::render::renderer::RenderDevice;

/// How many frames a texture is kept without being used.
const IDLE_FRAMES: u32 = 3;

/// All that distinguishes one texture from another.
type Kind = (UVec2, TextureFormat, TextureUsages);

/// The intermediate textures of all blurs. Made anew when the render device is.
#[derive(Resource, Default)]
pub struct IntermediateTextures {
    /// As many of a kind as the blur has that needs the most.
    held: HashMap<Kind, Vec<Held>>,
    /// Those that somebody else reads later in the frame: as many as there are such readers.
    left: HashMap<Kind, Vec<Held>>,
    /// What those hold that are used in this frame.
    bytes: u64,
}

struct Held {
    view: TextureView,
    /// The frames since it was used.
    idle: u32,
}

impl IntermediateTextures {
    /// What the textures hold that are used in this frame.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes the intermediates of a plan for this frame.
    pub fn take(&mut self, plan: &BlurPlan, resolved: &Resolved, device: &RenderDevice, taken: &mut Vec<TextureView>) {
        taken.clear();
        let left = plan.left.as_ref().map(|left| left.source);
        for (index, size) in plan.intermediates.iter().enumerate() {
            let kind = (*size, resolved.intermediate, resolved.intermediate_usages());
            let (held, place) = if left == Some(Surface::Intermediate(index)) {
                let held = self.left.entry(kind).or_default();
                let place = held.iter().take_while(|one| one.idle == 0).count();
                (held, place)
            } else {
                let is_alike =
                    |other: &usize| plan.intermediates[*other] == *size && left != Some(Surface::Intermediate(*other));
                let place = (0..index).filter(is_alike).count();
                (self.held.entry(kind).or_default(), place)
            };
            let (view, bytes) = use_one(held, place, kind, device);
            taken.push(view);
            self.bytes += bytes;
        }
    }
}

/// Uses a texture of a kind. Returns what it adds to the bytes that are used in this frame.
fn use_one(held: &mut Vec<Held>, index: usize, kind: Kind, device: &RenderDevice) -> (TextureView, u64) {
    if held.len() == index {
        held.push(Held {
            view: create(kind, device),
            idle: 1,
        });
    }
    let one = &mut held[index];
    let is_new = one.idle > 0;
    one.idle = 0;
    (one.view.clone(), if is_new { bytes(kind) } else { 0 })
}

/// Gives back what is used no more.
pub fn give_back_textures(mut textures: ResMut<IntermediateTextures>) {
    textures.bytes = 0;
    let IntermediateTextures { held, left, .. } = &mut *textures;
    for kinds in [held, left] {
        kinds.retain(|_, held| {
            held.iter_mut().for_each(|one| one.idle += 1);
            held.retain(|one| one.idle <= IDLE_FRAMES);
            !held.is_empty()
        });
    }
}

fn create((size, format, usage): Kind, device: &RenderDevice) -> TextureView {
    let texture = device.create_texture(&TextureDescriptor {
        label: Some("gaussian_blur_intermediate"),
        size: size.to_extents(),
        mip_level_count: 1,
        sample_count: 1,
        dimension: TextureDimension::D2,
        format,
        usage,
        view_formats: &[],
    });
    texture.create_view(&TextureViewDescriptor {
        label: Some("gaussian_blur_intermediate"),
        ..default()
    })
}

fn bytes((size, format, _): Kind) -> u64 {
    let texel = u64::from(format.block_copy_size(None).unwrap_or(0));
    u64::from(size.x) * u64::from(size.y) * texel
}
