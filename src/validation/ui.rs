//! Glass and filters of the user interface.

use super::subject::{Range, Setup};
use crate::settings::{BackdropBlur, BackdropLens, UiFilter};

/// What is out of range.
pub const RANGES: [Range; 5] = [
    ("BlurProfile", |subject, around| {
        let is_read = subject.glass.is_some() || subject.filter.is_some();
        around.problems(subject.profile.as_deref().filter(|_| is_read))
    }),
    ("BackdropRegion", |subject, around| {
        let region = subject.region.as_ref();
        let lost = region.filter(|region| !around.cameras.contains(region.camera));
        let problem = |camera| format!("entity {camera} is not a camera, so its glass is not drawn");
        lost.map(|region| ("camera", problem(region.camera)))
            .into_iter()
            .collect()
    }),
    ("BackdropBlur", |subject, _| {
        subject.glass.as_deref().map_or_else(Vec::new, BackdropBlur::problems)
    }),
    ("BackdropLens", |subject, _| {
        subject.lens.as_deref().map_or_else(Vec::new, BackdropLens::problems)
    }),
    ("UiFilter", |subject, _| {
        subject.filter.as_deref().map_or_else(Vec::new, UiFilter::problems)
    }),
];

/// What does nothing, or more than intended.
pub const SETUPS: [Setup; 4] = [
    |subject| {
        let is_idle = subject.lens.is_some() && subject.glass.is_none();
        is_idle.then_some("has a BackdropLens, but no BackdropBlur: there is no glass; a radius of 0 makes clear glass")
    },
    |subject| {
        let is_blurred = subject.filter.as_ref().is_some_and(|filter| filter.blur.radius > 0.0);
        let has_two_readers = is_blurred && subject.glass.is_some() && subject.profile.is_some();
        has_two_readers.then_some(
            "has a BlurProfile, a BackdropBlur and a UiFilter: the profile varies the glass; to vary the filter, too, put it on a \
             parent with a profile of its own",
        )
    },
    |subject| {
        let is_idle = subject.glass.is_some() && subject.region.is_none() && !subject.is_node;
        is_idle.then_some("has a BackdropBlur, but neither a Node nor a BackdropRegion: there is no glass")
    },
    |subject| {
        let is_idle = subject.filter.is_some() && !subject.is_node;
        is_idle.then_some("has a UiFilter, but no Node: nothing is filtered")
    },
];
