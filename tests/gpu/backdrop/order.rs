//! Visibility and order.

use super::*;

const GREEN: [f32; 4] = [0.0, 1.0, 0.0, 1.0];

/// Every way to be invisible at once: none of them may leave a trace.
#[test]
fn what_cannot_be_seen_changes_nothing() {
    on_one(Kind::Core2d, LDR, |stage| {
        let pane = Pane::new([40.0, 20.0, 120.0, 80.0], glass(6.0));
        let none = |change: fn(&mut Node)| {
            let mut node = pane.node();
            change(&mut node);
            (node, pane.glass.clone())
        };
        stage.show(|ui| {
            ui.pane_of((pane.bundle(), Visibility::Hidden));
            ui.pane_of(none(|node| node.display = Display::None));
            ui.pane_of(none(|node| node.width = Val::Px(0.0)));
            let hidden = ui.spawn((pane.node(), Visibility::Hidden));
            ui.pane_in(hidden, pane.bundle());
            let gone = Node {
                display: Display::None,
                ..pane.node()
            };
            let gone = ui.spawn(gone);
            ui.pane_in(gone, pane.bundle());
            let clip = Node {
                overflow: Overflow::clip(),
                ..node(Vec2::ZERO, Vec2::splat(10.0))
            };
            let clip = ui.spawn(clip);
            ui.pane_in(clip, pane.bundle());
            ui.pane(&pane.clone().moved(500.0, 0.0));
            ui.pane(&pane.clone().scaled(0.0, 1.0));
            for glass in [
                pane.glass.clone().with_opacity(0.0),
                BackdropBlur::new(0.0),
                BackdropBlur::new(0.0).with_opacity(0.5),
                BackdropBlur::new(0.0).with_sampling(BackdropSampling::Surroundings),
                BackdropBlur::from_sigma(0.0299),
                BackdropBlur::new(f32::NAN),
                BackdropBlur::new(f32::INFINITY),
                BackdropBlur::new(-1.0),
                BackdropBlur::new(0.0).with_color(ColorStep::Saturate(f32::NAN)),
                BackdropBlur::new(0.0).with_color(ColorStep::Brightness(-1.0)),
            ] {
                ui.pane(&Pane { glass, ..pane });
            }
        });
        stage.headless.warm_up();
        stage.assert_identical("invisible");
    });
}

#[test]
fn visibility_and_order_count_in_the_very_frame() {
    on_one(Kind::Core2d, LDR, |stage| {
        let pane = Pane::new([40.0, 20.0, 120.0, 80.0], glass(6.0));
        stage.show(|ui| ui.pane(&pane));
        stage.check("visible", &[pane.layer()]);
        for _ in 0..3 {
            stage.change(0, Visibility::Hidden);
            stage.headless.frame();
            stage.assert_identical("hidden");
            stage.change(0, Visibility::Inherited);
            stage.headless.frame();
            stage.compare("visible-again", &[pane.layer()]);
        }
        let gone = Node {
            display: Display::None,
            ..pane.node()
        };
        stage.change(0, gone);
        stage.headless.frame();
        stage.assert_identical("display-none");
        stage.change(0, pane.node());
        stage.headless.frame();
        stage.compare("displayed", &[pane.layer()]);
        // The order may change while everything stays where it is.
        let square = Square::new([90.0, 10.0, 30.0, 50.0], GREEN);
        stage.show(|ui| {
            ui.paint(square.bundle());
            ui.pane_of((pane.bundle(), GlobalZIndex(-3)));
        });
        stage.check("below", &[pane.layer(), square.layer()]);
        stage.change(0, GlobalZIndex(1));
        stage.headless.frame();
        stage.compare("above", &[square.layer(), pane.layer()]);
    });
}
