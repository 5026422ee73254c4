//! Encodes the steps of schedules. It decides nothing; it only leaves out what has no pipeline yet, and passes that would paint
//! nothing.

use super::blurs::is_kept;
use super::draws::Draws;
use super::inputs::{PaintInputs, PaintedCamera};
use crate::diagnostics::label::BlurLabel;
use crate::diagnostics::timestamps::{PassTimer, timed};
use crate::freeze::{FrozenBlur, KeptPictures};
use crate::gpu::{BlurAccess, attachment, part_from};
use crate::schedule::{Blurs, Canvas, Draw, Label, PaintTexture, Section, Step, SurfaceId};
use crate::settings::BackdropLayer;
use bevy::image::ToExtents;
use bevy::math::{FloatOrd, URect};
use bevy::prelude::*;
use bevy::render::camera::ExtractedCamera;
use bevy::render::render_phase::{DrawFunctions, TrackedRenderPass};
use bevy::render::render_resource::{LoadOp, RenderPassDescriptor, TextureView};
use bevy::render::renderer::{RenderContext, ViewQuery};
use bevy::render::sync_world::MainEntity;
use bevy::render::view::ViewTarget;
use bevy::ui_render::TransparentUi;
use core::ops::Range;

/// The current camera: its entities in the render world and in the main world, and what it paints into.
pub type PaintView = (Entity, MainEntity, &'static ViewTarget, &'static ExtractedCamera);

/// Paints everything up to Bevy's user interface: regions of glass under it, filtered groups, and nodes below glass, which is blurred in
/// between. Bevy's pass must run after it.
pub fn backdrops_below_ui(world: &World, camera: ViewQuery<PaintView>, mut context: RenderContext) {
    if let Some(painter) = Painter::new(world, camera.into_inner()) {
        let (below, _) = painter.sections();
        below.iter().for_each(|section| painter.section(section, &mut context));
    }
}

/// Paints the regions of glass over Bevy's user interface.
pub fn backdrops_above_ui(world: &World, camera: ViewQuery<PaintView>, mut context: RenderContext) {
    if let Some(painter) = Painter::new(world, camera.into_inner()) {
        let (_, above) = painter.sections();
        above.iter().for_each(|section| painter.section(section, &mut context));
    }
}

/// Everything that encoding the steps of a camera requires, with shared access only.
struct Painter<'w> {
    camera: &'w PaintedCamera,
    main_entity: Entity,
    target: &'w ViewTarget,
    extracted: &'w ExtractedCamera,
    world: &'w World,
}

impl<'w> Painter<'w> {
    /// `None` for a camera without glass and filters.
    fn new(
        world: &'w World,
        (entity, main_entity, target, extracted): (Entity, Entity, &'w ViewTarget, &'w ExtractedCamera),
    ) -> Option<Self> {
        let mut cameras = world.resource::<PaintInputs>().cameras.iter();
        let camera = cameras.find(|camera| camera.picture.camera == entity)?;
        if let Some(functions) = world.get_resource::<DrawFunctions<TransparentUi>>() {
            functions.write().prepare(world);
        }
        Some(Self {
            camera,
            main_entity,
            target,
            extracted,
            world,
        })
    }

    /// What comes before Bevy's pass, and what comes after it.
    fn sections(&self) -> (&'w [Section], &'w [Section]) {
        let schedule = &self.camera.schedule;
        let is_bevys = |section: &Section| schedule.steps[section.steps.clone()].contains(&Step::Bevy);
        let bevys = schedule.sections.iter().position(is_bevys);
        schedule
            .sections
            .split_at(bevys.map_or(schedule.sections.len(), |section| section + 1))
    }

    fn section(&self, section: &Section, context: &mut RenderContext) {
        let steps = &self.camera.schedule.steps[section.steps.clone()];
        let is_measured = steps.iter().any(|step| self.is_due(step));
        let Some(label) = section.label.filter(|_| is_measured) else {
            steps.iter().for_each(|step| self.step(step, None, context));
            return;
        };
        let is_timed = context.diagnostic_recorder().is_some();
        let label = is_timed.then(|| label_of(label, self.main_entity));
        timed(context, label.as_ref(), |context, _| {
            steps.iter().for_each(|step| self.step(step, label.as_ref(), context));
        });
    }

