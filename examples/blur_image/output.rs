//! A file that appears whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// What OUTPUT's extension asks for.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Png,
    Exr,
}

/// Where the result goes.
pub struct Output {
    path: PathBuf,
    kind: Kind,
}

/// A file beside the output that goes away unless it takes the output's place.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Output {
    /// Finds out, as far as that is possible beforehand, whether `path` can be written.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn new(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let extension = path.extension().map(|extension| extension.to_ascii_lowercase());
        let kind = match extension.as_ref().and_then(|extension| extension.to_str()) {
            Some("png") => Kind::Png,
            Some("exr") => Kind::Exr,
            _ => return Err(format!("cannot write {shown}: its name must end in .png or .exr")),
        };
        // Of a link, the file that it leads to is replaced.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if !folder_of(&path).is_dir() {
            let folder = folder_of(&path).display();
            return Err(format!("cannot write {shown}: {folder} is not a folder"));
        }
        match fs::metadata(&path) {
            Ok(existing) if existing.is_dir() => Err(format!("cannot write {shown}: it is a folder")),
            Ok(existing) if existing.permissions().readonly() => Err(format!("cannot write {shown}: it is read-only")),
            _ => Ok(Self { path, kind }),
        }
    }

    /// Lets `encode` write the file. An existing one stays as it is until the new one is complete.
    ///
    /// # Errors
    /// Why the file could not be written.
    pub fn write(&self, encode: impl FnOnce(&mut BufWriter<File>, Kind) -> Result<(), String>) -> Result<(), String> {
        let failed = |reason: String| format!("cannot write {}: {reason}", self.path.display());
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let beside = folder_of(&self.path).join(format!(".{name}.{}.tmp", std::process::id()));
        let file = OpenOptions::new().write(true).create_new(true).open(&beside);
        let mut file = BufWriter::new(file.map_err(|error| failed(error.to_string()))?);
        let temporary = Temporary(beside);
        encode(&mut file, self.kind).map_err(failed)?;
        file.flush().map_err(|error| failed(error.to_string()))?;
        drop(file);
        fs::rename(&temporary.0, &self.path).map_err(|error| failed(error.to_string()))?;
        std::mem::forget(temporary);
        Ok(())
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
