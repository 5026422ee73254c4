//! Decodes TIFF files.

use super::shared::{Selection, check_size, no_page, oriented};
use super::tiff_file::{File, open, told};
use super::{fill_order, tiff_tags};
use crate::choices::Depth;
use crate::meaning::{ENCODED, Meaning};
use crate::picture::{Origin, Picture};
use bevy::math::UVec2;
use image::metadata::Orientation;
use std::collections::HashSet;
use std::rc::Rc;
use tiff::decoder::DecodingResult;
use tiff::decoder::ifd::Value;
use tiff::tags::{ExtraSamples, PhotometricInterpretation, Tag};
use tiff::{ColorType, TiffResult};

/// Reads one page.
///
/// # Errors
/// The reason why it cannot be read.
pub fn decode(bytes: &[u8], selection: &Selection) -> Result<Picture, String> {
    let mut file = open(bytes)?;
    let mut notes = Vec::new();
    turn_to_page(&mut file, selection, &mut notes)?;
    let usual = fill_order::usual(bytes, &mut file)?;
    if let Some(usual) = &usual {
        file = open(usual)?;
        turn_to_page(&mut file, selection, &mut Vec::new())?;
    }
    let size = UVec2::from(file.dimensions().map_err(told)?);
    check_size(size)?;
    let channels = Channels::of(&mut file, &mut notes)?;
    let samples = Samples::read(&mut file, size.x as usize, &mut notes)?;
    let depth = samples.depth;
    let texels = channels.texels(&samples, (size.x * size.y) as usize)?;
    let orientation = file.find_tag(Tag::Orientation).map_err(told)?;
    let orientation = orientation.and_then(|value| Orientation::from_exif(value.into_u16().ok()?.min(255) as u8));
    let orientation = orientation.unwrap_or(Orientation::NoTransforms);
    let tags = tiff_tags::kept(&mut file, orientation, &mut notes);
    if let Ok(value) = file.get_tag_ascii_string(Tag::GdalNodata) {
        let value = value.trim();
        notes.push(format!(
            "its number for missing data, {value}, is blurred like any other"
        ));
    }
    let is_associated = channels.alpha == Some(ExtraSamples::AssociatedAlpha);
    let meaning = match depth {
        Depth::Float => Meaning {
            linear: true,
            premultiplied: is_associated,
        },
        _ => ENCODED,
    };
    let origin = Origin {
        profile: file.get_tag_u8_vec(Tag::IccProfile).ok(),
        is_light: meaning.linear,
        is_associated,
        tags,
        notes,
        ..Origin::default()
    };
    let (size, texels) = oriented(size, texels, orientation);
    Ok(Picture {
        size,
        texels,
        meaning,
        depth,
        is_grey: channels.colours == Colours::Grey,
        origin: Rc::new(origin),
    })
}

fn turn_to_page(file: &mut File, selection: &Selection, notes: &mut Vec<String>) -> Result<(), String> {
    let pages = pages(file);
    match selection.page {
        None if pages > 1 => notes.push(format!(
            "it has {pages} pages; the first is read, and --page takes another"
        )),
        None => {}
        Some(page) if page as usize > pages => return Err(no_page(pages, page)),
        Some(page) => file.seek_to_image(page as usize - 1).map_err(told)?,
    }
    Ok(())
}

/// The number of pages, up to the first one that is damaged.
fn pages(file: &mut File) -> usize {
    let mut seen = HashSet::new();
    let mut next = file.ifd_pointer();
    while let Some(page) = next.filter(|page| seen.insert(*page)) {
        match file.read_directory(page) {
            Ok(directory) => next = directory.next(),
            Err(_) => return (seen.len() - 1).max(1),
        }
    }
    seen.len().max(1)
}

/// What the samples of a texel mean.
struct Channels {
    colours: Colours,
    alpha: Option<ExtraSamples>,
    /// The number of samples that the decoder returns.
    read: usize,
}

#[derive(PartialEq)]
enum Colours {
    Grey,
    Rgb,
    YCbCr(Box<YCbCr>),
}

