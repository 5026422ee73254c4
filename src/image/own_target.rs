//! The render world: a target of the plugin's own shows its last result until the next one is there.
//!
//! When its asset changes, for a source of another size or format, Bevy makes an empty texture. The one with the last result goes
//! back into its place until a blur is recorded into the new one, because the source or a pipeline may be late. Which texture a blur
//! writes depends on what it must look like alone, not on what the asset has been in between.

use bevy::render::render_resource::TextureId;
use bevy::render::texture::GpuImage;

/// The textures of a target that the plugin allocated.
#[derive(Clone, Debug)]
pub struct OwnTarget<T = GpuImage> {
    /// The one that holds the last result.
    written: Option<T>,
    /// The one that Bevy has made since.
    next: Option<T>,
}

/// An image on the GPU, as far as its texture is concerned.
pub trait HasTexture: Clone {
    /// Tells textures apart.
    type Id: PartialEq;

    fn texture_id(&self) -> Self::Id;
}

impl HasTexture for GpuImage {
    type Id = TextureId;

    fn texture_id(&self) -> TextureId {
        self.texture.id()
    }
}

impl<T> Default for OwnTarget<T> {
    fn default() -> Self {
        Self {
            written: None,
            next: None,
        }
    }
}

impl<T: HasTexture> OwnTarget<T> {
    /// Takes note of what Bevy shows.
    pub fn look(&mut self, shown: &T) {
        match &mut self.written {
            // Its sampler may be another one.
            Some(written) if written.texture_id() == shown.texture_id() => written.clone_from(shown),
            _ => self.next = Some(shown.clone()),
        }
    }

    /// The image to write.
    pub fn choose(&self, is_wanted: impl Fn(&T) -> bool) -> Option<T> {
        let known = [&self.written, &self.next].into_iter().flatten();
        known.cloned().find(is_wanted)
    }

    /// The image to show in this frame, in which this one is `written`, or none, and whether it takes the place of another result.
    pub fn show(&mut self, written: Option<&T>) -> Option<(&T, bool)> {
        let mut is_new = false;
        if let Some(written) = written {
            self.next.take_if(|next| next.texture_id() == written.texture_id());
            let before = self.written.replace(written.clone());
            is_new = before.is_some_and(|before| before.texture_id() != written.texture_id());
        }
        self.written.as_ref().map(|written| (written, is_new))
    }

    /// Notes that an image has been written. Returns it if another one was shown instead.
    pub fn take_written(&mut self, written: &T::Id) -> Option<T> {
        let next = self.next.take_if(|next| next.texture_id() == *written)?;
        let stood_back = self.written.replace(next.clone()).is_some();
        stood_back.then_some(next)
    }
}
