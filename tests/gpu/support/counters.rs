//! Counts the resources that an app holds on the GPU and among its assets.

use super::headless::label_and_definitions_of;
use super::prelude::*;
use bevy::diagnostic::{DiagnosticPath, DiagnosticsStore};
use bevy::render::render_resource::PipelineCache;
use bevy_gaussian_blur::diagnostics::TEXTURE_BYTES;
use core::fmt;

/// The numbers of held resources, by name, and the memory allocations and pipelines, which a failure prints.
#[derive(Clone)]
pub struct Held {
    numbers: Vec<(&'static str, i64)>,
    objects: Vec<String>,
}

impl Held {
    /// Counts by wgpu's own counters, by Bevy's images and by the blur's own figure for its intermediates.
    pub fn by(app: &App) -> Self {
        let world = app.world();
        let device = world.resource::<RenderDevice>().wgpu_device();
        let counters = device.get_internal_counters();
        let hal = &counters.hal;
        let of_gpu = [
            ("textures", &hal.textures),
            ("texture views", &hal.texture_views),
            ("texture bytes", &hal.texture_memory),
            ("buffers", &hal.buffers),
            ("buffer bytes", &hal.buffer_memory),
            ("bind groups", &hal.bind_groups),
            ("bind group layouts", &hal.bind_group_layouts),
            ("samplers", &hal.samplers),
            ("render pipelines", &hal.render_pipelines),
            ("compute pipelines", &hal.compute_pipelines),
            ("shader modules", &hal.shader_modules),
        ];
        let mut held: Vec<_> = of_gpu
            .map(|(name, counter)| (name, counter.read() as i64))
            .into_iter()
            .collect();
        held.push(("image assets", world.resource::<Assets<Image>>().len() as i64));
        held.push((
            "bytes of intermediates",
            figure(world, &TEXTURE_BYTES).unwrap_or(0.0) as i64,
        ));
        let report = device.generate_allocator_report();
        let allocations = report.into_iter().flat_map(|report| report.allocations);
        let allocations = allocations.map(|allocation| (allocation.name, allocation.size));
        let (of_bevy, others): (Vec<_>, Vec<_>) =
            allocations.partition(|(name, _)| name.starts_with("render_statistics_"));
        // Bevy keeps as many of its own timestamp buffers as frames were ever in flight at once: that depends on time. Their sizes are
        // multiples of 1024; the allocator adds what lies unused before them, which wgpu does not count.
        let size_of = |size: u64| (size - size % 1024) as i64;
        for (name, number) in &mut held {
            match *name {
                "buffers" => *number -= of_bevy.len() as i64,
                "buffer bytes" => *number -= of_bevy.iter().map(|(_, size)| size_of(*size)).sum::<i64>(),
                _ => {}
            }
        }
        let allocations = others.into_iter().map(|(name, size)| format!("{name} of {size} bytes"));
        Self {
            numbers: held,
            objects: allocations.chain(pipelines(app)).collect(),
        }
    }

    /// One of the numbers.
    pub fn of(&self, name: &str) -> i64 {
        let found = self.numbers.iter().find(|(known, _)| *known == name);
        found.unwrap_or_else(|| panic!("nothing counts {name}")).1
    }

    /// Panics if a number is larger than before, except those that are named.
    pub fn assert_no_more_than(&self, before: &Self, except: &[&str]) {
        if let Some(more) = self.more_than(before, except) {
            panic!("something is not given back: {more}");
        }
    }

    /// The numbers that are larger than before, except those that are named, and all that is new.
    pub fn more_than(&self, before: &Self, except: &[&str]) -> Option<String> {
        let pairs = self.numbers.iter().zip(&before.numbers);
        let more: Vec<String> = pairs
            .filter(|((name, now), (_, before))| now > before && !except.contains(name))
            .map(|((name, now), (_, before))| format!("{name}: {before}, then {now}"))
            .collect();
        if more.is_empty() {
            return None;
        }
        let (new, gone) = (self.objects_since(before), before.objects_since(self));
        Some(format!("{}; new: {new:?}; gone: {gone:?}", more.join("; ")))
    }

    /// The memory allocations that are new, of those whose name begins with this.
    pub fn allocations_since(&self, before: &Self, name: &str) -> Vec<String> {
        let mut new = self.objects_since(before);
        new.retain(|object| object.starts_with(name));
        new
    }

    fn objects_since(&self, before: &Self) -> Vec<String> {
        let mut new = self.objects.clone();
        for old in &before.objects {
            if let Some(index) = new.iter().position(|object| object == old) {
                new.swap_remove(index);
            }
        }
        new
    }
}

/// A figure, smoothed.
pub fn figure(world: &World, path: &DiagnosticPath) -> Option<f64> {
    world.get_resource::<DiagnosticsStore>()?.get(path)?.value()
}

/// The latest figure, not smoothed.
pub fn latest(world: &World, path: &DiagnosticPath) -> Option<f64> {
    let diagnostic = world.resource::<DiagnosticsStore>().get(path)?;
    diagnostic.measurement().map(|measurement| measurement.value)
}

/// The plugin's figure for the bytes of its intermediates.
pub fn intermediates(headless: &Headless) -> f64 {
    let bytes = figure(headless.app.world(), &TEXTURE_BYTES);
    bytes.expect("the bytes are always known")
}

/// The bytes that the driver has allocated for textures.
pub fn texture_memory(headless: &Headless) -> isize {
    let device = headless.render_world().resource::<RenderDevice>();
    device.wgpu_device().get_internal_counters().hal.texture_memory.read()
}

/// All pipelines of an app, with the definitions that their shaders are compiled with; none if another thread renders.
fn pipelines(app: &App) -> Vec<String> {
    let Some(cache) = app
        .get_sub_app(RenderApp)
        .and_then(|app| app.world().get_resource::<PipelineCache>())
    else {
        return Vec::new();
    };
    let described = cache.pipelines().map(|pipeline| {
        let (label, definitions) = label_and_definitions_of(&pipeline.descriptor);
        format!("{label:?} with {definitions:?}")
    });
    described.collect()
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self
            .numbers
            .iter()
            .map(|(name, count)| format!("{count} {name}"))
            .collect();
        f.write_str(&parts.join(", "))
    }
}
