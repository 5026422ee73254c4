//! Counts the glass of every camera, for the diagnostics.

use super::encode::label_of;
use super::inputs::PaintInputs;
use crate::diagnostics::label::{BackdropCounts, BackdropFigures};
use crate::gpu::{BlurJob, BlurJobs};
use crate::schedule::{Blurs, Label, Step};
use bevy::prelude::*;
use bevy::render::sync_world::MainEntity;

/// Counts what will be encoded in this frame.
pub fn count_backdrops(
    counts: Option<Res<BackdropCounts>>,
    cameras: Query<&MainEntity>,
    inputs: Res<PaintInputs>,
    jobs: Res<BlurJobs>,
) {
    let Some(counts) = counts else {
        return;
    };
    let mut all = Vec::new();
    for painted in &inputs.cameras {
        let Ok(camera) = cameras.get(painted.picture.camera) else {
            continue;
        };
        let schedule = &painted.schedule;
        for section in &schedule.sections {
            let Some(label @ (Label::BelowUi | Label::Nodes | Label::AboveUi)) = section.label else {
                continue;
            };
            let mut figures = BackdropFigures::default();
            for step in &schedule.steps[section.steps.clone()] {
                if let Step::Blur(batch) = step
                    && let Blurs::Glass(glass) = &schedule.batches[*batch].blurs
                {
                    figures.backdrops += glass.len();
                    figures.groups += 1;
                    figures.texels += painted.jobs(*batch, &jobs).map(BlurJob::texels).sum::<u64>();
                }
            }
            all.push((label_of(label, camera.id()), figures));
        }
    }
    counts.replace(all.into_iter().filter(|(_, figures)| figures.backdrops > 0));
}
