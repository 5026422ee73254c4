//! What the tests of the tool share.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// An empty folder of this name.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder can be made");
    folder
}

/// Runs the tool. Returns `None` if there is no GPU.
pub fn run(folder: &Path, arguments: &str, stdin: &[u8]) -> Option<Output> {
    let mut tool = Command::new(env!("CARGO_BIN_EXE_blur_image"))
        .current_dir(folder)
        .args(arguments.split_whitespace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the tool starts");
    let mut pipe = tool.stdin.take().expect("it is piped");
    pipe.write_all(stdin).expect("the tool reads its input");
    drop(pipe);
    let output = tool.wait_with_output().expect("the tool ends");
    let told = String::from_utf8_lossy(&output.stderr);
    if told.contains("no GPU adapter") && std::env::var_os("BLUR_REQUIRE_GPU").is_none() {
        eprintln!("SKIPPED: {told}");
        return None;
    }
    assert!(output.status.success(), "blur_image {arguments}: {told}");
    Some(output)
}
