//! Which texels of a source are blurred, and how far the blur may spread beyond them.

use crate::errors::BlurError;
use crate::gpu::ViewInfo;
use crate::settings::BlurImage;
use bevy::math::{IVec2, URect, UVec2};

/// What a [`BlurImage`] takes from its source, whatever the source's size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Excerpt {
    region: Option<URect>,
    padding: u32,
}

/// The excerpt of a source of a known size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// The texels of the source. Not empty, and inside it.
    pub texels: URect,
    /// The transparent texels around them.
    pub padding: u32,
}

impl Excerpt {
    pub fn new(image: &BlurImage) -> Self {
        Self {
            region: image.region,
            padding: image.padding,
        }
    }

    /// What a target of the plugin's own shows of a source with this view, in the format of the source.
    ///
    /// # Errors
    /// [`BlurError::InvalidRegion`].
    pub fn target_of(self, source: ViewInfo) -> Result<ViewInfo, BlurError> {
        let size = self.cut(source.size, false)?.size();
        Ok(ViewInfo { size, ..source }.with_possible_levels())
    }

    /// # Errors
    /// [`BlurError::InvalidRegion`], and [`BlurError::RegionInPlace`] if a blur that overwrites its source takes a part of it.
    pub fn cut(self, source: UVec2, overwrites_source: bool) -> Result<Cut, BlurError> {
        let all = URect::from_corners(UVec2::ZERO, source);
        let texels = self.region.unwrap_or(all);
        if texels.is_empty() || texels.intersect(all) != texels {
            return Err(BlurError::InvalidRegion { region: texels, source });
        }
        if overwrites_source && (texels != all || self.padding > 0) {
            return Err(BlurError::RegionInPlace);
        }
        let padding = self.padding;
        Ok(Cut { texels, padding })
    }
}

impl Cut {
    /// The size of the result.
    pub fn size(&self) -> UVec2 {
        let both = UVec2::splat(self.padding.saturating_mul(2));
        self.texels.size().saturating_add(both)
    }

    /// The texels of the result that show those of the source.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_excerpt_lies_in_its_source() {
        let source = UVec2::new(40, 30);
        let excerpt = |region: [u32; 4], padding| Excerpt {
            region: Some(URect {
                min: UVec2::new(region[0], region[1]),
                max: UVec2::new(region[2], region[3]),
            }),
            padding,
        };
        let cut = excerpt([10, 5, 20, 30], 3).cut(source, false).expect("it lies inside");
        assert_eq!(cut.size(), UVec2::new(16, 31));
        assert_eq!(cut.inner(), URect::new(3, 3, 13, 28));
        assert_eq!(cut.source_at(), IVec2::new(-7, -2));
        for region in [[10, 5, 41, 30], [10, 5, 10, 30], [20, 5, 10, 30], [40, 30, 50, 40]] {
            let error = excerpt(region, 0).cut(source, false).expect_err("it does not");
            assert!(matches!(error, BlurError::InvalidRegion { .. }), "{error}");
        }
        let whole = Excerpt {
            region: None,
            padding: 0,
        };
        assert!(whole.cut(source, true).is_ok());
        assert_eq!(excerpt([0, 0, 40, 30], 0).cut(source, true), whole.cut(source, true));
        assert_eq!(
            excerpt([0, 0, 40, 29], 0).cut(source, true),
            Err(BlurError::RegionInPlace)
        );
        assert_eq!(
            excerpt([0, 0, 40, 30], 1).cut(source, true),
            Err(BlurError::RegionInPlace)
        );
        let huge = Excerpt {
            region: None,
            padding: u32::MAX,
        };
        let cut = huge.cut(source, false).expect("it lies inside");
        assert_eq!((cut.size(), cut.source_at()), (UVec2::MAX, IVec2::MAX));
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
            let excerpt = Excerpt { region: is_cut.then_some(region), padding };
            if let Ok(cut) = excerpt.cut(UVec2::from(source), false) {
                prop_assert!(!cut.texels.is_empty());
                let inner = cut.inner();
                prop_assert!(inner.max.cmple(cut.size()).all(), "{cut:?}");
                prop_assert!(padding > 1 << 30 || inner.size() == cut.texels.size(), "{cut:?}");
                prop_assert!(padding > 1 << 30 || inner.min.as_ivec2() == cut.source_at() + cut.texels.min.as_ivec2());
            }
        }
    }
}
