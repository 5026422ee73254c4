//! Every shader, for every pipeline that a blur can ask for, is valid and can be written for every graphics API; and what
//! Rust writes into a uniform is what the shaders read out of it.

use super::compile::{COPY, COPY_TO_LEVEL, MIPMAP};
use super::pipelines::PipelineKey;
use super::uniforms::PassUniform;
use crate::formats::table::{Format, Sample};
use crate::formats::{Ends, Resolved};
use crate::kernel::Precision;
use crate::plan::{Finish, Means, stages};
use crate::program::{Filtering, Tiling};
use crate::settings::{BlurAlpha, EdgeMode};
use bevy::render::render_resource::TextureFormat;
use bevy::shader::ShaderDefVal;
use core::mem::offset_of;
use naga::back::{glsl, hlsl, msl, spv};
use naga::proc::{BoundsCheckPolicies, Layouter};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{Module, ShaderStage, TypeInner};
use naga_oil::compose::{ComposableModuleDescriptor, Composer, NagaModuleDescriptor, ShaderDefValue, ShaderType};
use std::collections::{BTreeMap, HashMap};
use std::fs;

const LIBRARIES: [&str; 4] = ["leave", "common", "cubic", "spline"];

/// What a shader is compiled for, by name.
type Definitions = BTreeMap<String, ShaderDefValue>;

