//! The messages between the two halves of the image front end.

use super::excerpt::Excerpt;
use crate::diagnostics::label::BlurLabel;
use crate::errors::{BlurError, Reported};
use crate::settings::{BlurAlpha, BlurProfile, BlurUpdate, GaussianBlur};
use bevy::platform::collections::{HashMap, HashSet};
use bevy::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One image blur, for the render world.
#[derive(Clone, Debug)]
pub struct ImageRequest {
    pub entity: Entity,
    pub label: BlurLabel,
    pub blur: GaussianBlur,
    pub profile: BlurProfile,
    pub source: AssetId<Image>,
    pub target: AssetId<Image>,
    /// Whether the plugin allocated the target, and fits it to the source.
    pub owns_target: bool,
    /// What is blurred of the source.
    pub excerpt: Excerpt,
    pub alpha: BlurAlpha,
    pub dither: bool,
    pub update: BlurUpdate,
    /// Incremented whenever a blur is due.
    pub revision: u64,
    /// Incremented whenever pixels of the source or the target are uploaded to the GPU.
    pub uploads: u64,
    /// The blurs that write the inputs and must run once before this one.
    pub feeders: Feeders,
}

/// The images that a blur reads: the source, and the mask of a profile.
pub type Inputs = [Option<AssetId<Image>>; 2];

/// For every input, the blur that writes it, if this blur must wait for it.
pub type Feeders = [Option<Entity>; 2];

/// The images that a blur of a source with a profile reads.
#[must_use]
pub fn inputs_of(source: AssetId<Image>, profile: &BlurProfile) -> Inputs {
    let mask = match profile {
        BlurProfile::Mask(mask) => Some(mask.id()),
        _ => None,
    };
    [Some(source), mask]
}

impl ImageRequest {
    /// The images that are read.
    pub fn inputs(&self) -> impl Iterator<Item = AssetId<Image>> {
        inputs_of(self.source, &self.profile).into_iter().flatten()
    }

    /// Whether source and target are one image.
    pub fn is_in_place(&self) -> bool {
        self.source == self.target
    }

    /// Whether the picture before the blur is kept.
    pub fn keeps_source(&self) -> bool {
        self.is_in_place() && self.update == BlurUpdate::OnChange
    }
}

/// The image blurs of this frame.
#[derive(Resource, Default)]
pub struct Requests {
    /// The blurs that can run, ordered so that every source is blurred before it is read.
    pub ordered: Vec<ImageRequest>,
    /// All entities with a blurred image, including those that wait for their source.
    pub alive: HashSet<Entity>,
}

impl Requests {
    /// Copies another list, without allocating.
    pub fn copy_from(&mut self, other: &Self) {
        self.ordered.clone_from(&other.ordered);
        self.alive.clone_from(&other.alive);
    }
}

/// The outcome of a request.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub entity: Entity,
    /// The revision and the settings that were submitted.
    pub result: Result<(u64, GaussianBlur), BlurError>,
}

/// The outcomes of requests, on their way from the render world to the main world.
#[derive(Resource, Clone, Default)]
pub struct Outcomes(Arc<Shared>);

#[derive(Default)]
struct Shared {
    outcomes: Mutex<Vec<Outcome>>,
    device_is_new: AtomicBool,
}

impl Outcomes {
    /// Reports that all results are lost with their device.
    pub fn start_over(&self) {
        self.0.device_is_new.store(true, Ordering::Release);
    }

    /// Whether all results were lost since the last call.
    pub fn has_started_over(&self) -> bool {
        self.0.device_is_new.swap(false, Ordering::AcqRel)
    }

    pub fn push(&self, outcome: Outcome) {
        self.lock().push(outcome);
    }

    pub fn fail(&self, entity: Entity, error: BlurError) {
        let result = Err(error);
        self.push(Outcome { entity, result });
    }

    /// Moves all outcomes to the end of a list. Both keep their memory.
    pub fn take(&self, list: &mut Vec<Outcome>) {
        list.append(&mut self.lock());
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Outcome>> {
        self.0.outcomes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the main world remembers of every blurred image from frame to frame.
#[derive(Resource, Default)]
pub struct Followed(pub HashMap<Entity, Follow>);

/// What the main world remembers of a blurred image.
#[derive(Default)]
pub struct Follow {
    /// The last requested blur, and the last executed one.
    pub revision: u64,
    pub carried_out: u64,
    /// See [`ImageRequest::uploads`].
    pub uploads: u64,
    /// The profile of the last request.
    pub profile: BlurProfile,
    /// Whether [`BlurImage`](crate::settings::BlurImage) and the strength have changed since the last request.
    pub image_changed: bool,
    pub settings_changed: bool,
    /// Whether pixels of the source or the target have been uploaded since the last request.
    pub uploaded: bool,
    /// The inputs that existed at some time.
    pub known: Inputs,
    /// The source and target of the last request.
    pub images: Option<(AssetId<Image>, AssetId<Image>)>,
    /// What has been reported about the strength, the profile, and everything else.
    pub strength: Reported,
    pub shape: Reported,
    pub failures: Reported,
}

impl Follow {
    /// Whether the last requested blur has yet to run.
    pub fn is_pending(&self) -> bool {
        self.revision == 0 || self.revision != self.carried_out || self.image_changed
    }
}
