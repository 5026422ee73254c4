//! The groups of the main world, and what clips them.
//!
//! Bevy clips a node by all its ancestors. But a group is painted before it is filtered, so only the clips of its own nodes apply
//! inside it; the clips of its ancestors apply to the result. So in every frame, after Bevy has computed the clips, those inside
//! groups are computed again. The ancestors' clips are grown by the reach of the filter: no pixel beyond that can change a visible one,
//! and Bevy leaves out what lies there. This does not affect picking, which walks up the ancestors itself.
//!
//! Bevy's own clips stay where that shows the same: a filter that moves no colour from one pixel to another may as well filter what is
//! clipped. They also stay in a group with an `OverrideClip`, whose node the ancestors of the group do not clip: it would vanish if the
//! result were clipped by them.
//!
//! Bevy clips by moving vertices, which is wrong for nodes that are turned. These get only the clips inside the group.
//!
//! Bevy computes its own clips again in every frame. What it takes for a change, others do, too, so a clip that is the same as in the
//! frame before is written as one that has not changed.

use super::strength::FilterData;
use crate::paint::ui_clip::{clip_of, clipped, everything, grown, is_same};
use crate::schedule::{Clips, Filter};
use crate::settings::BlurSwitch;
use bevy::camera::visibility::InheritedVisibility;
use bevy::ecs::change_detection::Tick;
use bevy::ecs::entity::{EntityHashMap, EntityHashSet};
use bevy::ecs::system::{SystemChangeTick, SystemParam};
use bevy::prelude::*;
use bevy::ui::experimental::UiChildren;
use bevy::ui::{
    CalculatedClip, ComputedNode, ComputedStackIndex, ComputedUiTargetCamera, OverrideClip, UiGlobalTransform,
};

/// The groups of this frame, with the cameras of their nodes. Their filters are those that the clips of their nodes were computed with,
/// whatever happens to the components until they are extracted.
#[derive(Resource, Default)]
pub struct FilteredGroups(pub Vec<(ComputedUiTargetCamera, Filter)>);

type NodeData = (
    &'static Node,
    &'static ComputedNode,
    &'static ComputedStackIndex,
    &'static UiGlobalTransform,
    Option<&'static mut CalculatedClip>,
);

/// The nodes, and what a walk over them reads and changes.
#[derive(SystemParam)]
pub struct NodeWalk<'w, 's> {
    nodes: Query<'w, 's, NodeData>,
    filters: Query<'w, 's, (Entity, FilterData)>,
    visible: Query<'w, 's, (&'static Node, &'static InheritedVisibility)>,
    roots: Query<'w, 's, (), With<GlobalZIndex>>,
    unclipped: Query<'w, 's, Entity, With<OverrideClip>>,
    switch: Res<'w, BlurSwitch>,
    children: UiChildren<'w, 's>,
    written: Local<'s, WrittenClips>,
    ticks: SystemChangeTick,
}

/// The clips that were written.
#[derive(Default)]
struct WrittenClips {
    /// In the frame before.
    before: EntityHashMap<CalculatedClip>,
    /// In this frame.
    now: EntityHashMap<CalculatedClip>,
}

impl WrittenClips {
    fn next_frame(&mut self) {
        core::mem::swap(&mut self.before, &mut self.now);
        self.now.clear();
    }

    /// Writes a node's clip. If it is the same as in the frame before, it counts as changed then, when the system ran last: every
    /// other system has run since.
    fn write(&mut self, node: Entity, mut clip: Mut<CalculatedClip>, new: CalculatedClip, last_run: Tick) {
        let is_kept = self.before.get(&node).is_some_and(|before| is_same(before, &new));
        if is_same(&clip, &new) {
            // Bevy has computed the same.
        } else if is_kept {
            clip.bypass_change_detection().clone_from(&new);
            clip.set_last_changed(last_run);
        } else {
            clip.clone_from(&new);
        }
        self.now.insert(node, new);
    }
}

/// The clips that a node inherits.
#[derive(Clone, Copy, Default)]
struct Inherited<'a> {
    /// All of them. Those around a group are grown.
    all: Option<&'a CalculatedClip>,
    /// Those inside the innermost group whose result is clipped.
    inside: Option<&'a CalculatedClip>,
    /// Whether there is such a group, so that they are not Bevy's own.
    is_changed: bool,
}

