//! What the process holds, where the system says it.

use std::fs;

/// Memory in KiB, and the mappings that it consists of: code that a driver has compiled takes several for each shader.
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
