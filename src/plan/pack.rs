//! Packs rectangles into textures: side by side on shelves.
//!
//! Libraries such as `guillotiere` and `etagere` find places in a texture whose size is known, for rectangles that come and go. Here
//! all rectangles are known, the size is part of the answer, and all are packed anew when one changes. Tried with squares of growing
//! sides, for 4 to 300 rectangles of various sizes, these libraries need 0.9 to 1.2 times the texels and 9 to 90 times as long.

use bevy::math::UVec2;
use core::cmp::Reverse;

/// A set of pages: what they hold, and two numbers that distinguish sets of the same kind. Blurs that use different sets do not
/// overwrite each other's results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PageSet(pub &'static str, pub [u32; 2]);

/// Packed rectangles.
#[derive(Clone, Debug, Default)]
pub struct Packed {
    /// The sizes of the textures.
    pub textures: Vec<UVec2>,
    /// The texture of every rectangle, and its first texel there.
    pub places: Vec<(usize, UVec2)>,
}

/// Packs rectangles into one texture, in their order, which should be from the highest to the lowest. It tries one to
/// four times the width of the widest rectangle, and keeps the texture with the shortest longer side.
pub(super) fn atlas(sizes: &[UVec2]) -> (UVec2, Vec<UVec2>) {
    let size = |packed: &Packed| packed.textures.first().copied().unwrap_or_default();
    let all = (1..=4).map(|count| on_shelves(sizes, 0..sizes.len(), count * widest(sizes), u32::MAX));
    let packed = all.min_by_key(|packed| size(packed).max_element()).unwrap_or_default();
    (size(&packed), packed.places.iter().map(|(_, place)| *place).collect())
}

/// Packs rectangles into as many textures as needed, each as square as possible. No side exceeds `limit` unless a
/// rectangle's does.
pub fn pages(sizes: &[UVec2], limit: u32) -> Packed {
    let area = |size: &UVec2| u64::from(size.x) * u64::from(size.y);
    let side = (sizes.iter().map(area).sum::<u64>() as f64).sqrt() as u32;
    let widest = widest(sizes);
    let width = rounded(side.max(widest)).min(limit.max(widest));
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|index| Reverse(sizes[*index].y));
    let mut packed = on_shelves(sizes, order, width, limit);
    for size in &mut packed.textures {
        let most = size.max(UVec2::splat(limit));
        *size = UVec2::new(rounded(size.x), rounded(size.y)).min(most);
    }
    packed
}

/// Fills shelves of a width with rectangles in an order. A shelf is as high as its first rectangle, and a texture
/// exceeds the limit only if a rectangle does.
fn on_shelves(sizes: &[UVec2], order: impl IntoIterator<Item = usize>, width: u32, limit: u32) -> Packed {
    let mut packed = Packed {
        textures: Vec::new(),
        places: vec![(0, UVec2::ZERO); sizes.len()],
    };
    let (mut corner, mut shelf) = (UVec2::ZERO, 0);
    for index in order {
        let size = sizes[index];
        if corner.x + size.x > width || size.y > shelf {
            (corner, shelf) = (UVec2::new(0, corner.y + shelf), size.y);
        }
        if packed.textures.is_empty() || corner.y + size.y > limit && corner != UVec2::ZERO {
            packed.textures.push(UVec2::ZERO);
            (corner, shelf) = (UVec2::ZERO, size.y);
        }
        let texture = packed.textures.len() - 1;
        packed.places[index] = (texture, corner);
        packed.textures[texture] = packed.textures[texture].max(corner + size);
        corner.x += size.x;
    }
    packed
}

/// Rounded up to a multiple of an eighth to a quarter of itself, so that it stays the same while sizes change a little.
fn rounded(side: u32) -> u32 {
    let step = (side.next_power_of_two() / 8).max(32);
    side.next_multiple_of(step)
}

fn widest(sizes: &[UVec2]) -> u32 {
    sizes.iter().map(|size| size.x).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy::math::URect;

    #[test]
    fn tiles_do_not_overlap() {
        for sides in [
            UVec2::new(960, 540),
            UVec2::new(540, 960),
            UVec2::new(7, 3000),
            UVec2::ONE,
        ] {
            let sizes: Vec<UVec2> = (0..5_u32)
                .flat_map(|octave| [(sides >> octave) + UVec2::splat(6); 4])
                .collect();
            let (size, places) = atlas(&sizes);
            let tiles = places
                .iter()
                .zip(&sizes)
                .map(|(place, size)| URect::from_corners(*place, *place + *size));
            let tiles: Vec<URect> = tiles.collect();
            for (i, tile) in tiles.iter().enumerate() {
                assert!(tile.max.cmple(size).all(), "{tile:?} in {size}");
                let overlaps = |other: &URect| !other.intersect(*tile).is_empty();
                assert!(!tiles[..i].iter().any(overlaps), "{tiles:?}");
            }
        }
    }

    #[test]
    fn the_longer_side_is_short() {
        assert_eq!(atlas(&[UVec2::new(1000, 500); 4]).0.max_element(), 2000);
        assert_eq!(atlas(&[UVec2::new(500, 1000); 4]).0.max_element(), 2000);
        assert_eq!(atlas(&[]).0, UVec2::ZERO);
    }
}
