//! Every label and span name the crate uses, the paths under which its figures appear, and the figures on their way from the render
//! world. The resources of these exist only if the diagnostics plugin does.

use crate::mailbox::Mailbox;
use crate::settings::BackdropLayer;
use bevy::diagnostic::DiagnosticPath;
use bevy::prelude::*;
use std::sync::Arc;

/// The span of the passes that halve the resolution.
pub const DOWNSAMPLE: &str = "downsample";
/// The span of the horizontal convolution.
pub const HORIZONTAL: &str = "horizontal";
/// The span of the vertical convolution.
pub const VERTICAL: &str = "vertical";
/// The span of both convolutions in one pass.
pub const BLUR: &str = "blur";
/// The span of the interpolation at full resolution.
pub const UPSAMPLE: &str = "upsample";
/// The span of the sums of the sharp picture, where the blur of a [`BlurProfile`](crate::BlurProfile) is weak; compute
/// passes.
pub const GATHER: &str = "gather";
/// The span of the pass that blends blurs of several strengths for a [`BlurProfile`](crate::BlurProfile).
pub const BLEND: &str = "blend";
/// The span of a pass that only copies: an image whose blur is too weak to show, the picture or the result of a
/// [frozen](crate::FreezeBlur) camera, or, with render passes, the sharp picture of a blur that varies in place.
pub const COPY: &str = "copy";

/// All spans of passes, in the order in which they run.
pub const PASSES: [&str; 8] = [COPY, DOWNSAMPLE, HORIZONTAL, VERTICAL, BLUR, UPSAMPLE, GATHER, BLEND];

/// The bytes of the intermediate textures of all blurs, and of the pictures and results of [frozen](crate::FreezeBlur)
/// ones. The copies that blurs in place keep of their images, and those that padding needs, do not count.
pub const TEXTURE_BYTES: DiagnosticPath = DiagnosticPath::const_new("gaussian_blur/texture_bytes");

/// The name of an entity's blur among the diagnostics.
///
/// The plugin adds it to every entity with a [`GaussianBlur`](crate::prelude::GaussianBlur). It is the entity's
/// [`Name`], with `/` replaced by `_`. Without a name it is `blur-<index>`; entities that share a name get the suffix
/// `-<index>`.
///
/// Times are in milliseconds. All figures need
/// [`GaussianBlurDiagnosticsPlugin`](crate::prelude::GaussianBlurDiagnosticsPlugin). If the GPU has no timestamps, its
/// times are absent.
///
/// ```
/// use bevy_gaussian_blur::diagnostics::{BlurLabel, HORIZONTAL};
///
/// let label = BlurLabel::new("Main camera");
/// assert_eq!(label.elapsed_gpu().as_str(), "render/gaussian_blur/Main camera/elapsed_gpu");
/// assert_eq!(
///     label.pass_elapsed_gpu(HORIZONTAL).as_str(),
///     "render/gaussian_blur/Main camera/horizontal/elapsed_gpu"
/// );
/// ```
#[derive(Component, Clone, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub struct BlurLabel(Arc<str>);

impl BlurLabel {
    /// The label of the only entity of this name.
    pub fn new(name: &str) -> Self {
        Self(name.replace('/', "_").into())
    }

    /// The label of an entity without a name.
    pub(crate) fn of_entity(entity: Entity) -> Self {
        Self::new(&format!("blur-{}", entity.index()))
    }

    /// The label of the glass of a camera's nodes, those with a [`BackdropBlur`](crate::BackdropBlur):
    /// `backdrop-<index>`.
    ///
    /// The camera entity does not carry it, because it may have its own blur. The [whole](Self::elapsed_gpu) time
    /// includes what is drawn between two groups of panels.
    pub fn of_nodes(camera: Entity) -> Self {
        Self::new(&format!("backdrop-{}", camera.index()))
    }

    /// The label of the glass of a camera's [`BackdropRegion`](crate::BackdropRegion)s in one layer:
    /// `backdrop-<index>-below-ui` or `backdrop-<index>-above-ui`.
    pub fn of_regions(camera: Entity, layer: BackdropLayer) -> Self {
        let layer = match layer {
            BackdropLayer::BelowUi => "below-ui",
            BackdropLayer::AboveUi => "above-ui",
        };
        Self::new(&format!("backdrop-{}-{layer}", camera.index()))
    }

    /// The label of the filtered groups of a camera's user interface, those with a `UiFilter`: `filters-<index>`.
    ///
    /// Painting the groups counts, too.
    pub fn of_filters(camera: Entity) -> Self {
        Self::new(&format!("filters-{}", camera.index()))
    }

    /// The label itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The GPU time of the whole blur.
    #[must_use]
    pub fn elapsed_gpu(&self) -> DiagnosticPath {
        self.path(&["elapsed_gpu"])
    }

    /// The CPU time of encoding the blur.
    #[must_use]
    pub fn elapsed_cpu(&self) -> DiagnosticPath {
        self.path(&["elapsed_cpu"])
    }

    /// The GPU time of the passes of one span, one of [`PASSES`].
    #[must_use]
    pub fn pass_elapsed_gpu(&self, pass: &str) -> DiagnosticPath {
        self.path(&[pass, "elapsed_gpu"])
    }

    /// The CPU time of encoding the passes of one span, one of [`PASSES`].
    #[must_use]
    pub fn pass_elapsed_cpu(&self, pass: &str) -> DiagnosticPath {
        self.path(&[pass, "elapsed_cpu"])
    }

    /// How many panels of glass are visible. For [glass](Self::of_nodes) only, like the next two.
    #[must_use]
    pub fn panels(&self) -> DiagnosticPath {
        self.path(&["panels"])
    }

    /// In how many groups the panels are blurred: panels with nothing between them share a group.
    #[must_use]
    pub fn groups(&self) -> DiagnosticPath {
        self.path(&["groups"])
    }

    /// How many texels the passes of the panels' blurs write, without the glass itself.
    #[must_use]
    pub fn texels(&self) -> DiagnosticPath {
        self.path(&["texels"])
    }

    /// The span that a blur of this label is recorded in.
    pub(crate) fn span(&self) -> String {
        format!("gaussian_blur/{}", self.0)
    }

    pub(crate) fn path(&self, fields: &[&str]) -> DiagnosticPath {
        let whole = ["render", "gaussian_blur", self.as_str()];
        DiagnosticPath::from_components(whole.into_iter().chain(fields.iter().copied()))
    }
}

/// The bytes of the textures of the last frame: one number.
pub type TextureBytes = Mailbox<u64>;

/// The glass of one layer of a camera in one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BackdropFigures {
    /// The visible backdrops.
    pub backdrops: usize,
    /// How many times the picture is read: backdrops of a group are blurred together.
    pub groups: usize,
    /// The texels that the passes of the blurs write; the glass itself is not among them.
    pub texels: u64,
}

/// All glass of the last prepared frame.
pub type BackdropCounts = Mailbox<(BlurLabel, BackdropFigures)>;
