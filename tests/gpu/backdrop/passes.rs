//! The number of passes in a frame. Without glass it is the same as without the plugin. Glass without interface below it
//! adds no pass of the interface.
//!
//! wgpu can log every pass that it encodes, with its label. A process has one logger, so this test runs its own program
//! again in a process with such a log, which shows frames between marks.

use super::interface::{White, declare};
use super::*;
use crate::support::process;
use std::collections::BTreeMap;

/// Logs the passes, but not the commands in them.
const LOG: &str = "error,wgpu_core::command=trace,wgpu_core::command::render=off,wgpu_core::command::compute=off,\
                   wgpu_core::command::pass=off";

/// The start of the line before a frame, and the line after it.
const FRAME: &str = "show frame: ";
const END: &str = "end of frame";

/// The pass that paints the glass of regions, or the interface below the glass of nodes.
const GLASS_PASS: &str = "gaussian_blur_backdrop";
/// The pass in which Bevy draws the interface of a camera.
const UI_PASS: &str = "ui";

/// The labels of the passes of one frame, sorted.
type Labels = Vec<String>;

#[test]
fn passes_are_no_more_than_they_have_to_be() {
    let frames = run();
    let count = |name: &str, label: &str| {
        let labels = frames.get(name).unwrap_or_else(|| panic!("{name} was not shown"));
        labels.iter().filter(|found| *found == label).count()
    };
    for kind in ["Core2d", "Core3d"] {
        let alone = format!("{kind}, no plugin");
        assert_eq!(
            count(&alone, UI_PASS),
            2,
            "each camera has an interface: {:?}",
            frames[&alone]
        );
        for name in ["no glass", "hidden glass", "neutral glass"].map(|name| format!("{kind}, {name}")) {
            assert_eq!(frames[&name], frames[&alone], "{name}");
        }
        // A separate pass draws the nodes below the first cut. Panes side by side are one group.
        for (name, passes) in [
            ("over the scene", 0),
            ("side by side over the scene", 0),
            ("over a square", 1),
            ("side by side over squares", 1),
            ("three stacked", 2),
            ("side by side among groups elsewhere", 0),
        ] {
            let name = format!("{kind}, {name}");
            assert_eq!(count(&name, UI_PASS), 2, "{name}: Bevy draws each interface once");
            assert_eq!(count(&name, GLASS_PASS), passes, "{name}: {:?}", frames[&name]);
            assert!(
                frames[&name].len() > frames[&alone].len() + passes,
                "{name}: something is blurred"
            );
        }
    }
    // Panes side by side, each below a material that is, or is not, declared to stay inside its box.
    for (name, passes) in [("material", PLACES.len() - 1), ("declared material", 0)] {
        assert_eq!(count(name, GLASS_PASS), passes, "{name}: {:?}", frames[name]);
    }
}

/// Shows all frames in another process. Returns the passes of each.
fn run() -> BTreeMap<String, Labels> {
    let output = process::alone(module_path!(), "show")
        .env("RUST_LOG", LOG)
        .output()
        .expect("it ran once already");
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{log}");
    let frames = read(&log);
    assert!(!frames.is_empty(), "nothing was shown: {log}");
    frames
}

/// Reads the passes of all frames out of a log.
fn read(log: &str) -> BTreeMap<String, Labels> {
    let mut frames = BTreeMap::new();
    let mut current: Option<&mut Labels> = None;
    for line in log.lines() {
        if let Some((_, name)) = line.split_once(FRAME) {
            current = Some(frames.entry(name.to_owned()).or_default());
        } else if line.contains(END) {
            current = None;
        } else if let (Some(labels), Some(label)) = (&mut current, label_in(line)) {
            labels.push(label.to_owned());
        }
    }
    frames.values_mut().for_each(|labels| labels.sort());
    frames
}

/// The label of a pass that begins in this line.
fn label_in(line: &str) -> Option<&str> {
    let (_, pass) = line.split_once("Begin encoding ")?;
    let (_, label) = pass.split_once("pass with '")?;
    Some(label.split_once("' label")?.0)
}

#[test]
#[ignore = "run by the test above"]
fn show() {
    for (kind, format) in [(Kind::Core2d, LDR), (Kind::Core3d, HDR)] {
        let mut stage = Stage::new(BlurBackend::Compute, kind, format);
        show_without_plugin(kind, format);
        show_without_glass(&mut stage, kind);
        show_glass(&mut stage, kind);
    }
    show_materials("material", |_| {});
    show_materials("declared material", declare);
}

