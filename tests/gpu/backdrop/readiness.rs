//! Glass in an app that compiles pipelines in the background and renders a frame behind, as games do: once blurs are
//! ready, every frame shows its own glass.

use super::show::{SIZE, Show};
use super::*;
use crate::support::headless::label_of;
use bevy::render::render_resource::PipelineCache;

/// The first glass of the app, at all strengths of an easing, with every edge, and with corners and opacities that need
/// separate pipelines.
#[test]
fn eased_glass_is_never_sharp() {
    let base = Pane::new([9.0, 6.0, 44.0, 29.0], glass(0.0));
    let edges = [
        EdgeMode::Mirror,
        EdgeMode::Clamp,
        EdgeMode::Wrap,
        EdgeMode::Transparent,
        EdgeMode::Renormalize,
    ];
    for backend in one_backend() {
        let mut show = Show::new(backend);
        for round in 0..3 {
            for step in 0..=120 {
                let eased = BackdropBlur::new(0.3 * step as f32);
                let sampling = match step / 31 % 2 {
                    0 => BackdropSampling::Inside,
                    _ => BackdropSampling::Surroundings,
                };
                let edge = edges[(round + step / 24) % edges.len()];
                let mut pane = Pane {
                    glass: eased.with_edge(edge).with_sampling(sampling),
                    ..base
                };
                if round > 0 {
                    pane = pane.with_radii([8.0; 4]);
                    pane.glass = pane.glass.with_opacity((0.02 * step as f32).min(1.0));
                }
                show.frame(pane);
            }
            // The pane goes, and comes again at another size.
            for _ in 0..5 {
                show.bare_frame();
            }
        }
        println!("{backend:?}: {} blurred pictures", show.blurred);
        assert!(show.blurred > 150, "{} pictures were blurred", show.blurred);
    }
}

/// Whichever dynamic range a camera has when glass appears, glass is ready for the other one, too.
#[test]
fn glass_stays_when_the_dynamic_range_changes() {
    for backend in one_backend() {
        let mut show = Show::new(backend);
        let pane = Pane::new([9.0, 6.0, 44.0, 29.0], glass(5.0).with_opacity(0.8)).with_radii([7.0; 4]);
        // The glass appears on a camera with one dynamic range.
        show.spawn(&pane, Visibility::Hidden);
        show.settle();
        // Compile Bevy's own pipelines for both, so that the scene behind the glass is always visible.
        for is_hdr in [true, false] {
            show.set_hdr(is_hdr);
            show.live.wait_until_seen();
        }
        show.change(Visibility::Inherited);
        for step in 0..48 {
            show.set_hdr(step / 6 % 2 == 1);
            show.frame(pane.clone());
        }
        assert!(show.blurred >= 40, "{} pictures were blurred", show.blurred);
    }
}

/// The number of pipelines of glass.
pub fn glass_pipelines(headless: &Headless) -> usize {
    let cache = headless.render_world().resource::<PipelineCache>();
    let labels = cache.pipelines().filter_map(|pipeline| label_of(&pipeline.descriptor));
    labels.filter(|label| *label == "gaussian_blur_backdrop").count()
}

#[test]
fn apps_without_glass_compile_none_of_its_pipelines() {
    for kind in [Kind::Core2d, Kind::Core3d] {
        let mut headless = gpu(|_| {});
        let view = View::new(&mut headless, kind, SIZE, LDR);
        view.insert(&mut headless, GaussianBlur::new(12.0));
        headless.warm_up();
        assert_eq!(glass_pipelines(&headless), 0, "{kind:?}");
        // Glass that is not visible yet.
        let glass = (Node::default(), Visibility::Hidden, BackdropBlur::new(0.0));
        headless.spawn(glass);
        headless.frame();
        let all = glass_pipelines(&headless);
        assert!(all > 0, "{kind:?}");
        view.insert(&mut headless, Hdr);
        headless.warm_up();
        assert_eq!(
            glass_pipelines(&headless),
            all,
            "{kind:?}: both dynamic ranges are there"
        );
    }
}
