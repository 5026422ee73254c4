//! The groups of the main world, and what clips them.
//!
//! Bevy clips a node by all its ancestors. But a group is painted before it is filtered, so only the clips of its own nodes apply
//! inside it; the clips of its ancestors apply to the result. So in every frame, after Bevy has computed the clips, those inside
//! groups are computed again without the ancestors of the group. This does not affect picking, which walks up the ancestors itself.

use crate::backdrop::clip::{clip_of, clipped, everything, is_same, nothing};
use crate::backdrop::{FilteredNode, FilteredNodes};
use crate::plan::blurs;
use crate::settings::{DropShadow, UiFilter};
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy::ui::experimental::UiChildren;
use bevy::ui::{CalculatedClip, ComputedNode, ComputedUiRenderTargetInfo, OverrideClip, UiGlobalTransform};
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// Whether groups may be filtered: the pipelines are compiled, or frames wait for them. The render world sets it.
#[derive(Resource, Clone, Default)]
pub struct FilterSwitch(Arc<AtomicBool>);

impl FilterSwitch {
    /// Sets whether groups may be filtered from the next frame on.
    pub fn set(&self, is_on: bool) {
        self.0.store(is_on, Ordering::Relaxed);
    }

    fn is_on(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The filtered groups of this frame, by the entities of their nodes.
#[derive(Resource, Default)]
pub struct FilteredGroups(pub Vec<(Entity, FilteredGroup)>);

/// A group.
#[derive(Clone, Copy, Debug)]
pub struct FilteredGroup {
    /// How many nodes it has, in Bevy's stack from the filter's node on.
    pub nodes: u32,
    /// The clip by its ancestors, in the viewport. It applies to the result.
    pub clip: Option<Rect>,
}

type NodeData = (
    &'static Node,
    &'static ComputedNode,
    &'static UiGlobalTransform,
    Option<&'static mut CalculatedClip>,
    Option<(&'static UiFilter, &'static ComputedUiRenderTargetInfo)>,
);

/// The nodes, and what a walk over them reads and changes.
#[derive(SystemParam)]
pub struct Nodes<'w, 's> {
    switch: Res<'w, FilterSwitch>,
    groups: ResMut<'w, FilteredGroups>,
    filtered: ResMut<'w, FilteredNodes>,
    nodes: Query<'w, 's, NodeData>,
    roots: Query<'w, 's, (), With<GlobalZIndex>>,
    unclipped: Query<'w, 's, (), With<OverrideClip>>,
    children: UiChildren<'w, 's>,
}

/// Finds the groups that are filtered in this frame, and removes the clips of their ancestors from the nodes inside them.
pub fn find_groups(mut nodes: Nodes, filters: Query<Entity, With<UiFilter>>) {
    nodes.groups.0.clear();
    nodes.filtered.0.clear();
    for entity in &filters {
        if nodes.is_filtered(entity) && nodes.is_outermost(entity) {
            let clip = nodes.nodes.get(entity).ok().and_then(|node| node.3).cloned();
            nodes.visit(entity, clip.as_ref());
        }
    }
}

impl Nodes<'_, '_> {
    fn is_filtered(&self, entity: Entity) -> bool {
        let Ok((.., Some((filter, info)))) = self.nodes.get(entity) else {
            return false;
        };
        // Without pipelines, groups are painted unfiltered. An invisible group needs no pipelines.
        is_active(filter, info) && (self.switch.is_on() || filter.opacity_in_range() == 0.0)
    }

    /// Whether a node is in no other group. Nodes with a `GlobalZIndex` leave their ancestors' groups.
    fn is_outermost(&self, entity: Entity) -> bool {
        let mut inner = entity;
        while !self.roots.contains(inner) {
            let Some(parent) = self.children.get_parent(inner) else {
                break;
            };
            if self.is_filtered(parent) {
                return false;
            }
            inner = parent;
        }
        true
    }

    /// Visits a node and its descendants, as Bevy does when it computes clips. Returns the number of nodes visited.
    fn visit(&mut self, entity: Entity, inherited: Option<&CalculatedClip>) -> u32 {
        let is_filtered = self.is_filtered(entity);
        let Ok((node, computed, transform, clip, filter)) = self.nodes.get_mut(entity) else {
            return 0;
        };
        let opacity = filter.map_or(1.0, |(filter, _)| filter.opacity_in_range());
        let (everything, nothing) = (everything(), nothing());
        let is_displayed = node.display != Display::None;
        let inherited = match inherited {
            _ if !is_displayed => Some(&nothing),
            _ if self.unclipped.contains(entity) => None,
            inherited => inherited,
        };
        let inside = inherited.filter(|_| !(is_filtered && is_displayed));
        if let Some(mut clip) = clip {
            let inside = inside.unwrap_or(&everything);
            if !is_same(&clip, inside) {
                clip.clone_from(inside);
            }
        }
        let own;
        let for_children = if node.overflow.is_visible() {
            inside
        } else {
            let rect = computed.resolve_clip_rect(node.overflow, node.overflow_clip_margin);
            own = clipped(inside, rect, transform);
            Some(&own)
        };
        let children: Vec<Entity> = self.children.iter_ui_children(entity).collect();
        let mut nodes = 1;
        for child in children {
            if !self.roots.contains(child) {
                nodes += self.visit(child, for_children);
            }
        }
        if is_filtered {
            let clip = clip_of(inherited);
            self.groups.0.push((entity, FilteredGroup { nodes, clip }));
            self.filtered.0.insert(entity, FilteredNode { clip, opacity });
        }
        nodes
    }
}

/// Whether a filter changes anything.
fn is_active(filter: &UiFilter, info: &ComputedUiRenderTargetInfo) -> bool {
    let sigma = filter.blur.sigma_in_texels(info.scale_factor(), info.physical_size().y);
    blurs(sigma.unwrap_or(Vec2::ZERO))
        || !filter.functions_in_range().is_neutral()
        || filter.opacity_in_range() < 1.0
        || filter.shadows.iter().any(DropShadow::is_seen)
}
