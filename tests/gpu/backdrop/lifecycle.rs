//! Glass that comes, goes and changes: each frame shows its own glass, and nothing is left behind.

use super::*;
use crate::support::counters::{Held, figure, intermediates, texture_memory};
use crate::support::pool;
use bevy_gaussian_blur::diagnostics::TEXTURE_BYTES;

/// Within this many frames all resources must be released.
const SOON: usize = 15;

/// A change that removes all glass.
type End = fn(&mut Stage);

fn ends() -> [(&'static str, End); 8] {
    [
        ("the component goes", |stage| {
            for pane in stage.panes.clone() {
                stage.headless.remove::<BackdropBlur>(pane);
            }
        }),
        ("the nodes go", Stage::clear),
        ("the radius goes to 0", |stage| {
            change_all(stage, BackdropBlur::new(0.0))
        }),
        ("the opacity goes to 0", |stage| {
            change_all(stage, glass(5.0).with_opacity(0.0))
        }),
        ("the nodes are hidden", |stage| change_all(stage, Visibility::Hidden)),
        ("the nodes are not displayed", |stage| {
            let gone = Node {
                display: Display::None,
                ..default()
            };
            change_all(stage, gone);
        }),
        ("the nodes are out of sight", |stage| {
            change_all(stage, UiTransform::from_xy(Val::Px(5000.0), Val::Px(0.0)));
        }),
        ("the camera is inactive", |stage| {
            set_active(&mut stage.headless, stage.glass.camera, false);
        }),
    ]
}

#[test]
fn changes_count_in_the_very_frame() {
    let changes: [fn(&mut Pane); 12] = [
        |pane| pane.glass = glass(9.0),
        |pane| pane.glass = pane.glass.clone().with_edge(EdgeMode::Transparent),
        |pane| pane.glass = pane.glass.clone().with_edge(EdgeMode::Wrap),
        |pane| pane.glass = pane.glass.clone().with_sampling(BackdropSampling::Surroundings),
        |pane| pane.origin = Vec2::new(25.0, 31.0),
        |pane| pane.size = Vec2::new(140.0, 33.0),
        |pane| pane.radii = [4.0, 8.0, 12.0, 16.0],
        |pane| pane.glass = glass(1.0).with_opacity(0.5),
        |pane| pane.glass = glass(60.0).with_color(ColorStep::Saturate(0.2)),
        |pane| pane.angle = 0.3,
        |pane| {
            pane.glass = glass(2.0)
                .with_color(ColorStep::Brightness(0.6))
                .with_edge(EdgeMode::Renormalize)
        },
        |pane| *pane = pane.clone().scaled(1.2, 0.9).moved(3.3, -2.2),
    ];
    on_one(Kind::Core2d, LDR, |stage| {
        let mut pane = Pane::new([40.0, 20.0, 100.0, 70.0], glass(3.0));
        stage.show(|ui| ui.pane(&pane));
        stage.check("very-frame", &[pane.layer()]);
        for (index, change) in changes.iter().enumerate() {
            change(&mut pane);
            stage.change(0, pane.bundle());
            stage.headless.frame();
            stage.compare(&format!("very-frame-{index}"), &[pane.layer()]);
        }
        // The first pane of all, and a second one.
        stage.clear();
        stage.headless.frame();
        stage.assert_identical("cleared");
        let second = Pane::new([90.0, 50.0, 90.0, 60.0], glass(5.0));
        stage.show(|ui| ui.panes(&[pane.clone(), second.clone()]));
        stage.headless.frame();
        stage.compare("very-frame-spawned", &layers(&[pane, second]));
    });
}

#[test]
fn bytes_return_to_nothing() {
    for backend in one_backend() {
        let mut stage = Stage::with(backend, Kind::Core2d, LDR, pool::with_figures);
        stage.headless.warm_up();
        let before = texture_memory(&stage.headless);
        for (name, end) in ends() {
            set_active(&mut stage.headless, stage.glass.camera, true);
            let panes = [
                Pane::new([20.0, 15.0, 80.0, 60.0], glass(2.0)),
                Pane::new(
                    [70.0, 30.0, 110.0, 70.0],
                    glass(8.0).with_sampling(BackdropSampling::Surroundings),
                ),
            ];
            stage.show(|ui| ui.panes(&panes));
            stage.headless.warm_up();
            let busy = intermediates(&stage.headless);
            assert!(busy > 0.0, "{backend:?}: glass holds textures");
            assert!(
                texture_memory(&stage.headless) > before,
                "{backend:?}: glass holds textures"
            );
            end(&mut stage);
            let is_over = |world: &mut World| figure(world, &TEXTURE_BYTES) == Some(0.0);
            let is_over = stage.headless.frames_until(SOON, is_over);
            let left = intermediates(&stage.headless);
            assert!(is_over, "{backend:?}: {name}, and bytes stay: {left}");
            stage.headless.frames(SOON);
            assert_eq!(intermediates(&stage.headless), 0.0, "{backend:?}: {name}");
            // The textures of an inactive camera may be released, too.
            assert!(
                texture_memory(&stage.headless) <= before,
                "{backend:?}: {name}, and textures stay"
            );
        }
    }
}

fn change_all(stage: &mut Stage, components: impl Bundle + Clone) {
    for pane in 0..stage.panes.len() {
        stage.change(pane, components.clone());
    }
}

/// Settings out of range count as values in range, and are reported once.
#[test]
fn settings_out_of_range() {
    const NAMES: [&str; 2] = ["backdrop-invalid-radius", "backdrop-invalid-saturation"];
    let mut stage = Stage::new(BlurBackend::Compute, Kind::Core2d, LDR);
    let place = [30.0, 20.0, 100.0, 70.0];
    let changed = [
        BackdropBlur::new(f32::NAN).with_color(ColorStep::Brightness(0.5)),
        glass(4.0)
            .with_color(ColorStep::Saturate(f32::NEG_INFINITY))
            .with_opacity(7.0),
    ];
    let counted = [glass(0.0).with_color(ColorStep::Brightness(0.5)), glass(4.0)];
    for ((name, changed), counted) in NAMES.into_iter().zip(changed).zip(counted) {
        let pane = Pane::new(place, counted);
        stage.show(|ui| {
            ui.pane_of((pane.node(), changed.clone(), Name::new(name)));
        });
        stage.check(name, &[pane.layer()]);
        stage.headless.frames(20);
        assert_eq!(logs::count(name), 1, "{name}");
    }
}

#[test]
fn panes_that_come_go_and_grow_leave_no_bindings() {
    on_one(Kind::Core2d, LDR, |stage| {
        let pane = |index: usize, side: f32| {
            let place = [10.0 + 60.0 * index as f32, 10.0, side, side];
            Pane::new(place, glass(5.0))
        };
        let panes = [0, 1, 2].map(|index| pane(index, 10.0));
        stage.show(|ui| ui.panes(&panes));
        stage.headless.warm_up();
        let mut held = Vec::new();
        // The pages that hold the blurs grow with the first pane. The other panes bind them, and are then hidden.
        for round in 0..8 {
            for (visibility, side) in [(Visibility::Visible, 1.0), (Visibility::Hidden, 2.0)] {
                let side = 10.0 + 5.0 * round as f32 + side;
                stage.change(0, pane(0, side).bundle());
                (1..3).for_each(|index| stage.change(index, visibility));
                stage.headless.frames(4);
            }
            held.push(Held::by(&stage.headless.app).of("bind groups"));
        }
        assert_eq!(held[1..], [held[1]; 7], "{held:?}");
    });
}
