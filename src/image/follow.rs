//! The main world's half: allocates targets, watches assets and settings, and decides when a blur is due.

use super::{Outcomes, Request};
use crate::diagnostics::BlurLabel;
use crate::pipelines::{can_compute, is_storable};
use crate::settings::{BlurError, BlurImage, BlurUpdate, GaussianBlur};
use bevy::asset::{LoadState, RenderAssetUsages};
use bevy::camera::RenderTarget;
use bevy::platform::collections::{HashMap, HashSet};
use bevy::prelude::*;
use bevy::render::render_resource::TextureUsages;
use bevy::render::renderer::RenderAdapter;
use core::mem::{Discriminant, discriminant};

/// The image blurs of this frame, in an order in which every source is blurred before it is read.
#[derive(Resource, Default)]
pub(super) struct Requests {
    pub ordered: Vec<Request>,
    follows: HashMap<Entity, Follow>,
}

/// What is remembered of an entity from frame to frame.
#[derive(Default)]
struct Follow {
    revision: u64,
    /// The target, if the plugin allocated it.
    owned: Option<AssetId<Image>>,
    /// The source and target of the last frame.
    images: Option<(AssetId<Image>, AssetId<Image>)>,
    /// The kind of failure that was reported last, so that nothing is reported twice.
    reported: Option<Discriminant<BlurError>>,
}

type Blurred = (
    Entity,
    Ref<'static, GaussianBlur>,
    &'static mut BlurImage,
    &'static BlurLabel,
);

/// Collects the image blurs of this frame.
pub(super) fn follow_images(
    mut requests: ResMut<Requests>,
    mut blurs: Query<Blurred>,
    mut images: ResMut<Assets<Image>>,
    mut events: MessageReader<AssetEvent<Image>>,
    assets: Res<AssetServer>,
    outcomes: Res<Outcomes>,
    cameras: Query<(&Camera, &RenderTarget)>,
    adapter: Option<Res<RenderAdapter>>,
) {
    let changed: HashSet<AssetId<Image>> = events
        .read()
        .filter_map(|event| match event {
            AssetEvent::Added { id } | AssetEvent::Modified { id } => Some(*id),
            _ => None,
        })
        .collect();
    let Requests { ordered, follows } = &mut *requests;
    follows.retain(|entity, _| blurs.contains(*entity));
    ordered.clear();
    for (entity, blur, mut image, label) in &mut blurs {
        let follow = follows.entry(entity).or_default();
        let mut report = |error: BlurError| {
            let kind = Some(discriminant(&error));
            if follow.reported != kind {
                follow.reported = kind;
                outcomes.push(entity, Err(error));
            }
        };
        let Some(source) = images.get(&image.source) else {
            if matches!(assets.load_state(&image.source), LoadState::Failed(_)) {
                report(BlurError::SourceNotLoaded);
            }
            continue;
        };
        let valid = blur.sigma_in_texels(1.0, source.height());
        match &valid {
            Ok(_) => follow.reported = None,
            Err(error) => report(error.clone()),
        }
        let settings_changed = blur.is_changed() || image.is_changed();
        let stores = adapter.as_deref().is_some_and(can_compute);
        let target = follow.target(&mut image, &mut images, stores);
        let ids = (image.source.id(), target);
        let due = match image.update {
            BlurUpdate::EveryFrame => false,
            BlurUpdate::OnChange => {
                settings_changed || changed.contains(&ids.0) || changed.contains(&ids.1) || follow.images != Some(ids)
            }
            BlurUpdate::Once => image.is_changed() || follow.revision == 0,
        };
        follow.images = Some(ids);
        follow.revision += u64::from(due);
        ordered.push(Request {
            entity,
            label: label.clone(),
            blur: valid.is_ok().then_some(*blur),
            source: ids.0,
            target: ids.1,
            alpha: image.alpha,
            continuous: image.update == BlurUpdate::EveryFrame,
            follows_textures: image.update == BlurUpdate::OnChange,
            revision: follow.revision,
            after_cameras: false,
        });
    }
    order_by_dependency(ordered);
    mark_painted(ordered, &cameras);
}

impl Follow {
    /// The target of a blur whose source is loaded, allocated or fitted to the source if it is the plugin's own.
    fn target(&mut self, image: &mut Mut<BlurImage>, images: &mut Assets<Image>, stores: bool) -> AssetId<Image> {
        let allocated = match &image.target {
            Some(target) if self.owned != Some(target.id()) => return target.id(),
            Some(target) => Some(target.clone()),
            None => None,
        };
        let wanted = images.get(&image.source).map(|source| target_for(source, stores));
        match (allocated, wanted) {
            (Some(target), Some(wanted)) => {
                if images.get(&target).is_none_or(|old| !is_alike(old, &wanted)) {
                    // The asset is still ours, so it is there or can be put back.
                    let _ = images.insert(target.id(), wanted);
                }
                target.id()
            }
            (Some(target), None) => target.id(),
            (None, wanted) => {
                let target = images.add(wanted.unwrap_or_default());
                self.owned = Some(target.id());
                // Filling the handle in is no change of the settings.
                image.bypass_change_detection().target = Some(target.clone());
                target.id()
            }
        }
    }
}

/// An image of the size and format of `source` that a blur can be written to, by a compute pass too if the GPU has them.
fn target_for(source: &Image, stores: bool) -> Image {
    let from = &source.texture_descriptor;
    let mut target = Image::new_uninit(from.size, from.dimension, from.format, RenderAssetUsages::default());
    target.texture_descriptor.usage |= TextureUsages::RENDER_ATTACHMENT;
    if stores && is_storable(from.format) {
        target.texture_descriptor.usage |= TextureUsages::STORAGE_BINDING;
    }
    target.texture_view_descriptor = source.texture_view_descriptor.clone();
    target.sampler = source.sampler.clone();
    target
}

fn is_alike(a: &Image, b: &Image) -> bool {
    let shape = |image: &Image| {
        let descriptor = &image.texture_descriptor;
        (descriptor.size, descriptor.format, descriptor.dimension)
    };
    shape(a) == shape(b)
}

/// Moves every blur behind the blurs that write its source. A cycle keeps its order.
fn order_by_dependency(requests: &mut Vec<Request>) {
    let mut waiting = core::mem::take(requests);
    while !waiting.is_empty() {
        let is_ready = |request: &Request| {
            let feeds = |other: &Request| other.target == request.source && other.entity != request.entity;
            !waiting.iter().any(feeds)
        };
        let ready: Vec<Entity> = waiting.iter().filter(|r| is_ready(r)).map(|r| r.entity).collect();
        if ready.is_empty() {
            requests.append(&mut waiting);
        }
        requests.extend(waiting.extract_if(.., |request| ready.contains(&request.entity)));
    }
}

/// Finds the blurs whose source a camera paints in this frame, directly or through other blurs.
fn mark_painted(requests: &mut [Request], cameras: &Query<(&Camera, &RenderTarget)>) {
    let active = cameras.iter().filter(|(camera, _)| camera.is_active);
    let mut painted: HashSet<AssetId<Image>> = active
        .filter_map(|(_, target)| target.as_image())
        .map(Handle::id)
        .collect();
    for request in requests {
        if painted.contains(&request.source) {
            request.after_cameras = true;
            painted.insert(request.target);
        }
    }
}
