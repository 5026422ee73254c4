//! The messages between the two halves of the image front end.

use super::excerpt::Excerpt;
use super::order::INPUTS;
use crate::diagnostics::label::BlurLabel;
use crate::errors::BlurError;
use crate::mailbox::Mailbox;
use crate::settings::{BlurAlpha, BlurProfile, BlurUpdate, GaussianBlur};
use bevy::platform::collections::HashSet;
use bevy::prelude::*;

/// One insertion of the components of an image blur. Outcomes name it, so that they do not fit the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlurId {
    pub entity: Entity,
    pub number: u64,
}

/// One image blur, for the render world.
#[derive(Clone, Debug)]
pub struct ImageRequest {
    pub id: BlurId,
    pub label: BlurLabel,
    pub spec: ImageSpec,
    /// Incremented whenever a blur is due.
    pub revision: u64,
    /// The blurs that write the inputs and must run once before this one.
    pub feeders: Feeders,
    /// Whether the result is read back.
    pub wants_pixels: bool,
}

/// What a blur of an image wants, by value.
#[derive(Clone, Debug, Default)]
pub struct ImageSpec {
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
    /// Numbers of the contents of the source, the mask and the target.
    pub contents: [u64; 3],
    /// A number of the pixels of the source that were uploaded to the GPU.
    pub pixels: u64,
}

/// The images that a blur reads: the source, and the mask of a profile.
pub type Inputs = [Option<AssetId<Image>>; INPUTS];

/// For every input, the blur that writes it, if this blur must wait for it.
pub type Feeders = [Option<BlurId>; INPUTS];

/// The images that a blur of a source with a profile reads.
#[must_use]
pub fn inputs_of(source: AssetId<Image>, profile: &BlurProfile) -> Inputs {
    [Some(source), profile.mask()]
}

impl ImageSpec {
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

    /// Whether the blur runs once.
    pub fn is_single(&self) -> bool {
        self.update == BlurUpdate::Once
    }

    /// Whether both want one result. NaN equals itself.
    pub fn is_same(&self, other: &Self) -> bool {
        let images = |spec: &Self| (spec.source, spec.target, spec.owns_target, spec.contents, spec.pixels);
        let settings = |spec: &Self| (spec.excerpt, spec.alpha, spec.dither, spec.update);
        images(self) == images(other)
            && settings(self) == settings(other)
            && self.blur.is_same(&other.blur)
            && self.profile.is_like(&other.profile)
    }
}

/// The image blurs of this frame.
#[derive(Resource, Default)]
pub struct Requests {
    /// The blurs that may run in this frame, ordered so that every input is written before it is read.
    pub ordered: Vec<ImageRequest>,
    /// All blurs, requested or not. The render world forgets all others.
    pub live: HashSet<BlurId>,
    /// A number that changes with `live`.
    pub set: u64,
    /// Whether results or pixels are on their way.
    pub are_awaited: bool,
    /// In the render world: when each blur is recorded, and whether a camera paints an input.
    pub times: Vec<(Time, bool)>,
}

/// A time in a frame. Times of cameras are numbered in the order in which cameras render.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Time {
    BeforeCameras,
    After { index: usize, camera: Entity },
    AfterCameras,
}

impl Requests {
    /// The blurs of this frame, each with its time, and whether a camera paints an input.
    pub fn timed(&self) -> impl Iterator<Item = (&ImageRequest, (Time, bool))> {
        self.ordered.iter().zip(self.times.iter().copied())
    }

    /// Copies another list, without allocating.
    pub fn copy_from(&mut self, other: &Self) {
        self.ordered.clone_from(&other.ordered);
        if self.set != other.set {
            self.set = other.set;
            self.live.clone_from(&other.live);
        }
    }
}

/// What the render world reports of requests, by their revisions.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// A blur has been submitted, with its settings.
    Done {
        id: BlurId,
        revision: u64,
        blur: GaussianBlur,
    },
    /// A blur cannot run. That is reported in every frame in which it could.
    Failed {
        id: BlurId,
        revision: u64,
        error: BlurError,
    },
    /// A target of the plugin's own has another texture since the asset changed.
    Shown(AssetId<Image>),
    /// There is another render device. All results are lost with the one before.
    DeviceLost,
}

/// The outcomes of requests on a render device.
pub type Outcomes = Mailbox<Outcome>;

impl Outcomes {
    /// There is another render device. What happened on the one before does not matter any more.
    pub fn start_over(&self) {
        self.replace([Outcome::DeviceLost]);
    }

    pub fn finish(&self, request: &ImageRequest) {
        self.push(Outcome::Done {
            id: request.id,
            revision: request.revision,
            blur: request.spec.blur,
        });
    }

    pub fn fail(&self, request: &ImageRequest, error: BlurError) {
        self.push(Outcome::Failed {
            id: request.id,
            revision: request.revision,
            error,
        });
    }
}
