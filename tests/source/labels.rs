//! Every object that the crate creates on a GPU has a label, which debuggers and validation layers print.

use std::fs;
use std::path::Path;

const DESCRIPTORS: [&str; 8] = [
    "TextureDescriptor {",
    "TextureViewDescriptor {",
    "BufferDescriptor {",
    "SamplerDescriptor {",
    "RenderPassDescriptor {",
    "ComputePassDescriptor {",
    "RenderPipelineDescriptor {",
    "ComputePipelineDescriptor {",
];

fn check(folder: &Path, made: &mut usize) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("an entry can be read").path();
        let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
        if path.is_dir() && !is_test {
            check(&path, made);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !is_test {
            let text = fs::read_to_string(&path).expect("the file can be read");
            let lines: Vec<&str> = text.lines().collect();
            for (number, line) in lines.iter().enumerate() {
                let is_made = DESCRIPTORS.iter().any(|descriptor| line.ends_with(descriptor));
                if !is_made || line.contains("->") {
                    continue;
                }
                let label = lines.get(number + 1).is_some_and(|next| next.contains("label: Some("));
                assert!(label, "{}:{}: it has no label", path.display(), number + 1);
                *made += 1;
            }
        }
    }
}

#[test]
fn everything_on_the_gpu_has_a_label() {
    let mut made = 0;
    check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut made);
    assert!(made > 8, "the pattern finds what is made: {made}");
}
