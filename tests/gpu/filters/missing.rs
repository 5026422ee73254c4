//! The pipelines that paint glass and groups are held back in turn. What needs one falls back, each layer on its own; everything else is
//! as ever, to the bit.

use super::*;
use crate::backdrop::stage::{Stage, Ui};
use crate::support::headless::label_of;
use crate::support::held::hold_back;
use bevy::render::render_resource::{BlendFactor, PipelineDescriptor, RenderPipelineDescriptor};

/// The size of a cell. Nothing is painted beyond its own.
const CELL: [usize; 2] = [48, 38];

const COLUMNS: usize = 4;

/// What is missing of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// Nothing.
    Whole,
    /// Glass is its fallback.
    Plain,
    /// A lens is flat.
    Flat,
    /// A blurred layer is sharp, or is missing if it is a shadow.
    Sharp,
    /// A shadow inside is missing.
    NoInset,
    /// A line around a group is missing.
    NoLine,
    /// Own glass makes no hole.
    NoHole,
    /// Groups are not filtered.
    Unfiltered,
}

/// The looks of the cells if something is missing that they need.
const LOOKS: [Look; 7] = [
    Look::Plain,
    Look::Flat,
    Look::Sharp,
    Look::NoInset,
    Look::NoLine,
    Look::NoHole,
    Look::Unfiltered,
];

/// What a pipeline paints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Painted {
    /// How it changes what lies below: `REPLACE`, `KEEP`, `ADD`, `LINE`, `OVER` or `ATOP`.
    pub mix: &'static str,
    /// `sharp`, `blurred` or `lens`.
    pub source: &'static str,
}

const fn painted(mix: &'static str, source: &'static str) -> Painted {
    Painted { mix, source }
}

/// The pipelines that this scene needs. Each round holds some of them back at once: no cell needs two of a round, and none of a round
/// paints the fallback of another.
const ROUNDS: [&[Painted]; 5] = [
    &[
        painted("REPLACE", "blurred"),
        painted("OVER", "blurred"),
        painted("ATOP", "sharp"),
        painted("ATOP", "blurred"),
        painted("LINE", "sharp"),
    ],
    &[painted("KEEP", "blurred")],
    &[painted("ADD", "blurred"), painted("ADD", "lens")],
    &[painted("OVER", "sharp")],
    &[
        painted("REPLACE", "sharp"),
        painted("KEEP", "sharp"),
        painted("ADD", "sharp"),
        painted("REPLACE", "lens"),
    ],
];

impl Painted {
    /// `None` if a pipeline does not paint glass or groups.
    pub fn of(pipeline: &PipelineDescriptor) -> Option<Self> {
        let PipelineDescriptor::RenderPipelineDescriptor(render) = pipeline else {
            return None;
        };
        let is_own = ["gaussian_blur_backdrop", "gaussian_blur_filter"]
            .map(Some)
            .contains(&label_of(pipeline));
        let target = render.fragment.as_ref()?.targets.first()?.as_ref()?;
        is_own.then(|| Self::with(render, target.blend.map(|blend| blend.color.src_factor)))
    }

    fn with(render: &RenderPipelineDescriptor, factor: Option<BlendFactor>) -> Self {
        let has = |name: &'static str| {
            render
                .vertex
                .shader_defs
                .iter()
                .any(|definition| *definition == name.into())
        };
        let mix = match factor {
            Some(BlendFactor::DstAlpha) => "ATOP",
            _ => ["REPLACE", "KEEP", "ADD", "LINE", "OVER"]
                .into_iter()
                .find(|name| has(name))
                .unwrap_or("?"),
        };
        let source = match (has("SHARP"), has("LENS")) {
            (true, _) => "sharp",
            (_, true) => "lens",
            _ => "blurred",
        };
        Self { mix, source }
    }
}

/// A cell: what it needs, with its look if that is missing, and what builds it.
struct Cell {
    name: &'static str,
    needs: &'static [(Painted, Look)],
    build: fn(&mut Ui, Vec2, Look),
}

/// Groups need it to be filtered at all.
const FILTERED: (Painted, Look) = (painted("OVER", "sharp"), Look::Unfiltered);

