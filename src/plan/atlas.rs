//! Where the tiles of an atlas lie: rectangles side by side on shelves.

use bevy::math::UVec2;

/// Puts tiles into one texture. Returns the first texel of each, and the size of the texture.
///
/// Tiles are put side by side in their order, and a shelf is as high as its first tile, so they should come from the
/// highest to the lowest. Of the widths that hold one to four of the widest tiles, the one is taken that makes the longer
/// side of the texture the shortest.
#[must_use]
pub(super) fn arrange(tiles: &[UVec2]) -> (Vec<UVec2>, UVec2) {
    let widest = tiles.iter().map(|tile| tile.x).max().unwrap_or(0);
    let all = (1..=4).map(|count| on_shelves(tiles, count * widest));
    all.min_by_key(|(_, size)| size.max_element()).unwrap_or_default()
}

fn on_shelves(tiles: &[UVec2], width: u32) -> (Vec<UVec2>, UVec2) {
    let (mut corner, mut shelf, mut size) = (UVec2::ZERO, 0, UVec2::ZERO);
    let place = |tile: &UVec2| {
        if corner.x + tile.x > width || tile.y > shelf {
            corner = UVec2::new(0, corner.y + shelf);
            shelf = tile.y;
        }
        let placed = corner;
        corner.x += tile.x;
        size = size.max(placed + *tile);
        placed
    };
    let places = tiles.iter().map(place).collect();
    (places, size)
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
            let (places, size) = arrange(&sizes);
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
        assert_eq!(arrange(&[UVec2::new(1000, 500); 4]).1.max_element(), 2000);
        assert_eq!(arrange(&[UVec2::new(500, 1000); 4]).1.max_element(), 2000);
        assert_eq!(arrange(&[]).1, UVec2::ZERO);
    }
}
