//! Every shader is valid for every pipeline that a blur can request, and can be translated for every graphics API. The
//! layout of every uniform in Rust is the layout in the shaders.

mod fingerprint;
mod jobs;
mod keys;
mod pool;
mod stores;

use super::uniforms::{NeededUniform, PassUniform, SigmaLevelUniform, SigmaLevelsUniform};
use crate::formats::Ends;
use crate::program::workgroups::{WORKGROUP_BYTES, WORKGROUP_THREADS};
use crate::program::{Program, Tiling};
use crate::settings::EdgeMode;
use crate::sigma_field::Shares;
use bevy::asset::AssetId;
use bevy::asset::uuid::Uuid;
use bevy::render::render_resource::TextureFormat;
use bevy::shader::{Shader, ShaderCache, ShaderCacheSource, ShaderDefVal};
use core::mem::offset_of;
use keys::{every_key, keys_between};
use naga::back::{glsl, hlsl, msl, spv};
use naga::proc::{BoundsCheckPolicies, Layouter};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, Module, ShaderStage, TypeInner};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::sync::Arc;
use stores::assert_no_component_at_run_time;
use wgpu::{DownlevelFlags, Features};

/// The shaders that the library embeds with this macro: their paths below `src/shaders`, without the ending.
fn embedded(by: &str) -> Vec<&'static str> {
    let lines = include_str!("../gpu.rs").lines().map(str::trim);
    let paths = lines.filter_map(|line| line.strip_prefix(by)?.strip_prefix("!(app, \"shaders/"));
    paths.filter_map(|path| path.strip_suffix(".wgsl\");")).collect()
}

/// The shaders that others import.
fn libraries() -> Vec<&'static str> {
    embedded("load_shader_library")
}

#[test]
fn every_program_is_embedded() {
    let mut embedded = embedded("embedded_asset");
    let mut needed = Program::SHADERS.map(|(program, _)| program.path());
    embedded.sort_unstable();
    needed.sort_unstable();
    assert_eq!(embedded, needed);
}

/// The shader definitions.
type Definitions = Vec<ShaderDefVal>;

