//! Glass without a node: regions of a viewport, under the user interface and over it.

use super::*;
use crate::support::compositor::{Layer, assert_composed};

const AROUND: BackdropSampling = BackdropSampling::Surroundings;
const LAYERS: [BackdropLayer; 2] = [BackdropLayer::BelowUi, BackdropLayer::AboveUi];

/// A pane as a region: it cannot be turned.
pub fn region(camera: Entity, pane: &Pane, layer: BackdropLayer, order: i32) -> (BackdropRegion, BackdropBlur) {
    let min = pane.origin + pane.offset;
    let region = BackdropRegion::new(camera, Rect::from_corners(min, min + pane.size))
        .with_corners(Vec4::from_array(pane.radii))
        .with_layer(layer)
        .with_order(order);
    (region, pane.glass.clone())
}

fn spawn(stage: &mut Stage, pane: &Pane, layer: BackdropLayer, order: i32) -> Entity {
    let region = region(stage.glass.camera, pane, layer, order);
    stage.spawn(region)
}

/// Several, in their order.
fn spawn_all(stage: &mut Stage, panes: &[Pane], layer: BackdropLayer) {
    for (order, pane) in panes.iter().enumerate() {
        spawn(stage, pane, layer, order as i32);
    }
}

#[test]
fn regions_of_a_camera_without_any_interface() {
    for kind in [Kind::Core2d, Kind::Core3d] {
        on_one(kind, LDR, |stage| {
            for layer in LAYERS {
                for sampling in [BackdropSampling::Inside, AROUND] {
                    let panes = one_of_each_edge(glass(4.0).with_sampling(sampling));
                    stage.clear();
                    // The field `order` counts, not the order of spawning.
                    for (order, pane) in panes.iter().enumerate().rev() {
                        spawn(stage, pane, layer, order as i32 - 2);
                    }
                    stage.check(&format!("regions-{layer:?}-{sampling:?}"), &layers(&panes));
                }
            }
        });
    }
}

#[test]
fn shapes_and_colours_of_regions() {
    on_one(Kind::Core2d, LDR, |stage| {
        let panes = [
            Pane::new(PLACES[0], glass(3.0)).with_radii([3.0, 8.0, 13.0, 20.0]),
            Pane::new(PLACES[1], glass(2.0)).moved(0.3, 0.4).with_radii([9.0; 4]),
            Pane::new([150.0, -20.0, 90.0, 70.0], glass(5.0).with_opacity(0.6)),
            Pane::new(PLACES[3], glass(0.0).with_color(ColorStep::Saturate(0.0))).with_radii([500.0; 4]),
            Pane::new(PLACES[4], glass(6.0).with_color(ColorStep::Brightness(1.3))).with_radii([12.0; 4]),
        ];
        for layer in LAYERS {
            stage.clear();
            spawn_all(stage, &panes, layer);
            stage.check(&format!("region-shapes-{layer:?}"), &layers(&panes));
        }
    });
}

/// Regions under the interface, panes in it, regions over it: each sees everything that was painted before it.
#[test]
fn regions_below_and_above_the_interface() {
    on_one(Kind::Core3d, LDR, |stage| {
        let below = [
            Pane::new([10.0, 10.0, 90.0, 60.0], glass(3.0)),
            Pane::new([60.0, 30.0, 80.0, 60.0], glass(5.0)).with_radii([8.0; 4]),
        ];
        let squares = [
            Square::new([40.0, 40.0, 60.0, 30.0], [1.0, 0.0, 0.0, 1.0]),
            Square::new([110.0, 60.0, 50.0, 40.0], [1.0; 4]),
        ];
        let node = Pane::new([70.0, 45.0, 80.0, 40.0], glass(2.0)).with_radii([7.0; 4]);
        let above = [
            Pane::new([90.0, 20.0, 90.0, 60.0], glass(4.0).with_sampling(AROUND)),
            Pane::new([20.0, 55.0, 110.0, 50.0], glass(7.0).with_opacity(0.8)),
        ];
        stage.show(|ui| interface(ui, &squares, &node));
        spawn_all(stage, &below, BackdropLayer::BelowUi);
        for (order, pane) in above.iter().enumerate().rev() {
            spawn(stage, pane, BackdropLayer::AboveUi, 10 * order as i32);
        }
        let mut all = layers(&below);
        all.extend([squares[0].layer(), node.layer(), squares[1].layer()]);
        all.extend(layers(&above));
        stage.check("regions-around", &all);
        interface_alone(stage, &squares, &node, &above);
    });
}

fn interface(ui: &mut Ui, squares: &[Square; 2], node: &Pane) {
    ui.paint(squares[0].bundle());
    ui.pane(node);
    ui.paint(squares[1].bundle());
}