impl Channels {
    fn of(file: &mut File, notes: &mut Vec<String>) -> Result<Self, String> {
        let mut number = |tag, default| {
            file.find_tag_unsigned::<u16>(tag)
                .map(|number| number.unwrap_or(default))
        };
        let photometric = number(Tag::PhotometricInterpretation, 1).map_err(told)?;
        let samples = usize::from(number(Tag::SamplesPerPixel, 1).map_err(told)?);
        let is_predicted = number(Tag::Predictor, 1).map_err(told)? != 1;
        let is_planar = number(Tag::PlanarConfiguration, 1).map_err(told)? == 2;
        let extra = file.find_tag_unsigned_vec::<u16>(Tag::ExtraSamples).map_err(told)?;
        let (colours, count) = colours(file, photometric)?;
        let alpha = match extra.as_deref() {
            Some([first, ..]) => ExtraSamples::from_u16(*first).filter(|first| *first != ExtraSamples::Unspecified),
            _ if colours == Colours::Rgb && samples == 4 => {
                notes.push("its fourth sample is taken for alpha: the file does not say what it is".to_owned());
                Some(ExtraSamples::UnassociatedAlpha)
            }
            _ => None,
        };
        let alpha = alpha.filter(|_| matches!(colours, Colours::Grey | Colours::Rgb) && samples > count);
        let used = count + usize::from(alpha.is_some());
        if used < samples {
            let which = if used + 1 == samples {
                format!("sample {samples} of {samples} is")
            } else {
                format!("samples {} to {samples} of {samples} are", used + 1)
            };
            notes.push(format!(
                "{which} left out: the file does not say that it is colour or alpha"
            ));
        }
        let read = file.colortype().map_err(told)?.num_samples().into();
        if read < used {
            return Err(format!("it has {samples} samples, of which {read} can be read"));
        }
        if read < samples && is_predicted && !is_planar {
            return Err(format!(
                "only {read} of its {samples} samples are colour or alpha, and the decoder cannot tell them apart behind a predictor; \
                 save it without a predictor"
            ));
        }
        Ok(Self { colours, alpha, read })
    }

    /// The texels of the samples.
    fn texels(&self, samples: &Samples, count: usize) -> Result<Vec<[f32; 4]>, String> {
        if samples.values.len() < count * self.read {
            return Err("it ends too early".to_owned());
        }
        if matches!(self.colours, Colours::YCbCr(_)) && samples.depth != Depth::Eight {
            return Err("its colours are YCbCr of more than 8 bits; convert it to RGB first".to_owned());
        }
        let (step, next) = if samples.are_planar { (1, count) } else { (self.read, 1) };
        let sample = |texel: usize, channel: usize| samples.values[texel * step + channel * next];
        let divides = samples.depth != Depth::Float && self.alpha == Some(ExtraSamples::AssociatedAlpha);
        let texel = |index| {
            let mut colour = match &self.colours {
                Colours::Grey => [sample(index, 0); 3],
                Colours::Rgb => [0, 1, 2].map(|channel| sample(index, channel)),
                Colours::YCbCr(meaning) => meaning.rgb([0, 1, 2].map(|channel| sample(index, channel))),
            };
            let behind = if self.colours == Colours::Grey { 1 } else { 3 };
            let alpha = self.alpha.map_or(1.0, |_| sample(index, behind));
            if divides {
                // The numbers are multiplied as they are in the file, not as light.
                colour = colour.map(|number| if alpha > 0.0 { number / alpha } else { 0.0 });
            }
            [colour[0], colour[1], colour[2], alpha]
        };
        Ok((0..count).map(texel).collect())
    }
}

/// The colours of a file, and the number of their samples.
fn colours(file: &mut File, photometric: u16) -> Result<(Colours, usize), String> {
    use PhotometricInterpretation as Kind;
    let refused = |what: &str| Err(format!("{what}; convert it to RGB first"));
    match PhotometricInterpretation::from_u16(photometric) {
        Some(Kind::WhiteIsZero | Kind::BlackIsZero) => Ok((Colours::Grey, 1)),
        Some(Kind::RGB) => Ok((Colours::Rgb, 3)),
        Some(Kind::YCbCr) => Ok((Colours::YCbCr(Box::new(YCbCr::of(file))), 3)),
        Some(Kind::CMYK) => refused("it is a CMYK picture"),
        Some(Kind::RGBPalette) => refused("its colours are in a palette"),
        Some(Kind::CIELab | Kind::IccLab | Kind::ItuLab) => refused("its colours are L*a*b*"),
        Some(Kind::TransparencyMask) => refused("it is a transparency mask"),
        _ => refused(&format!("its colours are of the unknown kind {photometric}")),
    }
}

/// How red, green and blue follow from luma and the differences of blue and red from it.
#[derive(PartialEq)]
struct YCbCr {
    /// The shares of red, green and blue in luma.
    shares: [f32; 3],
    /// The numbers for black and white of each of the three samples.
    range: [f32; 6],
}

impl YCbCr {
    fn of(file: &mut File) -> Self {
        let [coefficients, reference] = [529, 532].map(|tag| rationals(file.find_tag(Tag::Unknown(tag))));
        let shares = coefficients.and_then(|list| <[f32; 3]>::try_from(list).ok());
        let range = reference.and_then(|list| <[f32; 6]>::try_from(list).ok());
        let is_sound = |range: &[f32; 6]| range.chunks(2).all(|pair| pair[1] - pair[0] >= 1.0);
        Self {
            shares: shares
                .filter(|shares| shares.iter().all(|share| (0.01..1.0).contains(share)))
                .unwrap_or([0.299, 0.587, 0.114]),
            range: range
                .filter(is_sound)
                .unwrap_or([0.0, 255.0, 128.0, 255.0, 128.0, 255.0]),
        }
    }

