//! Which channels of an EXR file are one picture.
//!
//! The name of a channel is that of its layer, a dot and its own, as in `BG.Combined.R`; the name of the file's part comes first
//! if there are several. Channels without a layer are the picture that viewers show. Colours may be named in full, as in
//! `diffuse.red`.

use exr::meta::attribute::Text;
use exr::meta::header::Header;

/// Channels that belong together.
#[derive(Debug, PartialEq)]
pub struct Layer {
    /// The name, empty for the picture that viewers show.
    pub name: String,
    /// The index of the part of the file.
    pub part: usize,
    /// Whether the names of its channels have no layer, but for that of the part.
    pub is_plain: bool,
    /// The channels, with their names in the file.
    pub channels: Channels,
}

/// What the channels of a layer are: a name for each of them.
#[derive(Debug, PartialEq)]
pub enum Channels {
    /// Red, green and blue, of which at least one exists, and alpha.
    Rgb([Option<Text>; 4]),
    /// A single number, its own name, and alpha.
    Grey(Text, String, Option<Text>),
    /// Something else.
    Other(Vec<String>),
}

/// All layers of a file.
pub fn list(headers: &[Header]) -> Vec<Layer> {
    let parts = headers.iter().enumerate().flat_map(|(part, header)| {
        let own = match &header.own_attributes.layer_name {
            Some(name) if headers.len() > 1 => name.to_string(),
            _ => String::new(),
        };
        let names = header.channels.list.iter().map(|channel| channel.name.clone());
        of_part(part, &own, names.collect())
    });
    parts.collect()
}

/// The layers of a part of this name.
fn of_part(part: usize, own: &str, names: Vec<Text>) -> Vec<Layer> {
    let mut groups: Vec<(String, Vec<(Text, String)>)> = Vec::new();
    for name in names {
        let whole = name.to_string();
        let (layer, channel) = whole.rsplit_once('.').unwrap_or(("", &whole));
        let channel = (name, channel.to_owned());
        match groups.iter_mut().find(|(other, _)| other == layer) {
            Some((_, channels)) => channels.push(channel),
            None => groups.push((layer.to_owned(), vec![channel])),
        }
    }
    let groups = groups.into_iter().flat_map(|(layer, channels)| match layer.is_empty() {
        true => without_layer(channels),
        false => vec![(layer, channels)],
    });
    let named = groups.map(|(layer, channels)| Layer {
        is_plain: layer.is_empty(),
        name: match layer.strip_prefix(own) {
            _ if own.is_empty() => layer,
            Some("") => layer,
            Some(rest) if rest.starts_with('.') => layer,
            _ if layer.is_empty() => own.to_owned(),
            _ => format!("{own}.{layer}"),
        },
        part,
        channels: Channels::new(channels),
    });
    named.collect()
}

/// Channels without a layer: colours and alpha are one picture, and every other channel is one of its own.
fn without_layer(channels: Vec<(Text, String)>) -> Vec<(String, Vec<(Text, String)>)> {
    let has = |name: &str| channels.iter().any(|(_, own)| is_called(own, name));
    let shown: &[&str] = if ["R", "G", "B"].into_iter().any(has) {
        &["R", "G", "B", "A"]
    } else if has("RY") || has("BY") {
        &["Y", "RY", "BY", "A"]
    } else if has("Y") {
        &["Y", "A"]
    } else if channels.len() == 1 {
        return vec![(String::new(), channels)];
    } else {
        &[]
    };
    let is_shown = |(_, own): &(Text, String)| shown.iter().any(|name| is_called(own, name));
    let (shown, others): (Vec<_>, Vec<_>) = channels.into_iter().partition(is_shown);
    let others = others.into_iter().map(|channel| (channel.1.clone(), vec![channel]));
    let shown = (!shown.is_empty()).then(|| (String::new(), shown));
    shown.into_iter().chain(others).collect()
}

/// Whether a channel is the one of this short name.
fn is_called(own: &str, short: &str) -> bool {
    let in_full = match short {
        "R" => "red",
        "G" => "green",
        "B" => "blue",
        "A" => "alpha",
        other => other,
    };
    own.eq_ignore_ascii_case(short) || own.eq_ignore_ascii_case(in_full)
}

