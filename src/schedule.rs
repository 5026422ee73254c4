//! What is painted, blurred and copied in a camera's user interface, and in which order. Plain values, without a GPU.
//!
//! # The idea
//!
//! Bevy paints a user interface from back to front: it sorts items by a key, and draws all of them in one pass. Glass and filters
//! need what that pass cannot give. Glass reads what was painted before it, and no pass may read the texture that it writes. A filter
//! needs its node and all descendants as one picture, apart from everything else.
//!
//! So everything is painted in *rounds*. A round paints in passes of the plugin's own what glass of the next *batch* sees, and then the
//! batch is blurred. After that, painting goes on with that glass itself, which is an item like all others. The group of a filter is
//! painted on a *surface* of its own beside the camera's picture. Its *layers*, the picture as the filter shows it (sharp or blurred,
//! moved, or as a shadow), are painted where the node stood. What no glass waits for is left to Bevy's pass.
//!
//! Surfaces nest as groups do, and glass may lie on any of them. All orders follow from the sort keys, so the result is a list of
//! *steps*, no graph: [`Schedule`]. One interpreter encodes it, and tests walk it without a GPU.
//!
//! # An example
//!
//! Two panes of glass, A and B, lie over a picture. Beside them is a group with a shadow, and a button lies over A:
//!
//! ```text
//!    sort keys, from back to front                          steps
//!
//!    picture   A        B        group      button          1. pass on a page: the group's items
//!    ───┬──────┬────────┬──────────┬──────────┬──►          2. blur on the page: the shadow
//!       │      │        │          │          │             3. pass on the camera: the picture
//!       │      └ glass ─┘          └ filter   │             4. blur on the camera: A and B, one batch
//!       │                            ┌──────┐ │             5. Bevy: A, B, the shadow, the group, the button
//!       │ the cut of A, and of B     │ page │ │
//!       ▼                            └──────┘ │
//! ```
//!
//! The group sees nothing of the camera, so it comes first, with all groups of its depth on one page. A and B overlap neither each other
//! nor what lies between them, so one batch blurs both after the first round, and everything else is in the last one, which Bevy paints.
//! If B covered a part of A, it would have to see it: then A is painted in a pass of its own, and B is a second batch, after it.
//!
//! If A were inside of the group, the group could not come first, since A sees the camera's picture below the group. Such a group has
//! a *turn*: its page is painted in rounds, as the camera's picture is.
//!
//! # What it costs
//!
//! - **Few passes.** A round ends a pass, and the next one loads what the last one stored: on tiled GPUs that is the largest cost of
//!   all. So there are no more rounds than glass lies over glass, as far as bounds prove it ([`rounds`]), and groups share pages. An
//!   item without known bounds counts as touching everything: more passes, never a wrong picture.
//! - **Planned anew in every frame.** Nothing here lives from frame to frame, so nothing is stale. The price is time of the CPU, which
//!   `benches/cpu` measures. What is dearer, plans and textures of blurs, is kept by the executor, by what they are.
//! - **Ranges of sort keys, no indices.** Other crates may add and remove items after the schedule is made; a range still means
//!   everything between two keys.
//! - **Groups over transparent black.** All pipelines of Bevy's user interface blend with `ALPHA_BLENDING`. Over transparent black
//!   they paint the group's picture with its colour multiplied by alpha. Blending that by (One, OneMinusSrcAlpha) equals painting
//!   the items one by one, so Bevy's own pipelines paint groups. Items that blend otherwise would differ there.
//! - **Flat groups.** If groups cannot be filtered in a frame, the same function plans the scene without them: they are painted where
//!   they lie, unfiltered.

mod cells;
mod clip;
mod frames;
mod layer;
mod lens;
mod place;
mod rects;
mod region;
mod rounds;
mod scene;
mod shape;
mod steps;
mod tree;

pub use clip::{Clip, ClipBox};
pub use layer::{Layer, Shadow};
pub use lens::Lens;
pub use place::{Placed, item_of, share};
pub use rects::{Canvas, FAR, as_texels, common, moved};
pub use scene::{Backdrop, Clips, Filter, FrozenGlass, GlassOrder, Item, Picture, Scene, Slot, What};
pub use shape::{CORNERS, Shape, bounds_of, scale_of};
pub use steps::{Batch, Blurs, Draw, Label, PaintTexture, Schedule, Section, Step};
pub use tree::{Surface, SurfaceId};

#[cfg(test)]
mod tests;
