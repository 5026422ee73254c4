//! The steps of a random world, one change at a time.
//!
//! Every step can follow every other one: a [`Pick`] names an existing entry of a list, and a step about an empty list
//! does nothing. So any step can be left out, which is how a failure is shrunk. To cover a new setting, add it to a
//! strategy of [`settings`](super::settings); to cover a new component, add a [`Step`].

use super::filters::filter;
use super::settings::{any_format, backdrop, canvas_format, finite_rect, gaussian, hostile, lens, profile, size};
use super::*;
use crate::support::recording::Settings;
use proptest::prelude::*;

/// An entry of a list, by its index modulo the length.
pub type Pick = u8;

/// An image's size and format, and one of two patterns.
#[derive(Clone, Copy, Debug)]
pub struct Content {
    pub size: [u32; 2],
    pub format: TextureFormat,
    pub pattern: bool,
}

/// The source of an image blur.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    Image(Pick),
    /// An image that cameras paint.
    Canvas(Pick),
    /// The target of another blur.
    TargetOf(Pick),
}

/// The target of an image blur.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    Own,
    InPlace,
    Image(Pick),
    Canvas(Pick),
}

/// The initial state of a camera.
#[derive(Clone, Copy, Debug)]
pub struct NewCamera {
    pub kind: Kind,
    pub canvas: Pick,
    pub hdr: bool,
    pub msaa: bool,
    /// Whether it clears its canvas.
    pub clears: bool,
    pub order: i8,
    pub viewport: Option<Viewport>,
    pub stage: BlurStage,
    pub blur: Option<GaussianBlur>,
}

/// A viewport in sixteenths of its target: left, top, width and height.
pub type Viewport = [u8; 4];

/// A change of a camera.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    Blur(Option<GaussianBlur>),
    Stage(BlurStage),
    Viewport(Option<Viewport>),
    Order(i8),
    Active(bool),
    Canvas(Pick),
    Hdr(bool),
    Msaa(bool),
    Dither(bool),
}

/// How a blur varies.
#[derive(Clone, Debug)]
pub enum Varies {
    Not,
    As(BlurProfile),
    /// An image with any contents and any writer, including the blur itself, or a removed one.
    Mask(Source),
}

#[derive(Clone, Debug)]
pub enum Step {
    AddImage(Content),
    /// An image that is loading: it exists once it is replaced.
    AddLoading,
    /// An image that cannot be loaded.
    AddMissing,
    ReplaceImage(Pick, Content),
    /// Removes the asset while it is in use.
    RemoveImage(Pick),
    /// Replaces an image by one that never reaches the GPU.
    HideImage(Pick, Content),
    AddCanvas(Content),
    ReplaceCanvas(Pick, Content),
    RemoveCanvas(Pick),
    SpawnBlur(Source, Target, GaussianBlur, BlurAlpha, BlurUpdate),
    ChangeBlur(Pick, GaussianBlur),
    /// Writes the settings of a blur without changing them, as a tween at rest does.
    WriteAgain(Pick),
    RedirectBlur(Pick, Source, Target),
    /// Blurs an image once and reads the pixels.
    ReadPixels(Pick, GaussianBlur),
    SpawnCamera(NewCamera),
    ChangeCamera(Pick, Change),
    SpawnPane(Pick, [f32; 4], BackdropBlur),
    SpawnRegion(Pick, [f32; 4], f32, bool, BackdropBlur),
    ChangeGlass(Pick, BackdropBlur),
    MoveGlass(Pick, [f32; 4]),
    /// Filters a node of glass with its children, or removes the filter.
    Filter(Pick, Option<UiFilter>),
    /// Gives glass a lens, or removes it.
    Bend(Pick, Option<BackdropLens>),
    /// Lets the glass in a node share a backdrop, or not.
    Share(Pick, bool),
    /// Switches blurs off for some frames.
    SwitchOff(u8),
    /// Makes one node of glass the child of another.
    Nest(Pick, Pick),
    /// Lets a blur of any kind vary, or not.
    Vary(Pick, Varies),
    /// Freezes a camera or glass, again if it is frozen already, or unfreezes it.
    Freeze(Pick, Option<FreezeArea>),
    DitherBlur(Pick, bool),
    /// Blurs a part of an image only, with padding around it. The part is not always inside.
    CutBlur(Pick, Option<URect>, u32),
    /// Adds an image that only the recorder writes.
    AddRecorded(Content),
    ReplaceRecorded(Pick, Content),
    RemoveRecorded(Pick),
    /// Records a blur in every frame from now on: into a recorder's image, from a source, or in place without one.
    Record(Pick, Option<Source>, Settings, Varies),
    ChangeRecorded(Pick, Settings),
    StopRecording(Pick),
    /// An entity of any kind.
    Despawn(Pick),
    /// Disables an image blur or glass, or enables it again.
    Toggle(Pick),
    /// Removes the components of a blur and inserts them again, in one frame or with some between.
    Again(Pick, u8),
    /// Removes only the blur.
    Strip(Pick),
    Frames(u8),
    /// Runs frames as long as one is asked for, as an app does that draws only when something happens.
    Rest,
    /// Lets everything settle, and compares everything with a known reference.
    Check,
    /// Takes a second or more, so only some worlds do it.
    LoseDevice,
}

