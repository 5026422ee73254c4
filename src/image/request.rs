//! The messages between the two halves of the image front end.

use super::order::INPUTS;
use crate::diagnostics::label::BlurLabel;
use crate::errors::BlurError;
use crate::gpu::ViewInfo;
use crate::mailbox::Mailbox;
use crate::settings::{BlurAlpha, BlurProfile, BlurUpdate, GaussianBlur};
use bevy::platform::collections::HashSet;
use bevy::prelude::*;

/// One insertion of the components of an image blur. Outcomes name it, so that they do not fit the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlurId {
    pub entity: Entity,
    pub number: u64,
}

/// One image blur, for the render world.
#[derive(Clone, Debug)]
pub struct ImageRequest {
    pub id: BlurId,
    pub label: BlurLabel,
    pub spec: ImageSpec,
    /// Incremented whenever a blur is due.
    pub revision: u64,
    /// The blurs that write the inputs and must run once before this one.
    pub feeders: Feeders,
    /// Whether the result is read back.
    pub wants_pixels: bool,
    /// When it is encoded, and whether a camera paints an input. Only the render world knows.
    pub time: Time,
    pub is_painted: bool,
}

/// What a blur of an image wants, by value.
#[derive(Clone, Debug, Default)]
pub struct ImageSpec {
    pub blur: GaussianBlur,
    pub profile: BlurProfile,
    pub source: AssetId<Image>,
    pub target: AssetId<Image>,
    /// Whether the plugin allocated the target, and fits it to the source.
    pub owns_target: bool,
    /// What is blurred of the source.
    pub excerpt: Excerpt,
    pub alpha: BlurAlpha,
    pub dither: bool,
    pub update: BlurUpdate,
    /// Numbers of the contents of the source, the mask and the target.
    pub contents: [u64; 3],
    /// A number of the pixels of the source that were uploaded to the GPU.
    pub pixels: u64,
}

/// For every input, the blur that writes it, if this blur must wait for it.
pub type Feeders = [Option<BlurId>; INPUTS];

impl ImageSpec {
    /// The images that are read.
    pub fn inputs(&self) -> impl Iterator<Item = AssetId<Image>> {
        core::iter::once(self.source).chain(self.profile.mask())
    }

    /// Whether source and target are one image.
    pub fn overwrites_source(&self) -> bool {
        self.source == self.target
    }

    /// What is blurred of a source of this size.
    ///
    /// # Errors
    /// [`BlurError::InvalidRegion`], and [`BlurError::RegionInPlace`] if a blur that overwrites its source takes a part of it.
    pub fn cut(&self, source: UVec2) -> Result<Cut, BlurError> {
        let [cut, whole] = [self.excerpt, Excerpt::default()].map(|excerpt| Cut::new(excerpt, source));
        if self.overwrites_source() && cut.is_ok() && cut != whole {
            return Err(BlurError::RegionInPlace);
        }
        cut
    }

    /// Whether the picture before the blur is kept.
    pub fn keeps_source(&self) -> bool {
        self.overwrites_source() && self.update == BlurUpdate::OnChange
    }

    /// Whether the blur runs once.
    pub fn is_single(&self) -> bool {
        self.update == BlurUpdate::Once
    }

    /// Whether both want one result, if one `BlurImage` says so, which has not changed. NaN equals itself.
    pub fn is_same(&self, other: &Self) -> bool {
        let images = |spec: &Self| (spec.target, spec.owns_target, spec.contents, spec.pixels);
        images(self) == images(other) && self.blur.is_same(&other.blur) && self.profile.is_like(&other.profile)
    }
}

/// What a [`BlurImage`](crate::settings::BlurImage) takes from its source, whatever the source's size: a region, and the
/// transparent texels around it.
pub type Excerpt = (Option<URect>, u32);

/// The excerpt of a source of a known size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// The texels of the source. Not empty, and inside it.
    pub texels: URect,
    /// The transparent texels around them.
    pub padding: u32,
}

impl Cut {
    /// # Errors
    /// [`BlurError::InvalidRegion`].
    pub fn new((region, padding): Excerpt, source: UVec2) -> Result<Self, BlurError> {
        let all = URect::from_corners(UVec2::ZERO, source);
        let texels = region.unwrap_or(all);
        if texels.is_empty() || texels.intersect(all) != texels {
            return Err(BlurError::InvalidRegion { region: texels, source });
        }
        Ok(Self { texels, padding })
    }

    /// What a target of the plugin's own shows of a source with this view, in the format of the source.
    ///
    /// # Errors
    /// [`BlurError::InvalidRegion`].
    pub fn target_of(excerpt: Excerpt, source: ViewInfo) -> Result<ViewInfo, BlurError> {
        let size = Self::new(excerpt, source.size)?.size();
        Ok(ViewInfo { size, ..source }.with_possible_levels())
    }

    /// The size of the result.
    pub fn size(&self) -> UVec2 {
        let both = UVec2::splat(self.padding.saturating_mul(2));
        self.texels.size().saturating_add(both)
    }

    /// The part of the result that shows the source, without the padding.
    pub fn inner(&self) -> URect {
        let min = UVec2::splat(self.padding);
        URect::from_corners(min, min.saturating_add(self.texels.size()))
    }

    /// The texel of the result that shows the first texel of the source, inside the result or not.
    pub fn source_at(&self) -> IVec2 {
        let padding = i32::try_from(self.padding).unwrap_or(i32::MAX);
        IVec2::splat(padding).saturating_sub(self.texels.min.as_ivec2())
    }
}

