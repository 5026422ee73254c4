//! Counts the glass of every camera, for the diagnostics.

use super::camera_groups::{CameraGroups, Groups};
use super::extract::ExtractedBackdrops;
use super::groups::Group;
use super::prepare_blurs::BackdropJobs;
use crate::diagnostics::backdrops::{BackdropCounts, BackdropFigures};
use crate::diagnostics::label::BlurLabel;
use crate::gpu::BlurJob;
use crate::settings::BackdropLayer;
use bevy::prelude::*;
use bevy::render::sync_world::MainEntity;

/// Counts what will be encoded in this frame.
pub fn count_backdrops(
    counts: Option<Res<BackdropCounts>>,
    cameras: Query<&MainEntity>,
    grouped: Res<CameraGroups>,
    backdrops: Res<ExtractedBackdrops>,
    jobs: Res<BackdropJobs>,
) {
    let Some(counts) = counts else {
        return;
    };
    let figures = |groups: &[&[Group]]| {
        let groups = || groups.iter().copied().flatten().filter(|group| group.filter.is_none());
        BackdropFigures {
            backdrops: groups().map(|group| group.backdrops.len()).sum(),
            groups: groups().count(),
            texels: groups()
                .flat_map(|group| jobs.of_group(group, &backdrops))
                .map(BlurJob::texels)
                .sum(),
        }
    };
    let of_view = |(camera, view): (&Entity, &Groups)| {
        let camera = cameras.get(*camera).ok()?.id();
        let layers = [
            (
                BlurLabel::of_regions(camera, BackdropLayer::BelowUi),
                figures(&[&view.below]),
            ),
            (BlurLabel::of_nodes(camera), figures(&[&view.among, &view.nested])),
            (
                BlurLabel::of_regions(camera, BackdropLayer::AboveUi),
                figures(&[&view.above]),
            ),
        ];
        Some(layers)
    };
    let all = grouped.0.iter().filter_map(of_view).flatten();
    counts.replace(all.filter(|(_, figures)| figures.backdrops > 0));
}
