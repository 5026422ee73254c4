//! The tags of a TIFF file that are true of its blurred picture, too.

use super::shared::is_on_its_side;
use super::tiff_file::File;
use image::metadata::Orientation;
use tiff::tags::{ByteOrder, Tag, Type, ValueBuffer};

/// Whose the picture is, and how large.
const KEPT: &[Tag] = &[
    Tag::XResolution,
    Tag::YResolution,
    Tag::ResolutionUnit,
    Tag::Artist,
    Tag::Copyright,
];

/// Its place on a map.
const MAP: &[Tag] = &[
    Tag::ModelPixelScaleTag,
    Tag::ModelTransformationTag,
    Tag::ModelTiepointTag,
    Tag::GeoKeyDirectoryTag,
    Tag::GeoDoubleParamsTag,
    Tag::GeoAsciiParamsTag,
];

/// The tags that a TIFF result keeps of a page that is turned like this.
pub fn kept(file: &mut File, orientation: Orientation, notes: &mut Vec<String>) -> Vec<(Tag, ValueBuffer)> {
    let is_turned = orientation != Orientation::NoTransforms;
    let mut tags: Vec<_> = KEPT.iter().filter_map(|tag| found(file, *tag)).collect();
    if is_on_its_side(orientation) {
        for (tag, _) in &mut tags {
            *tag = match *tag {
                Tag::XResolution => Tag::YResolution,
                Tag::YResolution => Tag::XResolution,
                other => other,
            };
        }
    }
    let map: Vec<_> = MAP.iter().filter_map(|tag| found(file, *tag)).collect();
    if !map.is_empty() && is_turned {
        notes.push("its place on a map is left out: it describes the picture before it was turned".to_owned());
    } else {
        tags.extend(map);
    }
    if let Ok(text) = file.get_tag_ascii_string(Tag::ImageDescription) {
        match of_imagej(&text) {
            Some(kept) => tags.push((Tag::ImageDescription, ValueBuffer::from_value(&kept.as_str()))),
            None if text.trim_matches(['\0', ' ', '\n']).is_empty() => {}
            None => notes.push("its description is left out: it may not be true of the blurred picture".to_owned()),
        }
    }
    tags
}

fn found(file: &mut File, tag: Tag) -> Option<(Tag, ValueBuffer)> {
    let mut value = ValueBuffer::empty(Type::BYTE);
    file.image_ifd().find_tag_buf(tag, &mut value).ok().flatten()?;
    value.set_byte_order(ByteOrder::native());
    Some((tag, value))
}

/// The lines of a description by ImageJ that are true of one blurred page: the unit of its resolution. The others count pages, or
/// say which numbers are shown as black and white.
fn of_imagej(description: &str) -> Option<String> {
    if !description.starts_with("ImageJ=") {
        return None;
    }
    let names = ["ImageJ=", "unit=", "yunit="];
    let lines = description
        .lines()
        .filter(|line| names.iter().any(|name| line.starts_with(name)));
    Some(lines.map(|line| format!("{line}\n")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_description_by_imagej_the_unit_remains() {
        let text = "ImageJ=1.54f\nimages=5\nslices=5\nunit=micron\nspacing=2.0\nmin=3\n";
        assert_eq!(of_imagej(text).as_deref(), Some("ImageJ=1.54f\nunit=micron\n"));
        assert_eq!(of_imagej("A holiday"), None);
    }
}
