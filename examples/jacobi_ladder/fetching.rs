//! The rate at which the device fetches what lies in its cache.

use std::rc::Rc;

use texla::{Device, Vector};

use crate::support::Result;
use crate::support::ceiling::Draw;
use crate::support::clock::{self, Job};

/// Fetching texels that neighbours fetch too, by windows of several sizes, each with the texels that it fetches.
pub struct Fetching(Vec<(Job<'static>, f64)>);

impl Fetching {
    /// By as many fragments as `n` elements have.
    pub fn new(device: &Device, n: usize) -> Result<Self> {
        let x = Rc::new(Vector::filled(device, n, 1.0)?);
        let job = |side: u32| {
            let draw = Draw::window(side, "x_placed(c +", "x_step() * vec2(i, j)", &x, n)?;
            Ok((draw.job(device), f64::from(side * side) * x.extent().area() as f64))
        };
        Ok(Fetching([3, 4, 6, 8].into_iter().map(job).collect::<Result<_>>()?))
    }

    /// Texels a second, at best.
    pub fn rate(&mut self, device: &Device, seconds: f64) -> Result<f64> {
        self.0.iter_mut().try_fold(0.0_f64, |best, (job, texels)| {
            let times = clock::often(device, job, seconds)?;
            Ok(best.max(*texels / clock::round(device, job, times)?))
        })
    }
}
