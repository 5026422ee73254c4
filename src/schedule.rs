//! What is painted, blurred and copied in a camera's user interface, and in which order. Plain values, without a GPU.
//!
//! # Glossary
//!
//! - A *surface* is painted on: the camera's picture, or the picture of a filtered group, which lies on a page.
//! - An *item* is painted: an item of the phase in which Bevy sorts the user interface. Glass, the holes that it makes, and the
//!   results of groups are items like all others.
//! - A *group* is a filtered node with its descendants. It is painted on surfaces of its own; its *result* is painted like one node.
//! - A *backdrop* is what glass sees: everything that is painted on the surfaces below it before its *cut*, a sort key.
//! - A *layer* is a finished surface as a group shows it: sharp or blurred, moved, or as a shadow.
//! - Backdrops and layers are blurred in *batches*.
//! - A *step* opens a pass, copies, or blurs. [`Schedule`] lists all steps of a camera; one interpreter encodes them.
//!
//! # Why groups are painted over transparent black
//!
//! All pipelines of Bevy's user interface blend with `ALPHA_BLENDING`. Over transparent black they therefore paint the group's
//! picture with its colour multiplied by alpha. Blending this picture by (One, OneMinusSrcAlpha) gives the same result as painting
//! the items one by one.
//!
//! # Why a list
//!
//! Bevy draws the whole user interface in one pass, and an item cannot end a pass. So everything below a cut is drawn in passes of
//! its own; Bevy's pass draws the rest. The order of all steps follows from the sort keys, so no graph is needed. Steps name items by
//! ranges of sort keys, because other crates may add or remove items after the schedule is made.

mod cells;
mod clip;
mod frames;
mod lens;
mod place;
mod rects;
mod region;
mod rounds;
mod scene;
mod shape;
mod share;
mod slot;
mod steps;
mod surface;
mod tree;

pub use clip::{Clip, ClipBox};
pub use lens::Lens;
pub use place::Placed;
pub use rects::{FAR, as_texels, common, moved};
pub use region::Region;
pub use scene::{
    Backdrop, Border, Clips, Filter, FrozenGlass, Glass, GlassOrder, Item, Line, Picture, PlacedProfile, Scene, Shade,
    Shadow, What,
};
pub use shape::{CORNERS, Shape, bounds_of, scale_of};
pub use share::{SharedBlurs, item_of, share};
pub use slot::Slot;
pub use steps::{Batch, Blurs, Draw, Label, LevelPages, PaintTexture, Schedule, Section, Step};
pub use surface::{Canvas, Layer, Surface, SurfaceId, reach_of, reads_of};
pub use tree::{Owners, SurfaceTree};

#[cfg(test)]
mod tests;
