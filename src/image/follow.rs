//! The main world's half: allocates targets, watches assets and settings, and decides when a blur is due.

use super::{Outcomes, Request};
use crate::diagnostics::BlurLabel;
use crate::pipelines::{can_compute, fetch_of, is_flat, is_renderable, is_storable};
use crate::settings::{BlurError, BlurImage, BlurUpdate, GaussianBlur};
use bevy::asset::{LoadState, RenderAssetUsages};
use bevy::camera::RenderTarget;
use bevy::ecs::system::SystemParam;
use bevy::platform::collections::{HashMap, HashSet};
use bevy::prelude::*;
use bevy::render::render_resource::TextureUsages;
use bevy::render::renderer::{RenderAdapter, RenderDevice};
use core::mem::{Discriminant, discriminant};

/// The image blurs of this frame, in an order in which every source is blurred before it is read.
#[derive(Resource, Default)]
pub(super) struct Requests {
    pub ordered: Vec<Request>,
    follows: HashMap<Entity, Follow>,
}

/// What the main world knows of the GPU. Nothing until there is one.
#[derive(SystemParam)]
pub(super) struct Gpu<'w> {
    device: Option<Res<'w, RenderDevice>>,
    adapter: Option<Res<'w, RenderAdapter>>,
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
    gpu: Gpu,
    outcomes: Res<Outcomes>,
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
        match follow.request(entity, &blur, &mut image, &changed, (&mut images, &assets, &gpu)) {
            Ok(None) => {}
            Ok(Some(request)) => ordered.push(Request {
                label: label.clone(),
                ..request
            }),
            Err(error) => follow.report(entity, error, &outcomes),
        }
        if let Err(error) = blur.sigma_in_texels(1.0, 1) {
            follow.report(entity, error, &outcomes);
        }
    }
    order_by_dependency(ordered);
}

/// Finds the blurs whose source a camera paints in this frame, directly or through other blurs.
pub(super) fn mark_painted(mut requests: ResMut<Requests>, cameras: Query<(&Camera, &RenderTarget)>) {
    let active = cameras.iter().filter(|(camera, _)| camera.is_active);
    let mut painted: HashSet<AssetId<Image>> = active
        .filter_map(|(_, target)| target.as_image())
        .map(Handle::id)
        .collect();
    for request in &mut requests.ordered {
        if painted.contains(&request.source) {
            request.after_cameras = true;
            painted.insert(request.target);
        }
    }
}

/// Where the images of a blur live, and what the GPU can do with them.
type Place<'a> = (&'a mut Assets<Image>, &'a AssetServer, &'a Gpu<'a>);

impl Follow {
    /// What the render world is to do about an entity, `None` while its source is still loading.
    fn request(
        &mut self,
        entity: Entity,
        blur: &Ref<GaussianBlur>,
        image: &mut Mut<BlurImage>,
        changed: &HashSet<AssetId<Image>>,
        (images, assets, gpu): Place,
    ) -> Result<Option<Request>, BlurError> {
        let Some(source) = images.get(&image.source) else {
            return match assets.load_state(&image.source) {
                LoadState::Failed(_) => Err(BlurError::SourceNotLoaded),
                _ => Ok(None),
            };
        };
        let sigma = blur.sigma_in_texels(1.0, source.height());
        let settings_changed = blur.is_changed() || image.is_changed();
        let image_changed = image.is_changed();
        let Some(target) = self.target(image, images, gpu)? else {
            return Ok(None);
        };
        let ids = (image.source.id(), target);
        let textures_changed = changed.contains(&ids.0) || changed.contains(&ids.1) || self.images != Some(ids);
        let is_due = match image.update {
            BlurUpdate::EveryFrame => false,
            BlurUpdate::OnChange => settings_changed || textures_changed,
            BlurUpdate::Once => image_changed || self.revision == 0,
        };
        self.images = Some(ids);
        self.revision += u64::from(is_due);
        if sigma.is_ok() {
            self.reported = None;
        }
        Ok(Some(Request {
            entity,
            label: BlurLabel::new(""),
            blur: sigma.is_ok().then_some(**blur),
            source: ids.0,
            target: ids.1,
            owns_target: self.owned == Some(ids.1),
            alpha: image.alpha,
            continuous: image.update == BlurUpdate::EveryFrame,
            follows_textures: image.update == BlurUpdate::OnChange,
            revision: self.revision,
            after_cameras: false,
        }))
    }

    /// Passes a failure on, once for each kind until all is well again.
    fn report(&mut self, entity: Entity, error: BlurError, outcomes: &Outcomes) {
        let kind = Some(discriminant(&error));
        if self.reported != kind {
            self.reported = kind;
            outcomes.push(entity, Err(error));
        }
    }

    /// The target of a blur whose source is loaded, allocated or fitted to the source if it is the plugin's own. `None`
    /// while there is no GPU.
    fn target(
        &mut self,
        image: &mut Mut<BlurImage>,
        images: &mut Assets<Image>,
        gpu: &Gpu,
    ) -> Result<Option<AssetId<Image>>, BlurError> {
        if let Some(target) = image.target.as_ref().filter(|target| self.owned != Some(target.id())) {
            return Ok(Some(target.id()));
        }
        let (Some(source), Some(device), Some(adapter)) = (images.get(&image.source), &gpu.device, &gpu.adapter) else {
            return Ok(None);
        };
        let wanted = target_for(source, device, adapter)?;
        if let Some(target) = &image.target {
            let id = target.id();
            if images.get(id).is_none_or(|old| !is_alike(old, &wanted)) {
                // The handle keeps the asset's place, so nothing else can be there.
                let _ = images.insert(id, wanted);
            }
            return Ok(Some(id));
        }
        let target = images.add(wanted);
        let id = target.id();
        self.owned = Some(id);
        // Filling the handle in is no change of the settings.
        image.bypass_change_detection().target = Some(target);
        Ok(Some(id))
    }
}

/// An image of the size and format of `source` that a blur can be written to, by a compute pass too if the GPU has them.
fn target_for(source: &Image, device: &RenderDevice, adapter: &RenderAdapter) -> Result<Image, BlurError> {
    let from = &source.texture_descriptor;
    if !is_flat(from.dimension, from.size, from.sample_count) {
        return Err(BlurError::NotTwoDimensional);
    }
    let viewed = source.texture_view_descriptor.as_ref().and_then(|view| view.format);
    let format = viewed.unwrap_or(from.format);
    if fetch_of(format, device).is_none() {
        return Err(BlurError::UnsupportedSource(format));
    }
    if !is_renderable(format, adapter, device) {
        return Err(BlurError::UnsupportedTarget(format));
    }
    let mut target = Image::new_uninit(from.size, from.dimension, format, RenderAssetUsages::default());
    target.texture_descriptor.usage |= TextureUsages::RENDER_ATTACHMENT;
    if can_compute(adapter) && is_storable(format) {
        target.texture_descriptor.usage |= TextureUsages::STORAGE_BINDING;
    }
    target.sampler = source.sampler.clone();
    Ok(target)
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
