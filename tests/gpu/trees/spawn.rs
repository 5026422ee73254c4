//! Spawns a tree as nodes of Bevy's user interface.

use super::stamps;
use crate::support::functions::steps;
use crate::support::prelude::*;
use crate::support::reference::Ramp;
use crate::support::reference::tree::{Border, Filter, Glass, Node as Described, Shadow, Tree, Visibility as Seen};
use crate::support::scene::node as placed;
use bevy::ui::OverrideClip;

fn vec2(pair: [f64; 2]) -> Vec2 {
    Vec2::from_array(pair.map(|value| value as f32))
}

fn color([red, green, blue, alpha]: [f64; 4]) -> Color {
    let [red, green, blue, alpha] = [red, green, blue, alpha].map(|value| value as f32);
    Color::linear_rgba(red, green, blue, alpha)
}

/// Spawns a tree for a camera. Returns the root.
pub fn spawn(world: &mut World, tree: &Tree, camera: Entity) -> Entity {
    let whole = scene::whole();
    let root = world.spawn((whole, UiTargetCamera(camera))).id();
    spawn_all(world, &tree.nodes, root);
    root
}

fn spawn_all(world: &mut World, nodes: &[Described], parent: Entity) {
    for described in nodes {
        let entity = world.spawn((bundle(described), ChildOf(parent))).id();
        insert_optional(&mut world.entity_mut(entity), described);
        spawn_all(world, &described.children, entity);
    }
}

/// Changes the children of a node into others: those in the same place get the components of the new ones.
pub fn morph(world: &mut World, nodes: &[Described], parent: Entity) {
    let old: Vec<Entity> = world
        .get::<Children>(parent)
        .map_or(Vec::new(), |children| children.to_vec());
    for (index, described) in nodes.iter().enumerate() {
        let Some(entity) = old.get(index).copied() else {
            spawn_all(world, core::slice::from_ref(described), parent);
            continue;
        };
        let mut node = world.entity_mut(entity);
        node.insert(bundle(described));
        remove_optional(&mut node, described);
        insert_optional(&mut node, described);
        morph(world, &described.children, entity);
    }
    for entity in old.into_iter().skip(nodes.len()) {
        world.despawn(entity);
    }
}

/// Removes what another node had.
fn remove_optional(entity: &mut EntityWorldMut, described: &Described) {
    if described.global_z.is_none() {
        entity.remove::<GlobalZIndex>();
    }
    if !described.shares_backdrop {
        entity.remove::<BackdropGroup>();
    }
    if !described.is_free {
        entity.remove::<OverrideClip>();
    }
    if described.glass.is_none() {
        entity.remove::<BackdropBlur>();
    }
    if described.glass.as_ref().is_none_or(|glass| glass.lens.is_none()) {
        entity.remove::<BackdropLens>();
    }
    if ramp_of(described).is_none() {
        entity.remove::<BlurProfile>();
    }
    if described.filter.is_none() {
        entity.remove::<UiFilter>();
    }
}

fn bundle(described: &Described) -> impl Bundle {
    let axis = |axis: usize| match described.clips[axis] {
        false => OverflowAxis::Visible,
        true if described.scroll[axis] > 0.0 => OverflowAxis::Scroll,
        true => OverflowAxis::Clip,
    };
    let border = described.border.unwrap_or(Border {
        widths: [0.0; 4],
        color: [0.0; 4],
    });
    let [left, top, right, bottom] = border.widths.map(|width| Val::Px(width as f32));
    let [top_left, top_right, bottom_right, bottom_left] = described.radii.map(|radius| radius as f32);
    let node = Node {
        overflow: Overflow { x: axis(0), y: axis(1) },
        display: if described.is_displayed {
            Display::Flex
        } else {
            Display::None
        },
        border: UiRect {
            left,
            top,
            right,
            bottom,
        },
        border_radius: BorderRadius::px(top_left, top_right, bottom_right, bottom_left),
        ..placed(vec2(described.origin), vec2(described.size))
    };
    let transform = UiTransform {
        translation: Val2::px(
            described.transform.offset[0] as f32,
            described.transform.offset[1] as f32,
        ),
        scale: vec2(described.transform.scale),
        rotation: Rot2::radians(described.transform.angle as f32),
    };
    let visibility = match described.visibility {
        Seen::Inherited => Visibility::Inherited,
        Seen::Hidden => Visibility::Hidden,
        Seen::Visible => Visibility::Visible,
    };
    let outline = described
        .ring
        .map_or(Outline::new(Val::ZERO, Val::ZERO, Color::NONE), |outline| Outline {
            width: Val::Px(outline.width as f32),
            offset: Val::Px(outline.offset as f32),
            color: color(outline.color),
        });
    (
        node,
        transform,
        visibility,
        BackgroundColor(color(described.color)),
        BorderColor::all(color(border.color)),
        outline,
        ScrollPosition(vec2(described.scroll)),
        ZIndex(described.z),
    )
}