fn content(format: impl Strategy<Value = TextureFormat>) -> impl Strategy<Value = Content> {
    (size(), format, any::<bool>()).prop_map(|(size, format, pattern)| Content { size, format, pattern })
}

fn source() -> impl Strategy<Value = Source> {
    prop_oneof![
        5 => any::<Pick>().prop_map(Source::Image),
        1 => any::<Pick>().prop_map(Source::Canvas),
        2 => any::<Pick>().prop_map(Source::TargetOf),
    ]
}

fn target() -> impl Strategy<Value = Target> {
    prop_oneof![
        6 => Just(Target::Own),
        2 => Just(Target::InPlace),
        2 => any::<Pick>().prop_map(Target::Image),
        1 => any::<Pick>().prop_map(Target::Canvas),
    ]
}

fn alpha() -> impl Strategy<Value = BlurAlpha> {
    proptest::sample::select(vec![
        BlurAlpha::Straight,
        BlurAlpha::Premultiplied,
        BlurAlpha::Opaque,
        BlurAlpha::Unpremultiply,
    ])
}

fn update() -> impl Strategy<Value = BlurUpdate> {
    proptest::sample::select(vec![BlurUpdate::OnChange, BlurUpdate::EveryFrame, BlurUpdate::Once])
}

fn stage() -> impl Strategy<Value = BlurStage> {
    use BlurStage::{AfterTonemapping, AfterUi, BeforeTonemapping};
    proptest::sample::select(vec![BeforeTonemapping, AfterTonemapping, AfterUi])
}

fn viewport() -> impl Strategy<Value = Option<Viewport>> {
    proptest::option::of([0..16_u8, 0..16_u8, 1..17_u8, 1..17_u8])
}

fn new_camera() -> impl Strategy<Value = NewCamera> {
    let kind = proptest::sample::select(vec![Kind::Core2d, Kind::Core3d]);
    let flags = (any::<bool>(), any::<bool>(), proptest::bool::weighted(0.8));
    let blur = proptest::option::weighted(0.8, gaussian());
    let place = (any::<Pick>(), -2..3_i8, viewport());
    (kind, flags, place, stage(), blur).prop_map(
        |(kind, (hdr, msaa, clears), (canvas, order, viewport), stage, blur)| NewCamera {
            kind,
            canvas,
            hdr,
            msaa,
            clears,
            order,
            viewport,
            stage,
            blur,
        },
    )
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => proptest::option::weighted(0.8, gaussian()).prop_map(Change::Blur),
        1 => stage().prop_map(Change::Stage),
        2 => viewport().prop_map(Change::Viewport),
        1 => (-2..3_i8).prop_map(Change::Order),
        2 => any::<bool>().prop_map(Change::Active),
        2 => any::<Pick>().prop_map(Change::Canvas),
        1 => any::<bool>().prop_map(Change::Hdr),
        1 => any::<bool>().prop_map(Change::Msaa),
        1 => any::<bool>().prop_map(Change::Dither),
    ]
}

fn varies() -> impl Strategy<Value = Varies> {
    prop_oneof![
        2 => Just(Varies::Not),
        5 => profile().prop_map(Varies::As),
        3 => source().prop_map(Varies::Mask),
    ]
}

fn freeze() -> impl Strategy<Value = Option<FreezeArea>> {
    let area = proptest::sample::select(vec![FreezeArea::Viewport, FreezeArea::Region]);
    proptest::option::weighted(0.75, area)
}

/// A rectangle of a viewport: mostly a visible one, sometimes any.
fn hostile_rect() -> impl Strategy<Value = [f32; 4]> {
    prop_oneof![4 => finite_rect(), 1 => [hostile(), hostile(), hostile(), hostile()]]
}

/// The settings of a recorded blur: mostly in range.
fn recorded() -> impl Strategy<Value = Settings> {
    let rect = || proptest::option::weighted(0.3, [0..40_u32, 0..40_u32, 0..80_u32, 0..80_u32]);
    let rect = move || rect().prop_map(|rect| rect.map(|[x, y, w, h]| URect::new(x, y, x + w, y + h)));
    let sigma = prop_oneof![6 => 0.0..60.0_f32, 1 => hostile()];
    (sigma, gaussian(), alpha(), rect(), rect()).prop_map(|(sigma, blur, alpha, region, bounds)| Settings {
        region,
        bounds,
        sigma: sigma * blur.aspect,
        edge: blur.edge,
        alpha,
        ..Settings::new(1.0)
    })
}

