//! All the stages that plans can ask for: what there is to compile.

use super::axis::{MAX_OCTAVES, reaches};
use super::pass::{Finish, Means, Stage};
use super::rules;
use crate::kernel::Precision;
use crate::program::{Beyond, Filtering, Program, Tiling};

/// The stages of all plans of these means, whatever their sigmas, sizes and edge modes. Those of blurs that are as strong
/// along x as along y come first, weak ones before strong ones.
#[must_use]
pub fn stages(means: Means, finish: Finish) -> Vec<Stage> {
    let Means {
        precision,
        tiling,
        filtering,
    } = means;
    let mut list = List(Vec::new());
    let pairs = |apart: u32| (0..=MAX_OCTAVES - apart).flat_map(move |low| [[low, low + apart], [low + apart, low]]);
    for octaves in (0..=MAX_OCTAVES).flat_map(pairs) {
        if octaves == [0; 2] {
            list.weak_blur(precision, tiling, finish);
        } else {
            list.downsample(octaves, tiling, filtering);
            list.residual(octaves, precision, tiling);
            if finish == Finish::Write {
                list.add(rules::upsample(octaves, tiling, filtering), false, true);
            }
        }
    }
    list.0
}

/// The stages of all plans of these means whose sigma varies.
#[must_use]
pub fn varying_stages(means: Means, finish: Finish, in_place: bool) -> Vec<Stage> {
    let Means {
        precision,
        tiling,
        filtering,
    } = means;
    let mut list = List(Vec::new());
    let copies = in_place && finish == Finish::Write;
    list.add(
        rules::blend(tiling, filtering, finish == Finish::Leave, copies),
        !copies,
        finish == Finish::Write,
    );
    list.add(rules::gather(tiling, filtering), true, false);
    if copies && tiling == Tiling::None {
        list.add(rules::enter(), true, false);
    }
    let farthest = rules::rounded_reach(*reaches(0, precision, precision.rho()).end(), tiling);
    for is_first in [true, false] {
        for steps in [[2, 2], [2, 1], [1, 2]] {
            let may_filter = if is_first {
                filtering.source
            } else {
                filtering.intermediates
            };
            for beyond in [Beyond::Clamped, Beyond::Folded] {
                list.add(rules::downsample(steps, tiling, may_filter, beyond), is_first, false);
            }
        }
        for reach in (0..=farthest).filter(|reach| rules::rounded_reach(*reach, tiling) == *reach) {
            list.convolve(reach, tiling, is_first);
        }
    }
    list.0
}

/// The stages that have been found, each once.
struct List(Vec<Stage>);

impl List {
    fn add(&mut self, program: Program, is_first: bool, is_last: bool) {
        self.push(Stage {
            program,
            is_first,
            is_last,
            skips: false,
        });
    }

    /// A pass of a layer, which leaves out what is not read.
    fn skip(&mut self, program: Program, is_first: bool) {
        self.push(Stage {
            program,
            is_first,
            is_last: false,
            skips: true,
        });
    }

    fn push(&mut self, stage: Stage) {
        if !self.0.contains(&stage) {
            self.0.push(stage);
        }
    }

    /// The convolutions of a layer, with kernels that reach so far.
    fn convolve(&mut self, reach: usize, tiling: Tiling, is_first: bool) {
        if tiling == Tiling::None {
            self.skip(rules::convolve(0, reach), is_first);
            self.skip(rules::convolve(1, reach), false);
            return;
        }
        for beyond in [Beyond::Clamped, Beyond::Folded, Beyond::Images] {
            // Only what is coarser than the picture has images.
            if reach > 0 && !(is_first && beyond == Beyond::Images) {
                self.skip(rules::convolve_both(reach, beyond), is_first);
            }
        }
    }

    /// A blur without octaves.
    fn weak_blur(&mut self, precision: Precision, tiling: Tiling, finish: Finish) {
        let writes = finish == Finish::Write;
        let reaches = reaches(0, precision, precision.rho()).map(|reach| rules::rounded_reach(reach, tiling));
        match tiling {
            Tiling::None => {
                for reach in reaches {
                    self.add(rules::convolve(0, reach), true, false);
                    self.add(rules::convolve(1, reach), false, writes);
                }
            }
            Tiling::Tiled { stores, apart } => {
                let is_direct = stores && apart && writes;
                for reach in reaches.filter(|reach| *reach > 0) {
                    for beyond in [Beyond::Clamped, Beyond::Folded] {
                        self.add(rules::convolve_both(reach, beyond), true, is_direct);
                    }
                }
                if !is_direct && writes {
                    self.add(Program::CopyFragment, false, true);
                }
            }
        }
    }

    fn downsample(&mut self, octaves: [u32; 2], tiling: Tiling, filtering: Filtering) {
        let most = octaves[0].max(octaves[1]);
        let mut done = 0;
        while done < most {
            let next = done + rules::octaves_of_a_pass(done, most - done, tiling);
            let steps = octaves.map(|octaves| 1 << (octaves.min(next) - octaves.min(done)));
            let is_first = done == 0;
            let may_filter = if is_first {
                filtering.source
            } else {
                filtering.intermediates
            };
            // Only the picture itself has edges of another kind.
            for beyond in [Beyond::Clamped, Beyond::Folded]
                .into_iter()
                .take(1 + usize::from(is_first))
            {
                self.add(rules::downsample(steps, tiling, may_filter, beyond), is_first, false);
            }
            done = next;
        }
    }

    fn residual(&mut self, octaves: [u32; 2], precision: Precision, tiling: Tiling) {
        let reaches = octaves.map(|octaves| reaches(octaves, precision, precision.rho()));
        match tiling {
            Tiling::None => {
                for (axis, reaches) in reaches.into_iter().enumerate() {
                    // An axis that is not blurred has no pass of its own here.
                    for reach in reaches.filter(|reach| *reach > 0) {
                        self.add(rules::convolve(axis, rules::rounded_reach(reach, tiling)), false, false);
                    }
                }
            }
            Tiling::Tiled { .. } => {
                let [x, y] = reaches;
                let least = *x.start().max(y.start());
                for reach in least..=*x.end().max(y.end()) {
                    let rounded = rules::rounded_reach(reach, tiling);
                    self.add(rules::convolve_both(rounded, Beyond::Clamped), false, false);
                    self.add(rules::convolve_both(rounded, Beyond::Images), false, false);
                    // An axis that has stayed as it was still has its edges.
                    if octaves.contains(&0) {
                        self.add(rules::convolve_both(rounded, Beyond::Folded), false, false);
                    }
                }
            }
        }
    }
}
