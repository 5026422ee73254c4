//! The render world: a target of the plugin's own keeps showing its last result.

use bevy::render::render_resource::TextureId;
use bevy::render::texture::GpuImage;

/// The textures of a target that the plugin allocated.
///
/// When its asset changes, for a source of another size or format, Bevy makes an empty texture. The old one stays in its
/// place until a blur is recorded into the new one, because the source or a pipeline may be late.
#[derive(Default)]
pub struct OwnTarget {
    /// The texture that holds the last result.
    written: Option<GpuImage>,
    /// The empty one that the next result is written to, and that takes its place then.
    next: Option<GpuImage>,
}

fn are_same(one: &GpuImage, other: &GpuImage) -> bool {
    one.texture.id() == other.texture.id()
}

impl OwnTarget {
    /// The texture to write, given the one that is shown.
    pub fn choose(&mut self, shown: &GpuImage) -> GpuImage {
        let is_held = self.written.as_ref().is_some_and(|written| are_same(written, shown));
        if !is_held {
            self.next = None;
        }
        self.next.as_ref().unwrap_or(shown).clone()
    }

    /// Whether the old texture stands in for the new one.
    pub fn is_held(&self) -> bool {
        self.written.is_some() && self.next.is_some()
    }

    /// Decides which texture is shown in this frame, in which the target is `written` or not. Returns it if it is not
    /// the one that is shown.
    pub fn settle(&mut self, shown: &GpuImage, to_write: GpuImage, is_written: bool) -> Option<GpuImage> {
        let holds = |written: &GpuImage| !is_written && !are_same(written, &to_write);
        if let Some(written) = self.written.clone().filter(holds) {
            self.next = Some(to_write);
            return (!are_same(&written, shown)).then_some(written);
        }
        self.next = None;
        if is_written {
            self.written = Some(to_write.clone());
        } else if self.written.is_none() {
            // The first result may be recorded later in this frame, after which the blur may rest.
            self.next = Some(to_write.clone());
        }
        (!are_same(&to_write, shown)).then_some(to_write)
    }

    /// Notes that the next texture has been written. Returns it if it stood back.
    pub fn take_written(&mut self, written: TextureId) -> Option<GpuImage> {
        let next = self.next.take_if(|next| next.texture.id() == written)?;
        let stood_back = self.written.replace(next.clone()).is_some();
        stood_back.then_some(next)
    }
}
