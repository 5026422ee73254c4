//! Glass and filters of the user interface.

use super::{Around, Said, changed, loads, say};
use crate::settings::{BackdropBlur, BackdropLens, BackdropRegion, BlurProfile, Problem, UiFilter};
use crate::systems::BlurSystems;
use bevy::ecs::name::NameOrEntity;
use bevy::ecs::query::QueryData;
use bevy::prelude::*;

/// Logs invalid settings of glass and filters, and components that do nothing.
pub fn plugin(app: &mut App) {
    app.add_systems(PostUpdate, report.in_set(BlurSystems::Collect));
}

/// What rules know of a node or a region.
#[derive(QueryData)]
pub struct UiSubject {
    name: NameOrEntity,
    glass: Option<Ref<'static, BackdropBlur>>,
    lens: Option<Ref<'static, BackdropLens>>,
    region: Option<Ref<'static, BackdropRegion>>,
    filter: Option<Ref<'static, UiFilter>>,
    profile: Option<Ref<'static, BlurProfile>>,
    is_node: Has<Node>,
}

impl UiSubjectItem<'_, '_> {
    /// Whether a rule may decide otherwise than in the last frame.
    fn is_news(&self) -> bool {
        changed(self.glass.as_ref())
            || changed(self.lens.as_ref())
            || changed(self.region.as_ref())
            || changed(self.filter.as_ref())
            || changed(self.profile.as_ref())
            || self.profile.as_deref().is_some_and(loads)
    }
}

type UiSubjects = Or<(
    With<BackdropBlur>,
    With<BackdropLens>,
    With<BackdropRegion>,
    With<UiFilter>,
)>;

/// A component, and what is wrong with its values.
type UiRange = (&'static str, fn(&UiSubjectItem, &Around) -> Vec<Problem>);

const RANGES: [UiRange; 5] = [
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
        (subject.glass.as_deref()).map_or_else(Vec::new, BackdropBlur::problems)
    }),
    ("BackdropLens", |subject, _| {
        (subject.lens.as_deref()).map_or_else(Vec::new, BackdropLens::problems)
    }),
    ("UiFilter", |subject, _| {
        (subject.filter.as_deref()).map_or_else(Vec::new, UiFilter::problems)
    }),
];

const SETUPS: [fn(&UiSubjectItem) -> Option<&'static str>; 4] = [
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

fn report(subjects: Query<UiSubject, UiSubjects>, around: Around, mut said: Local<Said>) {
    said.retain(|entity, _| subjects.contains(*entity));
    for subject in &subjects {
        if subject.is_news() || said.contains_key(&subject.name.entity) {
            let ranges = RANGES
                .iter()
                .map(|(component, rule)| (*component, rule(&subject, &around)));
            let setups = SETUPS.iter().filter_map(|rule| rule(&subject));
            say(&subject.name, ranges, setups, &mut said);
        }
    }
}
