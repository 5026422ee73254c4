//! When the pipelines of glass and filters are queued.
//!
//! Where threads compile, the general ones are queued when the app starts, after those of cameras, for the usual formats and for those
//! of all cameras. So glass and filters are ready when they appear. Where compiling blocks, and in apps that ask for it, the first
//! [`BackdropBlur`] or `UiFilter`, visible or not, queues them. The first shadow inside of a group queues what paints it, the first
//! [`BlurProfile`] beside one of these queues the pipelines for varying blurs, and the first [`BackdropLens`] queues the pipelines of
//! lenses.
//!
//! Where threads compile, no frame waits. What is shown until a pipeline is compiled is decided in [`draws`](super::draws).

use super::pipelines::{Mix, PaintPipelines, PaintSource};
use crate::formats::{CameraPicture, Ends, USUAL_PICTURES};
use crate::gpu::{BlurPreparer, BlurReadiness, WorkKind};
use crate::plan::Finish;
use crate::profiles::ShownProfiles;
use crate::settings::{BackdropBlur, BackdropLens, BlurProfile, COMPILING_BLOCKS, UiFilter};
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::render_resource::{PipelineCache, TextureFormat};

/// How the app has used glass and filters so far.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq)]
pub struct PaintUse {
    /// Whether both are expected before they are used.
    pub is_expected: bool,
    glass: bool,
    varying_glass: bool,
    filters: bool,
    varying_filters: bool,
    /// Whether there was a shadow inside of a group.
    insets: bool,
    has_lenses: bool,
}

impl PaintUse {
    /// Nothing has been used so far. Where compiling blocks, nothing is expected either.
    pub fn new(is_expected: bool) -> Self {
        Self {
            is_expected: is_expected && !COMPILING_BLOCKS,
            ..default()
        }
    }
}

type UsedNode = (
    Has<BackdropBlur>,
    Has<BackdropLens>,
    Option<&'static UiFilter>,
    Has<BlurProfile>,
);

type GlassOrFilter = Or<(With<BackdropBlur>, With<UiFilter>)>;

/// Looks for the first glass and the first filter of the app, and the first that varies or refracts. Glass may begin to vary when all
/// pipelines are compiled that an earlier frame has queued for that.
pub fn extract_use(
    mut used: ResMut<PaintUse>,
    mut profiles: ResMut<ShownProfiles>,
    readiness: Res<BlurReadiness>,
    nodes: Extract<Query<UsedNode, GlassOrFilter>>,
) {
    profiles.glass_may_vary = used.varying_glass && readiness.is_ready();
    let mut now = *used;
    for (is_glass, refracts, filter, varies) in &nodes {
        now.glass |= is_glass;
        now.varying_glass |= is_glass && varies;
        now.has_lenses |= is_glass && refracts;
        now.filters |= filter.is_some();
        now.varying_filters |= filter.is_some() && varies;
        now.insets = now.insets || filter.is_some_and(UiFilter::has_insets);
    }
    used.set_if_neq(now);
}

/// Queues what blurs pictures of a format, for the front end to do the last step.
fn announce_blurs(preparer: &mut BlurPreparer, format: TextureFormat, kinds: &[WorkKind], varies: bool) {
    let varying = varies.then_some(WorkKind::Vary);
    for kind in kinds.iter().copied().chain(varying) {
        for is_light in [false, true] {
            let ends = Ends::of_camera(format, is_light);
            preparer.announce(ends, kind, Finish::Defer);
        }
    }
}

/// Queues the pipelines of every camera, with or without glass and filters.
pub fn announce(
    used: Res<PaintUse>,
    cameras: Query<CameraPicture>,
    mut pipelines: ResMut<PaintPipelines>,
    mut preparer: BlurPreparer,
    mut formats: Local<Vec<TextureFormat>>,
) {
    // In the first frame, cameras are the first to queue their pipelines.
    let is_expected = used.is_expected && preparer.pipelines.moment[1] > 0;
    let usual = USUAL_PICTURES.into_iter().filter(|_| is_expected);
    let of_cameras = cameras.iter().flat_map(|picture| picture.formats());
    formats.clear();
    for format in usual.chain(of_cameras) {
        if !formats.contains(&format) {
            formats.push(format);
        }
    }
    for format in formats.iter().copied() {
        if (used.glass || is_expected) && pipelines.mixes(format).is_some() {
            pipelines.announce(format, &Mix::GLASS, &PaintSource::FLAT, &mut preparer);
            // A blur that is too weak to show is a copy.
            let kinds = [WorkKind::Blur, WorkKind::Copy];
            announce_blurs(&mut preparer, format, &kinds, used.varying_glass);
        }
        if used.has_lenses {
            pipelines.announce(format, &Mix::READING, &PaintSource::REFRACTED, &mut preparer);
        }
        if (used.filters || is_expected) && pipelines.takes_groups(format) {
            let mixes = &[Mix::Over, Mix::Keep, Mix::Atop][..2 + usize::from(used.insets)];
            pipelines.announce(format, mixes, &PaintSource::FLAT, &mut preparer);
            pipelines.announce(format, &[Mix::Line], &[PaintSource::Sharp], &mut preparer);
            announce_blurs(&mut preparer, format, &[WorkKind::Blur], used.varying_filters);
        }
    }
}

/// Where compiling blocks, it may as well happen at once: then the first frame with glass shows it.
pub fn compile_at_once(mut cache: ResMut<PipelineCache>, used: Res<PaintUse>) {
    if COMPILING_BLOCKS && used.is_changed() {
        cache.process_queue();
    }
}
