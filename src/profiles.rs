//! Which profile each blur of a camera, and each glass, is shown with. While the mask of a new profile loads or waits for its upload,
//! or the pipelines for the first one that varies compile, that is the profile before. It is decided here, once in a frame.

use crate::image_changes::ImageChanges;
use crate::settings::{BackdropBlur, BlurProfile, GaussianBlur};
use bevy::ecs::entity::EntityHashMap;
use bevy::prelude::*;
use bevy::render::render_asset::{RenderAssetBytesPerFrameLimiter, RenderAssets};
use bevy::render::texture::GpuImage;
use bevy::render::{Extract, ExtractSchedule, RenderApp};

/// The profiles that are shown, by the main world's entities. They hold their masks.
#[derive(Resource, Default)]
pub struct ShownProfiles {
    all: EntityHashMap<BlurProfile>,
    /// Whether glass may begin to vary: the pipelines for that are compiled.
    pub glass_may_vary: bool,
}

/// Follows the profiles of all blurs of cameras and all glass.
pub fn plugin(app: &mut App) {
    if let Some(render_app) = app.get_sub_app_mut(RenderApp) {
        render_app
            .init_resource::<ShownProfiles>()
            .add_systems(ExtractSchedule, follow_profiles);
    }
}

impl ShownProfiles {
    /// The profile with which a blur is shown.
    pub fn get(&self, blur: Entity) -> Option<&BlurProfile> {
        self.all.get(&blur)
    }

    /// Follows a profile. What is shown stays until the new one can be shown, unless it cannot be shown either.
    fn follow(&mut self, blur: Entity, wanted: &BlurProfile, is_glass: bool, exists: impl Fn(&BlurProfile) -> bool) {
        let Some(shown) = self.all.get_mut(&blur) else {
            self.all.insert(blur, wanted.clone());
            return;
        };
        let begins_to_vary = is_glass && shown.is_uniform() && !wanted.is_uniform();
        let is_late = !exists(wanted) || begins_to_vary && !self.glass_may_vary;
        if shown != wanted && !(is_late && exists(shown)) {
            shown.clone_from(wanted);
        }
    }
}

type BlurData = (Entity, Option<&'static BlurProfile>, Has<BackdropBlur>);

type CameraOrGlass = Or<((With<GaussianBlur>, With<Camera>), With<BackdropBlur>)>;

/// Finds the profiles that are shown in this frame. Blurs that are not seen start over.
pub fn follow_profiles(
    mut shown: ResMut<ShownProfiles>,
    blurs: Extract<Query<BlurData, CameraOrGlass>>,
    images: Extract<Res<Assets<Image>>>,
    changes: Extract<Res<ImageChanges>>,
    uploaded: Res<RenderAssets<GpuImage>>,
    uploads: Res<RenderAssetBytesPerFrameLimiter>,
) {
    shown.all.retain(|blur, _| blurs.contains(*blur));
    // Without a limit, this frame uploads what it extracts.
    let are_limited = uploads.max_bytes.is_some();
    let is_there = |mask| changes.know(mask, &images) && (!are_limited || uploaded.get(mask).is_some());
    let exists = |profile: &BlurProfile| profile.mask().is_none_or(is_there);
    for (blur, profile, is_glass) in &blurs {
        shown.follow(blur, profile.unwrap_or(&BlurProfile::Uniform), is_glass, exists);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy::asset::uuid::Uuid;

    const GLASS: Entity = Entity::PLACEHOLDER;

    fn mask(number: u128) -> BlurProfile {
        BlurProfile::Mask(Handle::Uuid(Uuid::from_u128(number), core::marker::PhantomData))
    }

    #[test]
    fn a_profile_stays_until_the_next_one_can_be_shown() {
        let [first, second] = [1, 2].map(mask);
        let line = BlurProfile::Linear {
            start: Vec2::ZERO,
            end: Vec2::X,
            from: 0.0,
            to: 1.0,
        };
        let mut shown = ShownProfiles::default();
        let mut steps = |is_glass: bool, steps: &[(&BlurProfile, &[&BlurProfile], bool, &BlurProfile)]| {
            shown.all.clear();
            for (step, (wanted, missing, may_vary, expected)) in steps.iter().enumerate() {
                shown.glass_may_vary = *may_vary;
                shown.follow(GLASS, wanted, is_glass, |profile| !missing.contains(&profile));
                assert_eq!(shown.get(GLASS), Some(*expected), "step {step}, glass: {is_glass}");
            }
        };
        let uniform = &BlurProfile::Uniform;
        for is_glass in [false, true] {
            // A new blur keeps nothing.
            steps(
                is_glass,
                &[
                    (&first, &[&first], true, &first),
                    (&second, &[&first, &second], true, &second),
                ],
            );
            steps(
                is_glass,
                &[
                    (uniform, &[], true, uniform),
                    (&first, &[&first], true, uniform),
                    (&first, &[], true, &first),
                    (&second, &[&second], true, &first),
                    (uniform, &[], true, uniform),
                ],
            );
        }
        steps(false, &[(uniform, &[], false, uniform), (&line, &[], false, &line)]);
        steps(
            true,
            &[
                (uniform, &[], false, uniform),
                (&line, &[], false, uniform),
                (&line, &[], true, &line),
                (&first, &[], false, &first),
            ],
        );
    }
}