const CELLS: [Cell; 11] = [
    Cell {
        name: "glass",
        needs: &[(painted("REPLACE", "blurred"), Look::Plain)],
        build: |ui, at, look| pane(ui, at, look, glass(), 0.0),
    },
    Cell {
        name: "faded glass",
        needs: &[
            (painted("KEEP", "blurred"), Look::Plain),
            (painted("ADD", "blurred"), Look::Plain),
        ],
        build: |ui, at, look| pane(ui, at, look, glass().with_opacity(0.5), 0.0),
    },
    Cell {
        name: "round glass",
        needs: &[
            (painted("REPLACE", "blurred"), Look::Plain),
            (painted("KEEP", "blurred"), Look::Plain),
            (painted("ADD", "blurred"), Look::Plain),
        ],
        build: |ui, at, look| pane(ui, at, look, glass(), 9.0),
    },
    Cell {
        name: "a lens",
        needs: &[
            (painted("REPLACE", "blurred"), Look::Plain),
            (painted("REPLACE", "lens"), Look::Flat),
        ],
        build: |ui, at, look| {
            let pane = pane_of(ui, at, look, glass(), 0.0);
            let lens = BackdropLens {
                bevel: 5.0,
                ..default()
            };
            if look != Look::Flat && look != Look::Plain {
                ui.insert(pane, lens);
            }
        },
    },
    Cell {
        name: "a faded group",
        needs: &[FILTERED],
        build: |ui, at, look| {
            let filter = UiFilter::opacity(0.5);
            group(ui, at, Some(filter).filter(|_| look != Look::Unfiltered));
        },
    },
    Cell {
        name: "a blurred group",
        needs: &[FILTERED, (painted("OVER", "blurred"), Look::Sharp)],
        build: |ui, at, look| {
            let filter = UiFilter::from_sigma(if look == Look::Sharp { 0.0 } else { 1.5 }).with_opacity(0.9);
            group(ui, at, Some(filter).filter(|_| look != Look::Unfiltered));
        },
    },
    Cell {
        name: "shadows",
        needs: &[FILTERED, (painted("OVER", "blurred"), Look::Sharp)],
        build: |ui, at, look| {
            let cast = |offset: f32, radius: f32| DropShadow::new(Vec2::splat(offset), radius, Color::BLACK);
            let mut filter = UiFilter::default().with_shadow(cast(2.0, 0.0));
            if look != Look::Sharp {
                filter = filter.with_shadow(cast(-2.0, 3.0));
            }
            group(ui, at, Some(filter).filter(|_| look != Look::Unfiltered));
        },
    },
    Cell {
        name: "a hard shadow inside",
        needs: &[FILTERED, (painted("ATOP", "sharp"), Look::NoInset)],
        build: |ui, at, look| inset(ui, at, look, 0.0),
    },
    Cell {
        name: "a soft shadow inside",
        needs: &[FILTERED, (painted("ATOP", "blurred"), Look::NoInset)],
        build: |ui, at, look| inset(ui, at, look, 4.0),
    },
    Cell {
        name: "a line",
        needs: &[FILTERED, (painted("LINE", "sharp"), Look::NoLine)],
        build: |ui, at, look| {
            let width = if look == Look::NoLine { 0.0 } else { 2.0 };
            let filter = UiFilter::opacity(0.9).with_outline(width, Color::WHITE);
            group(ui, at, Some(filter).filter(|_| look != Look::Unfiltered));
        },
    },
    Cell {
        name: "own glass",
        needs: &[
            FILTERED,
            (painted("KEEP", "blurred"), Look::Plain),
            (painted("ADD", "blurred"), Look::Plain),
            (painted("KEEP", "sharp"), Look::NoHole),
        ],
        build: own_glass,
    },
];

fn glass() -> BackdropBlur {
    BackdropBlur::from_sigma(2.0).with_fallback(Color::linear_rgb(0.1, 0.5, 0.2))
}

fn cell_node(at: Vec2, radius: f32) -> Node {
    Node {
        border_radius: BorderRadius::all(Val::Px(radius)),
        ..node(at + Vec2::splat(9.0), Vec2::new(30.0, 20.0))
    }
}

/// Glass as it looks: plain, it is the colour of its fallback in place of what it sees.
fn looking(look: Look, glass: BackdropBlur) -> BackdropBlur {
    if look == Look::Plain {
        let opacity = glass.opacity;
        let cover = ColorStep::Cover(glass.fallback);
        return BackdropBlur::new(0.0).with_color(cover).with_opacity(opacity);
    }
    glass
}

fn pane_of(ui: &mut Ui, at: Vec2, look: Look, glass: BackdropBlur, radius: f32) -> Entity {
    ui.spawn((cell_node(at, radius), looking(look, glass)))
}

