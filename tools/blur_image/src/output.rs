//! Files that appear complete or not at all.

use std::fmt;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// The kind of file that the name of an output requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Png,
    Tiff,
    Exr,
}

/// The destination of a result.
pub struct Output {
    /// `None` for stdout.
    path: Option<PathBuf>,
    /// The path as the user gave it.
    shown: String,
    kind: Kind,
}

impl Output {
    /// A PNG picture on stdout.
    ///
    /// # Errors
    /// Stdout is a terminal.
    pub fn stdout() -> Result<Self, String> {
        if io::stdout().is_terminal() {
            return Err("stdout is a terminal; redirect it, or name a file".to_owned());
        }
        Ok(Self {
            path: None,
            shown: "stdout".to_owned(),
            kind: Kind::Png,
        })
    }

    /// Checks, as far as possible beforehand, that `path` can be written.
    ///
    /// # Errors
    /// The reason why it cannot.
    pub fn file(path: &Path) -> Result<Self, String> {
        let shown = path.display().to_string();
        let extension = path.extension().map(|extension| extension.to_ascii_lowercase());
        let kind = match extension.as_ref().and_then(|extension| extension.to_str()) {
            Some("png") => Kind::Png,
            Some("tif" | "tiff") => Kind::Tiff,
            Some("exr") => Kind::Exr,
            _ => return Err(format!("cannot write {shown}: its name must end in .png, .tif or .exr")),
        };
        // Resolve links, so that the target of a link is replaced, not the link.
        let path = fs::canonicalize(path).or_else(|_| in_real_folder(path));
        let path = path.map_err(|folder| format!("cannot write {shown}: {folder} is not a folder"))?;
        match fs::metadata(&path) {
            Ok(existing) if existing.is_dir() => Err(format!("cannot write {shown}: it is a folder")),
            Ok(existing) if existing.permissions().readonly() => Err(format!("cannot write {shown}: it is read-only")),
            _ => Ok(Self {
                path: Some(path),
                shown,
                kind,
            }),
        }
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The canonical path of the file.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    pub fn is_stdout(&self) -> bool {
        self.path.is_none()
    }

    /// Writes everything. An existing file stays as it is until the new one is complete.
    ///
    /// # Errors
    /// The reason why that failed.
    pub fn write(&self, bytes: &[u8]) -> Result<(), String> {
        let written = match &self.path {
            Some(path) => replace(path, bytes),
            None => io::stdout().write_all(bytes).and_then(|()| io::stdout().flush()),
        };
        written.map_err(|error| format!("cannot write {self}: {error}"))
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut beside = tempfile::Builder::new();
    // Temporary files are private by default, results are not.
    #[cfg(unix)]
    beside.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = beside.tempfile_in(path.parent().unwrap_or(Path::new(".")))?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}

/// The canonical path of a file, which need not exist. If its folder does not exist, the error is the folder's name.
fn in_real_folder(path: &Path) -> Result<PathBuf, String> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    match fs::canonicalize(folder) {
        Ok(real) if real.is_dir() => Ok(real.join(path.file_name().unwrap_or_default())),
        _ => Err(folder.display().to_string()),
    }
}
