//! Where glass is painted, and what it sees there.

use super::clip::{Clip, both};
use super::region::Region;
use super::scene::{Backdrop, Scene, What};
use super::slot::{Slot, node_of};
use super::surface::SurfaceId;
use super::tree::{Owners, SurfaceTree};
use bevy::math::FloatOrd;
use bevy::platform::collections::HashMap;
use bevy::prelude::Entity;

/// Glass with its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placed {
    /// The surface that it is painted on.
    pub on: SurfaceId,
    /// The first sort key that it does not see.
    pub cut: FloatOrd,
    /// Its texels.
    pub region: Region,
    /// Its clip: the texels end at the bounds.
    pub clip: Option<Clip>,
    /// Its opacity, with that of its own node's filter.
    pub opacity: f32,
    /// Where it makes a hole: glass lies over its node's shadow, but the shadow is on the picture of the node's group, and the glass
    /// below that picture.
    pub hole: Option<SurfaceId>,
}

/// Finds the place of all glass.
pub fn place(scene: &Scene, tree: &SurfaceTree) -> Vec<Option<Placed>> {
    let mut placed = vec![None; scene.backdrops.len()];
    for (backdrop, place) in scene.backdrops.iter().zip(&mut placed) {
        if backdrop.node().is_none() {
            *place = place_in(scene, tree, backdrop, SurfaceId::CAMERA, backdrop.clip, 1.0);
        }
    }
    let mut owners = Owners::new(scene.filters);
    // What shares a backdrop on one surface has the cut of the first.
    let mut cuts: HashMap<(Entity, SurfaceId), FloatOrd> = HashMap::default();
    for item in scene.items {
        let What::Glass(index) = item.what else {
            continue;
        };
        let (backdrop, node) = (&scene.backdrops[index], node_of(item.key));
        let (mut clip, mut opacity, mut hole) = (backdrop.clip, 1.0, None);
        for filter in owners.around(node) {
            let Some(of) = scene.filters.get(filter) else {
                continue;
            };
            // The clip of its own node applies inside the node's group.
            if i64::from(of.nodes.start) == node {
                clip = of.clip;
                if !tree.is_flat(filter) {
                    opacity = of.opacity;
                    hole = tree.items_of(filter).filter(|surface| tree.surface(*surface).is_seen());
                }
            } else if tree.is_flat(filter) {
                clip = both(clip, of.result_clip());
            }
        }
        if let Some(on) = owners.of(item.key, item.what, tree)
            && let Some(mut new) = place_in(scene, tree, backdrop, on, clip, opacity)
        {
            new.hole = hole;
            if let Some(shares) = backdrop.shares {
                new.cut = *cuts.entry((shares, on)).or_insert(new.cut);
            }
            placed[index] = Some(new);
        }
    }
    placed
}

/// Glass on a surface, under a clip and with a further opacity. `None` if it is neither painted nor takes a picture.
fn place_in(
    scene: &Scene,
    tree: &SurfaceTree,
    backdrop: &Backdrop,
    on: SurfaceId,
    clip: Option<Clip>,
    opacity: f32,
) -> Option<Placed> {
    let surface = tree.surface(on);
    let region = Region::new(backdrop, &scene.picture, clip, surface.rect)?;
    let opacity = backdrop.tint.opacity * opacity;
    let is_painted = opacity > 0.0 && !region.painted.is_empty();
    let takes = backdrop.takes() && surface.is_seen();
    (is_painted || takes).then(|| Placed {
        on,
        cut: backdrop
            .node()
            .map_or(FloatOrd(f32::NEG_INFINITY), |node| Slot::Cut.key(node)),
        region,
        clip,
        opacity,
        hole: None,
    })
}

/// Whether an item paints anything.
pub fn paints(what: What, tree: &SurfaceTree, placed: &[Option<Placed>]) -> bool {
    let placed = |backdrop: usize| placed.get(backdrop).copied().flatten();
    match what {
        What::Mark => false,
        What::Other => true,
        What::Glass(backdrop) => placed(backdrop).is_some(),
        What::Hole(backdrop) => placed(backdrop).is_some_and(|placed| placed.hole.is_some()),
        What::Result(filter) => tree.is_seen(filter),
    }
}

/// The sort keys of what is painted on the camera's picture and on every surface with a turn.
pub fn keys_of(scene: &Scene, tree: &SurfaceTree, placed: &[Option<Placed>]) -> Vec<Vec<FloatOrd>> {
    let mut keys = vec![Vec::new(); tree.surfaces.len()];
    if placed.iter().all(Option::is_none) && !scene.is_flat {
        return keys;
    }
    let mut owners = Owners::new(scene.filters);
    for item in scene.items {
        let is_painted = paints(item.what, tree, placed);
        let owner = owners.of(item.key, item.what, tree).filter(|_| is_painted);
        if let Some(on) = owner.filter(|on| *on == SurfaceId::CAMERA || tree.surface(*on).has_turn) {
            keys[on.0].push(item.key);
        }
    }
    keys
}
