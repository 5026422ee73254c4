//! Decodes EXR files.

use super::layers::{self, Channels};
use super::shared::{Selection, check_size};
use crate::choices::Depth;
use crate::frame::{Frame, rectangle};
use crate::meaning::LIGHT;
use crate::picture::{Origin, Picture};
use bevy::math::UVec2;
use exr::block::UncompressedBlock;
use exr::block::reader::ChunksReader;
use exr::error::{Error, Result as ExrResult};
use exr::math::Vec2;
use exr::meta::attribute::{SampleType, Text};
use exr::meta::header::Header;
use half::f16;
use std::io::Cursor;
use std::rc::Rc;

/// Reads one layer: its data window and the display window together.
///
/// # Errors
/// The reason why it cannot be read.
pub fn decode(bytes: &[u8], selection: &Selection) -> Result<Picture, String> {
    let file = exr::block::read(Cursor::new(bytes), false).map_err(unsound)?;
    let layers = layers::list(file.headers());
    let (layer, note) = layers::choose(&layers, selection.layer.as_deref())?;
    let header = file.headers()[layer.part].clone();
    let target = Target::new(&layer.channels, &header)?;
    let data = rectangle(header.data_window());
    let whole = data.union(rectangle(header.shared_attributes.display_window));
    let size = whole.size().as_uvec2();
    check_size(size)?;
    // Outside the data window, nothing is there.
    let alpha = if target.has_alpha { 0.0 } else { 1.0 };
    let mut texels = vec![[0.0, 0.0, 0.0, alpha]; (size.x * size.y) as usize];
    let corner = (data.min - whole.min).as_uvec2();
    let is_wanted = |part| part == layer.part;
    let chunks = file.filter_chunks(false, |_, tile, block| {
        is_wanted(block.layer) && tile.is_largest_resolution_level()
    });
    let mut blocks = chunks.map_err(unsound)?.sequential_decompressor(false);
    while let Some(block) = blocks.decompress_next_block() {
        let stored = block.and_then(|block| target.store(&block, &header, corner, size, &mut texels));
        stored.map_err(unsound)?;
    }
    let channel = match &layer.channels {
        Channels::Grey(_, name, _) => Some(name.clone()),
        _ => None,
    };
    let is_grey = channel.is_some();
    let origin = Origin {
        is_light: true,
        frame: Some(Frame::new(&header, whole, channel)),
        notes: note.into_iter().collect(),
        ..Origin::default()
    };
    Ok(Picture {
        size,
        texels,
        meaning: LIGHT,
        depth: Depth::Float,
        is_grey,
        origin: Rc::new(origin),
    })
}

fn unsound(error: Error) -> String {
    match error {
        Error::NotSupported(reason) => format!("it is an EXR file of a kind that cannot be read ({reason})"),
        error => format!("it must be a sound picture ({error})"),
    }
}

/// Where the numbers of a file go.
struct Target {
    /// For every channel of the part, the channels of a texel that it is stored in.
    places: Vec<&'static [usize]>,
    has_alpha: bool,
}

impl Target {
    fn new(channels: &Channels, header: &Header) -> Result<Self, String> {
        let names: Vec<(&Text, &'static [usize])> = match channels {
            Channels::Rgb(names) => {
                let places: [&[usize]; 4] = [&[0], &[1], &[2], &[3]];
                let named = names.iter().zip(places);
                named
                    .filter_map(|(name, place)| Some((name.as_ref()?, place)))
                    .collect()
            }
            Channels::Grey(grey, _, alpha) => {
                let alpha = alpha.iter().map(|alpha| (alpha, &[3][..]));
                alpha.chain([(grey, &[0, 1, 2][..])]).collect()
            }
            Channels::Other(names) => {
                let names = names.join(", ");
                return Err(format!("its channels {names} are neither colours nor a single number"));
            }
        };
        if header.deep {
            return Err("it holds several samples for each pixel (deep data)".to_owned());
        }
        if header
            .channels
            .list
            .iter()
            .any(|channel| channel.sampling != Vec2(1, 1))
        {
            return Err("it has channels of a lower resolution; convert it to RGB first".to_owned());
        }
        let place = |name: &Text| names.iter().find(|(other, _)| *other == name);
        let list = header.channels.list.iter();
        let places: Vec<_> = list
            .map(|channel| place(&channel.name).map_or(&[][..], |found| found.1))
            .collect();
        Ok(Self {
            has_alpha: places.iter().any(|place| *place == [3]),
            places,
        })
    }

    /// Stores a block of a part whose first texel is at `corner` of a picture of this size.
    fn store(
        &self,
        block: &UncompressedBlock,
        header: &Header,
        corner: UVec2,
        size: UVec2,
        texels: &mut [[f32; 4]],
    ) -> ExrResult<()> {
        for line in block.lines(&header.channels) {
            let places = self.places[line.location.channel];
            if places.is_empty() {
                continue;
            }
            let numbers: Vec<f32> = match header.channels.list[line.location.channel].sample_type {
                SampleType::F16 => line
                    .read_samples::<f16>()
                    .map(|n| n.map(f16::to_f32))
                    .collect::<ExrResult<_>>()?,
                SampleType::F32 => line.read_samples().collect::<ExrResult<_>>()?,
                SampleType::U32 => line
                    .read_samples::<u32>()
                    .map(|n| n.map(|n| n as f32))
                    .collect::<ExrResult<_>>()?,
            };
            let Vec2(x, y) = line.location.position;
            let first = (corner.y as usize + y) * size.x as usize + corner.x as usize + x;
            for (texel, number) in texels[first..].iter_mut().zip(numbers) {
                for place in places {
                    texel[*place] = number;
                }
            }
        }
        Ok(())
    }
}
