//! Which backdrops of a group share a blur. Plain values.

use super::place::Placed;
use super::scene::Backdrop;
use crate::plan::batch::BatchedBlur;
use bevy::math::{URect, Vec2};

/// The blur of a backdrop, as a part of a batch.
pub fn item_of(backdrop: &Backdrop, placed: &Placed) -> BatchedBlur {
    BatchedBlur {
        sigma: backdrop.sigma,
        shift: Vec2::ZERO,
        edge: backdrop.edge,
        bounds: placed.region.reads,
        region: placed.region.sampled,
        to_source: placed.to_source(),
        patch: None,
        border: 0,
    }
}

/// Lets backdrops share a blur if they see their surroundings in the same picture, are blurred alike, and one blur that covers both is no
/// larger than two. Returns the blurs, and the index of every backdrop's blur.
pub fn share<'a>(backdrops: impl Iterator<Item = (&'a Backdrop, &'a Placed)>) -> (Vec<BatchedBlur>, Vec<usize>) {
    let (mut items, mut places) = (Vec::new(), Vec::new());
    let mut are_shared: Vec<bool> = Vec::new();
    for (backdrop, placed) in backdrops {
        let item = item_of(backdrop, placed);
        let fits = |(other, is_shared): (&BatchedBlur, &bool)| *is_shared && backdrop.is_open && joins(other, &item);
        let place = items.iter().zip(&are_shared).position(fits).unwrap_or_else(|| {
            items.push(item);
            are_shared.push(backdrop.is_open);
            items.len() - 1
        });
        let joined: &mut BatchedBlur = &mut items[place];
        joined.bounds = joined.bounds.union(item.bounds);
        joined.region = joined.region.union(item.region);
        places.push(place);
    }
    (items, places)
}

/// Whether both are blurred alike, and one blur that covers both is no larger than two.
fn joins(one: &BatchedBlur, other: &BatchedBlur) -> bool {
    let area = |texels: URect| u64::from(texels.width()) * u64::from(texels.height());
    let is_alike = (one.sigma, one.edge, one.to_source) == (other.sigma, other.edge, other.to_source);
    is_alike && area(one.bounds.union(other.bounds)) <= area(one.bounds) + area(other.bounds)
}

#[cfg(test)]
mod tests {
    use super::super::region::Region;
    use super::super::scene::{Glass, Picture};
    use super::super::shape::Shape;
    use super::super::tree::SurfaceId;
    use super::*;
    use crate::settings::{BackdropBlur, BackdropSampling};
    use bevy::math::{FloatOrd, Rect, UVec2};
    use bevy::prelude::Entity;

    /// Glass of 100 by 50 pixels on a large picture, at some place along x.
    fn glass(x: f32, sampling: BackdropSampling, radius: f32) -> (Backdrop, Placed) {
        let picture = Picture {
            camera: Entity::PLACEHOLDER,
            size: UVec2::new(4000, 1000),
            viewport: URect::new(0, 0, 4000, 1000),
            is_light: false,
            dithers: false,
        };
        let shape = Shape::of_rect(Rect::new(x, 475.0, x + 100.0, 525.0));
        let settings = BackdropBlur::from_sigma(0.5 * radius).with_sampling(sampling);
        let backdrop = Glass::plain(shape, &settings)
            .backdrop(&picture)
            .expect("it can be seen");
        let region = Region::new(&backdrop, &picture, None, picture.seen_pixels());
        let placed = Placed {
            on: SurfaceId::CAMERA,
            cut: FloatOrd(0.0),
            region: region.expect("it lies in the viewport"),
            clip: None,
            opacity: 1.0,
            hole: None,
            seen: (0, UVec2::ZERO),
        };
        (backdrop, placed)
    }

    fn shared(glass: &[(Backdrop, Placed)]) -> (Vec<BatchedBlur>, Vec<usize>) {
        share(glass.iter().map(|(backdrop, placed)| (backdrop, placed)))
    }

    fn items_of(glass: &[(Backdrop, Placed)]) -> Vec<usize> {
        shared(glass).1
    }

    #[test]
    fn panels_that_see_the_same_share_a_blur() {
        let open = |x: f32| glass(x, BackdropSampling::Surroundings, 40.0);
        assert_eq!(
            items_of(&[open(500.0), open(620.0), open(3000.0), open(740.0)]),
            [0, 0, 1, 0]
        );
        let (both, _) = shared(&[open(500.0), open(620.0)]);
        assert_eq!(both[0].region, URect::new(500, 475, 720, 525));
        let reads = |x: f32| open(x).1.region.reads;
        assert_eq!(both[0].bounds, reads(500.0).union(reads(620.0)));
        // Others do not see the same: they end at their edges, or are blurred in another way.
        let inside = |x: f32| glass(x, BackdropSampling::Inside, 40.0);
        assert_eq!(items_of(&[inside(500.0), inside(590.0), open(500.0)]), [0, 1, 2]);
        assert_eq!(
            items_of(&[open(500.0), glass(620.0, BackdropSampling::Surroundings, 41.0)]),
            [0, 1]
        );
    }
}
