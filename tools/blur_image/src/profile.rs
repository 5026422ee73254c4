//! What happens to colour profiles.
//!
//! A blur needs linear light. It decodes with the sRGB curve, which the curve of nearly every RGB profile resembles,
//! and encodes the result with the same curve. So the input's profile also describes the numbers of the result.

use crate::choices::Depth;
use crate::output::Kind;
use crate::picture::Origin;

/// The profile that a result keeps.
pub fn kept(origin: &Origin, kind: Kind, depth: Depth, is_grey: bool) -> Option<&[u8]> {
    let profile = origin.profile.as_deref();
    profile.filter(|_| loss(origin, kind, depth, is_grey).is_none())
}

/// The reason why a result of this kind cannot keep the profile of its picture, if there is one.
pub fn loss(origin: &Origin, kind: Kind, depth: Depth, is_grey: bool) -> Option<&'static str> {
    let space = space(origin.profile.as_deref()?);
    let holds_light = match kind {
        Kind::Exr => {
            return Some("its colour profile is left out: EXR has none, and takes the colours for those of sRGB");
        }
        Kind::Png => false,
        Kind::Tiff => depth == Depth::Float,
    };
    match space {
        Some(b"RGB ") if !is_grey => {}
        Some(b"GRAY") if is_grey => {}
        _ => return Some("its colour profile is left out: it is not for the kind of colours that the result has"),
    }
    (origin.is_light != holds_light)
        .then_some("its colour profile is left out: only one of the picture and the result holds linear light")
}

/// The colour space of a profile, from its header.
fn space(profile: &[u8]) -> Option<&[u8; 4]> {
    profile.get(16..20)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(space: &[u8], is_light: bool) -> Origin {
        Origin {
            profile: Some([&[0; 16][..], space, &[0; 108]].concat()),
            is_light,
            ..Origin::default()
        }
    }

    #[test]
    fn profiles_stay_with_colours_of_their_kind() {
        let loss = |space: &[u8], kind, is_grey| loss(&origin(space, false), kind, Depth::Sixteen, is_grey);
        for kind in [Kind::Png, Kind::Tiff] {
            assert_eq!(loss(b"RGB ", kind, false), None);
            assert_eq!(loss(b"GRAY", kind, true), None);
            assert!(loss(b"RGB ", kind, true).is_some());
            assert!(loss(b"CMYK", kind, false).is_some());
        }
        assert!(loss(b"RGB ", Kind::Exr, false).is_some());
        assert!(loss(b"", Kind::Png, false).is_some());
        assert_eq!(super::loss(&Origin::default(), Kind::Exr, Depth::Float, false), None);
    }

    #[test]
    fn profiles_of_light_stay_with_light() {
        let keeps = |is_light, kind, depth| loss(&origin(b"RGB ", is_light), kind, depth, false).is_none();
        assert!(keeps(true, Kind::Tiff, Depth::Float));
        assert!(!keeps(true, Kind::Tiff, Depth::Sixteen));
        assert!(!keeps(true, Kind::Png, Depth::Sixteen));
        assert!(!keeps(false, Kind::Tiff, Depth::Float));
    }
}