fn cut() -> impl Strategy<Value = URect> {
    [0..30_u32, 0..30_u32, 0..40_u32, 0..40_u32].prop_map(|[x, y, w, h]| URect::new(x, y, x + w, y + h))
}

/// Any step.
pub fn step() -> impl Strategy<Value = Step> {
    let pick = any::<Pick>;
    prop_oneof![
        4 => content(any_format()).prop_map(Step::AddImage),
        1 => Just(Step::AddLoading),
        1 => Just(Step::AddMissing),
        4 => (pick(), content(any_format())).prop_map(|(pick, content)| Step::ReplaceImage(pick, content)),
        1 => pick().prop_map(Step::RemoveImage),
        1 => (pick(), content(any_format())).prop_map(|(pick, content)| Step::HideImage(pick, content)),
        2 => content(canvas_format()).prop_map(Step::AddCanvas),
        2 => (pick(), content(canvas_format())).prop_map(|(pick, content)| Step::ReplaceCanvas(pick, content)),
        1 => pick().prop_map(Step::RemoveCanvas),
        6 => (source(), target(), gaussian(), alpha(), update())
            .prop_map(|(source, target, blur, alpha, update)| Step::SpawnBlur(source, target, blur, alpha, update)),
        4 => (pick(), gaussian()).prop_map(|(pick, blur)| Step::ChangeBlur(pick, blur)),
        2 => pick().prop_map(Step::WriteAgain),
        2 => (pick(), source(), target()).prop_map(|(pick, source, target)| Step::RedirectBlur(pick, source, target)),
        1 => (pick(), gaussian()).prop_map(|(pick, blur)| Step::ReadPixels(pick, blur)),
        3 => new_camera().prop_map(Step::SpawnCamera),
        5 => (pick(), change()).prop_map(|(pick, change)| Step::ChangeCamera(pick, change)),
        3 => (pick(), finite_rect(), backdrop()).prop_map(|(pick, rect, glass)| Step::SpawnPane(pick, rect, glass)),
        3 => (pick(), hostile_rect(), hostile(), any::<bool>(), backdrop())
            .prop_map(|(pick, rect, corner, above, glass)| Step::SpawnRegion(pick, rect, corner, above, glass)),
        3 => (pick(), backdrop()).prop_map(|(pick, glass)| Step::ChangeGlass(pick, glass)),
        2 => (pick(), hostile_rect()).prop_map(|(pick, rect)| Step::MoveGlass(pick, rect)),
        4 => (pick(), proptest::option::weighted(0.8, filter())).prop_map(|(pick, filter)| Step::Filter(pick, filter)),
        3 => (pick(), proptest::option::weighted(0.8, lens())).prop_map(|(pick, lens)| Step::Bend(pick, lens)),
        2 => (pick(), any::<bool>()).prop_map(|(pick, shares)| Step::Share(pick, shares)),
        1 => (1..4_u8).prop_map(Step::SwitchOff),
        3 => (pick(), pick()).prop_map(|(child, parent)| Step::Nest(child, parent)),
        4 => (pick(), varies()).prop_map(|(pick, varies)| Step::Vary(pick, varies)),
        4 => (pick(), freeze()).prop_map(|(pick, area)| Step::Freeze(pick, area)),
        2 => content(any_format()).prop_map(Step::AddRecorded),
        2 => (pick(), content(any_format())).prop_map(|(pick, content)| Step::ReplaceRecorded(pick, content)),
        1 => pick().prop_map(Step::RemoveRecorded),
        3 => (pick(), proptest::option::weighted(0.7, source()), recorded(), varies())
            .prop_map(|(pick, source, settings, varies)| Step::Record(pick, source, settings, varies)),
        2 => (pick(), recorded()).prop_map(|(pick, settings)| Step::ChangeRecorded(pick, settings)),
        1 => pick().prop_map(Step::StopRecording),
        1 => (pick(), any::<bool>()).prop_map(|(pick, dithers)| Step::DitherBlur(pick, dithers)),
        3 => (pick(), proptest::option::weighted(0.7, cut()), prop_oneof![Just(0), 0..20_u32])
            .prop_map(|(pick, region, padding)| Step::CutBlur(pick, region, padding)),
        3 => pick().prop_map(Step::Despawn),
        3 => pick().prop_map(Step::Toggle),
        2 => (pick(), 0..3_u8).prop_map(|(pick, frames)| Step::Again(pick, frames)),
        1 => pick().prop_map(Step::Strip),
        1 => Just(Step::Rest),
        3 => (1..6_u8).prop_map(Step::Frames),
        2 => Just(Step::Check),
    ]
}