fn pane(ui: &mut Ui, at: Vec2, look: Look, glass: BackdropBlur, radius: f32) {
    pane_of(ui, at, look, glass, radius);
}

fn group(ui: &mut Ui, at: Vec2, filter: Option<UiFilter>) {
    let fill = |red: f32| BackgroundColor(Color::linear_rgb(red, 0.3, 0.1));
    let group = ui.spawn((cell_node(at, 0.0), fill(0.9)));
    ui.spawn_in(group, (node(Vec2::splat(5.0), Vec2::splat(9.0)), fill(0.1)));
    if let Some(filter) = filter {
        ui.insert(group, filter);
    }
}

fn inset(ui: &mut Ui, at: Vec2, look: Look, radius: f32) {
    let shadow = DropShadow::new(Vec2::new(3.0, 4.0), radius, Color::WHITE.with_alpha(0.6)).inset();
    let filter = UiFilter::opacity(0.9);
    let filter = if look == Look::NoInset {
        filter
    } else {
        filter.with_shadow(shadow)
    };
    group(ui, at, Some(filter).filter(|_| look != Look::Unfiltered));
}

/// Glass on a filtered node whose own shadow it hides.
fn own_glass(ui: &mut Ui, at: Vec2, look: Look) {
    let offset = [Val::Px(1.0), Val::Px(1.0), Val::ZERO, Val::Px(2.0)];
    let [x, y, spread, blur] = offset;
    let shadow = BoxShadow::new(Color::BLACK, x, y, spread, blur);
    if look == Look::NoHole {
        pane(ui, at, look, glass().with_opacity(0.8), 0.0);
    }
    let card = ui.spawn((cell_node(at, 0.0), shadow));
    if look != Look::Unfiltered {
        ui.insert(card, UiFilter::opacity(0.8));
    }
    if look != Look::NoHole {
        ui.insert(card, looking(look, glass()));
    }
}

fn build(ui: &mut Ui, look: Look) {
    for (index, cell) in CELLS.iter().enumerate() {
        (cell.build)(ui, Vec2::from_array(place(index).map(|side| side as f32)), look);
    }
}

/// Where a cell begins.
fn place(index: usize) -> [usize; 2] {
    [index % COLUMNS * CELL[0], index / COLUMNS * CELL[1]]
}

fn cell_of(picture: &Picture, index: usize) -> Picture {
    picture.crop(place(index), CELL)
}

#[test]
fn each_layer_falls_back_on_its_own() {
    for backend in one_backend() {
        let mut stage = Stage::with(backend, Kind::Core2d, LDR, |_| {});
        let looks = LOOKS.map(|look| (look, stage.shown(|ui| build(ui, look))[1].clone()));
        let [_, whole] = stage.shown(|ui| build(ui, Look::Whole));
        let look = |look: Look| {
            looks
                .iter()
                .find(|(known, _)| *known == look)
                .map_or(&whole, |(_, picture)| picture)
        };
        hold_back(&mut stage.headless, |_| false);
        stage.headless.frames(2);
        let off = worst_difference(&stage.pictures()[1], &whole);
        assert_eq!(off.value, 0.0, "{backend:?}: nothing is held: {off:?}");
        for missing in ROUNDS {
            let is_missing = |pipeline: Painted| missing.contains(&pipeline);
            hold_back(&mut stage.headless, |pipeline| {
                Painted::of(pipeline).is_some_and(is_missing)
            });
            stage.headless.frames(2);
            let [_, got] = stage.pictures();
            for (index, cell) in CELLS.iter().enumerate() {
                let mut needed = cell.needs.iter().filter(|(needed, _)| is_missing(*needed));
                let expected = needed.next().map_or(Look::Whole, |(_, look)| *look);
                assert_eq!(needed.next(), None, "{} falls back in one way", cell.name);
                let off = worst_difference(&cell_of(&got, index), &cell_of(look(expected), index));
                // The colour of a fallback is not encoded and decoded before.
                let most = if expected == Look::Plain { 1.01 / 255.0 } else { 0.0 };
                assert!(
                    off.value <= most,
                    "{backend:?}, without {missing:?}: {} is not {expected:?}: {off:?}",
                    cell.name
                );
            }
        }
        hold_back(&mut stage.headless, |_| false);
        stage.headless.frames(2);
        let off = worst_difference(&stage.pictures()[1], &whole);
        assert_eq!(off.value, 0.0, "{backend:?}: it is whole again");
    }
}
