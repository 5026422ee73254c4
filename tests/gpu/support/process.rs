//! The process of a test: its memory, if the system reports it, and a separate process for a test that cannot share one.

use std::fs;
use std::process::Command;

/// Memory in KiB, and the number of its mappings: a driver's compiled code takes several for each shader.
#[derive(Clone, Copy, Debug)]
pub struct Process {
    pub resident: i64,
    pub mappings: i64,
}

impl Process {
    pub fn now() -> Option<Self> {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
        let resident = line.split_whitespace().nth(1)?.parse().ok()?;
        let mappings = fs::read_to_string("/proc/self/maps").ok()?.lines().count() as i64;
        Some(Self { resident, mappings })
    }
}

/// Gives memory that has been freed back to the system. glibc keeps it: most of what a process holds in which many apps come and go.
pub fn give_memory_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            safe fn malloc_trim(pad: usize) -> core::ffi::c_int;
        }
        malloc_trim(0);
    }
}

/// The command that runs an ignored test in a separate process, with the allocator that games have, which `scripts/test` replaces.
/// `module` is its module, as `module_path!()` names it.
pub fn alone(module: &str, test: &str) -> Command {
    super::headless::adapter_limits();
    let (_, module) = module.split_once("::").expect("the path begins with the crate");
    let program = std::env::current_exe().expect("a test is a program");
    let mut command = Command::new(program);
    command
        .args(["--exact", "--ignored", "--nocapture", &format!("{module}::{test}")])
        .env_remove("LD_PRELOAD");
    command
}
