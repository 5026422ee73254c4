//! Which backdrops of a group share a blur. Plain values.

use super::extracted::ExtractedBackdrop;
use crate::gpu::BatchedBlur;
use bevy::math::URect;

/// The blur of a backdrop, as a part of a batch.
pub fn item_of(backdrop: &ExtractedBackdrop) -> BatchedBlur {
    BatchedBlur {
        sigma: backdrop.sigma,
        edge: backdrop.edge,
        bounds: backdrop.reads,
        region: backdrop.region,
        patch: None,
    }
}

/// The blurs of some backdrops.
#[derive(Debug, Default, PartialEq)]
pub struct Shared {
    /// The blurs.
    pub items: Vec<BatchedBlur>,
    /// The index of every backdrop's blur.
    pub item_of: Vec<usize>,
}

/// Lets backdrops share a blur if they see their surroundings, are blurred alike, and one blur that covers both is no larger
/// than two.
pub fn share<'a>(backdrops: impl Iterator<Item = &'a ExtractedBackdrop>) -> Shared {
    let mut shared = Shared::default();
    let mut are_shared: Vec<bool> = Vec::new();
    for backdrop in backdrops {
        let item = item_of(backdrop);
        let fits = |(other, is_shared): (&BatchedBlur, &bool)| *is_shared && backdrop.is_open && joins(other, &item);
        let place = shared.items.iter().zip(&are_shared).position(fits).unwrap_or_else(|| {
            shared.items.push(item);
            are_shared.push(backdrop.is_open);
            shared.items.len() - 1
        });
        let joined = &mut shared.items[place];
        joined.bounds = joined.bounds.union(item.bounds);
        joined.region = joined.region.union(item.region);
        shared.item_of.push(place);
    }
    shared
}

/// Whether both are blurred alike, and one blur that covers both is no larger than two.
fn joins(one: &BatchedBlur, other: &BatchedBlur) -> bool {
    let area = |texels: URect| u64::from(texels.width()) * u64::from(texels.height());
    let is_alike = (one.sigma, one.edge) == (other.sigma, other.edge);
    is_alike && area(one.bounds.union(other.bounds)) <= area(one.bounds) + area(other.bounds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backdrop::extracted::{Picture, Shape};
    use crate::backdrop::paint_order::PaintOrder;
    use crate::settings::{BackdropBlur, BackdropSampling};
    use bevy::math::{Affine2, UVec2, Vec2};
    use bevy::prelude::Entity;

    /// A backdrop of 100 by 50 pixels on a large picture, at some place along x.
    fn backdrop(x: f32, sampling: BackdropSampling, radius: f32) -> ExtractedBackdrop {
        let picture = Picture {
            camera: Entity::PLACEHOLDER,
            size: UVec2::new(4000, 1000),
            viewport: URect::new(0, 0, 4000, 1000),
            is_light: false,
            dithers: false,
        };
        let shape = Shape {
            transform: Affine2::from_translation(Vec2::new(x + 50.0, 500.0)),
            size: Vec2::new(100.0, 50.0),
            radii: [0.0; 4],
            clip: None,
            is_soft: true,
        };
        let glass = BackdropBlur::new(radius).with_sampling(sampling);
        let sigma = Vec2::splat(0.5 * radius);
        ExtractedBackdrop::new(Entity::PLACEHOLDER, picture, shape, &glass, sigma, None, || {
            PaintOrder::AboveUi(0)
        })
        .expect("it can be seen")
    }

    fn items_of(backdrops: &[ExtractedBackdrop]) -> Vec<usize> {
        share(backdrops.iter()).item_of
    }

    #[test]
    fn panels_that_see_the_same_share_a_blur() {
        let open = |x: f32| backdrop(x, BackdropSampling::Surroundings, 40.0);
        assert_eq!(
            items_of(&[open(500.0), open(620.0), open(3000.0), open(740.0)]),
            [0, 0, 1, 0]
        );
        let both = share([open(500.0), open(620.0)].iter());
        assert_eq!(both.items[0].region, URect::new(500, 475, 720, 525));
        assert_eq!(both.items[0].bounds, open(500.0).reads.union(open(620.0).reads));
        // Others do not see the same: they end at their edges, or are blurred in another way.
        let inside = |x: f32| backdrop(x, BackdropSampling::Inside, 40.0);
        assert_eq!(items_of(&[inside(500.0), inside(590.0), open(500.0)]), [0, 1, 2]);
        assert_eq!(
            items_of(&[open(500.0), backdrop(620.0, BackdropSampling::Surroundings, 41.0)]),
            [0, 1]
        );
    }
}
