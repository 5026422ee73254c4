//! Counts the glass of every camera, for the diagnostics.

use super::encode::label_of;
use super::inputs::PaintInputs;
use crate::diagnostics::figures::{BackdropCounts, BackdropFigures};
use crate::gpu::{BlurJob, BlurJobs};
use crate::schedule::{Blurs, Label, Section, Step};
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
        let figures_of = |section: &Section| {
            let mut figures = BackdropFigures::default();
            for step in &schedule.steps[section.steps.clone()] {
                let Step::Blur(batch) = step else {
                    continue;
                };
                if let Blurs::Glass(glass) = &schedule.batches[*batch].blurs {
                    figures.backdrops += glass.len();
                    figures.groups += 1;
                    figures.texels += painted.jobs(*batch, &jobs).map(BlurJob::texels).sum::<u64>();
                }
            }
            figures
        };
        for section in &schedule.sections {
            if let Some(label @ (Label::BelowUi | Label::Nodes | Label::AboveUi)) = section.label {
                all.push((label_of(label, camera.id()), figures_of(section)));
            }
        }
    }
    counts.replace(all.into_iter().filter(|(_, figures)| figures.backdrops > 0));
}