fn read(name: &str) -> String {
    let path = format!("{}/src/shaders/{name}.wgsl", env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Resolves the imports of shaders: Bevy's own code.
type Composer = ShaderCache<Module, ()>;

fn composer() -> Composer {
    // `validate` checks the required capabilities later.
    let (features, downlevel) = (Features::SHADER_F16, DownlevelFlags::all());
    let mut composer = Composer::new((), features, downlevel, |(), source, _| match source {
        ShaderCacheSource::Naga(module) => Ok(module),
        _ => panic!("Bevy has parsed what it composes"),
    });
    for (number, name) in libraries().into_iter().enumerate() {
        composer.set_shader(id(number), shader(name));
    }
    composer
}

fn id(number: usize) -> AssetId<Shader> {
    let uuid = Uuid::from_u128(number as u128);
    AssetId::Uuid { uuid }
}

fn shader(name: &str) -> Shader {
    let path = format!("embedded://{}/shaders/{name}.wgsl", env!("CARGO_PKG_NAME"));
    Shader::from_wgsl(read(name), path)
}

fn compose(composer: &mut Composer, path: &str, definitions: &Definitions) -> Arc<Module> {
    // Replaces the previous shader with this id, and discards everything compiled from it.
    let id = id(libraries().len());
    composer.set_shader(id, shader(path));
    let module = composer.get(0, id, definitions);
    module.unwrap_or_else(|error| panic!("{path} with {definitions:?}: {error}"))
}

/// The name of a definition.
fn name_of(definition: &ShaderDefVal) -> &str {
    match definition {
        ShaderDefVal::Bool(name, _) | ShaderDefVal::Int(name, _) | ShaderDefVal::UInt(name, _) => name,
    }
}

/// Variants of each program in which every two definitions have every pair of values that they ever have together: what is wrong in a
/// variant is wrong by two of them at most. With `BLUR_FULL`, all variants.
fn pairwise(variants: Vec<(Program, Definitions)>) -> Vec<(Program, Definitions)> {
    if std::env::var_os("BLUR_FULL").is_some() {
        return variants;
    }
    let pairs = pairs(&variants);
    let (mut seen, mut chosen) = (HashSet::<usize>::new(), BTreeSet::new());
    // The fewer pairs are left, the fewer each variant has to add: that takes nearly as few variants as possible.
    for least in [64, 32, 16, 8, 4, 2, 1] {
        for (index, pairs) in pairs.iter().enumerate() {
            if pairs.iter().filter(|pair| !seen.contains(pair)).count() >= least {
                seen.extend(pairs);
                chosen.insert(index);
            }
        }
    }
    let all = variants.into_iter().enumerate();
    all.filter(|(index, _)| chosen.contains(index))
        .map(|(_, variant)| variant)
        .collect()
}

/// For each variant, the numbers of all pairs of values in it. A definition that is missing is a value, too; the program itself is one.
fn pairs(variants: &[(Program, Definitions)]) -> Vec<Vec<usize>> {
    let mut names: HashMap<&str, BTreeSet<&str>> = HashMap::new();
    for (program, definitions) in variants {
        let names = names.entry(program.name()).or_default();
        names.extend(definitions.iter().map(name_of));
    }
    let mut values: HashMap<(&str, String), usize> = HashMap::new();
    let mut pairs: HashMap<(usize, usize), usize> = HashMap::new();
    let mut all = Vec::with_capacity(variants.len());
    for (program, definitions) in variants {
        let value = |name: &str| definitions.iter().find(|definition| name_of(definition) == name);
        let named = names[program.name()]
            .iter()
            .map(|name| format!("{name} {:?}", value(name)));
        let mut number = |value: String| {
            let next = values.len();
            *values.entry((program.name(), value)).or_insert(next)
        };
        let numbers: Vec<usize> = named.chain([String::new()]).map(&mut number).collect();
        let mut both = Vec::new();
        for (index, one) in numbers.iter().enumerate() {
            for other in &numbers[index..] {
                let next = pairs.len();
                both.push(*pairs.entry((*one, *other)).or_insert(next));
            }
        }
        all.push(both);
    }
    all
}

#[test]
fn every_pipeline_is_valid_on_every_api() {
    // Fragment passes need no optional features. Tiles in workgroup memory are packed as half floats.
    let capabilities = |program: Program| match program {
        Program::ConvolveHalvesCompute(_) => Capabilities::SHADER_FLOAT16_IN_FLOAT32 | Capabilities::SHADER_FLOAT16,
        _ if program.computes() => Capabilities::SHADER_FLOAT16_IN_FLOAT32,
        _ => Capabilities::empty(),
    };
    let mut composer = composer();
    let mut variants: Vec<(Program, Definitions)> = Vec::new();
    let mut seen = HashSet::new();
    let mut seen_keys = HashSet::new();
    for key in every_key().into_iter().filter(|key| seen_keys.insert(*key)) {
        for round_packed in [false, true] {
            let definitions = key.definitions(round_packed);
            if seen.insert((key.program.name(), definitions.clone())) {
                variants.push((key.program, definitions));
            }
        }
    }
    let all = variants.len();
    let variants = pairwise(variants);
    let mut embedded = 0;
    for (program, definitions) in &variants {
        let module = compose(&mut composer, &program.path(), definitions);
        let name = format!("{} with {definitions:?}", program.name());
        assert_eq!(module.entry_points.len(), 1, "{name}");
        let info = validate(&module, capabilities(*program), &name);
        assert_workgroups_fit(&module, &name);
        write_spirv(&module, &info, &name);
        write_msl(&module, &info, &name);
        write_hlsl(&module, &info, &name);
        embedded += write_glsl_es(&module, &info, &name);
    }
    let fragments = variants.iter().filter(|(program, _)| !program.computes()).count();
    assert_eq!(embedded, fragments, "every fragment program runs on WebGL 2");
    println!(
        "{} of {all} modules in SPIR-V, MSL and HLSL; {embedded} of them in GLSL ES 3.00",
        variants.len()
    );
}

#[cfg(feature = "ui")]
#[test]
fn painting_is_valid_on_every_api() {
    use crate::paint::pipelines::{Mix, PaintKey, PaintSource, definitions};
    let mut composer = composer();
    let mixes = Mix::GLASS.into_iter().chain([Mix::Over]);
    let flat = mixes.flat_map(|mix| PaintSource::FLAT.map(|source| (mix, source)));
    let refracted = Mix::READING.into_iter();
    let refracted = refracted.flat_map(|mix| PaintSource::REFRACTED.map(|source| (mix, source)));
    let keys = flat.chain(refracted).chain([(Mix::Line, PaintSource::Sharp)]);
    let formats = [
        TextureFormat::Rgba8UnormSrgb,
        TextureFormat::Rgba16Float,
        TextureFormat::Rg11b10Ufloat,
    ];
    for (format, (mix, source)) in formats
        .into_iter()
        .flat_map(|format| keys.clone().map(move |key| (format, key)))
    {
        let definitions = definitions(PaintKey { format, mix, source });
        let module = compose(&mut composer, "paint/paint", &definitions);
        let name = format!("paint with {definitions:?}");
        let info = validate(&module, Capabilities::empty(), &name);
        write_spirv(&module, &info, &name);
        write_msl(&module, &info, &name);
        write_hlsl(&module, &info, &name);
        assert_eq!(write_glsl_es(&module, &info, &name), 1, "{name}");
    }
}

/// The members of a struct of a module, as (name, offset), and its size.
fn members(module: &Module, name: &str) -> (Vec<(String, usize)>, usize) {
    let mut layouter = Layouter::default();
    layouter.update(module.to_ctx()).expect("a module with sizes");
    let found = module.types.iter().find_map(|(handle, ty)| match &ty.inner {
        TypeInner::Struct { members, .. } if own_name(ty.name.as_ref()?) == name => Some((handle, members)),
        _ => None,
    });
    let (handle, members) = found.unwrap_or_else(|| panic!("no shader reads a {name}"));
    let member = |member: &naga::StructMember| (member.name.clone().unwrap_or_default(), member.offset as usize);
    (members.iter().map(member).collect(), layouter[handle].size as usize)
}

/// The name of an item without its module's name, which naga puts after it, or before it with a `_`.
fn own_name(name: &str) -> &str {
    let name = name.split("X_naga").next().unwrap_or(name);
    name.rsplit('_').next().unwrap_or(name)
}

macro_rules! fields {
    ($uniform:ident: $($name:ident),*) => {
        vec![$((stringify!($name).to_owned(), offset_of!($uniform, $name))),*]
    };
}

#[test]
fn the_uniforms_mirror_their_structs() {
    let mut composer = composer();
    let key = keys_between(&Ends::of_camera(TextureFormat::Rgba16Float, false), Tiling::None, true)
        .into_iter()
        .find(|key| key.program.name() == "blend_fragment")
        .expect("a program that reads all uniforms");
    let module = compose(&mut composer, &key.program.path(), &key.definitions(false));
    let pass = fields![
        PassUniform: step, shift, bounds_min, bounds_max, reach_min, reach_max, edge, octaves, normalize, margin,
        images, origin, size, texel_size, needed, tables, padding
    ];
    assert_eq!(members(&module, "BlurPass"), (pass, size_of::<PassUniform>()));
    let needed = fields![NeededUniform: shares, scale, first, around];
    assert_eq!(members(&module, "Needed"), (needed, size_of::<NeededUniform>()));
    let sigma_level = fields![SigmaLevelUniform: shift, octaves, origin, size, normalize, sigma, log_sigma];
    assert_eq!(
        members(&module, "SigmaLevel"),
        (sigma_level, size_of::<SigmaLevelUniform>())
    );
    let sigma_levels = fields![
        SigmaLevelsUniform: aspect, texel_size, origin, largest, gathered, cutoff, count, lines, levels, tables
    ];
    assert_eq!(
        members(&module, "SigmaLevels"),
        (sigma_levels, size_of::<SigmaLevelsUniform>())
    );
    let shares = fields![Shares: point, across, down, slope, offset, first, last, measure];
    let (names, size) = members(&module, "Shares");
    assert_eq!(names, shares);
    // The end is padded to a multiple of 16 bytes.
    assert_eq!(size.next_multiple_of(16), size_of::<Shares>());
}

#[cfg(feature = "ui")]
#[test]
fn the_uniform_of_painting_mirrors_its_struct() {
    use crate::paint::pipelines::{Mix, PaintKey, PaintSource, definitions};
    use crate::paint::uniform::{ColorStepsUniform, LensUniform, PaintUniform};
    let definitions = definitions(PaintKey {
        format: TextureFormat::Rgba8UnormSrgb,
        mix: Mix::Add,
        source: PaintSource::FLAT[2],
    });
    let module = compose(&mut composer(), "paint/paint", &definitions);
    let paint = fields![
        PaintUniform: x_axis, y_axis, translation, target_origin, target_size, size, frame, opacity, to_screen, radii,
        region, color, to_source, color_steps, color_flags, flags, grain, width, clips, lens, sides
    ];
    assert_eq!(members(&module, "Paint"), (paint, size_of::<PaintUniform>()));
    let steps = fields![ColorStepsUniform: matrices];
    assert_eq!(members(&module, "ColorSteps"), (steps, size_of::<ColorStepsUniform>()));
    let lens = fields![
        LensUniform: bounds, light, bevel, displacement, dispersion, rim_light
    ];
    assert_eq!(members(&module, "Lens"), (lens, size_of::<LensUniform>()));
}

/// A filter without a line or a fade costs nothing of them: lines have pipelines of their own, and only layers without a blur fade.
#[cfg(feature = "ui")]
#[test]
fn lines_and_fades_cost_others_nothing() {
    use crate::paint::pipelines::{Mix, PaintKey, PaintSource, definitions};
    let mut composer = composer();
    let flat = [Mix::Over, Mix::Replace].map(|mix| PaintSource::FLAT.map(|source| (mix, source)));
    for (mix, source) in flat.into_iter().flatten().chain([(Mix::Line, PaintSource::Sharp)]) {
        let format = TextureFormat::Rgba16Float;
        let module = compose(
            &mut composer,
            "paint/paint",
            &definitions(PaintKey { format, mix, source }),
        );
        let has = |name: &str| {
            module
                .functions
                .iter()
                .any(|(_, function)| function.name.as_deref() == Some(name))
        };
        let is_sharp = source == PaintSource::Sharp;
        assert!(has("shown"), "{mix:?} {source:?}");
        assert_eq!(has("line"), mix == Mix::Line, "{mix:?} {source:?}");
        assert_eq!(has("alpha_at"), mix == Mix::Line, "{mix:?} {source:?}");
        let fades = is_sharp && mix != Mix::Replace;
        assert_eq!(has("faded"), fades, "{mix:?} {source:?}");
    }
}

#[test]
fn the_constants_mirror_those_of_plans() {
    let common = read("common/pass");
    for edge in EdgeMode::ALL {
        let name = edge.name().to_uppercase();
        let line = format!("const EDGE_{name}: u32 = {}u;", edge.number());
        assert!(common.contains(&line), "{line}");
    }
    let least = format!("const MIN_SIGMA: f32 = {};", crate::plan::MIN_SIGMA);
    assert!(read("profile/sigma_levels").contains(&least), "{least}");
}

/// Validates a module for a device with these capabilities.
fn validate(module: &Module, capabilities: Capabilities, name: &str) -> ModuleInfo {
    Validator::new(ValidationFlags::all(), capabilities)
        .validate(module)
        .unwrap_or_else(|error| panic!("{name}: {error:?}"))
}

/// Workgroups need no more threads and memory than every device with compute shaders has.
fn assert_workgroups_fit(module: &Module, name: &str) {
    let mut layouter = Layouter::default();
    layouter.update(module.to_ctx()).expect("a module with sizes");
    let shared = module
        .global_variables
        .iter()
        .filter(|(_, global)| global.space == AddressSpace::WorkGroup);
    let bytes: u32 = shared.map(|(_, global)| layouter[global.ty].size).sum();
    let threads: u32 = module.entry_points[0].workgroup_size.iter().product();
    assert!(bytes <= WORKGROUP_BYTES, "{name}: {bytes} bytes");
    assert!(threads <= WORKGROUP_THREADS, "{name}: {threads} threads");
}

fn write_spirv(module: &Module, info: &ModuleInfo, name: &str) {
    let words = spv::write_vec(module, info, &spv::Options::default(), None);
    let words = words.unwrap_or_else(|error| panic!("{name} as SPIR-V: {error}"));
    assert_eq!(words[0], 0x0723_0203, "{name}: the magic number of SPIR-V");
}

fn write_msl(module: &Module, info: &ModuleInfo, name: &str) {
    let options = msl::Options {
        lang_version: (2, 0),
        ..Default::default()
    };
    let (text, translation) = msl::write_string(module, info, &options, &msl::PipelineOptions::default())
        .unwrap_or_else(|error| panic!("{name} as MSL: {error}"));
    for entry in translation.entry_point_names {
        let entry = entry.unwrap_or_else(|error| panic!("{name} as MSL: {error}"));
        assert!(text.contains(&entry), "{name}: MSL without {entry}");
    }
}

fn write_hlsl(module: &Module, info: &ModuleInfo, name: &str) {
    assert_no_component_at_run_time(module, info, name);
    let (options, pipeline) = (hlsl::Options::default(), hlsl::PipelineOptions::default());
    let mut text = String::new();
    let reflection = hlsl::Writer::new(&mut text, &options, &pipeline)
        .write(module, info, None)
        .unwrap_or_else(|error| panic!("{name} as HLSL: {error}"));
    for entry in reflection.entry_point_names {
        let entry = entry.unwrap_or_else(|error| panic!("{name} as HLSL: {error}"));
        assert!(text.contains(&entry), "{name}: HLSL without {entry}");
    }
}

/// Translates the fragment entry points for WebGL 2. Returns how many there are.
fn write_glsl_es(module: &Module, info: &ModuleInfo, name: &str) -> usize {
    let options = glsl::Options {
        version: glsl::Version::Embedded {
            version: 300,
            is_webgl: true,
        },
        ..Default::default()
    };
    let fragments = module
        .entry_points
        .iter()
        .filter(|entry| entry.stage == ShaderStage::Fragment);
    let write = |entry: &naga::EntryPoint| {
        let pipeline = glsl::PipelineOptions {
            shader_stage: entry.stage,
            entry_point: entry.name.clone(),
            multiview: None,
        };
        let mut text = String::new();
        glsl::Writer::new(
            &mut text,
            module,
            info,
            &options,
            &pipeline,
            BoundsCheckPolicies::default(),
        )
        .and_then(|mut writer| writer.write())
        .unwrap_or_else(|error| panic!("{name} as GLSL ES: {error}"));
        assert!(text.starts_with("#version 300 es"), "{name}: {text}");
    };
    fragments.map(write).count()
}
