//! Paints and blurs the groups that contain glass, each as soon as everything below it is painted.
//!
//! Such a group is painted in pieces. A piece ends where the backdrop of glass ends: what the glass sees is then painted on a page
//! and blurred, and the glass is among the items of the next piece. A piece also ends at the result of an inner filter whose group
//! contains glass: the inner group is painted and blurred at this point.
//!
//! [`encode`](super::encode) has already cleared all pages.

use super::arrange::CameraFilters;
use super::encode::{FilterDrawer, open_pass, set_viewport};
use super::stage::Stage;
use crate::backdrop::canvas::Canvas;
use crate::backdrop::extract::ExtractedBackdrops;
use crate::backdrop::nested::Scene;
use crate::backdrop::node_groups::{backdrop_of, is_mark};
use bevy::math::{IVec2, URect, UVec2};
use bevy::render::render_resource::{Extent3d, LoadOp, Origin3d, TexelCopyTextureInfo, TextureAspect, TextureView};
use bevy::render::renderer::RenderContext;
use bevy::ui_render::TransparentUi;

/// Paints and blurs the group of a filter, by its index.
pub fn paint_group(scene: &Scene, filter: usize, context: &mut RenderContext) {
    let drawer = FilterDrawer::new(scene.world);
    let Some(camera) = drawer.camera(scene.camera) else {
        return;
    };
    let turn = TurnOf {
        drawer,
        backdrops: scene.world.resource(),
        camera,
        scene,
    };
    turn.paint(filter - camera.first, context);
}

struct TurnOf<'a> {
    drawer: FilterDrawer<'a>,
    backdrops: &'a ExtractedBackdrops,
    camera: &'a CameraFilters,
    scene: &'a Scene<'a>,
}

/// Where a piece of a group ends.
enum End {
    /// Where the backdrop of glass ends, by the backdrop's index.
    Glass(usize),
    /// At the result of a filter with a turn, by the filter's index.
    Filter(usize),
}

impl TurnOf<'_> {
    /// Paints and blurs all stages of a filter, the first of them in pieces.
    fn paint(&self, filter: usize, context: &mut RenderContext) {
        let (first, end) = self.camera.arranged.of_filter[filter];
        for index in first..end {
            let stage = &self.camera.arranged.stages[index];
            if !stage.is_seen() {
                return;
            }
            let Some(page) = self.drawer.blurs.page(self.camera.camera, stage) else {
                return;
            };
            if index == first {
                self.paint_pieces(stage, page, context);
            } else {
                let mut pass = open_pass(context, page, LoadOp::Load);
                set_viewport(stage.canvas(), &mut pass);
                self.drawer.paint_stage(self.camera, stage, &mut pass);
            }
            for job in self.drawer.blurs.of_stage(self.camera, self.drawer.filters, index) {
                self.drawer.blur(job, page, self.scene.label, context);
            }
        }
    }

    fn paint_pieces(&self, stage: &Stage, page: &TextureView, context: &mut RenderContext) {
        let items = self.drawer.items.of(self.camera.first + stage.filter);
        let piece = |range: core::ops::Range<usize>, context: &mut RenderContext| {
            if !range.is_empty() {
                let mut pass = open_pass(context, page, LoadOp::Load);
                set_viewport(stage.canvas(), &mut pass);
                self.drawer.paint_items((self.camera, stage), &items[range], &mut pass);
            }
        };
        let mut painted = 0;
        for (index, item) in items.iter().enumerate() {
            let Some(end) = self.end_at(item) else {
                continue;
            };
            piece(painted..index, context);
            painted = index;
            match end {
                End::Glass(backdrop) => self.blur_glass(backdrop, context),
                End::Filter(inner) => self.paint(inner, context),
            }
        }
        piece(painted..items.len(), context);
    }

    /// Whether a piece ends at an item: at the mark where the backdrop of glass ends, or at the result of a filter with a turn.
    fn end_at(&self, item: &TransparentUi) -> Option<End> {
        if let Some((index, _, _)) = backdrop_of(item, self.backdrops) {
            return is_mark(item).then_some(End::Glass(index));
        }
        let filters = self.camera.filters(self.drawer.filters);
        let is_result = |filter: &usize| filters[*filter].is_result(item) && self.camera.arranged.has_turn(*filter);
        (0..filters.len()).find(is_result).map(End::Filter)
    }

    /// Blurs what glass sees: a picture that is painted now, or the one that frozen glass has kept.
    fn blur_glass(&self, backdrop: usize, context: &mut RenderContext) {
        let Some((group, page, needs)) = self.scene.drawer.nested(self.scene.camera, backdrop) else {
            return;
        };
        if let Some(needs) = needs {
            self.paint_seen(backdrop, page, needs, context);
        }
        let origin = needs.map_or(UVec2::ZERO, |needs| needs.min);
        self.scene
            .drawer
            .blur_from(group, self.scene.label, (page, origin), context);
    }

    /// Paints what glass sees on a page: these texels of the camera's picture, and the groups around the glass over them.
    fn paint_seen(&self, backdrop: usize, page: &TextureView, texels: URect, context: &mut RenderContext) {
        self.copy_scene(page, texels, context);
        let canvas = Canvas {
            origin: IVec2::ZERO,
            size: texels.size().as_vec2(),
            to_texel: IVec2::ZERO,
        };
        let mut pass = open_pass(context, page, LoadOp::Load);
        set_viewport(canvas, &mut pass);
        self.drawer.draws.draw_seen(backdrop, self.drawer.cache, &mut pass);
    }

    /// Copies some texels of what the camera has painted so far to the beginning of a page.
    fn copy_scene(&self, page: &TextureView, texels: URect, context: &mut RenderContext) {
        let from = TexelCopyTextureInfo {
            texture: self.scene.target.main_texture(),
            mip_level: 0,
            origin: Origin3d {
                x: texels.min.x,
                y: texels.min.y,
                z: 0,
            },
            aspect: TextureAspect::All,
        };
        let size = Extent3d {
            width: texels.width(),
            height: texels.height(),
            depth_or_array_layers: 1,
        };
        context
            .command_encoder()
            .copy_texture_to_texture(from, page.texture().as_image_copy(), size);
    }
}