impl Channels {
    fn new(channels: Vec<(Text, String)>) -> Self {
        let find = |name: &str| {
            let mut found = channels.iter().filter(|(_, own)| is_called(own, name));
            found.next().map(|(whole, _)| whole.clone())
        };
        let others = || {
            channels
                .iter()
                .filter(|(_, own)| channels.len() == 1 || !is_called(own, "A"))
        };
        let names = || channels.iter().map(|(_, own)| own.clone()).collect();
        let is_colour = |(_, own): &&(Text, String)| ["R", "G", "B"].iter().any(|name| is_called(own, name));
        match (others().count(), others().filter(is_colour).count()) {
            (1, _) => others().next().map_or_else(
                || Self::Other(names()),
                |(whole, own)| {
                    let alpha = find("A").filter(|alpha| alpha != whole);
                    Self::Grey(whole.clone(), own.clone(), alpha)
                },
            ),
            (all, colours) if all == colours && all > 0 => Self::Rgb(["R", "G", "B", "A"].map(find)),
            _ => Self::Other(names()),
        }
    }
}

/// The requested layer, or the picture that viewers show, or the only layer. The second value says what is left out.
///
/// # Errors
/// There is no such layer, or there are several.
pub fn choose<'a>(layers: &'a [Layer], wanted: Option<&str>) -> Result<(&'a Layer, Option<String>), String> {
    let named = |layers: &mut dyn Iterator<Item = &Layer>| {
        let names = layers.map(|layer| layer.name.as_str()).filter(|name| !name.is_empty());
        names.collect::<Vec<_>>().join(", ")
    };
    if let Some(wanted) = wanted {
        let found = layers.iter().find(|layer| layer.name == wanted);
        return found
            .map(|layer| (layer, None))
            .ok_or_else(|| match named(&mut layers.iter()) {
                names if names.is_empty() => format!("it has no layer {wanted:?}, and no other with a name"),
                names => format!("it has no layer {wanted:?}; it has {names}"),
            });
    }
    match layers {
        [] => Err("it has no channels".to_owned()),
        [only] => Ok((only, None)),
        _ => {
            let others = named(&mut layers.iter());
            match layers
                .iter()
                .find(|layer| layer.name.is_empty())
                .or(plain_picture(layers))
            {
                Some(shown) => {
                    let others = named(&mut layers.iter().filter(|layer| !std::ptr::eq(*layer, shown)));
                    Ok((
                        shown,
                        Some(format!("its layers {others} are left out; --layer takes one")),
                    ))
                }
                None => Err(format!("it has the layers {others}; --layer takes one")),
            }
        }
    }
}