/// The image blurs of this frame.
#[derive(Resource, Default)]
pub struct Requests {
    /// The blurs that may run in this frame, ordered so that every input is written before it is read.
    pub ordered: Vec<ImageRequest>,
    /// All blurs, requested or not, and the targets that the plugin allocated. The render world forgets all others.
    pub live: HashSet<BlurId>,
    pub owned: HashSet<AssetId<Image>>,
    /// A number that changes with these.
    pub set: u64,
    /// Whether results or pixels are on their way.
    pub are_awaited: bool,
}

/// A time in a frame. Times of cameras are numbered in the order in which cameras render.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Time {
    #[default]
    BeforeCameras,
    After {
        index: usize,
        camera: Entity,
    },
    AfterCameras,
}

impl Requests {
    /// Copies another list, without allocating.
    pub fn copy_from(&mut self, other: &Self) {
        self.ordered.clone_from(&other.ordered);
        if self.set != other.set {
            self.set = other.set;
            self.live.clone_from(&other.live);
            self.owned.clone_from(&other.owned);
        }
    }
}

/// What the render world reports.
#[derive(Debug)]
pub enum Outcome {
    /// A request has been submitted, with these settings, or cannot run. That is reported in every frame in which it could.
    Done {
        id: BlurId,
        revision: u64,
        result: Result<GaussianBlur, BlurError>,
    },
    /// A target of the plugin's own has another texture since the asset changed.
    Shown(AssetId<Image>),
    /// The pixels of a target have arrived.
    Read(Pixels),
    /// There is another render device. All results are lost with the one before.
    DeviceLost,
}

/// The pixels of a target, for [`blur_for_pixels`](super::pixels).
#[derive(Debug)]
pub struct Pixels {
    pub id: BlurId,
    /// What the pixels show: one level.
    pub viewed: ViewInfo,
    /// One row after the other, layer by layer, each row padded as in copies from textures.
    pub data: Vec<u8>,
}

/// The outcomes of requests on a render device.
pub type Outcomes = Mailbox<Outcome>;

impl Outcomes {
    /// There is another render device. What happened on the one before does not matter any more.
    pub fn start_over(&self) {
        self.replace([Outcome::DeviceLost]);
    }

    pub fn report(&self, request: &ImageRequest, result: Result<(), BlurError>) {
        self.push(Outcome::Done {
            id: request.id,
            revision: request.revision,
            result: result.map(|()| request.spec.blur),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_excerpt_lies_in_its_source() {
        let source = UVec2::new(40, 30);
        let cut = |region: Option<[u32; 4]>, padding| {
            let region = region.map(|[left, top, right, bottom]| URect {
                min: UVec2::new(left, top),
                max: UVec2::new(right, bottom),
            });
            Cut::new((region, padding), source)
        };
        let part = cut(Some([10, 5, 20, 30]), 3).expect("it lies inside");
        assert_eq!(part.size(), UVec2::new(16, 31));
        assert_eq!(part.inner(), URect::new(3, 3, 13, 28));
        assert_eq!(part.source_at(), IVec2::new(-7, -2));
        for region in [[10, 5, 41, 30], [10, 5, 10, 30], [20, 5, 10, 30], [40, 30, 50, 40]] {
            let error = cut(Some(region), 0).expect_err("it does not");
            assert!(matches!(error, BlurError::InvalidRegion { .. }), "{error}");
        }
        assert_eq!(cut(Some([0, 0, 40, 30]), 0), cut(None, 0));
        let huge = cut(None, u32::MAX).expect("it lies inside");
        assert_eq!((huge.size(), huge.source_at()), (UVec2::MAX, IVec2::MAX));
    }

    #[test]
    fn a_blur_in_place_takes_all_of_its_image() {
        let cut = |excerpt: Excerpt| {
            let spec = ImageSpec {
                excerpt,
                ..ImageSpec::default()
            };
            spec.cut(UVec2::new(40, 30))
        };
        let region = |bottom| Some(URect::new(0, 0, 40, bottom));
        assert!(cut((None, 0)).is_ok());
        assert_eq!(cut((region(30), 0)), cut((None, 0)));
        assert_eq!(cut((region(29), 0)), Err(BlurError::RegionInPlace));
        assert_eq!(cut((region(30), 1)), Err(BlurError::RegionInPlace));
    }

    proptest! {
        #[test]
        fn no_excerpt_is_too_large(
            region in [any::<u32>(); 4],
            is_cut in any::<bool>(),
            padding in prop_oneof![0..99_u32, any::<u32>()],
            source in [1..16_385_u32, 1..16_385_u32],
        ) {
            let [left, top, right, bottom] = region;
            // One that lies inside, if it is smaller than the source.
            let [width, height] = source;
            let region = URect {
                min: UVec2::new(left % width, top % height),
                max: UVec2::new(right % (2 * width), bottom % (2 * height)),
            };
            if let Ok(cut) = Cut::new((is_cut.then_some(region), padding), UVec2::from(source)) {
                prop_assert!(!cut.texels.is_empty());
                let inner = cut.inner();
                prop_assert!(inner.max.cmple(cut.size()).all(), "{cut:?}");
                prop_assert!(padding > 1 << 30 || inner.size() == cut.texels.size(), "{cut:?}");
                prop_assert!(padding > 1 << 30 || inner.min.as_ivec2() == cut.source_at() + cut.texels.min.as_ivec2());
            }
        }
    }
}
