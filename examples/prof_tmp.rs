use std::time::Instant;
use texla::kernel::*;
use texla::*;
fn main() {
    let c = Headless::new(HeadlessOptions::default()).unwrap();
    let d = c.device();
    let _s = d.scope().unwrap();
    let n = 512 * 512;
    let v: Vec<Vector> = (0..8).map(|i| Vector::filled(d, n, 1.0 + i as f32).unwrap()).collect();
    let mut o: Vec<Vector> = (0..3).map(|_| Vector::zeros(d, n).unwrap()).collect();
    let time = |name: &str, f: &mut dyn FnMut()| {
        for _ in 0..5 {
            f();
        }
        d.finish().unwrap();
        let mut best = f64::MAX;
        for _ in 0..8 {
            let t = Instant::now();
            for _ in 0..20 {
                f();
            }
            d.finish().unwrap();
            best = best.min(t.elapsed().as_secs_f64() / 20. * 1e3);
        }
        println!("{name:40} {best:.3} ms");
    };
    let co = Scalar::new(d, 0.5).unwrap();
    let run3 = |name: &str, body: &str, o: &mut Vec<Vector>| {
        let k = Kernel::<NoParams>::with_outputs(d, "k", ["x", "r", "d", "q", "c"], 3, body).unwrap();
        let [a, b, e] = &mut o[..] else { panic!() };
        time(name, &mut || {
            k.run_many(
                [a as &mut dyn TargetOperand, b, e],
                [&v[0], &v[1], &v[2], &v[3], &co],
                &NoParams,
                Domain::Full,
                Accum::Replace,
                Predicate::Always,
            )
            .unwrap()
        });
    };
    run3(
        "update branch",
        "void kernel(ivec2 p, out vec4 a, out vec4 b, out vec4 e){ vec4 s=c_at(ivec2(0)); vec4 d4=d(p); a=x(p); b=r(p); e=d4; if (s.z==0.0){ a+=s.x*d4; b-=s.x*q(p); e=b+s.y*d4; } }",
        &mut o,
    );
    run3(
        "update no branch",
        "void kernel(ivec2 p, out vec4 a, out vec4 b, out vec4 e){ vec4 s=c_at(ivec2(0)); vec4 d4=d(p); a=x(p)+s.x*d4; b=r(p)-s.x*q(p); e=b+s.y*d4; }",
        &mut o,
    );
    run3(
        "update no coef",
        "void kernel(ivec2 p, out vec4 a, out vec4 b, out vec4 e){ vec4 s=vec4(0.5); vec4 d4=d(p); a=x(p)+s.x*d4; b=r(p)-s.x*q(p); e=b+s.y*d4; }",
        &mut o,
    );
    run3(
        "3 copies",
        "void kernel(ivec2 p, out vec4 a, out vec4 b, out vec4 e){ a=x(p); b=r(p); e=d(p); }",
        &mut o,
    );
    let mut run1 = |name: &str, body: &str| {
        let k = Kernel::<NoParams>::new(d, "k", ["x", "r", "d", "q", "c"], body).unwrap();
        let a = &mut o[0];
        time(name, &mut || k.run(a, [&v[0], &v[1], &v[2], &v[3], &co], &NoParams).unwrap());
    };
    run1("1 of update (x)", "vec4 kernel(ivec2 p){ vec4 s=c_at(ivec2(0)); return x(p)+s.x*d(p); }");
    run1("copy", "vec4 kernel(ivec2 p){ return x(p); }");
    run1("add", "vec4 kernel(ivec2 p){ return x(p)+r(p); }");
    run1("add4", "vec4 kernel(ivec2 p){ return x(p)+r(p)+d(p)+q(p); }");
    run1("add4 self", "vec4 kernel(ivec2 p){ return x(p)+x(p+ivec2(1,0))+x(p-ivec2(1,0))+x(p+ivec2(0,1)); }");
    run1(
        "add4 texel",
        "vec4 kernel(ivec2 p){ int t=texel_index(p); return x_texel(t)+x_texel(t+1)+x_texel(t-1)+x_texel(t+128); }",
    );
    run1(
        "add9",
        "vec4 kernel(ivec2 p){ int t=texel_index(p); return x_texel(t)+x_texel(t+1)+x_texel(t-1)+x_texel(t+128)+x_texel(t-128)+r(p)+d(p)+q(p); }",
    );
    let mut small = Vector::zeros(d, 64 * 64 * 4).unwrap();
    for (w, nm) in [(4, "4x4->64x64")] {
        let body = |t: &str| {
            format!(
                "vec4 kernel(ivec2 p) {{ ivec2 f=p*{w}; vec4 s=vec4(0.0); for(int j=f.y;j<f.y+{w};++j) for(int i=f.x;i<f.x+{w};++i) {{ ivec2 z=ivec2(i,j); {t} }} return s; }}"
            )
        };
        for (l, t) in [
            ("1", "s+=x_at(z);"),
            ("2", "s+=x_at(z)*r_at(z);"),
            (
                "3 vec4(dots)",
                "vec4 q4=q_at(z), r4=r_at(z), d4=d_at(z); s+=vec4(dot(d4,q4),dot(q4,q4),dot(r4,r4),dot(r4,r4));",
            ),
            (
                "3 sum4",
                "vec4 q4=q_at(z), r4=r_at(z), d4=d_at(z); vec4 a=d4*q4,b=q4*q4,e=r4*r4; s+=vec4((a.x+a.y)+(a.z+a.w),(b.x+b.y)+(b.z+b.w),(e.x+e.y)+(e.z+e.w),0.0);",
            ),
            ("3 fetch only", "s+=q_at(z)+r_at(z)+d_at(z);"),
        ] {
            let k = Kernel::<NoParams>::new(d, "k", ["x", "r", "d", "q", "c"], &body(t)).unwrap();
            time(&format!("{nm} {l}"), &mut || {
                k.run(&mut small, [&v[0], &v[1], &v[2], &v[3], &co], &NoParams).unwrap()
            });
        }
    }
}
