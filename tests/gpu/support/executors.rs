//! All ways to execute a blur: by render passes alone, or by compute passes wherever possible; with the general shaders,
//! or with shaders for single kernels.

use super::formats::Span;
use super::prelude::*;

/// An app that executes blurs in one way.
pub struct Executor {
    pub name: String,
    pub headless: Headless,
    /// Whether to wait for the shaders for single kernels.
    is_specialised: bool,
}

/// An app for every way, those with the general shaders first, each when its turn comes.
pub fn executors() -> impl Iterator<Item = Executor> {
    some_executors(true)
}

/// An app for each kind of pass, with the general shaders alone.
pub fn general_executors() -> impl Iterator<Item = Executor> {
    BACKENDS.into_iter().map(|backend| Executor::new(backend, false))
}

/// The same with shaders for single kernels.
pub fn special_executors() -> impl Iterator<Item = Executor> {
    BACKENDS.into_iter().map(|backend| Executor::new(backend, true))
}

/// All executors, or those with the general shaders alone.
pub fn some_executors(is_every_way: bool) -> impl Iterator<Item = Executor> {
    general_executors().chain(is_every_way.then(special_executors).into_iter().flatten())
}

/// Runs a test with shaders for single kernels in [one kind of passes](one_backend), and with the general shaders in the other. With
/// `BLUR_FULL`, all executors.
pub fn by_executors(test: fn(&mut Executor)) {
    let special = one_backend();
    for backend in BACKENDS {
        let is_special = special.contains(&backend);
        let is_general = !is_special || special.len() > 1;
        let ways = [is_general.then_some(false), is_special.then_some(true)];
        for specialised in ways.into_iter().flatten() {
            let mut executor = Executor::new(backend, specialised);
            println!("{}", executor.name);
            test(&mut executor);
        }
    }
}

/// The same with [`general_executors`].
pub fn by_general_executors(test: fn(&mut Headless)) {
    for mut executor in general_executors() {
        println!("{}", executor.name);
        test(&mut executor.headless);
    }
}

/// The same with one kind of passes.
pub fn by_one_executor(test: fn(&mut Headless)) {
    for backend in one_backend() {
        test(&mut Executor::new(backend, false).headless);
    }
}

impl Executor {
    fn new(backend: BlurBackend, is_specialised: bool) -> Self {
        let (compilation, headless) = if is_specialised {
            let specialised = warm_with(backend, |app| {
                app.insert_resource(BlurCompilation { per_frame: 1000 });
            });
            ("specialised", specialised)
        } else {
            ("any-kernel", warm(backend))
        };
        Self {
            name: format!("{backend:?}-{compilation}"),
            headless,
            is_specialised,
        }
    }

    /// Blurs a picture in a format into a target that the plugin allocates.
    pub fn blurred(
        &mut self,
        blur: GaussianBlur,
        picture: &Picture,
        format: TextureFormat,
        alpha: BlurAlpha,
    ) -> Picture {
        let source = self.headless.add_image(formats::to_image(picture, format));
        formats::to_picture(&self.blur(blur, BlurImage::new(source).with_alpha(alpha)))
    }

    /// Blurs an image, and reads its target.
    pub fn blur(&mut self, blur: GaussianBlur, image: BlurImage) -> Pixels {
        self.blur_all(vec![(blur, image)]).remove(0)
    }

    /// The same for several images, which are blurred in the same frames.
    pub fn blur_all(&mut self, blurs: Vec<(GaussianBlur, BlurImage)>) -> Vec<Pixels> {
        let headless = &mut self.headless;
        if !self.is_specialised {
            let blurs = blurs
                .into_iter()
                .map(|(blur, image)| (blur, image, BlurProfile::Uniform));
            let targets = headless.blur_all(blurs).into_iter();
            return targets
                .map(|target| headless.read_image(&target.expect("the blur succeeds")))
                .collect();
        }
        // Only kernels that are drawn in several frames get pipelines of their own.
        let every_frame =
            |(blur, image): (_, BlurImage)| spawn(headless, blur, image.with_update(BlurUpdate::EveryFrame));
        let entities: Vec<Entity> = blurs.into_iter().map(every_frame).collect();
        headless.frames(5);
        let is_complete = |world: &mut World| world.resource::<BlurReadiness>().is_complete();
        assert!(headless.frames_until(100, is_complete), "the kernels are compiled");
        headless.frame();
        let read = |entity: Entity| {
            let pixels = headless.read_image(&target_of(headless, entity));
            headless.despawn(entity);
            pixels
        };
        entities.into_iter().map(read).collect()
    }
}

/// One blur to check.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    /// Values from 0 to 1, which are stretched over a span.
    pub picture: &'a Picture,
    pub format: TextureFormat,
    pub span: Span,
    pub sigma: f64,
    pub edge: EdgeMode,
}

impl<'a> Case<'a> {
    /// A picture that is stretched over the range of its format.
    pub fn new(picture: &'a Picture, format: TextureFormat, sigma: f64, edge: EdgeMode) -> Self {
        let span = Span::of(format);
        Self {
            picture,
            format,
            span,
            sigma,
            edge,
        }
    }

    fn blur(&self) -> GaussianBlur {
        GaussianBlur::from_sigma(self.sigma as f32).with_edge(self.edge)
    }
}

/// Blurs pictures with every executor, all in the same frames, and compares with the reference. Returns the worst error as a
/// share of the picture's span.
pub fn check(cases: &[Case], executors: impl Iterator<Item = Executor>) -> f64 {
    let pictures: Vec<Picture> = cases.iter().map(|case| case.span.spread(case.picture)).collect();
    let expected = |(case, picture): (&Case, &Picture)| {
        let sigma = [f64::from(case.blur().sigma()); 2];
        gaussian_blur(&formats::quantised(picture, case.format), sigma, case.edge)
    };
    let expected: Vec<Picture> = cases.iter().zip(&pictures).map(expected).collect();
    let mut worst = 0.0_f64;
    for mut executor in executors {
        let image = |(case, picture): (&Case, &Picture)| {
            let source = executor.headless.add_image(formats::to_image(picture, case.format));
            (case.blur(), plain(source))
        };
        let blurs = cases.iter().zip(&pictures).map(image).collect();
        let got = executor.blur_all(blurs);
        for ((case, got), expected) in cases.iter().zip(got).zip(&expected) {
            let got = formats::to_picture(&got);
            let (width, height) = (got.width, got.height);
            let name = format!(
                "{:?}-{width}x{height}-{}-{:?}-{}",
                case.format, case.sigma, case.edge, executor.name
            );
            worst = worst.max(formats::assert_stored(&name, &got, expected, case.format, &case.span));
        }
    }
    worst
}
