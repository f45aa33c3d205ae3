use std::time::Instant;
use texla::ops::*;
use texla::solve::*;
use texla::*;
fn main() {
    let c = Headless::new(HeadlessOptions::default()).unwrap();
    let d = c.device();
    let n = 512 * 512;
    let a = BandedMatrix::poisson_2d(d, 512, 512).unwrap();
    let b = Vector::filled(d, n, 1.0).unwrap();
    for sch in [CgSchedule::Merged, CgSchedule::Listing] {
        for w in [8, 16, 32] {
            for every in [16, 64] {
                let p = CgParams {
                    max_iters: 200,
                    stop: Stop::relative(1e-12).check_every(every),
                    schedule: sch,
                    window: Window::new(w, w).unwrap(),
                };
                let mut best = f64::MAX;
                for _ in 0..3 {
                    let mut x = Vector::zeros(d, n).unwrap();
                    let t = Instant::now();
                    let r = ConjugateGradient::new(&a, p).unwrap().solve(&mut x, &b).unwrap();
                    d.finish().unwrap();
                    best = best.min(t.elapsed().as_secs_f64() / r.iterations as f64 * 1e3);
                }
                println!("{sch:?} window {w} every {every}: {best:.3} ms/it");
            }
        }
    }
}
