//! What the crate writes into a uniform and what the shaders read out of it are laid out alike.

#[path = "support/composed.rs"]
mod composed;

use composed::{Definitions, compose, composer, read, shaders};
use naga::proc::Layouter;
use naga::valid::Capabilities;
use naga::{Module, TypeInner};

#[test]
fn the_uniform_mirrors_its_struct() {
    let rust = fields_of(&read("src/uniforms.rs"), "PassUniform");
    let module = module("texels");
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
    let wgsl: Vec<(String, u32, u32)> = members
        .iter()
        .map(|member| {
            let name = member.name.clone().expect("members have names");
            (name, member.offset, layouter[member.ty].size)
        })
        .collect();

    // The mirror has the tables of both axes in one array, the struct has one after the other.
    let mut expected = Vec::new();
    let mut offset = 0;
    for (name, kind) in rust {
        let parts = match kind.as_str() {
            "[i32; 2]" | "[u32; 2]" | "[f32; 2]" => vec![(name, 2 * 4)],
            "[Table; 2]" => vec![("x".to_owned(), 48 * 4), ("y".to_owned(), 48 * 4)],
            other => panic!("PassUniform has a field of the type {other}, which this test does not know"),
        };
        for (name, size) in parts {
            expected.push((name, offset, size));
            offset += size;
        }
    }
    assert_eq!(
        wgsl, expected,
        "BlurPass and PassUniform differ in (name, offset, size)"
    );
    assert_eq!(layouter[handle].size, offset, "BlurPass has padding at its end");
}

#[test]
fn the_constants_mirror_the_plan() {
    let plan = read("src/plan.rs");
    let most_weights = number_behind(&plan, "pub const MAX_WEIGHTS: usize =");
    let border = number_behind(&plan, "pub const BORDER: usize =");
    assert_eq!(constant(&module("upsample"), "BORDER"), Some(border));

    let texels = module("texels");
    let lengths: Vec<i64> = texels
        .types
        .iter()
        .filter_map(|(_, ty)| array_length(&ty.inner))
        .collect();
    let vectors = most_weights / 4;
    assert_eq!(lengths, [vectors], "four weights share a vector of a table");
    assert!(2 * border <= 4 * vectors, "both borders' weights fit into a table");
    let declared = number_behind(&read("src/shaders/common.wgsl"), "const TABLE_VECTORS: u32 =");
    assert_eq!(declared, vectors);
}

#[test]
fn the_edge_modes_mirror_their_indices() {
    let uniforms = read("src/uniforms.rs");
    let common = read("src/shaders/common.wgsl");
    for (index, name) in ["Clamp", "Mirror", "Wrap", "Transparent", "Renormalize"]
        .iter()
        .enumerate()
    {
        let written = number_behind(&uniforms, &format!("EdgeMode::{name} =>"));
        let read = number_behind(&common, &format!("const EDGE_{}: u32 =", name.to_uppercase()));
        assert_eq!([written, read], [index as i64; 2], "{name}");
    }
}

/// A shader without any definitions.
fn module(name: &str) -> Module {
    let shaders = shaders();
    let file = format!("{name}.wgsl");
    let shader = shaders.iter().find(|shader| shader.path.ends_with(&file));
    let shader = shader.unwrap_or_else(|| panic!("there is no {file}"));
    compose(
        &mut composer(&shaders, Capabilities::empty()),
        shader,
        &Definitions::new(),
    )
}

/// The names and types of a struct's fields in Rust.
fn fields_of(text: &str, name: &str) -> Vec<(String, String)> {
    let (_, rest) = text.split_once(&format!("struct {name} {{")).expect("the struct");
    let (body, _) = rest.split_once('}').expect("the struct's end");
    let fields = body
        .lines()
        .filter_map(|line| line.trim().trim_end_matches(',').split_once(": "));
    fields.map(|(name, kind)| (name.to_owned(), kind.to_owned())).collect()
}

/// The whole number that follows a piece of text.
fn number_behind(text: &str, prefix: &str) -> i64 {
    let (_, rest) = text
        .split_once(prefix)
        .unwrap_or_else(|| panic!("nothing says `{prefix}`"));
    let rest = rest.trim_start();
    let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end]
        .parse()
        .unwrap_or_else(|error| panic!("`{prefix}`: {error}"))
}

/// The value of a constant of a module, whose name may carry that of a library behind it.
fn constant(module: &Module, name: &str) -> Option<i64> {
    let (_, constant) = module
        .constants
        .iter()
        .find(|(_, it)| it.name.as_ref().is_some_and(|it| it.starts_with(name)))?;
    match module.global_expressions[constant.init] {
        naga::Expression::Literal(naga::Literal::I32(value)) => Some(value.into()),
        naga::Expression::Literal(naga::Literal::U32(value)) => Some(value.into()),
        _ => None,
    }
}

fn array_length(inner: &TypeInner) -> Option<i64> {
    match inner {
        TypeInner::Array {
            size: naga::ArraySize::Constant(length),
            ..
        } => Some(length.get().into()),
        _ => None,
    }
}