/// The only layer of colours without a layer's name: of several parts, the one that viewers show.
fn plain_picture(layers: &[Layer]) -> Option<&Layer> {
    let is_shown = |channels: &Channels| match channels {
        Channels::Rgb(_) => true,
        Channels::Grey(_, own, _) => is_called(own, "Y"),
        Channels::Other(_) => false,
    };
    let mut shown = layers
        .iter()
        .filter(|layer| layer.is_plain && is_shown(&layer.channels));
    shown.next().filter(|_| shown.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers(parts: &[(&str, &[&str])]) -> Vec<Layer> {
        let parts = parts.iter().enumerate().flat_map(|(index, (own, names))| {
            of_part(index, own, names.iter().map(|name| Text::from(*name)).collect())
        });
        parts.collect()
    }

    fn names(layers: &[Layer]) -> Vec<&str> {
        layers.iter().map(|layer| layer.name.as_str()).collect()
    }

    fn rgb(names: [&str; 4]) -> Channels {
        Channels::Rgb(names.map(|name| (!name.is_empty()).then(|| Text::from(name))))
    }

    fn grey(whole: &str, own: &str, alpha: Option<&str>) -> Channels {
        Channels::Grey(whole.into(), own.to_owned(), alpha.map(Text::from))
    }

    #[test]
    fn channels_are_grouped() {
        let layers = layers(&[(
            "",
            &["A", "B", "BG.A", "BG.Depth.Z", "BG.R", "G", "N.X", "N.Y", "R", "Z"],
        )]);
        assert_eq!(names(&layers), ["", "Z", "BG", "BG.Depth", "N"]);
        assert_eq!(layers[0].channels, rgb(["R", "G", "B", "A"]));
        assert_eq!(layers[1].channels, grey("Z", "Z", None));
        assert_eq!(layers[2].channels, grey("BG.R", "R", Some("BG.A")));
        assert_eq!(layers[3].channels, grey("BG.Depth.Z", "Z", None));
        assert_eq!(
            layers[4].channels,
            Channels::Other(vec!["X".to_owned(), "Y".to_owned()])
        );
    }

    #[test]
    fn single_channels_are_grey() {
        for name in ["Y", "R", "A", "depth"] {
            let layers = layers(&[("", &[name])]);
            assert_eq!(names(&layers), [""]);
            assert_eq!(layers[0].channels, grey(name, name, None));
        }
        assert_eq!(layers(&[("", &["A", "Y"])])[0].channels, grey("Y", "Y", Some("A")));
        let other = ["BY", "RY", "Y"].map(str::to_owned).to_vec();
        assert_eq!(layers(&[("", &["BY", "RY", "Y"])])[0].channels, Channels::Other(other));
    }

    #[test]
    fn parts_have_names() {
        let layers = layers(&[
            ("left", &["B", "G", "R"]),
            ("right", &["right.B", "right.G", "right.R"]),
            ("view", &["view.depth.Z", "shadow.B", "shadow.G", "shadow.R"]),
        ]);
        assert_eq!(names(&layers), ["left", "right", "view.depth", "view.shadow"]);
    }

    #[test]
    fn one_layer_is_chosen() {
        let both = layers(&[("", &["B", "G", "R", "Z"])]);
        let (shown, note) = choose(&both, None).expect("one is shown");
        assert_eq!(
            (shown.name.as_str(), note.as_deref()),
            ("", Some("its layers Z are left out; --layer takes one"))
        );
        assert_eq!(choose(&both, Some("Z")).map(|(layer, _)| layer.name.as_str()), Ok("Z"));
        let nameless = layers(&[("", &["A.R", "B.R"])]);
        assert_eq!(
            choose(&nameless, None),
            Err("it has the layers A, B; --layer takes one".to_owned())
        );
        assert_eq!(
            choose(&nameless, Some("C")),
            Err("it has no layer \"C\"; it has A, B".to_owned())
        );
        let only = layers(&[("", &["BG.Combined.R", "BG.Combined.G"])]);
        assert_eq!(
            choose(&only, None).map(|(layer, _)| layer.name.as_str()),
            Ok("BG.Combined")
        );
    }

    #[test]
    fn colours_may_be_named_in_full() {
        let layers = layers(&[(
            "",
            &[
                "alpha",
                "blue",
                "diffuse.alpha",
                "diffuse.blue",
                "diffuse.green",
                "diffuse.red",
                "green",
                "red",
            ],
        )]);
        assert_eq!(names(&layers), ["", "diffuse"]);
        assert_eq!(layers[0].channels, rgb(["red", "green", "blue", "alpha"]));
        let diffuse = ["diffuse.red", "diffuse.green", "diffuse.blue", "diffuse.alpha"];
        assert_eq!(layers[1].channels, rgb(diffuse));
    }

    #[test]
    fn of_several_parts_the_one_with_plain_colours_is_the_picture() {
        let parts = layers(&[("depth", &["Z"]), ("beauty", &["A", "B", "G", "R"])]);
        let (shown, note) = choose(&parts, None).expect("one is shown");
        assert_eq!(
            (shown.name.as_str(), shown.part, note.as_deref()),
            ("beauty", 1, Some("its layers depth are left out; --layer takes one"))
        );
        // Two views are two pictures.
        let views = layers(&[("left", &["B", "G", "R"]), ("right", &["B", "G", "R"])]);
        assert_eq!(
            choose(&views, None),
            Err("it has the layers left, right; --layer takes one".to_owned())
        );
    }
}
