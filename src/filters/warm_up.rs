//! When the pipelines of filters are queued, and which frames wait for them.
//!
//! The rules are the same as for glass. The first [`UiFilter`] of an app, visible or not, queues the pipelines for every camera.
//! The first [`BlurProfile`] beside a [`UiFilter`] queues the pipelines for varying blurs, too. Frames with filtered groups wait
//! for their pipelines for a limited time. After that time, groups are painted unfiltered until their pipelines are compiled.

use super::clips::FilterSwitch;
use super::extract::{ExtractedFilter, ExtractedFilters};
use super::pipelines::{FilterPipelines, takes_groups};
use crate::backdrop::pipelines::BackdropPipelines;
use crate::backdrop::wait;
use crate::formats::{CameraPicture, Ends};
use crate::gpu::{BlurPipelines, BlurPreparer, BlurReadiness, Uses, WorkKind};
use crate::plan::{Finish, blurs};
use crate::settings::{BlurCompilation, BlurProfile, UiFilter};
use bevy::platform::collections::HashSet;
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::render_resource::{PipelineCache, TextureFormat};
use core::time::Duration;

/// How the app has used filters so far. Recreated with the render device.
#[derive(Resource, Default)]
pub struct FilterUse {
    /// Whether there has been any filter.
    is_used: bool,
    /// Whether there has been any filter with a profile.
    varies: bool,
    /// How long frames may still wait: zero before blurs are ready for the first time.
    patience: Duration,
    /// The formats of the cameras that have shown filtered groups.
    formats: HashSet<TextureFormat>,
}

type VaryingFilter = (With<UiFilter>, With<BlurProfile>);

/// Looks for the first filter of the app, and the first that varies.
pub fn extract_use(
    mut filters: ResMut<FilterUse>,
    any: Extract<Query<(), With<UiFilter>>>,
    varying: Extract<Query<(), VaryingFilter>>,
) {
    filters.is_used = filters.is_used || !any.is_empty();
    filters.varies = filters.varies || !varying.is_empty();
}

/// Queues the pipelines of every camera, with or without filters.
pub fn announce_filters(
    filters: Res<FilterUse>,
    cameras: Query<CameraPicture>,
    cache: Res<PipelineCache>,
    (mut pipelines, backdrops): (ResMut<FilterPipelines>, Res<BackdropPipelines>),
    mut preparer: BlurPreparer,
) {
    if !filters.is_used {
        return;
    }
    let formats = cameras.iter().flat_map(|picture| picture.formats());
    for format in formats.filter(|format| takes_groups(&backdrops, *format)) {
        for id in pipelines.announce(format, &cache) {
            preparer.wait_for(id);
        }
        for Uses { ends, kind, finish } in filters.uses_on(format) {
            preparer.announce(ends, kind, finish);
        }
    }
}

/// Lets the main world filter groups if this frame could, or would wait until it can.
pub fn switch_filters(
    mut used: ResMut<FilterUse>,
    filters: Res<ExtractedFilters>,
    cameras: Query<CameraPicture>,
    (pipelines, filter_pipelines, cache): (Res<BlurPipelines>, Res<FilterPipelines>, Res<PipelineCache>),
    (readiness, compilation, switch): (Res<BlurReadiness>, Res<BlurCompilation>, Res<FilterSwitch>),
    backdrops: Res<BackdropPipelines>,
) {
    // Blurs were ready at the end of the last frame.
    if readiness.is_ready() {
        used.patience = compilation.longest_wait;
    }
    for filters in filters.of_cameras() {
        let Ok(camera) = cameras.get(filters[0].picture.camera) else {
            continue;
        };
        let format = camera.view.target_format;
        if takes_groups(&backdrops, format) {
            used.formats.insert(format);
        } else {
            let entity = filters[0].entity;
            warn_once!("the UiFilter of entity {entity}: no group can be painted on its camera's picture, {format:?}");
        }
    }
    // Other blurs may be missing pipelines.
    let are_compiled = |format: &TextureFormat| {
        let others = filter_pipelines.of_format(*format);
        pipelines.are_compiled(used.uses_on(*format), others, &cache)
    };
    let is_ready = || !used.formats.is_empty() && used.formats.iter().all(are_compiled);
    switch.set(readiness.is_ready() || !used.patience.is_zero() || is_ready());
}

impl FilterUse {
    /// The [`Uses`] by which the blurs of groups on pictures of a format are announced.
    fn uses_on(&self, format: TextureFormat) -> impl Iterator<Item = Uses> + use<> {
        let kinds = [(WorkKind::Blur, true), (WorkKind::Vary, self.varies)];
        let kinds = kinds.into_iter().filter(|(_, is_used)| *is_used);
        kinds.flat_map(move |(kind, _)| {
            [false, true].map(|is_light| Uses {
                ends: Ends::of_camera(format, is_light),
                kind,
                finish: Finish::Defer,
            })
        })
    }
}

/// Waits until the groups of this frame can be drawn.
pub fn wait_for_filters(
    mut used: ResMut<FilterUse>,
    cameras: Query<CameraPicture>,
    filters: Res<ExtractedFilters>,
    pipelines: Res<BlurPipelines>,
    filter_pipelines: Res<FilterPipelines>,
    mut cache: ResMut<PipelineCache>,
) {
    if used.patience.is_zero() || filters.0.is_empty() || !pipelines.are_any_missing() {
        return;
    }
    let seen = || {
        let format = |filter: &ExtractedFilter| Some(cameras.get(filter.picture.camera).ok()?.view.target_format);
        let filters = filters.0.iter().filter(|filter| filter.opacity > 0.0);
        filters.filter_map(move |filter| Some((filter, format(filter)?)))
    };
    let are_compiling = |cache: &PipelineCache| {
        let uses =
            seen().flat_map(|(filter, format)| uses_of(filter, Ends::of_camera(format, filter.picture.is_light)));
        let others = seen().flat_map(|(_, format)| filter_pipelines.of_format(format));
        pipelines.are_compiling(uses, others, cache)
    };
    wait(&mut used.patience, &mut cache, are_compiling);
}

/// The [`Uses`] by which the blurs of a group are announced. The shadows of a blur that varies are blurs of its result.
fn uses_of(filter: &ExtractedFilter, ends: Ends) -> impl Iterator<Item = Uses> {
    let varies = filter.profile.is_some() && blurs(filter.sigma);
    let is_uniform = !varies || !filter.shadows.is_empty();
    let kinds = [(WorkKind::Vary, varies), (WorkKind::Blur, is_uniform)];
    let kinds = kinds.into_iter().filter(|(_, is_used)| *is_used);
    kinds.map(move |(kind, _)| Uses {
        ends,
        kind,
        finish: Finish::Defer,
    })
}
