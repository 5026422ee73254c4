//! The shipped shaders, put together as Bevy does it.

use naga::Module;
use naga::valid::Capabilities;
use naga_oil::compose::{ComposableModuleDescriptor, Composer, NagaModuleDescriptor, ShaderDefValue, ShaderType};
use std::collections::{BTreeSet, HashMap};
use std::fs;

/// A shader file.
pub struct Shader {
    pub path: String,
    pub text: String,
}

/// The names of the definitions that are set.
pub type Definitions = BTreeSet<String>;

impl Shader {
    /// Whether other shaders import it, rather than pipelines running it.
    pub fn is_library(&self) -> bool {
        self.text.contains("#define_import_path")
    }
}

pub fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

pub fn shaders() -> Vec<Shader> {
    let entries = fs::read_dir("src/shaders").expect("the folder of shaders");
    let paths = entries.map(|entry| entry.expect("a readable folder").path());
    let mut shaders: Vec<Shader> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "wgsl"))
        .map(|path| path.to_string_lossy().into_owned())
        .map(|path| Shader {
            text: read(&path),
            path,
        })
        .collect();
    shaders.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(shaders.len() >= 3, "only {} shaders were found", shaders.len());
    shaders
}

/// Something that puts shaders and what they import together, as Bevy does.
pub fn composer(all: &[Shader], capabilities: Capabilities) -> Composer {
    let mut composer = Composer::default().with_capabilities(capabilities);
    let mut libraries: Vec<&Shader> = all.iter().filter(|shader| shader.is_library()).collect();
    // What a library imports has to be there before it.
    libraries.sort_by_key(|library| library.text.contains("#import"));
    for library in libraries {
        let added = composer.add_composable_module(ComposableModuleDescriptor {
            source: &library.text,
            file_path: &library.path,
            ..Default::default()
        });
        if let Err(error) = added {
            panic!("{}: {}", library.path, error.emit_to_string(&composer));
        }
    }
    composer
}

/// One variant of a shader.
pub fn compose(composer: &mut Composer, shader: &Shader, definitions: &Definitions) -> Module {
    let flags = definitions
        .iter()
        .map(|name| (name.clone(), ShaderDefValue::Bool(true)));
    // The numbers that compute shaders are compiled for: the largest, which need the most of everything.
    let numbers = [
        ("STEP_X", 8),
        ("STEP_Y", 8),
        ("REACH", 16),
        ("ROWS", 64),
        ("TEXELS_X", 6),
        ("TEXELS_Y", 6),
    ];
    let numbers = numbers.map(|(name, number)| (name.to_owned(), ShaderDefValue::UInt(number)));
    let shader_defs = flags.chain(numbers);
    composer
        .make_naga_module(NagaModuleDescriptor {
            source: &shader.text,
            file_path: &shader.path,
            shader_type: ShaderType::Wgsl,
            shader_defs: shader_defs.collect::<HashMap<_, _>>(),
            ..Default::default()
        })
        .unwrap_or_else(|error| {
            let error = error.emit_to_string(composer);
            panic!("{} with {definitions:?}: {error}", shader.path)
        })
}