    /// Whether a step does anything. What cannot be painted need not be blurred.
    fn is_due(&self, step: &Step) -> bool {
        match step {
            Step::Bevy => false,
            Step::Pass { clears, draws, .. } => *clears || draws.iter().any(|draw| self.paints(draw)),
            Step::Copy(backdrop) => self.needs(*backdrop).is_some(),
            Step::Take(_) => true,
            Step::Blur(batch) => match &self.camera.schedule.batches[*batch].blurs {
                Blurs::Glass(glass) => glass.iter().any(|index| self.camera.paints_glass(*index)),
                Blurs::Layers(_) => true,
            },
        }
    }

    fn paints(&self, draw: &Draw) -> bool {
        match draw {
            Draw::Items { on, keys, .. } => self.camera.draws_items(*on, keys),
            Draw::Layers(_) => true,
            Draw::Glass(backdrop) => self.camera.paints_glass(*backdrop),
            Draw::Seen(backdrop) => self.needs(*backdrop).is_some(),
        }
    }

    /// What glass inside a group needs to see in this frame: `None` if it reads a picture that it has kept, or is not painted.
    fn needs(&self, backdrop: usize) -> Option<URect> {
        let placed = self.camera.schedule.placed[backdrop].as_ref()?;
        let takes = self.camera.backdrops[backdrop].takes();
        let is_read = self.camera.paints_glass(backdrop) && !is_kept(self.camera, backdrop);
        (takes || is_read).then(|| placed.region.looks_at())
    }

    fn step(&self, step: &Step, label: Option<&BlurLabel>, context: &mut RenderContext) {
        if !self.is_due(step) {
            return;
        }
        match step {
            Step::Bevy => {}
            Step::Pass { on, clears, draws } => self.pass(*on, *clears, draws, context),
            Step::Copy(backdrop) => self.copy(*backdrop, context),
            Step::Take(backdrop) => self.take(*backdrop, context),
            Step::Blur(batch) => self.blur(*batch, label, context),
        }
    }

    fn pass(&self, on: PaintTexture, clears: bool, draws: &[Draw], context: &mut RenderContext) {
        let Some(mut pass) = self.open(on, clears, context) else {
            return;
        };
        let mut canvas = None;
        for draw in draws {
            // The viewport clips triangles, and nothing else is drawn, so no scissor is needed.
            if let Some(new) = self.canvas_of(draw)
                && canvas.replace(new) != Some(new)
            {
                let [x, y, width, height] = new.texels().as_vec4().to_array();
                pass.set_viewport(x, y, width, height, 0.0, 1.0);
            }
            match draw {
                Draw::Items { on, keys, scissor } => self.draw_items(*on, keys, *scissor, &mut pass),
                _ => {
                    let calls: &Draws = self.world.resource();
                    calls.draw(self.camera.calls_of_draw(draw), &mut pass);
                }
            }
        }
    }