/// Finds the groups that are filtered in this frame, and clips the nodes inside them.
pub fn find_groups(mut nodes: NodeWalk, mut groups: ResMut<FilteredGroups>) {
    groups.0.clear();
    nodes.written.next_frame();
    // A hidden group costs nothing.
    let filters = nodes.filters.iter().filter_map(|(entity, data)| {
        let group = data.group(entity, *nodes.switch);
        let is_active = data.filter.is_rounded || group.changes();
        (is_active && nodes.is_laid_out(entity, data.node) && nodes.is_visible(entity)).then_some((entity, group))
    });
    let found: Vec<(Entity, Filter)> = filters.collect();
    if found.is_empty() {
        return;
    }
    let filtered: EntityHashMap<&Filter> = found.iter().map(|(entity, group)| (*entity, group)).collect();
    let unclipped = nodes
        .unclipped
        .iter()
        .flat_map(|entity| nodes.around(entity, &filtered));
    let unclipped: EntityHashSet = unclipped.collect();
    for (entity, _) in &found {
        if nodes.around(*entity, &filtered).next().is_none() {
            let clip = nodes.nodes.get(*entity).ok().and_then(|node| node.4).cloned();
            let inherited = Inherited {
                all: clip.as_ref(),
                ..default()
            };
            nodes.visit(*entity, inherited, (&filtered, &unclipped), &mut groups);
        }
    }
}

impl NodeWalk<'_, '_> {
    /// Whether no ancestor has `Display::None`. Such nodes are empty, and clipped to nothing.
    fn is_laid_out(&self, entity: Entity, node: &ComputedNode) -> bool {
        let is_clipped = || {
            let clip = self.nodes.get(entity).ok().and_then(|node| node.4);
            clip_of(clip).is_some_and(|clip| clip.bounds().is_empty())
        };
        if !node.is_empty() || !is_clipped() {
            return true;
        }
        let is_shown = |above: &Entity| {
            self.visible
                .get(*above)
                .is_ok_and(|(node, _)| node.display != Display::None)
        };
        // What is free of clips may be seen in an empty list.
        let mut above = core::iter::successors(self.children.get_parent(entity), |above| {
            self.children.get_parent(*above)
        });
        !self.unclipped.is_empty() && above.all(|above| is_shown(&above))
    }

    /// Whether a node or one of its descendants is visible: descendants of a hidden node may be.
    fn is_visible(&self, entity: Entity) -> bool {
        let Ok((node, visibility)) = self.visible.get(entity) else {
            return false;
        };
        if node.display == Display::None {
            return false;
        }
        let mut children = self.children.iter_ui_children(entity);
        visibility.get() || children.any(|child| !self.roots.contains(child) && self.is_visible(child))
    }

    /// The filtered nodes around a node. Nodes with a `GlobalZIndex` leave their ancestors' groups.
    fn around<'a>(&'a self, entity: Entity, filtered: &'a EntityHashMap<&Filter>) -> impl Iterator<Item = Entity> + 'a {
        let parent = |inner: &Entity| {
            let is_root = self.roots.contains(*inner);
            (!is_root).then(|| self.children.get_parent(*inner)).flatten()
        };
        let above = core::iter::successors(parent(&entity), parent);
        above.filter(|entity| filtered.contains_key(entity))
    }

    /// The end of the places of a node and its descendants in the stack. Each node is followed there by its descendants.
    fn end_of(&self, entity: Entity) -> u32 {
        let place = |node: &Entity| self.nodes.get(*node).map_or(0, |(_, _, stack_index, ..)| stack_index.0);
        let last_child = |node: &Entity| {
            let children = self.children.iter_ui_children(*node);
            children.filter(|child| !self.roots.contains(*child)).max_by_key(place)
        };
        let last = core::iter::successors(Some(entity), last_child).last();
        last.map_or(0, |last| place(&last) + 1)
    }

