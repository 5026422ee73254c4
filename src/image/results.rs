//! The render world: what an image blur has carried out, and the textures of a target of the plugin's own. Without a GPU, so that
//! the histories of the tests use it, too.
//!
//! When the asset of an own target changes, for a source of another size or format, Bevy makes an empty texture. The one with the last
//! result goes back into its place until a blur is recorded into the new one, because the source or a pipeline may be late. Which
//! texture a blur writes depends on what it must look like alone, not on what the asset has been in between: if no texture is as it
//! must be, because the source is not what its asset says either, one is made.

use super::request::ImageSpec;
use crate::settings::{BlurAlpha, BlurUpdate};
use bevy::render::render_resource::TextureId;
use bevy::render::texture::GpuImage;

/// A request that was carried out, or is to be, with textures as they are in a frame.
#[derive(Clone, Copy, PartialEq)]
pub struct Carried<I = TextureId> {
    pub revision: u64,
    /// The textures of the source, the mask and the target.
    pub textures: [Option<I>; 3],
}

impl<I: PartialEq> Carried<I> {
    /// Whether a request must be carried out, given what was carried out last. `is_fed`: an input is written in this frame.
    pub fn is_due(&self, last: Option<&Self>, update: BlurUpdate, is_fed: bool) -> bool {
        match update {
            BlurUpdate::EveryFrame => true,
            BlurUpdate::OnChange => is_fed || last != Some(self),
            BlurUpdate::Once => last.is_none_or(|last| last.revision != self.revision),
        }
    }
}

/// What a blur that is due reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Nothing: the picture is as requested.
    Nothing,
    /// The source.
    Source,
    /// A copy of the source, which is made first.
    NewCopy,
    /// The copy that was made before the last blur in place.
    KeptCopy,
    /// The same, which is copied back: nothing is blurred any more.
    CopyBack,
}

impl Reads {
    /// `is_copy`: nothing is blurred. `is_kept`: there is a copy of the source, as it was before the last blur in place.
    pub fn new(spec: &ImageSpec, is_copy: bool, is_kept: bool) -> Self {
        let is_onto_itself = is_copy && spec.overwrites_source();
        let is_unblurred = is_onto_itself && spec.alpha != BlurAlpha::Unpremultiply;
        let (_, padding) = spec.excerpt;
        match (is_kept, spec.keeps_source()) {
            (true, _) if is_unblurred => Self::CopyBack,
            (false, _) if is_unblurred => Self::Nothing,
            (true, true) => Self::KeptCopy,
            // A pass cannot read the texture that it writes, nor texels around a source.
            (_, keeps) if keeps || is_onto_itself || padding > 0 => Self::NewCopy,
            _ => Self::Source,
        }
    }

    /// Whether the copy is kept for the next blur.
    pub fn keeps_copy(self, spec: &ImageSpec) -> bool {
        spec.keeps_source() && matches!(self, Self::NewCopy | Self::KeptCopy)
    }
}

/// The textures of a target that the plugin allocated: images on the GPU, each with what tells its texture apart.
#[derive(Clone, Debug)]
pub struct OwnTarget<I = TextureId, T = GpuImage> {
    /// The one that holds the last result.
    written: Option<(I, T)>,
    /// The one to write next, if it is another one: Bevy has made it since, or no asset describes it.
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

impl<I: Copy + PartialEq, T: Clone> OwnTarget<I, T> {
    /// The image to write, given the one that Bevy shows. It is made if no image is as wanted, and if that is possible.
    pub fn choose(
        &mut self,
        shown: (I, &T),
        is_wanted: impl Fn(&T) -> bool,
        make: impl FnOnce() -> Option<(I, T)>,
    ) -> Option<T> {
        if let Some((_, written)) = self.written.as_mut().filter(|(id, _)| *id == shown.0) {
            // Its sampler may be another one.
            written.clone_from(shown.1);
        }
        let next = self.next.take();
        if let Some((_, written)) = self.written.as_ref().filter(|(_, image)| is_wanted(image)) {
            return Some(written.clone());
        }
        self.next = next
            .filter(|(_, image)| is_wanted(image))
            .or_else(|| is_wanted(shown.1).then(|| (shown.0, shown.1.clone())))
            .or_else(make);
        self.next.as_ref().map(|(_, image)| image.clone())
    }

    /// The image to show in a frame that writes the next one if it `runs`, after what was carried out last; and whether it takes the
    /// place of another result.
    pub fn show(&mut self, runs: bool, last: Option<&Carried<I>>) -> Option<(&T, bool)> {
        let is_written = |next: &mut (I, T)| runs || last.is_some_and(|last| last.textures[2] == Some(next.0));
        let next = self.next.take_if(is_written);
        let is_new = next.is_some() && self.written.is_some();
        self.written = next.or(self.written.take());
        self.written.as_ref().map(|(_, image)| (image, is_new))
    }
}
