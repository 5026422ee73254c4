//! The classical methods and the copies: their passes, and how they are encoded.

use crate::kernels::{BoxKernel, bilinear_taps, quadrant, radius};
use crate::method::Method;
use crate::program::{Parameters, Pass, Program, Recipe, WORKGROUP, pass};
use crate::stage::{INTERMEDIATE, Stage, Surface};
use bevy::math::IVec2;
use wgpu::{
    Color, CommandEncoder, ComputePipeline, LoadOp, Operations, RenderPassColorAttachment, RenderPassDescriptor,
    RenderPipeline, StoreOp,
};

impl Recipe {
    /// `None` for methods without a shader.
    fn new(method: Method, sigma: f64) -> Option<Self> {
        let (both, each) = (&[IVec2::ZERO], &[IVec2::X, IVec2::Y]);
        let (shader, axes): (_, &[IVec2]) = match method {
            Method::CopyFragment => (include_str!("copy_fragment.wgsl"), both),
            Method::CopyCompute => (include_str!("copy_compute.wgsl"), both),
            Method::Box => (include_str!("box.wgsl"), each),
            Method::Direct2d => (include_str!("direct_2d.wgsl"), both),
            Method::Direct2dTable => (include_str!("direct_2d_table.wgsl"), both),
            Method::Separable => (include_str!("separable.wgsl"), each),
            Method::SeparableBilinear => (include_str!("separable_bilinear.wgsl"), each),
            Method::NaiveCompute => (include_str!("naive_compute.wgsl"), each),
            _ => return None,
        };
        let kernel = BoxKernel::new(sigma);
        let is_box = method == Method::Box;
        let parameters = Parameters {
            axis: IVec2::ZERO,
            radius: if is_box { kernel.radius } else { radius(sigma) },
            sigma: sigma as f32,
            outermost: kernel.outermost,
            padding: [0; 3],
        };
        Some(Self {
            shader,
            axes,
            parameters: (!method.is_copy()).then_some(parameters),
            table: match method {
                Method::Direct2dTable => Some(quadrant(sigma)),
                Method::SeparableBilinear => Some(bilinear_taps(sigma)),
                _ => None,
            },
            sampler: method == Method::SeparableBilinear,
        })
    }
}

/// One classical method at one sigma, ready to be encoded.
pub struct Classic<'a> {
    stage: &'a Stage,
    /// None for a transfer.
    passes: Vec<Pass<'a>>,
}

impl<'a> Classic<'a> {
    /// # Panics
    /// If the method is ours, or one that [`can_run`] rules out.
    pub fn new(stage: &'a Stage, method: Method, sigma: f64) -> Self {
        let Some(recipe) = Recipe::new(method, sigma) else {
            assert_eq!(method, Method::CopyTransfer, "a method of this file");
            return Self { stage, passes: vec![] };
        };
        let written = if method.is_compute() {
            stage.by_compute.as_ref().expect("a format with storage")
        } else {
            &stage.by_fragment
        };
        let format = stage.format.texture_format();
        let step = |axis, source, target, format| pass(&stage.gpu, method, &recipe, axis, source, target, format);
        let passes = match *recipe.axes {
            [both] => vec![step(both, &stage.source, &written.target, format)],
            [x, y] => vec![
                step(x, &stage.source, &written.intermediate, INTERMEDIATE),
                step(y, &written.intermediate, &written.target, format),
            ],
            _ => unreachable!("there are two axes"),
        };
        Self { stage, passes }
    }

    /// The texture that it writes.
    pub fn target(&self) -> &'a Surface {
        self.passes.last().map_or(&self.stage.by_transfer, |pass| pass.target)
    }

    pub fn encode(&self, encoder: &mut CommandEncoder) {
        for pass in &self.passes {
            match &pass.program {
                Program::Fragment(pipeline) => draw(encoder, pipeline, pass),
                Program::Compute(pipeline) => dispatch(encoder, pipeline, pass, self.stage.size),
            }
        }
        if self.passes.is_empty() {
            let [source, target] = [&self.stage.source.texture, &self.stage.by_transfer.texture];
            encoder.copy_texture_to_texture(source.as_image_copy(), target.as_image_copy(), source.size());
        }
    }
}

/// The reason why a classical method cannot run, if there is one.
pub fn can_run(stage: &Stage, method: Method) -> Result<(), String> {
    let name = stage.format.name();
    if method.is_compute() && stage.by_compute.is_none() {
        return Err(format!("{name} cannot be written by compute passes"));
    }
    if method == Method::SeparableBilinear && !stage.gpu.filters(stage.format) {
        return Err(format!("{name} cannot be filtered on this GPU"));
    }
    Ok(())
}

fn draw(encoder: &mut CommandEncoder, pipeline: &RenderPipeline, pass: &Pass) {
    let attachment = RenderPassColorAttachment {
        view: &pass.target.view,
        depth_slice: None,
        resolve_target: None,
        ops: Operations {
            load: LoadOp::Clear(Color::TRANSPARENT),
            store: StoreOp::Store,
        },
    };
    let mut render_pass = encoder.begin_render_pass(&RenderPassDescriptor {
        color_attachments: &[Some(attachment)],
        ..Default::default()
    });
    render_pass.set_pipeline(pipeline);
    render_pass.set_bind_group(0, &pass.bind_group, &[]);
    render_pass.draw(0..3, 0..1);
}

fn dispatch(encoder: &mut CommandEncoder, pipeline: &ComputePipeline, pass: &Pass, size: [u32; 2]) {
    let mut compute_pass = encoder.begin_compute_pass(&Default::default());
    compute_pass.set_pipeline(pipeline);
    compute_pass.set_bind_group(0, &pass.bind_group, &[]);
    let [x, y] = size.map(|side| side.div_ceil(WORKGROUP));
    compute_pass.dispatch_workgroups(x, y, 1);
}
