//! Colours that count as much as they are visible.

use super::reference::Picture;

/// Applies `change` to every texel.
fn map(picture: &Picture, change: impl Fn([f64; 4]) -> [f64; 4]) -> Picture {
    let texels = picture.texels.iter().map(|texel| change(*texel)).collect();
    Picture::new(picture.width, picture.height, texels)
}

/// Colours multiplied by the alpha of a picture.
pub fn weighted(picture: &Picture, by: &Picture) -> Picture {
    Picture::from_fn(picture.width, picture.height, |x, y| {
        let [red, green, blue, alpha] = picture.at(x, y);
        let weight = by.at(x, y)[3];
        [red * weight, green * weight, blue * weight, alpha]
    })
}

/// Colours multiplied by their own alpha.
pub fn premultiplied(picture: &Picture) -> Picture {
    weighted(picture, picture)
}

/// Colours divided by alpha. Without alpha there is no colour.
pub fn unpremultiplied(light: &Picture) -> Picture {
    map(light, |[red, green, blue, alpha]| {
        let alpha_or_one = if alpha > 0.0 { alpha } else { 1.0 };
        [red / alpha_or_one, green / alpha_or_one, blue / alpha_or_one, alpha]
    })
}
