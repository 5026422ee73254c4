//! What happens to colour profiles.
//!
//! A blur needs linear light. It decodes with the sRGB curve, which the curve of nearly every RGB profile resembles,
//! and encodes the result with the same curve. So the input's profile also describes the numbers of the result.

use crate::output::Kind;

/// The reason why a result of this kind cannot keep a profile, if there is one.
pub fn loss(profile: &[u8], kind: Kind, is_grey: bool) -> Option<&'static str> {
    match (kind, space(profile)) {
        (Kind::Png, Some(b"RGB ")) if !is_grey => None,
        (Kind::Png, Some(b"GRAY")) if is_grey => None,
        (Kind::Png, _) => Some("its colour profile is left out: it is not for the kind of colours that the result has"),
        (Kind::Exr, _) => Some("its colour profile is left out: EXR has none, and takes the colours for those of sRGB"),
    }
}

/// The colour space of a profile, from its header.
fn space(profile: &[u8]) -> Option<&[u8; 4]> {
    profile.get(16..20)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_stay_with_colours_of_their_kind() {
        let profile = |space: &[u8]| [&[0; 16][..], space, &[0; 108]].concat();
        assert_eq!(loss(&profile(b"RGB "), Kind::Png, false), None);
        assert_eq!(loss(&profile(b"GRAY"), Kind::Png, true), None);
        assert!(loss(&profile(b"RGB "), Kind::Png, true).is_some());
        assert!(loss(&profile(b"CMYK"), Kind::Png, false).is_some());
        assert!(loss(&profile(b"RGB "), Kind::Exr, false).is_some());
        assert!(loss(b"broken", Kind::Png, false).is_some());
    }
}
