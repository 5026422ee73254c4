//! Items that other crates keep among the items of the user interface: each is drawn once in every frame, whatever glass
//! does.

use super::*;
use bevy::ecs::system::SystemParamItem;
use bevy::ecs::system::lifetimeless::SRes;
use bevy::math::FloatOrd;
use bevy::render::render_phase::{
    AddRenderCommand, DrawFunctions, PhaseItemExtraIndex, RenderCommand, RenderCommandResult, TrackedRenderPass,
    ViewSortedRenderPhases,
};
use bevy::render::render_resource::CachedRenderPipelineId;
use bevy::render::sync_world::MainEntity;
use bevy::render::view::RetainedViewEntity;
use bevy::ui_render::TransparentUi;
use std::sync::Mutex;

/// Bevy's number for the view of a camera's user interface.
const UI_SUBVIEW: u32 = 1;

/// The items that were drawn since the list was last taken, in order.
#[derive(Resource, Default)]
struct Drawn(Mutex<Vec<u32>>);

/// Draws nothing, and records the item.
struct TakeNote;

impl RenderCommand<TransparentUi> for TakeNote {
    type Param = SRes<Drawn>;
    type ViewQuery = ();
    type ItemQuery = ();

    fn render<'w>(
        item: &TransparentUi,
        _view: (),
        _entity: Option<()>,
        drawn: SystemParamItem<'w, '_, Self::Param>,
        _pass: &mut TrackedRenderPass<'w>,
    ) -> RenderCommandResult {
        let PhaseItemExtraIndex::DynamicOffset(number) = item.extra_index else {
            return RenderCommandResult::Skip;
        };
        drawn.into_inner().0.lock().expect("it is not poisoned").push(number);
        RenderCommandResult::Success
    }
}

/// Adds an item with a number to the interface of a camera. The item stays there.
fn retain(stage: &mut Stage, number: u32, sort_key: f32) {
    let view = RetainedViewEntity::new(stage.glass.camera.into(), None, UI_SUBVIEW);
    let world = stage.headless.app.sub_app_mut(RenderApp).world_mut();
    let draw_function = world.resource::<DrawFunctions<TransparentUi>>().read().id::<TakeNote>();
    let entity = world.spawn_empty().id();
    let mut phases = world.resource_mut::<ViewSortedRenderPhases<TransparentUi>>();
    let phase = phases.get_mut(&view).expect("the camera has an interface");
    phase.add_retained(TransparentUi {
        sort_key: FloatOrd(sort_key),
        entity: (entity, MainEntity::from(Entity::PLACEHOLDER)),
        pipeline: CachedRenderPipelineId::INVALID,
        draw_function,
        batch_range: 0..1,
        // Glass uses the same variant, which alone must not identify glass.
        extra_index: PhaseItemExtraIndex::DynamicOffset(number),
        // Beyond the end of every list of Bevy's.
        index: usize::MAX,
        indexed: false,
    });
}

fn drawn(stage: &Stage) -> Vec<u32> {
    let drawn = stage.headless.render_world().resource::<Drawn>();
    core::mem::take(&mut *drawn.0.lock().expect("it is not poisoned"))
}

#[test]
fn retained_items_of_other_crates_survive() {
    for backend in one_backend() {
        let setup = |app: &mut App| {
            let render_app = app.sub_app_mut(RenderApp);
            render_app.init_resource::<Drawn>();
            render_app.add_render_command::<TransparentUi, TakeNote>();
        };
        let mut stage = Stage::with(backend, Kind::Core2d, LDR, setup);
        stage.headless.warm_up();
        // Before all nodes, among them, and after them.
        let keys = [-7.0, 0.4, 2.2, 1000.0];
        for (number, key) in (0..).zip(keys) {
            retain(&mut stage, number, key);
        }
        stage.headless.frame();
        drawn(&stage);
        stage.headless.frame();
        assert_eq!(drawn(&stage), [0, 1, 2, 3], "{backend:?}: without glass");

        let panes = [
            Pane::new([20.0, 15.0, 80.0, 60.0], glass(3.0)),
            Pane::new([60.0, 30.0, 110.0, 70.0], glass(6.0)),
        ];
        let square = Square::new([70.0, 40.0, 20.0, 20.0], [1.0; 4]);
        for round in 0..3 {
            stage.show(|ui| {
                ui.pane(&panes[0]);
                ui.paint(square.bundle());
                ui.pane(&panes[1]);
            });
            stage.check("retained", &[panes[0].layer(), square.layer(), panes[1].layer()]);
            drawn(&stage);
            for frame in 0..5 {
                stage.headless.frame();
                assert_eq!(
                    drawn(&stage),
                    [0, 1, 2, 3],
                    "{backend:?}: frame {frame} with glass, round {round}"
                );
            }
            stage.show(|ui| ui.panes(&panes));
            stage.check("retained-glass-alone", &layers(&panes));
            stage.clear();
            stage.headless.frame();
            stage.assert_identical("retained items draw nothing");
            drawn(&stage);
            stage.headless.frame();
            assert_eq!(drawn(&stage), [0, 1, 2, 3], "{backend:?}: without glass, round {round}");
        }
    }
}