    /// Opens a pass. On a camera's picture, it keeps the contents, resolves MSAA, and is limited to the viewport, as Bevy's pass of
    /// the user interface is.
    fn open<'a>(
        &'a self,
        on: PaintTexture,
        clears: bool,
        context: &'a mut RenderContext<'_, '_>,
    ) -> Option<TrackedRenderPass<'a>> {
        let load = if clears { LoadOp::Clear(default()) } else { LoadOp::Load };
        let (label, attachment, viewport) = match on {
            PaintTexture::Camera => (
                "gaussian_blur_backdrop",
                self.target.get_unsampled_color_attachment(),
                self.extracted.viewport.as_ref(),
            ),
            page => ("gaussian_blur_filter", attachment(self.camera.view(page)?, load), None),
        };
        let mut pass = context.begin_tracked_render_pass(RenderPassDescriptor {
            label: Some(label),
            color_attachments: &[Some(attachment)],
            ..default()
        });
        if let Some(viewport) = viewport {
            pass.set_camera_viewport(viewport);
        }
        Some(pass)
    }

    /// The part of a page to paint on; the pass on a camera has a viewport.
    fn canvas_of(&self, draw: &Draw) -> Option<Canvas> {
        let schedule = &self.camera.schedule;
        let surface = match draw {
            Draw::Items { on, .. } => *on,
            Draw::Layers(of) => schedule.tree.surface(*of).parent,
            Draw::Glass(_) => return None,
            Draw::Seen(backdrop) => {
                let placed = schedule.placed[*backdrop].as_ref()?;
                let viewport = self.camera.picture.viewport;
                return Some(Canvas::of_texels(placed.region.looks_at(), viewport, placed.seen.1));
            }
        };
        (surface != SurfaceId::CAMERA).then(|| schedule.tree.surface(surface).canvas())
    }

    fn draw_items<'a>(
        &'a self,
        on: SurfaceId,
        keys: &Range<FloatOrd>,
        scissor: Option<URect>,
        pass: &mut TrackedRenderPass<'a>,
    ) {
        let view = if on == SurfaceId::CAMERA {
            let scissor = scissor.unwrap_or(self.camera.picture.seen());
            if scissor.is_empty() {
                return;
            }
            let (first, size) = (scissor.min, scissor.size());
            pass.set_scissor_rect(first.x, first.y, size.x, size.y);
            self.camera.ui_view.map(|(view, _)| view)
        } else {
            let view = self.camera.schedule.tree.surface(on).view;
            self.camera.views.get(view).copied()
        };
        if let Some(view) = view {
            self.camera.draw_items(on, keys, self.world, view, pass);
        }
    }

    /// Copies what glass inside a group sees of the camera's picture.
    fn copy(&self, backdrop: usize, context: &mut RenderContext) {
        let placed = self.camera.schedule.placed[backdrop].as_ref();
        let (Some(texels), Some((page, place))) = (self.needs(backdrop), placed.map(|placed| placed.seen)) else {
            return;
        };
        let Some(page) = self.camera.view(PaintTexture::Seen(page)) else {
            return;
        };
        let from = part_from(self.target.main_texture(), texels.min);
        let (to, size) = (part_from(page.texture(), place), texels.size().to_extents());
        context.command_encoder().copy_texture_to_texture(from, to, size);
    }

    /// A texture to read: of the camera's pair, the current one.
    fn source(&self, from: PaintTexture) -> Option<&TextureView> {
        match from {
            PaintTexture::Camera => Some(self.target.main_texture_view()),
            page => self.camera.view(page),
        }
    }

    fn take(&self, backdrop: usize, context: &mut RenderContext) {
        let Some(placed) = &self.camera.schedule.placed[backdrop] else {
            return;
        };
        let seen = match placed.on {
            SurfaceId::CAMERA => PaintTexture::Camera,
            _ => PaintTexture::Seen(placed.seen.0),
        };
        if let Some(source) = self.source(seen) {
            let kept: &KeptPictures = self.world.resource();
            let glass = (self.camera.backdrops[backdrop].entity, FrozenBlur::Glass);
            kept.take(glass, source.texture(), -placed.to_source(), context.command_encoder());
        }
    }

    fn blur(&self, index: usize, label: Option<&BlurLabel>, context: &mut RenderContext) {
        let batch = &self.camera.schedule.batches[index];
        let Some(source) = self.source(batch.from) else {
            return;
        };
        let timer: Option<&PassTimer> = self.world.get_resource();
        let with = BlurAccess {
            pipelines: self.world.resource(),
            cache: self.world.resource(),
            recorder: None,
            timer: timer.zip(label),
        };
        for job in self.camera.jobs(index, self.world.resource()) {
            job.encode(with, context.command_encoder(), source.id());
        }
    }
}

/// The label of a section on a camera of the main world.
pub fn label_of(label: Label, camera: Entity) -> BlurLabel {
    match label {
        Label::BelowUi => BlurLabel::of_regions(camera, BackdropLayer::BelowUi),
        Label::Groups => BlurLabel::of_filters(camera),
        Label::Nodes => BlurLabel::of_nodes(camera),
        Label::AboveUi => BlurLabel::of_regions(camera, BackdropLayer::AboveUi),
    }
}
