//! What the main world remembers of every blurred image from frame to frame.

use super::request::{Inputs, inputs_of};
use crate::errors::{BlurError, Reported};
use crate::gpu::ViewInfo;
use crate::image_changes::ImageChanges;
use crate::settings::{BlurImage, BlurProfile, BlurUpdate, GaussianBlur};
use bevy::asset::LoadState;
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;

/// The images of an app, and those that are on their way.
#[derive(SystemParam)]
pub struct Images<'w> {
    pub assets: Res<'w, Assets<Image>>,
    server: Res<'w, AssetServer>,
}

/// The image that a blur writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    pub id: AssetId<Image>,
    /// Whether the plugin allocated it.
    pub is_own: bool,
    /// Whether it was created in this frame, and is empty.
    pub is_new: bool,
}

impl Target {
    /// A target that already existed.
    pub fn there(id: AssetId<Image>, is_own: bool) -> Self {
        let is_new = false;
        Self { id, is_own, is_new }
    }
}

/// What the main world remembers of a blurred image.
#[derive(Component)]
#[component(clone_behavior = Ignore)]
pub struct Follow {
    /// The last requested blur, and the last executed one.
    pub revision: u64,
    pub carried_out: u64,
    /// The last request that the render world could not carry out.
    pub failed: u64,
    /// See [`ImageRequest`](super::request::ImageRequest).
    pub uploads: u64,
    pub subject: u64,
    /// The settings that were seen last.
    pub blur: GaussianBlur,
    pub profile: BlurProfile,
    pub inputs: Inputs,
    /// The target that was named last, unless it is the plugin's own.
    named: Option<AssetId<Image>>,
    /// What has changed since the last request.
    pub news: News,
    /// The inputs that existed at some time.
    pub known: Inputs,
    /// The source and the target of the last request.
    images: Option<[AssetId<Image>; 2]>,
    /// The target, `None` while there is none, or why there cannot be one.
    pub target: Result<Option<Target>, BlurError>,
    /// What the source and the target looked like when the target was fitted.
    pub fitted: [Option<ViewInfo>; 2],
    /// Whether the blur may run in this frame.
    pub is_active: bool,
    /// What has been reported about the strength, the profile, and everything else.
    pub strength: Reported,
    pub shape: Reported,
    pub failures: Reported,
}

/// Follows new blurs.
pub fn follow_new(mut commands: Commands, new: Query<Entity, (With<BlurImage>, Without<Follow>)>) {
    for entity in &new {
        commands.entity(entity).try_insert(Follow::default());
    }
}

/// What has changed about a blur since it was requested last. Each includes the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum News {
    Nothing,
    /// The strength or the profile.
    Settings,
    /// [`BlurImage`].
    Image,
}

impl Default for Follow {
    fn default() -> Self {
        Self {
            revision: 0,
            carried_out: 0,
            failed: 0,
            uploads: 0,
            subject: 0,
            blur: GaussianBlur::default(),
            profile: BlurProfile::Uniform,
            inputs: [None; 2],
            named: None,
            news: News::Image,
            known: [None; 2],
            images: None,
            target: Ok(None),
            fitted: [None; 2],
            is_active: true,
            strength: Reported::default(),
            shape: Reported::default(),
            failures: Reported::default(),
        }
    }
}

impl Follow {
    /// Whether the last requested blur has yet to run.
    pub fn is_pending(&self) -> bool {
        self.revision == 0 || self.revision != self.carried_out || self.news == News::Image
    }

    /// Whether there is nothing to do until something changes.
    pub fn rests(&self) -> bool {
        !self.is_pending() && self.news == News::Nothing && !self.failures.is_failing()
    }

    /// Whether a result, or a failure, is on its way.
    pub fn is_awaited(&self) -> bool {
        self.is_pending() && self.failed != self.revision && !self.failures.is_failing()
    }

    /// Whether it has no result yet, and may get one: blurs that read its target wait for it.
    pub fn starts(&self) -> bool {
        self.carried_out == 0 && !self.failures.is_failing()
    }

    /// The image that is written.
    pub fn writes(&self) -> Option<AssetId<Image>> {
        self.target.as_ref().ok().copied().flatten().map(|target| target.id)
    }

    /// A target that was created in an earlier frame is no longer new.
    pub fn keep_target(&mut self) {
        if let Ok(Some(target)) = &mut self.target {
            target.is_new = false;
        }
    }

    /// Takes note of what has changed, and decides whether the blur may run in this frame, apart from other blurs.
    pub fn watch(
        &mut self,
        blur: &Ref<GaussianBlur>,
        image: &Ref<BlurImage>,
        profile: Option<&Ref<BlurProfile>>,
        changes: &ImageChanges,
        images: &Images,
    ) {
        if blur.is_changed() && !self.blur.is_same(blur) {
            self.blur = **blur;
            self.news = self.news.max(News::Settings);
        }
        let is_other_profile = self.take_profile(profile);
        if is_other_profile {
            self.news = self.news.max(News::Settings);
        }
        if image.is_changed() {
            self.news = News::Image;
        }
        if image.is_changed() || is_other_profile {
            self.name_images(image);
        }
        self.is_active = !self.rests() || image.update == BlurUpdate::EveryFrame;
        if !changes.are_none() {
            self.is_active |= image.update == BlurUpdate::OnChange && self.is_painted(changes);
            self.note_modified(changes, &images.assets);
        }
    }

