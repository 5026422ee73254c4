//! Next to `bevy_egui`: one line decides whether its interface is blurred.

use super::*;
use bevy::core_pipeline::schedule::{Core2d, Core3d};
use bevy::ecs::schedule::ScheduleLabel;
use bevy_egui::EguiPlugin;
use bevy_egui::render::egui_pass;
use bevy_gaussian_blur::GaussianBlurSystems::AfterUi;
use std::collections::HashMap;

/// How the interface and the blur over everything are ordered.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Order {
    Undecided,
    BlurredInterface,
    SharpInterface,
}

impl Order {
    fn configure(self, app: &mut SubApp, schedule: impl ScheduleLabel) {
        match self {
            Self::Undecided => {}
            Self::BlurredInterface => {
                app.configure_sets(schedule, AfterUi.after(egui_pass));
            }
            Self::SharpInterface => {
                app.configure_sets(schedule, AfterUi.before(egui_pass));
            }
        }
    }
}

/// This crate's systems in a schedule of cameras, and those among them whose order against egui is not defined.
fn blur_systems(app: &mut App, schedule: impl ScheduleLabel) -> [Vec<String>; 2] {
    let world = app.sub_app_mut(RenderApp).world_mut();
    world.schedule_scope(schedule, |world, schedule| {
        schedule.initialize(world).expect("there is an order");
        let systems = schedule.systems().expect("it is initialized");
        let names: HashMap<_, String> = systems.map(|(key, system)| (key, system.name().to_string())).collect();
        assert!(names.values().any(|name| is_egui(name)), "egui is drawn: {names:?}");
        let conflicts = schedule.graph().conflicting_systems();
        let pairs = conflicts.iter().map(|(one, other, _)| (&names[one], &names[other]));
        let undecided = pairs.filter_map(|(one, other)| match (is_egui(one), is_egui(other)) {
            (true, false) => Some(other),
            (false, true) => Some(one),
            _ => None,
        });
        [ours(names.values()), ours(undecided)]
    })
}

fn is_egui(name: &str) -> bool {
    name.ends_with("::egui_pass")
}

/// The names of this crate's systems.
fn ours<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut names: Vec<String> = names
        .filter(|name| name.starts_with("bevy_gaussian_blur::"))
        .cloned()
        .collect();
    names.sort();
    names
}

#[test]
fn one_line_decides_between_the_blur_and_egui() {
    for order in [Order::Undecided, Order::BlurredInterface, Order::SharpInterface] {
        let setup = |app: &mut App| {
            app.add_plugins(EguiPlugin::default());
            let render_app = app.sub_app_mut(RenderApp);
            order.configure(render_app, Core2d);
            order.configure(render_app, Core3d);
        };
        let mut headless = gpu(setup);
        let after_ui = "bevy_gaussian_blur::camera::blur_after_ui".to_owned();
        for [ours, undecided] in [
            blur_systems(&mut headless.app, Core2d),
            blur_systems(&mut headless.app, Core3d),
        ] {
            assert!(ours.len() >= 3 && ours.contains(&after_ui), "{ours:?}");
            // Without the line, only the order of the blur over everything is not defined.
            let expected = Vec::from_iter((order == Order::Undecided).then_some(after_ui.clone()));
            assert_eq!(undecided, expected, "{order:?}");
        }
    }
}