    fn rgb(&self, samples: [f32; 3]) -> [f32; 3] {
        let [luma, blue, red] = [0, 1, 2].map(|sample| {
            let (black, white) = (self.range[2 * sample], self.range[2 * sample + 1]);
            (samples[sample] * 255.0 - black) / (white - black)
        });
        // A difference of colour reaches 127 of the 255 levels of luma.
        let [blue, red] = [blue, red].map(|difference| difference * 127.0 / 255.0);
        let [of_red, of_green, of_blue] = self.shares;
        let red = luma + red * (2.0 - 2.0 * of_red);
        let blue = luma + blue * (2.0 - 2.0 * of_blue);
        let green = (luma - of_red * red - of_blue * blue) / of_green;
        [red, green, blue].map(|colour| colour.clamp(0.0, 1.0))
    }
}

fn rationals(value: TiffResult<Option<Value>>) -> Option<Vec<f32>> {
    let Ok(Some(Value::List(list))) = value else {
        return None;
    };
    let numbers = list.into_iter().map(|value| match value {
        Value::Rational(dividend, divisor) if divisor > 0 => Some(dividend as f32 / divisor as f32),
        _ => None,
    });
    numbers.collect()
}

/// The samples of a page in the order of the file.
struct Samples {
    /// Integers without a sign are shares of their largest, all others are as they are.
    values: Vec<f32>,
    depth: Depth,
    /// Whether one channel follows another, instead of one texel.
    are_planar: bool,
}

impl Samples {
    fn read(file: &mut File, width: usize, notes: &mut Vec<String>) -> Result<Self, String> {
        let mut read = DecodingResult::U8(Vec::new());
        let layout = file.read_image_to_buffer(&mut read).map_err(told)?;
        if read.as_buffer(0).byte_len() < layout.complete_len {
            return Err("its channels are too large".to_owned());
        }
        let are_planar = layout.planes > 1;
        let colours = file.colortype().map_err(told)?;
        let mut note = |kind: &str| notes.push(format!("its {kind} are blurred as 32-bit floats"));
        let (depth, values) = match read {
            DecodingResult::U8(bytes) => (Depth::Eight, shares(&bytes, width, colours, are_planar)),
            DecodingResult::U16(numbers) => {
                let shares = numbers.into_iter().map(|number| f32::from(number) / 65535.0);
                (Depth::Sixteen, shares.collect())
            }
            DecodingResult::F32(numbers) => (Depth::Float, numbers),
            DecodingResult::F16(numbers) => (Depth::Float, numbers.into_iter().map(f32::from).collect()),
            other => {
                let (kind, numbers) = converted(other);
                note(kind);
                (Depth::Float, numbers)
            }
        };
        Ok(Self {
            values,
            depth,
            are_planar,
        })
    }
}

/// Numbers of all other kinds, with the name of their kind.
fn converted(numbers: DecodingResult) -> (&'static str, Vec<f32>) {
    match numbers {
        DecodingResult::U32(numbers) => ("32-bit integers", numbers.into_iter().map(|n| n as f32).collect()),
        DecodingResult::U64(numbers) => ("64-bit integers", numbers.into_iter().map(|n| n as f32).collect()),
        DecodingResult::I8(numbers) => ("signed 8-bit integers", numbers.into_iter().map(f32::from).collect()),
        DecodingResult::I16(numbers) => ("signed 16-bit integers", numbers.into_iter().map(f32::from).collect()),
        DecodingResult::I32(numbers) => (
            "signed 32-bit integers",
            numbers.into_iter().map(|n| n as f32).collect(),
        ),
        DecodingResult::I64(numbers) => (
            "signed 64-bit integers",
            numbers.into_iter().map(|n| n as f32).collect(),
        ),
        DecodingResult::F64(numbers) => ("64-bit floats", numbers.into_iter().map(|n| n as f32).collect()),
        DecodingResult::U8(_) | DecodingResult::U16(_) | DecodingResult::F16(_) | DecodingResult::F32(_) => {
            ("numbers", Vec::new())
        }
    }
}

/// The shares of integers of at most 8 bits. The rows of smaller ones are filled up to whole bytes.
fn shares(bytes: &[u8], width: usize, colours: ColorType, are_planar: bool) -> Vec<f32> {
    let bits = usize::from(colours.bit_depth());
    let samples = width
        * if are_planar {
            1
        } else {
            usize::from(colours.num_samples())
        };
    let largest = f32::from(u8::MAX >> (8 - bits));
    let rows = bytes.chunks((samples * bits).div_ceil(8));
    let sample = |row: &[u8], index: usize| {
        let bit = index * bits;
        let byte = row.get(bit / 8).copied().unwrap_or_default();
        f32::from(byte << (bit % 8) >> (8 - bits)) / largest
    };
    rows.flat_map(|row| (0..samples).map(move |index| sample(row, index)))
        .collect()
}
