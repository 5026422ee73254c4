//! The messages between the two halves of the image front end.

use super::excerpt::Excerpt;
use super::order::INPUTS;
use crate::diagnostics::label::BlurLabel;
use crate::errors::{BlurError, lock};
use crate::settings::{BlurAlpha, BlurProfile, BlurUpdate, GaussianBlur};
use bevy::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

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
    /// Incremented whenever the request names other images.
    pub subject: u64,
    /// The blurs that write the inputs and must run once before this one.
    pub feeders: Feeders,
}

/// The images that a blur reads: the source, and the mask of a profile.
pub type Inputs = [Option<AssetId<Image>>; INPUTS];

/// For every input, the blur that writes it, if this blur must wait for it.
pub type Feeders = [Option<Entity>; INPUTS];

/// The images that a blur of a source with a profile reads.
#[must_use]
pub fn inputs_of(source: AssetId<Image>, profile: &BlurProfile) -> Inputs {
    [Some(source), profile.mask()]
}

impl ImageRequest {
    /// The images that are read.
    pub fn inputs(&self) -> impl Iterator<Item = AssetId<Image>> {
        inputs_of(self.source, &self.profile).into_iter().flatten()
    }

    /// Whether source and target are one image.
    pub fn overwrites_source(&self) -> bool {
        self.source == self.target
    }

    /// Whether the picture before the blur is kept.
    pub fn keeps_source(&self) -> bool {
        self.overwrites_source() && self.update == BlurUpdate::OnChange
    }
}

/// The image blurs of this frame.
#[derive(Resource, Default)]
pub struct Requests {
    /// The blurs that may run in this frame, ordered so that every input is written before it is read.
    pub ordered: Vec<ImageRequest>,
    /// The entities that no longer have a blur.
    pub gone: Vec<Entity>,
    /// Whether results are on their way.
    pub are_awaited: bool,
}

impl Requests {
    /// Copies another list, without allocating.
    pub fn copy_from(&mut self, other: &Self) {
        self.ordered.clone_from(&other.ordered);
        self.gone.clone_from(&other.gone);
    }
}

/// What the render world reports.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// A blur has been submitted: its revision and its settings.
    Done(Entity, u64, GaussianBlur),
    Failed(Entity, BlurError),
    /// A target of the plugin's own has another texture since the asset changed.
    Shown(AssetId<Image>),
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

    /// Whether there is a failure to report.
    pub fn has_failures(&self) -> bool {
        let is_failure = |outcome: &Outcome| matches!(outcome, Outcome::Failed(..));
        lock(&self.0.outcomes).iter().any(is_failure)
    }

    pub fn push(&self, outcome: Outcome) {
        lock(&self.0.outcomes).push(outcome);
    }

    pub fn fail(&self, entity: Entity, error: BlurError) {
        self.push(Outcome::Failed(entity, error));
    }

    /// Moves all outcomes to the end of a list. Both keep their memory.
    pub fn take(&self, list: &mut Vec<Outcome>) {
        list.append(&mut lock(&self.0.outcomes));
    }
}
