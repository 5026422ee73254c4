//! TIFF files whose bytes hold their first bit last (`FillOrder` 2), as fax machines write them; the decoder reads the first bit
//! first.

use super::tiff_file::{File, told};
use tiff::tags::Tag;

/// The file with the bits of one page in the usual order, if they have another.
///
/// # Errors
/// The data of the page is not in the file.
pub fn usual(bytes: &[u8], file: &mut File) -> Result<Option<Vec<u8>>, String> {
    let mut number = |tag| file.find_tag_unsigned::<u16>(tag).map_err(told);
    let is_mirrored = number(Tag::FillOrder)? == Some(2);
    // JPEG streams have an order of their own.
    let has_own_order = matches!(number(Tag::Compression)?, Some(6 | 7));
    if !is_mirrored || has_own_order {
        return Ok(None);
    }
    let mut numbers = |tag| file.find_tag_unsigned_vec::<u64>(tag).map_err(told);
    let [strips, tiles] = [
        [Tag::StripOffsets, Tag::StripByteCounts],
        [Tag::TileOffsets, Tag::TileByteCounts],
    ]
    .map(|[places, sizes]| Ok::<_, String>(numbers(places)?.zip(numbers(sizes)?)));
    let (places, sizes) = strips?.or(tiles?).ok_or("it ends too early")?;
    if sizes.iter().fold(0, |sum: u64, size| sum.saturating_add(*size)) > bytes.len() as u64 {
        return Err("it ends too early".to_owned());
    }
    let mut usual = bytes.to_vec();
    for (place, size) in places.into_iter().zip(sizes) {
        let data = usual.get_mut(place as usize..place.saturating_add(size) as usize);
        for byte in data.ok_or("it ends too early")? {
            *byte = byte.reverse_bits();
        }
    }
    Ok(Some(usual))
}