/// The same without the regions below, while the interface goes and comes.
fn interface_alone(stage: &mut Stage, squares: &[Square; 2], node: &Pane, above: &[Pane; 2]) {
    let mut with_nodes = vec![squares[0].layer(), node.layer(), squares[1].layer()];
    with_nodes.extend(layers(above));
    for round in 0..2 {
        stage.show(|ui| interface(ui, squares, node));
        spawn_all(stage, above, BackdropLayer::AboveUi);
        stage.check(&format!("regions-above-{round}"), &with_nodes);
        stage.clear();
        spawn_all(stage, above, BackdropLayer::AboveUi);
        stage.check(&format!("regions-above-nothing-{round}"), &layers(above));
    }
}

/// A region's rectangle and radius are in logical pixels of the camera, which a scale of the interface does not change.
#[test]
fn units_and_viewports() {
    on_one(Kind::Core2d, LDR, |stage| {
        stage.set_scale_factor(2.0);
        stage.headless.app.insert_resource(UiScale(1.7));
        let (origin, size) = ([13, 7], [151, 101]);
        stage.insert(Camera {
            viewport: Some(viewport(UVec2::from_array(origin), UVec2::from_array(size))),
            ..default()
        });
        let panes = [
            Pane::new([5.0, 6.0, 40.0, 30.0], glass(2.0)).with_radii([1.0, 3.0, 6.0, 9.0]),
            Pane::new([30.0, 20.0, 60.0, 50.0], glass(3.0).with_sampling(AROUND)),
        ];
        for layer in LAYERS {
            stage.clear();
            spawn_all(stage, &panes, layer);
            stage.headless.warm_up();
            let [origin, size] = [origin, size].map(|it: [u32; 2]| it.map(|side| side as usize));
            let [below, got] = stage.pictures().map(|picture| picture.crop(origin, size));
            let layers = panes.each_ref().map(|pane| Layer::glass(pane.panel(2.0)));
            let name = stage.name(&format!("region-viewport-{layer:?}"));
            assert_composed(&name, &got, &below, &layers, LDR);
        }
    });
}

/// A region follows its fields in the same frame, and a region that shows nothing changes nothing.
#[test]
fn regions_change_and_vanish() {
    on_one(Kind::Core2d, LDR, |stage| {
        for layer in LAYERS {
            stage.clear();
            let pane = Pane::new([40.0, 20.0, 110.0, 70.0], glass(4.0)).with_radii([9.0; 4]);
            let entity = spawn(stage, &pane, layer, 0);
            stage.check("region", &[pane.layer()]);
            let camera = stage.glass.camera;
            let change = |stage: &mut Stage, components: (BackdropRegion, BackdropBlur)| {
                stage.headless.insert(entity, components);
                stage.headless.frame();
            };
            let moved = Pane::new([30.0, 35.0, 90.0, 60.0], glass(7.0));
            change(stage, region(camera, &moved, layer, 3));
            stage.compare(&format!("region-moved-{layer:?}"), &[moved.layer()]);
            let nothing = [
                Pane::new([40.0, 20.0, 0.0, 70.0], glass(4.0)),
                Pane::new([400.0, 20.0, 40.0, 70.0], glass(4.0)),
                Pane::new([40.0, 20.0, 110.0, 70.0], glass(0.0)),
                Pane::new([40.0, 20.0, 110.0, 70.0], glass(4.0).with_opacity(0.0)),
                Pane::new([f32::NAN, 20.0, 110.0, 70.0], glass(4.0)),
            ];
            for pane in nothing {
                change(stage, region(camera, &pane, layer, 0));
                stage.assert_identical(&format!("no region: {pane:?}"));
            }
            // On an entity that is no camera.
            let other = stage.headless.app.world_mut().spawn_empty().id();
            change(stage, region(other, &pane, layer, 0));
            stage.assert_identical("no camera");
            stage.headless.despawn(other);
            stage.headless.frame();
            stage.assert_identical("a camera that is gone");
            change(stage, region(camera, &pane, layer, 0));
            stage.compare(&format!("region-back-{layer:?}"), &[pane.layer()]);
            set_active(&mut stage.headless, camera, false);
            stage.headless.frame();
            set_active(&mut stage.headless, camera, true);
            stage.headless.frame();
            stage.compare(&format!("region-resumed-{layer:?}"), &[pane.layer()]);
            stage.clear();
            stage.headless.frame();
            stage.assert_identical("the region is despawned");
        }
        // Spawned without a blur, it has the default one.
        let region = BackdropRegion::new(stage.glass.camera, Rect::new(40.0, 20.0, 150.0, 90.0));
        assert_eq!(region.layer, BackdropLayer::AboveUi);
        stage.spawn(region);
        let pane = Pane::new([40.0, 20.0, 110.0, 70.0], BackdropBlur::default());
        stage.check("region-default", &[pane.layer()]);
    });
}
