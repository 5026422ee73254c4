//! Counts the glass of every camera, where somebody wants to know.

use super::extract::Panels;
use super::groups::Group;
use super::jobs::GlassJobs;
use super::views::{ViewGroups, Views};
use crate::diagnostics::glass::{GlassCounts, GlassFigures};
use crate::diagnostics::label::BlurLabel;
use crate::gpu::BlurJob;
use crate::settings::BackdropLayer;
use bevy::prelude::*;
use bevy::render::sync_world::MainEntity;

/// Counts what will be encoded in this frame.
pub fn count_glass(
    counts: Option<Res<GlassCounts>>,
    cameras: Query<&MainEntity>,
    views: Res<Views>,
    panels: Res<Panels>,
    jobs: Res<GlassJobs>,
) {
    let Some(counts) = counts else {
        return;
    };
    let figures = |groups: &[Group]| GlassFigures {
        panels: groups.iter().map(|group| group.panels.len()).sum(),
        groups: groups.len(),
        texels: groups
            .iter()
            .flat_map(|group| jobs.of_group(group, &panels))
            .map(BlurJob::texels)
            .sum(),
    };
    let of_view = |(camera, view): (&Entity, &ViewGroups)| {
        let camera = cameras.get(*camera).ok()?.id();
        let layers = [
            (
                BlurLabel::of_regions(camera, BackdropLayer::BelowUi),
                figures(&view.below),
            ),
            (BlurLabel::of_nodes(camera), figures(&view.among)),
            (
                BlurLabel::of_regions(camera, BackdropLayer::AboveUi),
                figures(&view.above),
            ),
        ];
        Some(layers)
    };
    let all = views.0.iter().filter_map(of_view).flatten();
    counts.replace(all.filter(|(_, figures)| figures.panels > 0));
}
