//! The render world: a target of the plugin's own shows its last result until the next one is there.
//!
//! When its asset changes, for a source of another size or format, Bevy makes an empty texture. The one with the last result goes
//! back into its place until a blur is recorded into the new one, because the source or a pipeline may be late. Which texture a blur
//! writes depends on what it must look like alone, not on what the asset has been in between.

use bevy::render::render_resource::TextureId;
use bevy::render::texture::GpuImage;

/// The textures of a target that the plugin allocated: images on the GPU, each with what tells its texture apart.
#[derive(Clone, Debug)]
pub struct OwnTarget<I = TextureId, T = GpuImage> {
    /// The one that holds the last result.
    written: Option<(I, T)>,
    /// The one that Bevy has made since.
    next: Option<(I, T)>,
}

impl<I, T> Default for OwnTarget<I, T> {
    fn default() -> Self {
        Self {
            written: None,
            next: None,
        }
    }
}

impl<I: PartialEq, T: Clone> OwnTarget<I, T> {
    /// Takes note of what Bevy shows.
    pub fn look(&mut self, id: I, shown: &T) {
        match &mut self.written {
            // Its sampler may be another one.
            Some((written, image)) if *written == id => image.clone_from(shown),
            _ => self.next = Some((id, shown.clone())),
        }
    }

    /// The image to write.
    pub fn choose(&self, is_wanted: impl Fn(&T) -> bool) -> Option<T> {
        let known = [&self.written, &self.next].into_iter().flatten();
        known.map(|(_, image)| image).find(|image| is_wanted(image)).cloned()
    }

    /// The image to show in this frame, in which this one is `written`, or none, and whether it takes the place of another result.
    pub fn show(&mut self, written: Option<(I, T)>) -> Option<(&T, bool)> {
        let mut is_new = false;
        if let Some(written) = written {
            self.next.take_if(|(next, _)| *next == written.0);
            is_new = self.written.as_ref().is_some_and(|(before, _)| *before != written.0);
            self.written = Some(written);
        }
        self.written.as_ref().map(|(_, image)| (image, is_new))
    }

    /// Notes that an image has been written. Returns it if another one was shown instead.
    pub fn take_written(&mut self, written: &I) -> Option<T> {
        let next = self.next.take_if(|(next, _)| next == written)?;
        let image = next.1.clone();
        self.written.replace(next).map(|_| image)
    }
}
