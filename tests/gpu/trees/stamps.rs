//! What trees show beside boxes: text, and shadows of boxes. Bevy paints each once, alone over nothing; that picture is what is right
//! wherever else it is painted, on whole pixels.

use crate::support::prelude::*;
use crate::support::reference::tree::Stamp;
use std::sync::{Arc, OnceLock};

/// Where the node is in its picture, which is [`SIZE`] large: a shadow reaches three times its blur beyond its box.
const PLACE: [i64; 2] = [16, 16];

const SIZE: UVec2 = UVec2::new(64, 56);

/// The radius of the node that has the shadow.
pub const RADIUS: f64 = 5.0;

/// The names of the stamps, with the sizes of their nodes.
const ALL: [(&str, [f64; 2], bool); 2] = [("text", [40.0, 18.0], false), ("shadow", [26.0, 18.0], true)];

static STAMPS: OnceLock<Vec<Arc<Stamp>>> = OnceLock::new();

/// All stamps. They must have been taken.
pub fn all() -> &'static [Arc<Stamp>] {
    STAMPS.get().expect("a screen was made before")
}

/// Takes the stamps, once.
pub fn take(headless: &mut Headless) {
    if STAMPS.get().is_some() {
        return;
    }
    let view = View::new(headless, Kind::Core2d, SIZE, HDR);
    let camera = Camera {
        clear_color: ClearColorConfig::Custom(Color::NONE),
        ..default()
    };
    view.insert(headless, (camera, Hdr));
    let stamps = ALL.map(|(name, size, is_below)| {
        let [left, top] = PLACE.map(|side| side as f32);
        let world = headless.app.world_mut();
        let place = Node {
            border_radius: BorderRadius::all(Val::Px(if is_below { RADIUS as f32 } else { 0.0 })),
            ..node(Vec2::new(left, top), Vec2::from_array(size.map(|side| side as f32)))
        };
        let shown = world.spawn((place, UiTargetCamera(view.camera))).id();
        insert(&mut world.entity_mut(shown), Some(name));
        headless.warm_up();
        let picture = view.picture(headless);
        headless.despawn(shown);
        assert!(
            picture.texels.iter().any(|texel| texel[3] > 0.3),
            "the stamp {name} is not seen"
        );
        Arc::new(Stamp {
            name,
            size,
            picture,
            place: PLACE,
            is_below,
        })
    });
    headless.despawn(view.camera);
    // Another test may have taken them meanwhile: they are the same.
    let _ = STAMPS.set(stamps.to_vec());
}

/// Gives a node what a stamp shows, and takes what others show.
pub fn insert(entity: &mut EntityWorldMut, name: Option<&str>) {
    if name == Some("text") {
        let colour = Color::linear_rgba(0.9, 0.6, 0.1, 0.9);
        entity.insert((Text::new("Glass"), TextFont::from_font_size(14.0), TextColor(colour)));
    } else if entity.contains::<Text>() {
        entity.insert(Text::default());
    }
    if name == Some("shadow") {
        let colour = Color::linear_rgba(0.05, 0.3, 0.1, 0.9);
        let [x, y, spread, blur] = [3.0, 2.0, 1.0, 5.0].map(Val::Px);
        entity.insert(BoxShadow::new(colour, x, y, spread, blur));
    } else {
        entity.remove::<BoxShadow>();
    }
}
