//! The render world: a target of the plugin's own shows its last result until the next one is there.
//!
//! When its asset changes, for a source of another size or format, Bevy makes an empty texture. The one with the last result goes
//! back into its place until a blur is recorded into the new one, because the source or a pipeline may be late. Which texture a blur
//! writes depends on what it must look like alone, not on what the asset has been in between: if no texture is as it must be, because the
//! source is not what its asset says either, one is made.

use super::request::{BlurId, ImageSpec};
use bevy::ecs::entity::EntityHashMap;
use bevy::platform::collections::{HashMap, HashSet};
use bevy::prelude::*;
use bevy::render::render_resource::TextureId;
use bevy::render::texture::GpuImage;

/// The textures of a target that the plugin allocated: images on the GPU, each with what tells its texture apart.
#[derive(Clone, Debug)]
pub struct OwnTarget<I = TextureId, T = GpuImage> {
    /// The target.
    pub id: Option<AssetId<Image>>,
    /// The one that holds the last result.
    written: Option<(I, T)>,
    /// The one that Bevy has made since.
    next: Option<(I, T)>,
    /// One that no asset describes.
    made: Option<(I, T)>,
}

impl<I, T> Default for OwnTarget<I, T> {
    fn default() -> Self {
        Self {
            id: None,
            written: None,
            next: None,
            made: None,
        }
    }
}

/// Forgets the jobs of blurs that are gone. A blur that begins anew has the target of its entity, and so the textures of that target.
pub fn begin_anew<J: Default, I, T>(
    jobs: &mut HashMap<BlurId, J>,
    live: &HashSet<BlurId>,
    own_target: impl Fn(&mut J) -> &mut OwnTarget<I, T>,
) {
    let gone = jobs.extract_if(|id, _| !live.contains(id));
    let mut gone: EntityHashMap<J> = gone.map(|(id, job)| (id.entity, job)).collect();
    for id in live {
        if let Some(gone) = gone.get_mut(&id.entity) {
            *own_target(jobs.entry(*id).or_default()) = core::mem::take(own_target(gone));
        }
    }
}

impl<I: PartialEq, T: Clone> OwnTarget<I, T> {
    /// Begins a frame. Of another target, no texture is known, and of one that is not the plugin's own, none matters.
    pub fn begin(&mut self, spec: &ImageSpec) {
        if self.id != Some(spec.target) || !spec.owns_target {
            *self = Self {
                id: Some(spec.target),
                ..Self::default()
            };
        }
    }

    /// Takes note of what Bevy shows.
    pub fn look(&mut self, id: I, shown: &T) {
        match &mut self.written {
            // Its sampler may be another one.
            Some((written, image)) if *written == id => image.clone_from(shown),
            _ => self.next = Some((id, shown.clone())),
        }
    }

    /// The image to write, made if there is none, and if that is possible. What was made is kept as long as it is wanted.
    pub fn choose(&mut self, is_wanted: impl Fn(&T) -> bool, make: impl FnOnce() -> Option<(I, T)>) -> Option<T> {
        let made = self.made.take().filter(|(_, image)| is_wanted(image));
        let mut known = [&self.written, &self.next].into_iter().flatten();
        if let Some((_, image)) = known.find(|(_, image)| is_wanted(image)) {
            return Some(image.clone());
        }
        self.made = made.or_else(make);
        self.made.as_ref().map(|(_, image)| image.clone())
    }

    /// The image to show in this frame, in which this one is `written`, or none, and whether it takes the place of another result.
    pub fn show(&mut self, written: Option<(I, T)>) -> Option<(&T, bool)> {
        let mut is_new = false;
        if let Some(written) = written {
            self.take(&written.0);
            is_new = self.written.as_ref().is_some_and(|(before, _)| *before != written.0);
            self.written = Some(written);
        }
        self.written.as_ref().map(|(_, image)| (image, is_new))
    }

    /// Notes that an image has been written. Returns it if another one was shown instead.
    pub fn take_written(&mut self, written: &I) -> Option<T> {
        let new = self.take(written)?;
        let image = new.1.clone();
        self.written.replace(new).map(|_| image)
    }

    fn take(&mut self, written: &I) -> Option<(I, T)> {
        let unwritten = [&mut self.next, &mut self.made].into_iter();
        unwritten
            .filter_map(|image| image.take_if(|(id, _)| id == written))
            .next()
    }
}
