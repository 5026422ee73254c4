//! The pipelines that blurs can request.

use super::super::pipeline_key::PipelineKey;
use super::super::pipelines::{Kernels, Uses};
use super::super::request::WorkKind;
use crate::formats::dither::Dither;
use crate::formats::table::{Format, Sample};
use crate::formats::{Ends, Resolved, SAME_SPACES};
use crate::kernel::Precision;
use crate::plan::{Finish, Means};
use crate::program::{Cores, Filtering, Tiling};
use crate::settings::BlurAlpha;
use bevy::camera::CompositingSpace;
use bevy::render::render_resource::TextureFormat;

/// The pipelines of all blurs, whatever their sizes, strengths, edge modes, alpha and formats.
pub(super) fn every_key() -> Vec<PipelineKey> {
    const ALPHAS: [BlurAlpha; 4] = [
        BlurAlpha::Premultiplied,
        BlurAlpha::Straight,
        BlurAlpha::Unpremultiply,
        BlurAlpha::Opaque,
    ];
    // One format for each way to read, to store and to round.
    let formats = [
        TextureFormat::Rgba8UnormSrgb,
        TextureFormat::Rgba8Unorm,
        TextureFormat::R16Float,
        TextureFormat::Rgba16Float,
        TextureFormat::Rgba32Float,
        TextureFormat::Rg11b10Ufloat,
        TextureFormat::R8Uint,
        TextureFormat::Rgb10a2Uint,
        TextureFormat::R16Sint,
        TextureFormat::R32Uint,
    ];
    let mut keys = Vec::new();
    for (precision, alpha) in [Precision::Standard, Precision::Hdr]
        .into_iter()
        .flat_map(|precision| ALPHAS.map(|alpha| (precision, alpha)))
    {
        for (source, destination) in formats.into_iter().flat_map(|format| {
            [
                (format, format),
                (format, TextureFormat::Rgba16Float),
                (TextureFormat::R8Uint, format),
            ]
        }) {
            for (tiling, filters) in tilings(source, destination) {
                let dithers = dithers(destination).into_iter();
                for (dither, in_place) in dithers.flat_map(|dither| [(dither, false), (dither, true)]) {
                    let ends = Ends {
                        source,
                        destination,
                        precision,
                        alpha,
                        dither,
                        has_storage: true,
                        in_place,
                        spaces: SAME_SPACES,
                    };
                    keys.extend(keys_between(&ends, tiling, filters));
                    let is_camera = alpha == BlurAlpha::Premultiplied && dither == Dither::Off && !in_place;
                    for spaces in other_spaces().filter(|_| is_camera && tiling == Tiling::None) {
                        let ends = Ends { spaces, ..ends };
                        keys.extend(keys_between(&ends, tiling, filters));
                    }
                }
            }
        }
    }
    keys
}

/// All pairs of different colour spaces.
fn other_spaces() -> impl Iterator<Item = [CompositingSpace; 2]> {
    use CompositingSpace::{Linear, Oklab, Srgb};
    let all = [Srgb, Linear, Oklab];
    let pairs = all.into_iter().flat_map(move |from| all.map(|to| [from, to]));
    pairs.filter(|[from, to]| from != to)
}

/// How a target can be dithered. A camera's floats may end in an output of eight bits.
fn dithers(destination: TextureFormat) -> Vec<Dither> {
    match (destination, Dither::of_target(destination)) {
        (TextureFormat::Rgba16Float, _) => vec![Dither::Off, Dither::Stored, Dither::Encoded],
        (_, Dither::Off) => vec![Dither::Off],
        (_, dither) => vec![Dither::Off, dither],
    }
}

/// What blurs between two ends need.
fn resolved(ends: &Ends, tiling: Tiling, filters: bool) -> Resolved {
    let [source, destination] =
        [ends.source, ends.destination].map(|format| Format::find(format).expect("a colour format"));
    let filtering = Filtering {
        source: filters && ends.alpha != BlurAlpha::Straight && source.sample() == Sample::Float,
        intermediates: filters,
        spline: filters,
    };
    Resolved {
        means: Means {
            precision: ends.precision,
            tiling,
            filtering,
            opaque: ends.alpha == BlurAlpha::Opaque,
            in_place: ends.in_place,
            converts: ends.alpha == BlurAlpha::Unpremultiply,
        },
        intermediate: if source.is_wide() || destination.is_wide() {
            TextureFormat::Rgba32Float
        } else {
            TextureFormat::Rgba16Float
        },
        alpha: ends.alpha,
        has_alpha: source.has_opacity(),
    }
}

/// The pipelines of blurs between two ends.
pub(super) fn keys_between(ends: &Ends, tiling: Tiling, filters: bool) -> Vec<PipelineKey> {
    let resolved = resolved(ends, tiling, filters);
    let kinds = [WorkKind::Blur, WorkKind::Vary, WorkKind::Copy, WorkKind::Mipmap].into_iter();
    let finishes = [Finish::Write, Finish::Defer];
    let all = kinds.flat_map(|kind| finishes.map(|finish| (kind, finish)));
    let uses = all.map(|(kind, finish)| Uses {
        ends: *ends,
        kind,
        finish,
    });
    let keys = uses.flat_map(|uses| uses.keys(&resolved).collect::<Vec<_>>());
    keys.flat_map(|key| [key, key.for_any_kernel()]).collect()
}

fn tilings(source: TextureFormat, destination: TextureFormat) -> impl Iterator<Item = (Tiling, bool)> {
    let is_wide = |format: TextureFormat| Format::find(format).is_some_and(|format| format.is_wide());
    let stores = matches!(destination, TextureFormat::Rgba8Unorm | TextureFormat::Rgba16Float);
    let is_tiled = !is_wide(source) && !is_wide(destination);
    let cores = [Cores::Software, Cores::GpuWithHalves]
        .into_iter()
        .filter(move |_| is_tiled);
    [Tiling::None]
        .into_iter()
        .chain(cores.map(move |cores| Tiling::Tiled { stores, cores }))
        .flat_map(|tiling| [(tiling, true), (tiling, false)])
}

#[test]
fn the_other_kernels_of_a_blur_compile_once_and_only_where_threads_compile() {
    let ends = Ends::of_camera(TextureFormat::Rgba8UnormSrgb, false);
    let uses = Uses {
        ends,
        kind: WorkKind::Blur,
        finish: Finish::Write,
    };
    let resolved = resolved(&ends, Tiling::None, true);
    let mut kernels = Kernels::default();
    kernels.accelerate(uses, &resolved, true);
    assert!(kernels.later.is_empty(), "each would stop a frame");
    kernels.accelerate(uses, &resolved, false);
    let all = kernels.later.len();
    assert!(all > 10, "{all}");
    kernels.accelerate(uses, &resolved, false);
    assert_eq!(kernels.later.len(), all, "once");
}
