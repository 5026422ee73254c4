//! What rules know, and what a rule is.

use crate::errors::BlurError;
#[cfg(feature = "ui")]
use crate::settings::UiFilter;
use crate::settings::{
    BackdropBlur, BackdropLens, BackdropRegion, BlurImage, BlurProfile, BlurStage, FreezeBlur, GaussianBlur, Problem,
};
use bevy::asset::LoadState;
use bevy::ecs::name::NameOrEntity;
use bevy::ecs::query::QueryData;
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;

/// What rules know of an entity.
#[derive(QueryData)]
pub struct Subject {
    pub name: NameOrEntity,
    pub camera: Option<Ref<'static, Camera>>,
    pub stage: Option<&'static BlurStage>,
    pub blur: Option<Ref<'static, GaussianBlur>>,
    pub image: Option<Ref<'static, BlurImage>>,
    pub profile: Option<Ref<'static, BlurProfile>>,
    pub freeze: Option<Ref<'static, FreezeBlur>>,
    pub glass: Option<Ref<'static, BackdropBlur>>,
    pub lens: Option<Ref<'static, BackdropLens>>,
    pub region: Option<Ref<'static, BackdropRegion>>,
    #[cfg(feature = "ui")]
    pub filter: Option<Ref<'static, UiFilter>>,
    #[cfg(feature = "ui")]
    pub is_node: Has<Node>,
}

impl SubjectItem<'_, '_> {
    /// Whether a rule may decide otherwise than in the last frame. Masks load whenever they do.
    pub fn is_news(&self) -> bool {
        fn changed<C: Component>(component: &Option<Ref<C>>) -> bool {
            component.as_ref().is_some_and(Ref::is_changed)
        }
        let loads = matches!(self.profile.as_deref(), Some(BlurProfile::Mask(_)));
        let settings = changed(&self.blur) || changed(&self.image) || changed(&self.profile) || changed(&self.freeze);
        let glass = changed(&self.glass) || changed(&self.lens) || changed(&self.region);
        #[cfg(feature = "ui")]
        let glass = glass || changed(&self.filter);
        loads || settings || glass || self.camera.as_ref().is_some_and(Ref::is_added)
    }

    /// Whether its `GaussianBlur` is that of a camera.
    pub fn is_blurred_camera(&self) -> bool {
        self.camera.is_some() && self.blur.is_some()
    }
}

/// Glass and filters, and blurs. Images without anything else report their own settings.
pub type Subjects = Or<(
    With<BackdropBlur>,
    With<BackdropLens>,
    With<BackdropRegion>,
    Filtered,
    With<FreezeBlur>,
    (With<GaussianBlur>, Without<BlurImage>),
    (With<BlurImage>, With<Camera>),
)>;

#[cfg(feature = "ui")]
type Filtered = With<UiFilter>;
#[cfg(not(feature = "ui"))]
type Filtered = With<BackdropBlur>;

/// What rules know beside the entity.
#[derive(SystemParam)]
pub struct Around<'w, 's> {
    assets: Res<'w, AssetServer>,
    images: Res<'w, Assets<Image>>,
    pub cameras: Query<'w, 's, (), With<Camera>>,
}

/// A component, and what of it is out of range: errors, which are said again only after that was in range.
pub type Range = (&'static str, fn(&SubjectItem, &Around) -> Vec<Problem>);

/// What a setup has that does nothing, or more than intended: a warning, once for each entity.
pub type Setup = fn(&SubjectItem) -> Option<&'static str>;

impl Around<'_, '_> {
    /// Why a profile that is read cannot be, as far as the main world knows.
    pub fn problems(&self, profile: Option<&BlurProfile>) -> Vec<Problem> {
        let outcome = match profile {
            None => Ok(()),
            Some(BlurProfile::Mask(mask)) if matches!(self.assets.load_state(mask), LoadState::Failed(_)) => {
                Err(BlurError::MaskNotLoaded)
            }
            Some(BlurProfile::Mask(mask)) => match self.images.get(mask) {
                Some(mask) => BlurError::check_reach("mask", mask.asset_usage),
                None => Ok(()),
            },
            Some(profile) => profile.check(),
        };
        let kind = |error: &BlurError| match error {
            BlurError::InvalidProfile => "shares",
            BlurError::MaskNotLoaded => "file",
            _ => "mask",
        };
        outcome
            .err()
            .map(|error| (kind(&error), error.to_string()))
            .into_iter()
            .collect()
    }
}