fn read(name: &str) -> (String, String) {
    let path = format!("{}/src/shaders/{name}.wgsl", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    (path, text)
}

/// Something that puts shaders and what they import together, as Bevy does.
fn composer(capabilities: Capabilities) -> Composer {
    let mut composer = Composer::default().with_capabilities(capabilities);
    for (path, text) in LIBRARIES.map(read) {
        let added = composer.add_composable_module(ComposableModuleDescriptor {
            source: &text,
            file_path: &path,
            ..Default::default()
        });
        if let Err(error) = added {
            panic!("{path}: {}", error.emit_to_string(&composer));
        }
    }
    composer
}

fn compose(composer: &mut Composer, name: &str, definitions: &Definitions) -> Module {
    let (path, text) = read(name);
    composer
        .make_naga_module(NagaModuleDescriptor {
            source: &text,
            file_path: &path,
            shader_type: ShaderType::Wgsl,
            shader_defs: definitions.clone().into_iter().collect::<HashMap<_, _>>(),
            ..Default::default()
        })
        .unwrap_or_else(|error| {
            let error = error.emit_to_string(composer);
            panic!("{path} with {definitions:?}: {error}")
        })
}

fn definitions(key: &PipelineKey, round_packed: bool) -> Definitions {
    key.definitions(round_packed).into_iter().map(named).collect()
}

fn named(definition: ShaderDefVal) -> (String, ShaderDefValue) {
    match definition {
        ShaderDefVal::Bool(name, value) => (name, ShaderDefValue::Bool(value)),
        ShaderDefVal::Int(name, value) => (name, ShaderDefValue::Int(value)),
        ShaderDefVal::UInt(name, value) => (name, ShaderDefValue::UInt(value)),
    }
}

/// The pipelines of all blurs, whatever their sizes, strengths, edge modes, alpha and formats.
fn every_key() -> Vec<PipelineKey> {
    const ALPHAS: [BlurAlpha; 3] = [BlurAlpha::Premultiplied, BlurAlpha::Straight, BlurAlpha::Opaque];
    // One format for each way to read, to store, and to round.
    let formats = [
        TextureFormat::Rgba8UnormSrgb,
        TextureFormat::Rgba8Unorm,
        TextureFormat::R16Float,
        TextureFormat::Rgba16Float,
        TextureFormat::Rgba32Float,
        TextureFormat::Rg11b10Ufloat,
        TextureFormat::R8Uint,
        TextureFormat::Rgb10a2Uint,
        TextureFormat::R16Sint,
        TextureFormat::R32Uint,
    ];
    let mut keys = Vec::new();
    for (precision, alpha) in [Precision::Standard, Precision::Hdr]
        .into_iter()
        .flat_map(|precision| ALPHAS.map(|alpha| (precision, alpha)))
    {
        for (source, destination) in formats.into_iter().flat_map(|format| {
            [
                (format, format),
                (format, TextureFormat::Rgba16Float),
                (TextureFormat::R8Uint, format),
            ]
        }) {
            for (tiling, filters) in tilings(source, destination) {
                let ends = Ends {
                    source,
                    destination,
                    precision,
                    alpha,
                    has_storage: true,
                    in_place: false,
                };
                keys.extend(keys_between(&ends, tiling, filters));
            }
        }
    }
    keys
}

/// The pipelines of blurs between two ends.
fn keys_between(ends: &Ends, tiling: Tiling, filters: bool) -> impl Iterator<Item = PipelineKey> {
    let [source, destination] =
        [ends.source, ends.destination].map(|format| Format::of(format).expect("a colour format"));
    let filtering = Filtering {
        source: filters && ends.alpha != BlurAlpha::Straight && source.sample() == Sample::Float,
        intermediates: filters,
        spline: filters,
    };
    let resolved = Resolved {
        means: Means {
            precision: ends.precision,
            tiling,
            filtering,
        },
        intermediate: if source.is_wide() || destination.is_wide() {
            TextureFormat::Rgba32Float
        } else {
            TextureFormat::Rgba16Float
        },
        alpha: ends.alpha,
        has_alpha: source.has_opacity(),
    };
    let stages = [Finish::Write, Finish::Leave]
        .into_iter()
        .flat_map(|finish| stages(resolved.means, finish))
        .chain([COPY, MIPMAP, COPY_TO_LEVEL]);
    let keys = stages.flat_map(|stage| {
        let key = PipelineKey::new(stage, ends, &resolved);
        [key, key.for_any_kernel()]
    });
    keys.collect::<Vec<_>>().into_iter()
}

fn tilings(source: TextureFormat, destination: TextureFormat) -> impl Iterator<Item = (Tiling, bool)> {
    let is_wide = |format: TextureFormat| Format::of(format).is_some_and(|format| format.is_wide());
    let stores = matches!(destination, TextureFormat::Rgba8Unorm | TextureFormat::Rgba16Float);
    let tiled = [true, false].map(|apart| Tiling::Tiled { stores, apart });
    let is_tiled = !is_wide(source) && !is_wide(destination);
    [Tiling::None]
        .into_iter()
        .chain(tiled.into_iter().filter(move |_| is_tiled))
        .flat_map(|tiling| [(tiling, true), (tiling, false)])
}

#[test]
fn every_pipeline_is_valid_on_every_api() {
    // Fragment passes get by without optional features. Tiles in workgroup memory are packed as half floats.
    let capabilities = |computes| match computes {
        true => Capabilities::SHADER_FLOAT16_IN_FLOAT32,
        false => Capabilities::empty(),
    };
    let mut composers = [false, true].map(|computes| composer(capabilities(computes)));
    let mut variants: Vec<(&str, bool, Definitions)> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for key in every_key() {
        for round_packed in [false, true] {
            let definitions = definitions(&key, round_packed);
            if seen.insert(format!("{} {definitions:?}", key.program.name())) {
                variants.push((key.program.name(), key.program.computes(), definitions));
            }
        }
    }
    let mut embedded = 0;
    for (name, computes, definitions) in &variants {
        let module = compose(&mut composers[usize::from(*computes)], name, definitions);
        let name = format!("{name} with {definitions:?}");
        assert_eq!(module.entry_points.len(), 1, "{name}");
        let info = validate(&module, capabilities(*computes), &name);
        write_spirv(&module, &info, &name);
        write_msl(&module, &info, &name);
        write_hlsl(&module, &info, &name);
        embedded += write_glsl_es(&module, &info, &name);
    }
    let fragments = variants.iter().filter(|(_, computes, _)| !computes).count();
    assert_eq!(embedded, fragments, "every fragment program runs on WebGL 2");
    println!(
        "{} modules in SPIR-V, MSL and HLSL; {embedded} of them in GLSL ES 3.00",
        variants.len()
    );
}

#[test]
fn glass_is_valid_on_every_api() {
    use crate::backdrop::pipelines::{GlassKey, Mix, definitions};
    let mut composer = composer(Capabilities::empty());
    for format in [
        TextureFormat::Rgba8UnormSrgb,
        TextureFormat::Rgba16Float,
        TextureFormat::Rg11b10Ufloat,
    ] {
        for (mix, filtered) in Mix::ALL.into_iter().flat_map(|mix| [(mix, false), (mix, true)]) {
            let key = GlassKey { format, mix, filtered };
            let definitions = definitions(key).into_iter().map(named).collect();
            let module = compose(&mut composer, "glass", &definitions);
            let name = format!("glass with {definitions:?}");
            let info = validate(&module, Capabilities::empty(), &name);
            write_spirv(&module, &info, &name);
            write_msl(&module, &info, &name);
            write_hlsl(&module, &info, &name);
            assert_eq!(write_glsl_es(&module, &info, &name), 1, "{name}");
        }
    }
}

#[test]
fn the_uniform_mirrors_its_struct() {
    let key = every_key()[0];
    let module = compose(
        &mut composer(Capabilities::empty()),
        key.program.name(),
        &definitions(&key, false),
    );
    let mut layouter = Layouter::default();
    layouter.update(module.to_ctx()).expect("a module with sizes");
    let (handle, members) = module
        .types
        .iter()
        .find_map(|(handle, ty)| match &ty.inner {
            TypeInner::Struct { members, .. } if ty.name.as_ref()?.starts_with("BlurPass") => Some((handle, members)),
            _ => None,
        })
        .expect("the shader reads a BlurPass");
    let wgsl: Vec<(&str, usize)> = members
        .iter()
        .map(|member| (member.name.as_deref().unwrap_or(""), member.offset as usize))
        .collect();
    macro_rules! fields {
        ($($name:ident),*) => { vec![$((stringify!($name), offset_of!(PassUniform, $name))),*] };
    }
    let rust = fields![
        step, shift, bounds_min, bounds_max, reach_min, reach_max, edge, octaves, normalize, margin, images, origin,
        size, texel_size, tables
    ];
    assert_eq!(wgsl, rust, "BlurPass and PassUniform differ in (name, offset)");
    assert_eq!(layouter[handle].size as usize, size_of::<PassUniform>());
}

#[test]
fn the_edge_modes_mirror_their_indices() {
    let (_, common) = read("common");
    for edge in [
        EdgeMode::Clamp,
        EdgeMode::Mirror,
        EdgeMode::Wrap,
        EdgeMode::Transparent,
        EdgeMode::Renormalize,
    ] {
        let name = format!("{edge:?}").to_uppercase();
        let line = format!("const EDGE_{name}: u32 = {}u;", super::uniforms::edge_index(edge));
        assert!(common.contains(&line), "{line}");
    }
}

/// Validates a module for a device of certain capabilities.
fn validate(module: &Module, capabilities: Capabilities, name: &str) -> ModuleInfo {
    Validator::new(ValidationFlags::all(), capabilities)
        .validate(module)
        .unwrap_or_else(|error| panic!("{name}: {error:?}"))
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

/// Writes the fragment entry points as WebGL 2 takes them. Returns how many there are.
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