    /// Visits a node and its descendants, as Bevy does when it computes clips. Returns the end of their places in the stack.
    fn visit(
        &mut self,
        entity: Entity,
        inherited: Inherited,
        (filtered, unclipped): (&EntityHashMap<&Filter>, &EntityHashSet),
        groups: &mut FilteredGroups,
    ) -> u32 {
        let Ok((node, computed, stack_index, transform, clip)) = self.nodes.get_mut(entity) else {
            return 0;
        };
        let start = stack_index.0;
        // Bevy clips the descendants of hidden nodes to nothing. They stay in the group: glass among them may share its backdrop.
        if node.display == Display::None {
            return self.end_of(entity);
        }
        let inherited = if self.unclipped.contains(entity) {
            Inherited {
                is_changed: inherited.is_changed,
                ..default()
            }
        } else {
            inherited
        };
        let around = clip_of(inherited.all);
        let group = filtered.get(&entity).copied();
        let reach = group.map(Filter::reach);
        let clips_result = reach.is_some_and(|reach| reach.cmpgt(Vec2::ZERO).any()) && !unclipped.contains(&entity);
        let grown = inherited.all.map(|clip| grown(clip, reach.unwrap_or_default()));
        let inside = if clips_result {
            Inherited {
                all: grown.as_ref(),
                inside: None,
                is_changed: true,
            }
        } else {
            inherited
        };
        if let Some(clip) = clip.filter(|_| inside.is_changed) {
            let is_turned = transform.affine().matrix2.x_axis.y != 0.0;
            let new = if is_turned { inside.inside } else { inside.all };
            let new = new.cloned().unwrap_or(everything());
            self.written.write(entity, clip, new, self.ticks.last_run());
        }
        let own =
            (!node.overflow.is_visible()).then(|| computed.resolve_clip_rect(node.overflow, node.overflow_clip_margin));
        let all = own.map(|own| clipped(inside.all, own, transform));
        let only_inside = own
            .filter(|_| inside.is_changed)
            .map(|own| clipped(inside.inside, own, transform));
        let for_children = Inherited {
            all: all.as_ref().or(inside.all),
            inside: only_inside.as_ref().or(inside.inside),
            is_changed: inside.is_changed,
        };
        let children: Vec<Entity> = self.children.iter_ui_children(entity).collect();
        let mut end = start + 1;
        for child in children {
            if !self.roots.contains(child) {
                end = end.max(self.visit(child, for_children, (filtered, unclipped), groups));
            }
        }
        if let Some((group, (_, data))) = group.zip(self.filters.get(entity).ok()) {
            let unless_result = match unclipped.contains(&entity) {
                true => Clips::MostNodes,
                false => Clips::Nodes,
            };
            if group.changes() {
                let clips = if clips_result { Clips::Result } else { unless_result };
                let group = group.clone().placed(start, start..end, around, clips);
                groups.0.push((*data.target, group));
            }
            if data.filter.is_rounded && start + 1 < end {
                let content = data.content(entity);
                let content = content.placed(start, start + 1..end, clip_of(inside.all), unless_result);
                groups.0.push((*data.target, content));
            }
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::UiFilter;
    use bevy::ecs::system::RunSystemOnce;
    use bevy::ui::{ComputedUiRenderTargetInfo, ComputedUiTargetCamera};

    /// A node as Bevy leaves it after layout, and after computing its clip.
    fn node(display: Display, is_laid_out: bool) -> impl Bundle {
        let node = Node { display, ..default() };
        let size = if is_laid_out { Vec2::splat(10.0) } else { Vec2::ZERO };
        let computed = ComputedNode { size, ..default() };
        let clip = if is_laid_out {
            everything()
        } else {
            clipped(None, Rect::default(), &UiGlobalTransform::default())
        };
        let of_camera = (ComputedUiTargetCamera::default(), ComputedUiRenderTargetInfo::default());
        let visibility = (Visibility::Inherited, InheritedVisibility::VISIBLE);
        (
            node,
            computed,
            clip,
            UiGlobalTransform::default(),
            of_camera,
            visibility,
        )
    }

    /// The number of groups that are found in a menu with filters.
    fn found(display: Display, filters: usize) -> usize {
        let mut world = World::new();
        world.init_resource::<FilteredGroups>();
        world.init_resource::<BlurSwitch>();
        let is_open = display != Display::None;
        let menu = world.spawn((node(display, is_open), ComputedStackIndex(0))).id();
        for index in 0..filters {
            let faded = (UiFilter::opacity(0.5), ComputedStackIndex(index as u32 + 1));
            world.spawn((node(Display::Flex, is_open), faded, ChildOf(menu)));
        }
        let ran = world.run_system_once(find_groups);
        assert!(ran.is_ok(), "{ran:?}");
        world.resource::<FilteredGroups>().0.len()
    }

    /// What is not laid out costs nothing, wherever it was turned off: 2,000 groups were planned for a closed menu, at 12 ms a frame.
    #[test]
    fn a_closed_menu_has_no_groups() {
        assert_eq!(found(Display::Flex, 2_000), 2_000);
        assert_eq!(found(Display::None, 2_000), 0);
    }
}
