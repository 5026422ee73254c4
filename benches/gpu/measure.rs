//! Runs the methods in turns and keeps their times.

use crate::accuracy::Accuracy;
use crate::classic::{Classic, can_run};
use crate::method::Method;
use crate::options::{Format, Options};
use crate::ours::{Images, Ours, Times};
use crate::stage::{Gpu, Stage, tiled};
use crate::timer::Timer;
use bevy_gaussian_blur::prelude::EdgeMode;
use std::collections::HashMap;

/// The number of turns of each method. With several turns, a machine that is busy for a while slows all methods down alike.
const ROUNDS: usize = 3;

/// A method is skipped without a try if its estimated time exceeds the limit by this factor.
const DOUBT: f64 = 2.0;

/// The sigma at which the cost of one fetch is measured.
const PROBE_SIGMA: f64 = 0.8;

/// The measured figures, or why there are none.
pub struct Row {
    pub size: [u32; 2],
    pub format: Format,
    pub sigma: f64,
    pub method: Method,
    pub outcome: Result<Figures, String>,
}

/// Times in microseconds, and the error in 1/255, which a copy does not have.
pub struct Figures {
    pub median: f64,
    pub min: f64,
    pub error: Option<f64>,
    /// The times of each kind of pass, if requested.
    pub passes: Vec<(&'static str, f64)>,
}

/// Everything needed to measure.
pub struct Bench {
    pub gpu: Gpu,
    /// The classical methods use the device of the first app.
    ours: Vec<Ours>,
    accuracy: Accuracy,
    timer: Timer,
    options: Options,
}

/// One size and format.
struct Setup {
    stage: Stage,
    /// The images of each of our apps.
    images: Vec<Images>,
    /// Microseconds for one fetch of every texel, as last measured.
    rates: HashMap<Method, f64>,
}

/// A method in its turn.
struct Contender<'a> {
    method: Method,
    /// `None` if it is ours.
    classic: Option<Classic<'a>>,
    times: Times,
    stopped: Option<String>,
}

impl Bench {
    /// # Errors
    /// A line that says why nothing can be measured.
    pub fn new(options: Options) -> Result<Self, String> {
        // The app of the fragment backend always exists, because its device is needed.
        let mut ours = vec![Ours::new(Method::OursFragment, &options)?];
        let gpu = Gpu::of(ours[0].headless())?;
        for method in Method::ours().filter(|method| *method != Method::OursFragment) {
            if options.methods.contains(&method) {
                ours.push(Ours::new(method, &options)?);
            }
        }
        let largest = gpu.device.limits().max_texture_dimension_2d;
        if let Some([width, height]) = options
            .sizes
            .iter()
            .find(|size| size.iter().any(|side| *side > largest))
        {
            return Err(format!(
                "{width}x{height} is larger than {}'s {largest}x{largest}",
                gpu.name
            ));
        }
        Ok(Self {
            timer: Timer::new(&gpu),
            accuracy: Accuracy::new(options.edge, options.direction),
            gpu,
            ours,
            options,
        })
    }

    /// Measures everything, and reports each size, format and sigma as soon as it is done.
    pub fn run(&mut self, mut report: impl FnMut(Vec<Row>)) {
        for size in self.options.sizes.clone() {
            for format in self.options.formats.clone() {
                let mut setup = self.set_up(size, format);
                for sigma in self.options.sigmas.clone() {
                    report(self.rows(&mut setup, sigma));
                }
            }
        }
    }

    fn set_up(&mut self, size: [u32; 2], format: Format) -> Setup {
        let tile = self.accuracy.picture();
        let stage = Stage::new(&self.gpu, size, format);
        stage.show(&tiled(tile, size, format));
        let images = self.ours.iter_mut().map(|ours| ours.images(tile, size, format));
        Setup {
            images: images.collect(),
            rates: self.probe(&stage),
            stage,
        }
    }

