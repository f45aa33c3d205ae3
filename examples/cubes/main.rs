#![allow(unsafe_code)]
mod body; mod collide; mod contact; mod cpu; mod math; mod problem; mod world; mod render; mod view;
#[path = "../support/mod.rs"] mod support;

fn main() {
    let get = |k: &str, d: f64| std::env::var(k).ok().and_then(|v| v.parse().ok()).unwrap_or(d);
    let model = problem::Model { dt: 1.0/get("HZ",60.0), gravity: 9.81, friction: get("MU",0.0), compliance: get("CFM", 0.01), slop: get("SLOP",0.005), tolerance: get("DEEP",0.002), recovery: get("REC",0.1) };
    let mut w = world::World::new(world::Wall { columns: 10, rows: 6, edge: 1.0 }, model);
    let mut e0 = w.energy();
    let first = e0;
    let verbose = get("V", 1.0) as usize;
    let mut total = 0; let mut worst = (0.0f64, 0.0f64, 0usize, 0usize);
    let frames = get("FRAMES", 180.0) as usize;
    let ctx = texla::Headless::new(Default::default()).unwrap();
    let r = unsafe { render::Renderer::new(ctx.glow(), (640, 360)) }.unwrap();
    let paint = palette(10, 6);
    let draw = get("DRAW", 0.0) as usize;
    let t0 = std::time::Instant::now();
    for f in 0..frames {
        let mut p = w.problem();
        let mut rounds = 0;
        let (x, sweeps, res, bmax) = loop {
            rounds += 1; total += 1;
        let mut x = p.start.clone();
        let mut sweeps = 0; let mut res: f64 = 0.0;
        let bmax = p.b.iter().fold(0.0f64, |m, b| m.max(b.abs()));
        for g in &p.groups {
            let d = cpu::Dense::new(&p, g);
            let mut y: Vec<f64> = g.iter().map(|&i| x[i]).collect();
            let bmax = d.b.iter().fold(0.0f64, |m, b| m.max(b.abs()));
            if verbose < 1000 && f % verbose == 0 && g.len() > 30 {
                let l = d.lambda();
                let (mut y1, mut y2) = (y.clone(), y.clone());
                let a = d.jacobi(&mut y1, get("OM", 1.9) / l, 1e-4 * bmax, 20000, false);
                let b = d.jacobi(&mut y2, 1.0 / l, 1e-4 * bmax, 20000, true);
                println!("   n {} lambda {l:.2} jacobi {a} accelerated {b}", g.len());
            }
            sweeps = sweeps.max(d.gauss_seidel(&mut y, get("TOL",1e-4) * bmax, 20000));
            res = res.max(d.residual(&y));
            for (&i, y) in g.iter().zip(y) { x[i] = y; }
        }

            match w.wider_problem(&p, &x) { Some(wider) if rounds < 4 => p = wider, _ => break (x, sweeps, res, bmax) }
        };
        w.advance(&p, &x);
        let e = w.energy();
        let deep = w.deepest();
        worst.0 = worst.0.max(e - e0); worst.1 = worst.1.max(deep); worst.2 = worst.2.max(p.len()); worst.3=worst.3.max(sweeps);
        if f % verbose == 0 {
        println!("{f:4} rounds {rounds} contacts {:4} n {:4} groups {:3} largest {:4} sweeps {sweeps:6} res {res:.1e} bmax {bmax:.2e} deepest {deep:.4} E {e:.3} dE {:+.2e} top {:.2}", w.contacts(), p.len(), p.groups.len(), p.groups.iter().map(|g| g.len()).max().unwrap_or(0), e - e0, w.top()); }
        e0 = e;
        if draw > 0 && f % draw == 0 {
            let t = std::time::Instant::now();
            let px = r.picture(&w.cubes, &paint);
            if f == 0 { println!("draw {:?}", t.elapsed()); }
            support::write_rgb(std::path::Path::new(&format!("/tmp/cubes/{f:04}.png")), 640, 360, &px).unwrap();
        }
    }
    println!("solves {total} E0 {first} worst growth {:.3e} rel {:.1e} deepest {:.4} n {} sweeps {} time {:?} hash {:x}", worst.0, worst.0/first, worst.1, worst.2, worst.3, t0.elapsed(), w.hash(0xcbf29ce484222325));
}

fn palette(columns: usize, rows: usize) -> Vec<[f32;3]> {
    let mut all = Vec::new();
    for row in 0..rows { for column in 0..columns {
        let shade = 0.88 + 0.12 * ((row * 7 + column * 5) % 4) as f32 / 3.0;
        let t = row as f32 / (rows - 1) as f32;
        let a = [0.70, 0.16, 0.10]; let b = [0.93, 0.62, 0.20];
        all.push([0,1,2].map(|k: usize| shade * (a[k] + (b[k] - a[k]) * t)));
    }}
    all.push([0.10, 0.16, 0.30]);
    all
}

pub fn env(k: &str, d: f64) -> f64 { std::env::var(k).ok().and_then(|v| v.parse().ok()).unwrap_or(d) }