/// Shows one frame between marks, when everything has settled.
fn frame(stage: &mut Stage, name: &str, build: impl Fn(&mut Ui)) {
    stage.show(build);
    stage.headless.warm_up();
    eprintln!("{FRAME}{name}");
    stage.headless.frame();
    eprintln!("{END}");
}

fn squares(ui: &mut Ui) {
    for place in PLACES {
        ui.spawn(Square::new(place, [1.0, 0.4, 0.1, 0.6]).bundle());
    }
}

fn show_without_plugin(kind: Kind, format: TextureFormat) {
    let headless = Headless::new(|app| scene::add_plugins(app, kind));
    let mut stage = Stage::of(headless, String::new(), kind, format);
    frame(&mut stage, &format!("{kind:?}, no plugin"), squares);
}

fn show_without_glass(stage: &mut Stage, kind: Kind) {
    let pane = Pane::new(PLACES[0], glass(4.0));
    frame(stage, &format!("{kind:?}, no glass"), squares);
    frame(stage, &format!("{kind:?}, hidden glass"), |ui| {
        squares(ui);
        ui.pane_of((pane.bundle(), Visibility::Hidden));
    });
    frame(stage, &format!("{kind:?}, neutral glass"), |ui| {
        squares(ui);
        ui.pane(&Pane::new(PLACES[0], BackdropBlur::new(0.0)));
    });
}

fn show_glass(stage: &mut Stage, kind: Kind) {
    let pane = Pane::new(PLACES[0], glass(4.0));
    let panes = one_of_each_edge(glass(4.0));
    // Nodes over glass are drawn with the glass.
    frame(stage, &format!("{kind:?}, over the scene"), |ui| {
        ui.pane(&pane);
        squares(ui);
    });
    frame(stage, &format!("{kind:?}, side by side over the scene"), |ui| {
        ui.panes(&panes);
        squares(ui);
    });
    frame(stage, &format!("{kind:?}, over a square"), |ui| {
        squares(ui);
        ui.pane(&pane);
    });
    frame(stage, &format!("{kind:?}, side by side over squares"), |ui| {
        squares(ui);
        ui.panes(&panes);
    });
    frame(stage, &format!("{kind:?}, three stacked"), |ui| {
        for _ in 0..3 {
            ui.pane(&pane);
        }
        squares(ui);
    });
    show_groups_elsewhere(stage, kind);
}

/// Before each pane, groups that paint nothing where panes are: invisible, clipped away, or beyond the viewport.
fn show_groups_elsewhere(stage: &mut Stage, kind: Kind) {
    let panes = one_of_each_edge(glass(4.0));
    frame(stage, &format!("{kind:?}, side by side among groups elsewhere"), |ui| {
        for pane in &panes {
            filtered(ui, (everywhere(), UiFilter::opacity(0.0)));
            let clip = Node {
                overflow: Overflow::clip(),
                ..node(Vec2::ZERO, Vec2::ONE)
            };
            let clip = ui.spawn(clip);
            let inner = ui.spawn_in(clip, (everywhere(), UiFilter::opacity(0.5)));
            ui.spawn_in(inner, Square::new(PLACES[0], [1.0; 4]).bundle());
            filtered(ui, (node(Vec2::splat(-900.0), Vec2::ONE), UiFilter::from_sigma(2.0)));
            ui.pane(pane);
        }
    });
}

fn everywhere() -> Node {
    node(Vec2::ZERO, Vec2::new(203.0, 117.0))
}

/// A filtered group of a square on each pane.
fn filtered(ui: &mut Ui, group: impl Bundle) {
    let group = ui.spawn(group);
    for place in PLACES {
        ui.spawn_in(group, Square::new(place, [1.0, 0.4, 0.1, 0.6]).bundle());
    }
}

fn show_materials(name: &str, setup: impl FnOnce(&mut App)) {
    let with_material = |app: &mut App| {
        app.add_plugins(UiMaterialPlugin::<White>::default());
        setup(app);
    };
    let mut stage = Stage::with(BlurBackend::Compute, Kind::Core2d, LDR, with_material);
    let world = stage.headless.app.world_mut();
    let white = world.resource_mut::<Assets<White>>().add(White {});
    let panes = one_of_each_edge(glass(4.0));
    frame(&mut stage, name, |ui| {
        for pane in &panes {
            ui.pane(pane);
            ui.spawn((pane.node(), MaterialNode(white.clone())));
        }
    });
}
