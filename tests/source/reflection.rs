//! What editors and scene files need to know of the settings.

use bevy::app::TaskPoolPlugin;
use bevy::ecs::reflect::{ReflectComponent, ReflectResource};
use bevy::prelude::*;
use bevy::reflect::{GetTypeRegistration, ReflectFromReflect, TypeData};
use bevy_gaussian_blur::BlurRevision;
use bevy_gaussian_blur::prelude::*;
use core::any::TypeId;

/// An app with the plugin, which needs no renderer to register its types.
fn app() -> App {
    let mut app = App::new();
    app.add_plugins((TaskPoolPlugin::default(), AssetPlugin::default()))
        .init_asset::<Image>()
        .init_asset::<Shader>()
        .add_plugins(GaussianBlurPlugin::default());
    app
}

/// Whether the plugin has registered a type with this data.
fn has<T: GetTypeRegistration, D: TypeData>(app: &App) {
    let registry = app.world().resource::<AppTypeRegistry>().read();
    let path = T::get_type_registration().type_info().type_path();
    let registration = registry.get(TypeId::of::<T>());
    let registration = registration.unwrap_or_else(|| panic!("{path} is not registered"));
    let data = core::any::type_name::<D>();
    assert!(registration.data::<D>().is_some(), "{path} has no {data}");
}

/// Whether a type has a default, and can be written by tools.
fn is_editable<T: GetTypeRegistration>(app: &App) {
    has::<T, ReflectDefault>(app);
    has::<T, ReflectFromReflect>(app);
}

fn is_component<T: GetTypeRegistration>(app: &App) {
    is_editable::<T>(app);
    has::<T, ReflectComponent>(app);
}

#[cfg(feature = "serialize")]
fn can_be_saved<T: GetTypeRegistration>(app: &App) {
    has::<T, ReflectSerialize>(app);
    has::<T, ReflectDeserialize>(app);
}

#[test]
fn all_settings_are_registered_with_their_defaults() {
    let app = app();
    is_component::<GaussianBlur>(&app);
    is_component::<BlurStage>(&app);
    is_component::<BlurProfile>(&app);
    is_component::<BlurImage>(&app);
    is_component::<BlurRevision>(&app);
    is_component::<BackdropBlur>(&app);
    is_component::<BackdropRegion>(&app);
    is_component::<BackdropLens>(&app);
    is_component::<FreezeBlur>(&app);
    is_component::<FreezeArea>(&app);
    is_editable::<BlurUnit>(&app);
    is_editable::<EdgeMode>(&app);
    is_editable::<BlurAlpha>(&app);
    is_editable::<BlurUpdate>(&app);
    is_editable::<BlurBackend>(&app);
    is_editable::<BackdropSampling>(&app);
    is_editable::<BackdropLayer>(&app);
    is_editable::<BlurCompilation>(&app);
    has::<BlurCompilation, ReflectResource>(&app);
    is_editable::<BlurSwitch>(&app);
    has::<BlurSwitch, ReflectResource>(&app);
    is_component::<UiFilter>(&app);
    is_component::<BackdropGroup>(&app);
    is_editable::<DropShadow>(&app);
    is_editable::<GroupOutline>(&app);
    let registry = app.world().resource::<AppTypeRegistry>().read();
    let reported = [
        TypeId::of::<BlurFinished>(),
        TypeId::of::<BlurFailed>(),
        TypeId::of::<BlurError>(),
    ];
    assert_eq!(reported.map(|id| registry.contains(id)), [true; 3]);
}

/// Those with images cannot be saved: a handle means nothing elsewhere.
#[cfg(feature = "serialize")]
#[test]
fn settings_can_be_saved_in_scene_files() {
    let app = app();
    can_be_saved::<GaussianBlur>(&app);
    can_be_saved::<BlurStage>(&app);
    can_be_saved::<BlurProfile>(&app);
    can_be_saved::<BackdropBlur>(&app);
    can_be_saved::<BackdropRegion>(&app);
    can_be_saved::<BackdropLens>(&app);
    can_be_saved::<FreezeBlur>(&app);
    can_be_saved::<FreezeArea>(&app);
    can_be_saved::<BlurCompilation>(&app);
    can_be_saved::<UiFilter>(&app);
}