    /// Notes modified assets.
    fn note_modified(&mut self, changes: &ImageChanges, images: &Assets<Image>) {
        let [source, mask] = self.inputs;
        for id in [source, mask, self.writes()].into_iter().flatten() {
            if changes.is_modified(id) {
                self.is_active = true;
                // Its pixels are on their way to the GPU.
                let is_uploaded = mask != Some(id) && images.get(id).is_some_and(|image| image.data.is_some());
                self.uploads += u64::from(is_uploaded);
            }
        }
    }

    fn is_painted(&self, changes: &ImageChanges) -> bool {
        self.inputs.iter().flatten().any(|id| changes.is_painted(*id))
    }

    /// Copies a profile. Returns whether it has changed.
    fn take_profile(&mut self, profile: Option<&Ref<BlurProfile>>) -> bool {
        const UNIFORM: &BlurProfile = &BlurProfile::Uniform;
        let profile = match profile {
            Some(profile) if profile.is_changed() => profile,
            Some(_) => return false,
            None => UNIFORM,
        };
        let is_new = !self.profile.is_like(profile);
        if is_new {
            self.profile = profile.clone();
        }
        is_new
    }

    /// Takes the images that the settings name. The failure of a blur of other images is new.
    fn name_images(&mut self, image: &BlurImage) {
        let is_own = |id: &AssetId<Image>| matches!(self.target, Ok(Some(target)) if target.is_own && target.id == *id);
        let named = image.target.as_ref().map(Handle::id).filter(|id| !is_own(id));
        let inputs = inputs_of(image.source.id(), &self.profile);
        if (self.inputs, self.named) != (inputs, named) {
            (self.inputs, self.named) = (inputs, named);
            self.subject += 1;
            self.failures = Reported::default();
        }
    }

    /// Whether a missing input is loading.
    pub fn loads(&self, images: &Images) -> bool {
        let missing = self
            .inputs
            .into_iter()
            .zip(self.known)
            .filter(|(input, known)| input != known);
        let mut missing = missing.filter_map(|(input, _)| input);
        missing.any(|id| matches!(images.server.get_load_state(id), Some(LoadState::Loading)))
    }

    /// Whether all inputs exist, on the GPU or on their way.
    pub fn look_for_inputs(&mut self, images: &Images) -> Result<bool, BlurError> {
        // An asset that was removed to save memory may still exist on the GPU.
        let is_there = |id: &AssetId<Image>| images.assets.contains(*id) || self.known.contains(&Some(*id));
        let found = self.inputs.map(|input| input.filter(is_there));
        self.known = found;
        let errors = [BlurError::SourceNotLoaded, BlurError::MaskNotLoaded];
        for ((input, found), error) in self.inputs.into_iter().zip(found).zip(errors) {
            let missing = input.filter(|_| found.is_none());
            if missing.is_some_and(|id| matches!(images.server.get_load_state(id), Some(LoadState::Failed(_)))) {
                return Err(error);
            }
        }
        Ok(found == self.inputs)
    }

    /// Checks that the images which exist reach the GPU.
    pub fn check_reach(&self, images: &Assets<Image>) -> Result<(), BlurError> {
        let written = self.writes();
        for (id, name) in self
            .inputs
            .into_iter()
            .chain([written])
            .zip(["source", "mask", "target"])
        {
            if let Some(image) = id.and_then(|id| images.get(id)) {
                BlurError::check_reach(name, image.asset_usage)?;
            }
        }
        Ok(())
    }

    /// Forgets that the blur has been requested.
    pub fn start_over(&mut self) {
        self.news = News::Image;
    }

    /// Increments the counters as the changes of a frame require.
    pub fn update(&mut self, update: BlurUpdate, target: Target, changes: &ImageChanges) {
        let [source, mask] = self.inputs;
        let images = source.map(|source| [source, target.id]);
        let is_other = self.images != images;
        let are_modified = || {
            let mut all = [source, mask, Some(target.id)].into_iter().flatten();
            all.any(|id| changes.is_modified(id))
        };
        let is_due = match update {
            BlurUpdate::EveryFrame | BlurUpdate::OnChange => {
                self.news > News::Nothing || is_other || target.is_new || are_modified()
            }
            // An empty target must not stay empty.
            BlurUpdate::Once => self.news == News::Image || self.revision == 0 || target.is_new,
        };
        self.revision += u64::from(is_due);
        self.uploads += u64::from(is_other);
        self.images = images;
        self.news = News::Nothing;
    }
}
