//! scratch
mod flow; mod table;
use texla::{Headless, HeadlessOptions};
use texla::sim::fluid::Advection;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let n: usize = a[1].parse().unwrap(); let dt: f64 = a[2].parse().unwrap(); let end: f64 = a[3].parse().unwrap();
    let adv = if a[4] == "sl" { Advection::SemiLagrangian } else { Advection::MacCormack };
    let ctx = Headless::new(HeadlessOptions::default()).unwrap();
    let mut c = flow::Cavity::new(ctx.device(), n, adv).unwrap();
    let steps = (end / dt) as usize;
    let t = std::time::Instant::now();
    let mut before = c.profiles().unwrap();
    for k in 1..=steps {
        let r = c.fluid.step(dt).unwrap();
        if k % (steps / 10).max(1) == 0 {
            let p = c.profiles().unwrap();
            let change = p.u.iter().zip(&before.u).map(|(a, b)| (a.1 - b.1).abs()).fold(0.0, f64::max);
            println!("{k} t {:.2} it {} {:?} du {:?} dv {:?} change {change:.2e} div {:e} {:.1}s", k as f64 * dt, r.iterations, r.residual, table::deviation(&p.u, &table::U), table::deviation(&p.v, &table::V), c.fluid.max_divergence().unwrap(), t.elapsed().as_secs_f64());
            before = p;
        }
    }
}