fn insert_optional(entity: &mut EntityWorldMut, described: &Described) {
    if let Some(z) = described.global_z {
        entity.insert(GlobalZIndex(z));
    }
    if described.shares_backdrop {
        entity.insert(BackdropGroup);
    }
    if described.is_free {
        entity.insert(OverrideClip);
    }
    if let Some(glass) = &described.glass {
        entity.insert(backdrop(glass));
        if let Some(lens) = glass.lens {
            entity.insert(BackdropLens {
                bevel: lens.bevel as f32,
                displacement: lens.displacement as f32,
                dispersion: lens.dispersion as f32,
                rim_light: lens.rim_light as f32,
                light_angle: lens.light_angle as f32,
            });
        }
    }
    if let Some(filter) = &described.filter {
        entity.insert(ui_filter(filter));
    }
    if let Some(ramp) = ramp_of(described) {
        entity.insert(linear(
            [vec2(ramp.start), vec2(ramp.end)],
            [ramp.from as f32, ramp.to as f32],
        ));
    }
    stamps::insert(entity, described.stamp.as_ref().map(|stamp| stamp.name));
}

/// The profile of a node: of its glass, or of its filter.
fn ramp_of(described: &Described) -> Option<Ramp> {
    let of_glass = described.glass.as_ref().and_then(|glass| glass.ramp);
    of_glass.or(described.filter.as_ref().and_then(|filter| filter.ramp))
}

fn blur(sigma: [f64; 2], edge: EdgeMode) -> GaussianBlur {
    let largest = sigma[0].max(sigma[1]);
    let aspect = if largest > 0.0 {
        sigma.map(|sigma| sigma / largest)
    } else {
        [1.0; 2]
    };
    GaussianBlur::from_sigma(largest as f32)
        .with_aspect(vec2(aspect))
        .with_edge(edge)
}

fn backdrop(glass: &Glass) -> BackdropBlur {
    BackdropBlur {
        blur: blur(glass.sigma, glass.edge),
        sampling: if glass.sees_surroundings {
            BackdropSampling::Surroundings
        } else {
            BackdropSampling::Inside
        },
        colors: steps(&glass.functions),
        opacity: glass.opacity as f32,
        fallback: color(glass.fallback),
        ..default()
    }
}

fn ui_filter(filter: &Filter) -> UiFilter {
    UiFilter {
        blur: blur(filter.sigma, filter.edge),
        colors: steps(&filter.functions),
        shadows: filter.shadows.iter().map(drop_shadow).collect(),
        opacity: filter.opacity as f32,
        is_rounded: filter.is_rounded,
        fade: fade(filter.fade),
        outline: filter.outline.map_or(GroupOutline::default(), |outline| GroupOutline {
            width: outline.width as f32,
            color: color(outline.color),
        }),
    }
}

fn fade(lengths: [f64; 4]) -> UiRect {
    let [left, top, right, bottom] = lengths.map(|length| Val::Px(length as f32));
    UiRect {
        left,
        top,
        right,
        bottom,
    }
}

fn drop_shadow(shadow: &Shadow) -> DropShadow {
    DropShadow {
        is_glow: shadow.is_glow,
        is_inset: shadow.is_inset,
        ..DropShadow::from_sigma(vec2(shadow.offset), shadow.sigma[0] as f32, color(shadow.color))
    }
}
