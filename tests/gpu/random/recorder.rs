//! Blurs that the world's own render system records, into images that nothing else writes.

use super::content::image;
use super::step::{Source, Varies};
use super::world::picked;
use super::*;
use crate::support::recording::{Settings, Shown, WantedRecordings};

/// A format that every device can store to.
const STORABLE: [TextureFormat; 2] = [TextureFormat::Rgba8Unorm, TextureFormat::Rgba16Float];

impl World {
    /// The steps about recorded blurs.
    pub fn apply_to_recorder(&mut self, step: &Step) {
        match step {
            Step::AddRecorded(content) => {
                let mut image = image(*content);
                if STORABLE.contains(&content.format) {
                    image.texture_descriptor.usage |= TextureUsages::STORAGE_BINDING;
                }
                let own = self.headless.add_image(image);
                self.recorded.push(own);
            }
            Step::ReplaceRecorded(pick, content) => self.replace(picked(&self.recorded, *pick), image(*content)),
            Step::RemoveRecorded(pick) => self.remove(picked(&self.recorded, *pick)),
            Step::Record(pick, source, settings, varies) => {
                let Some(target) = picked(&self.recorded, *pick) else {
                    return;
                };
                let source = source.map_or(Some(target.clone()), |source| self.read_by_recorder(source));
                if let Some(source) = source {
                    let profile = self.profile_of_recorder(varies);
                    let settings = Settings {
                        profile,
                        ..settings.clone()
                    };
                    self.wanted()
                        .push((Shown::from(&source), Shown::from(&target), settings));
                }
            }
            Step::ChangeRecorded(pick, settings) => {
                let wanted = self.wanted();
                let count = wanted.len().max(1);
                if let Some((_, _, known)) = wanted.get_mut(usize::from(*pick) % count) {
                    let profile = known.profile.take();
                    *known = Settings {
                        profile,
                        ..settings.clone()
                    };
                }
            }
            Step::StopRecording(pick) => {
                let wanted = self.wanted();
                if !wanted.is_empty() {
                    let index = usize::from(*pick) % wanted.len();
                    wanted.remove(index);
                }
            }
            _ => unreachable!("handled before: {step:?}"),
        }
    }

    fn wanted(&mut self) -> &mut Vec<(Shown, Shown, Settings)> {
        &mut self.world().resource_mut::<WantedRecordings>().into_inner().0
    }

    fn read_by_recorder(&mut self, source: Source) -> Option<Handle<Image>> {
        match source {
            Source::Image(pick) => picked(&self.images, pick),
            Source::Canvas(pick) => picked(&self.canvases, pick),
            Source::TargetOf(pick) => picked(&self.recorded, pick),
        }
    }

    /// The mask as an asset or as a texture in its place.
    fn profile_of_recorder(&mut self, varies: &Varies) -> Option<(BlurProfile, Option<Shown>)> {
        match varies {
            Varies::Not => None,
            Varies::As(profile) => Some((profile.clone(), None)),
            Varies::Mask(source) => {
                let mask = self.read_by_recorder(*source)?;
                let texture = matches!(source, Source::TargetOf(_)).then(|| Shown::from(&mask));
                Some((BlurProfile::Mask(mask), texture))
            }
        }
    }
}
