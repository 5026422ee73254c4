//! Every shader, with every set of definitions that a pipeline can ask for, is valid and can be written for every
//! graphics API.

#[path = "support/composed.rs"]
mod composed;

use composed::{Definitions, Shader, compose, composer, read, shaders};
use naga::back::{glsl, hlsl, msl, spv};
use naga::proc::BoundsCheckPolicies;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{Module, ShaderStage};

/// The definition of compute passes. They store to a texture whose format is another definition.
const COMPUTE: &str = "COMPUTE";
const STORE: &str = "STORE_";

#[test]
fn every_definition_is_one_that_a_pipeline_sets() {
    let pipelines = read("src/pipelines.rs");
    for name in definitions_in(&shaders()) {
        let quoted = if name.starts_with(STORE) { STORE } else { &name };
        assert!(
            pipelines.contains(&format!("\"{quoted}")),
            "the shaders ask for {name}, which src/pipelines.rs never defines"
        );
    }
}

#[test]
fn every_variant_is_valid_on_every_api() {
    let shaders = shaders();
    let (compute, fragment): (Vec<Definitions>, Vec<Definitions>) = variants(&definitions_in(&shaders))
        .into_iter()
        .partition(|variant| variant.contains(COMPUTE));
    // Fragment passes get by without optional features. Tiles in workgroup memory are packed as half floats.
    let (modules, embedded) = write_all(&shaders, &fragment, Capabilities::empty());
    println!("{modules} fragment modules in SPIR-V, MSL and HLSL; {embedded} entry points in GLSL ES 3.00");
    assert!(
        2 * embedded >= 7 * fragment.len(),
        "halve, texels, its copy and upsample must run on WebGL 2"
    );
    let (modules, _) = write_all(&shaders, &compute, Capabilities::SHADER_FLOAT16_IN_FLOAT32);
    println!("{modules} compute modules in SPIR-V, MSL and HLSL");
    assert!(modules >= compute.len(), "every kind of storage has a module");
}

/// Writes every shader in all variants that it has something to run in. Returns how many modules and how many entry
/// points in GLSL ES there are.
fn write_all(shaders: &[Shader], variants: &[Definitions], capabilities: Capabilities) -> (usize, usize) {
    let mut composer = composer(shaders, capabilities);
    let (mut modules, mut embedded) = (0, 0);
    for shader in shaders.iter().filter(|shader| !shader.is_library()) {
        for definitions in variants.iter().filter(|definitions| runs_with(shader, definitions)) {
            let name = format!("{} with {definitions:?}", shader.path);
            let module = compose(&mut composer, shader, definitions);
            assert!(!module.entry_points.is_empty(), "{name} has no entry point");
            let info = validate(&module, capabilities, &name);
            write_spirv(&module, &info, &name);
            write_msl(&module, &info, &name);
            write_hlsl(&module, &info, &name);
            embedded += write_glsl_es(&module, &info, &name);
            modules += 1;
        }
    }
    (modules, embedded)
}

/// Whether a shader has something to run in the kind of pass that a variant is for, and all that it asks for.
fn runs_with(shader: &Shader, definitions: &Definitions) -> bool {
    let stage = if definitions.contains(COMPUTE) {
        "@compute"
    } else {
        "@fragment"
    };
    let samples = shader.text.contains("linear_sampler") && !shader.text.contains("#ifdef FILTERED");
    shader.text.contains(stage) && (definitions.contains("FILTERED") || !samples)
}

/// All names that `#ifdef` and its like ask for.
fn definitions_in(shaders: &[Shader]) -> Definitions {
    let lines = shaders.iter().flat_map(|shader| shader.text.lines());
    lines
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let asks = matches!(words.next()?, "#ifdef" | "#ifndef");
            asks.then(|| words.next().map(str::to_owned))?
        })
        .collect()
}

/// All sets of definitions that a pipeline can ask for: straight alpha is converted only by the pass that reads the
/// picture, a pass that writes alpha as 1 converts none, and compute passes alone store, in one format.
fn variants(all: &Definitions) -> Vec<Definitions> {
    let mut variants = vec![Definitions::new()];
    for name in all {
        let with = variants.iter().map(|variant| {
            let mut variant = variant.clone();
            variant.insert(name.clone());
            variant
        });
        variants = variants.iter().cloned().chain(with).collect();
    }
    let has = |variant: &Definitions, name: &str| variant.contains(name);
    let stores = |variant: &Definitions| variant.iter().filter(|name| name.starts_with(STORE)).count();
    variants.retain(|variant| {
        (has(variant, "FIRST") || !has(variant, "PREMULTIPLY"))
            && !(has(variant, "OPAQUE") && (has(variant, "PREMULTIPLY") || has(variant, "UNPREMULTIPLY")))
            && stores(variant) == usize::from(has(variant, COMPUTE))
    });
    variants
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
