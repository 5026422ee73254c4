//! Holds single pipelines back, as if a driver compiled them last.

use super::headless::{NEVER_READY, label_of};
use super::prelude::*;
use super::process::give_memory_back;
use bevy::render::render_resource::{CachedPipelineState, PipelineCache, PipelineDescriptor};
use bevy::render::renderer::RenderAdapter;
use std::collections::HashMap;

/// The shaders of the pipelines that are held, by the numbers of these.
#[derive(Resource, Default)]
struct Held(HashMap<usize, Handle<Shader>>);

/// Compiles all pipelines of an app again, but those that are held, which from now on never are. Their numbers stay.
pub fn hold_back(headless: &mut Headless, is_held: impl Fn(&PipelineDescriptor) -> bool) {
    let shaders = headless.app.world().resource::<Assets<Shader>>();
    let shaders: Vec<(AssetId<Shader>, Shader)> = shaders.iter().map(|(id, shader)| (id, shader.clone())).collect();
    let world = headless.app.sub_app_mut(RenderApp).world_mut();
    let device = world.resource::<RenderDevice>().clone();
    let mut new = PipelineCache::new(device, world.resource::<RenderAdapter>().clone(), true);
    for (id, shader) in shaders {
        new.set_shader(id, shader);
    }
    let (mut before, mut now) = (world.remove_resource::<Held>().unwrap_or_default(), Held::default());
    for (number, pipeline) in world.resource::<PipelineCache>().pipelines().enumerate() {
        let mut change = |shader: &mut Handle<Shader>| {
            if let Some(held) = before.0.remove(&number) {
                *shader = held;
            }
            if is_held(&pipeline.descriptor) {
                // No asset has the usual handle.
                now.0.insert(number, core::mem::take(shader));
            }
        };
        if let PipelineDescriptor::RenderPipelineDescriptor(render) = &pipeline.descriptor {
            let mut render = (**render).clone();
            change(&mut render.vertex.shader);
            new.queue_render_pipeline(render);
        } else if let PipelineDescriptor::ComputePipelineDescriptor(compute) = &pipeline.descriptor {
            let mut compute = (**compute).clone();
            change(&mut compute.shader);
            new.queue_compute_pipeline(compute);
        }
    }
    world.insert_resource(now);
    // Both caches together would hold twice the memory.
    drop(world.remove_resource::<PipelineCache>());
    give_memory_back();
    new.process_queue();
    let missing = new
        .pipelines()
        .filter(|pipeline| !matches!(pipeline.state, CachedPipelineState::Ok(_)));
    for pipeline in missing {
        let (label, state) = (label_of(&pipeline.descriptor), &pipeline.state);
        let is_expected = is_held(&pipeline.descriptor) || label == Some(NEVER_READY);
        assert!(is_expected, "{label:?}: {state:?}");
    }
    world.insert_resource(new);
}

/// Whether a pipeline that is to be held is compiled, or will be: one that the app asked for after the others were held.
pub fn escapes(headless: &Headless, is_held: impl Fn(&PipelineDescriptor) -> bool) -> bool {
    let cache = headless.render_world().resource::<PipelineCache>();
    let is_there = |state: &CachedPipelineState| !matches!(state, CachedPipelineState::Err(_));
    cache
        .pipelines()
        .any(|pipeline| is_held(&pipeline.descriptor) && is_there(&pipeline.state))
}