    /// The cost of a fetch of each method, from one short blur.
    fn probe(&self, stage: &Stage) -> HashMap<Method, f64> {
        let rate = |method: &Method| {
            let fetches = method.fetches(PROBE_SIGMA)?;
            can_run(stage, *method).ok()?;
            let classic = Classic::new(stage, *method, PROBE_SIGMA);
            let time = || self.timer.time(|encoder| classic.encode(encoder));
            // The first run is slow: nothing is warmed up.
            time();
            Some((*method, time().min(time()) / fetches))
        };
        self.options.methods.iter().filter_map(rate).collect()
    }

    /// All methods at one sigma.
    fn rows(&mut self, setup: &mut Setup, sigma: f64) -> Vec<Row> {
        let Setup { stage, images, rates } = setup;
        let mut contenders: Vec<Contender> = Vec::new();
        for method in self.options.methods.clone() {
            let stopped = self.refusal(stage, rates, method, sigma).err();
            let classic = method.backend().is_none() && stopped.is_none();
            contenders.push(Contender {
                method,
                classic: classic.then(|| Classic::new(stage, method, sigma)),
                times: Times::default(),
                stopped,
            });
        }
        for _ in 0..ROUNDS {
            for contender in contenders.iter_mut().filter(|it| it.stopped.is_none()) {
                contender.stopped = self.take_turn(contender, images, sigma).err();
            }
        }
        let mut rows = Vec::new();
        for contender in contenders {
            let method = contender.method;
            let outcome = self.figures(contender, stage.format, sigma);
            if let (Ok(figures), Some(fetches)) = (&outcome, method.fetches(sigma)) {
                rates.insert(method, figures.min / fetches);
            }
            rows.push(Row {
                size: stage.size,
                format: stage.format,
                sigma,
                method,
                outcome,
            });
        }
        rows
    }

    /// One round of one method.
    fn take_turn(&mut self, contender: &mut Contender, images: &[Images], sigma: f64) -> Result<(), String> {
        let count = self.options.runs().div_ceil(ROUNDS);
        let Some(classic) = &contender.classic else {
            let is_its = |(ours, _): &(&mut Ours, &Images)| ours.method() == contender.method;
            let (ours, images) = self.ours.iter_mut().zip(images).find(is_its).expect("an app for ours");
            let times = ours.time(images, sigma, count)?;
            contender.times.whole.extend(times.whole);
            contender.times.passes = times.passes;
            return Ok(());
        };
        let time = || self.timer.time(|encoder| classic.encode(encoder));
        let warm_up = time();
        if contender.times.whole.is_empty() && warm_up > self.limit() {
            return Err(too_long(warm_up));
        }
        contender.times.whole.extend((0..count).map(|_| time()));
        Ok(())
    }

    fn figures(&mut self, contender: Contender, format: Format, sigma: f64) -> Result<Figures, String> {
        let Contender {
            method,
            mut times,
            stopped,
            ..
        } = contender;
        if let Some(reason) = stopped {
            return Err(reason);
        }
        let error = if method.is_copy() {
            None
        } else {
            let (gpu, ours) = (&self.gpu, &mut self.ours);
            Some(self.accuracy.error_of(gpu, ours, method, format, sigma)?)
        };
        times.whole.sort_by(f64::total_cmp);
        let middle = times.whole.len() / 2;
        Ok(Figures {
            median: (times.whole[middle] + times.whole[(times.whole.len() - 1) / 2]) / 2.0,
            min: times.whole[0],
            error,
            passes: times.passes,
        })
    }

    /// Rejects methods that cannot run, or would run for too long.
    fn refusal(&self, stage: &Stage, rates: &HashMap<Method, f64>, method: Method, sigma: f64) -> Result<(), String> {
        can_run(stage, method)?;
        if self.options.edge != EdgeMode::Clamp && method.backend().is_none() && !method.is_copy() {
            return Err("supports only the edge mode clamp".to_owned());
        }
        let estimate = method
            .fetches(sigma)
            .zip(rates.get(&method))
            .map(|(fetches, rate)| fetches * rate);
        match estimate {
            Some(estimate) if estimate > DOUBT * self.limit() => Err(too_long(estimate)),
            _ => Ok(()),
        }
    }

    /// The longest time of a run, in microseconds.
    fn limit(&self) -> f64 {
        self.options.limit * 1e6
    }
}

fn too_long(microseconds: f64) -> String {
    format!("about {:.1} s a run", microseconds / 1e6)
}
