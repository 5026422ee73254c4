//! Gives every blurred entity its [`BlurLabel`].

use super::label::BlurLabel;
use crate::settings::GaussianBlur;
use crate::systems::BlurSystems;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;

/// Keeps labels up to date.
pub fn plugin(app: &mut App) {
    app.add_systems(PostUpdate, label_blurs.in_set(BlurSystems::Collect));
}

type Labelled = (Entity, Option<&'static Name>, Option<&'static BlurLabel>);
type Relabelled = Or<(Without<BlurLabel>, Changed<Name>)>;

/// Labels all blurred entities again when one of them is added, removed or renamed.
pub fn label_blurs(
    mut commands: Commands,
    blurs: Query<Labelled, With<GaussianBlur>>,
    changed: Query<(), (With<GaussianBlur>, Relabelled)>,
    mut removed: RemovedComponents<GaussianBlur>,
    mut unnamed: RemovedComponents<Name>,
) {
    let gone: Vec<Entity> = removed.read().collect();
    if changed.is_empty() && gone.is_empty() && unnamed.read().count() == 0 {
        return;
    }
    for entity in gone.into_iter().filter(|entity| !blurs.contains(*entity)) {
        if let Ok(mut entity) = commands.get_entity(entity) {
            entity.try_remove::<BlurLabel>();
        }
    }
    let mut uses: HashMap<&str, u32> = HashMap::default();
    for (_, name, _) in &blurs {
        *uses.entry(base_name(name)).or_default() += 1;
    }
    for (entity, name, old) in &blurs {
        let base = base_name(name);
        let label = match base {
            "" => BlurLabel::of_entity(entity),
            _ if uses[base] > 1 => BlurLabel::new(&format!("{base}-{}", entity.index())),
            _ => BlurLabel::new(base),
        };
        if old != Some(&label) {
            commands.entity(entity).try_insert(label);
        }
    }
}

fn base_name(name: Option<&Name>) -> &str {
    name.map_or("", |name| name.as_str().trim())
}
