//! The language of recipes, by methods of a test's own: what reads something stale is refused, numbers that leave the range end a
//! run before anything moves, and scalar text computes in pairs of floats what it says.

use crate::common::harness::on_both;
use crate::common::pairs::is_exact;
use crate::systems::entries;
use texla::solve::{
    Krylov, Number, Own, OwnMethod, Recipe, Register, SolveReport, Space, Stop, StopReason, Store,
};
use texla::{Device, DoubleVector, Error, MatrixFormat, Result, StoredMatrix, Vector};

/// Steepest descent, with scalar text before that of the method.
#[derive(Clone, Debug)]
struct Probe {
    text: &'static str,
    also: Also,
}

thread_local! {
    /// The last register of a store with more of them.
    static ANOTHERS: std::cell::Cell<Option<Register>> = const { std::cell::Cell::new(None) };
}

/// What an iteration does besides.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Also {
    Nothing,
    /// Reads `z = r` once `r` is another one.
    ReadsStale,
    /// Sums squares of about 10⁶⁰, of which it uses nothing.
    SumsHuge,
    /// Eight sums in a step, or nine, of which each is held to another one.
    SumsEight,
    SumsNine,
    /// `r = M r`
    PreconditionsInPlace,
    /// `r = A r`, and `x = 0`
    WritesResidual,
    ClearsIterate,
    /// Says nothing of how far it is.
    CountsNothing,
    /// Reads what nothing has been written to, or what is another store's.
    ReadsUnwritten,
    ReadsAnothers,
}

struct Descent {
    q: Register,
    z: Register,
    alpha: Number,
    anothers: Register,
    probe: Probe,
}

impl Recipe for Descent {
    const NAME: &'static str = "a probe";
    const LOSES: bool = true;

    fn begin(&mut self, _: &mut Space<'_, '_>, _: bool) -> Result<()> {
        Ok(())
    }

    fn iterate(&mut self, s: &mut Space<'_, '_>) -> Result<()> {
        let Descent { q, z, alpha, .. } = *self;
        let (x, r) = (Space::X, Space::R);
        if self.probe.also == Also::SumsHuge {
            s.set(alpha, 1e30)?;
            s.update([z.sums().plus(alpha, r)])?;
            s.numbers([("zz", z.dot(z))], "probed = 1.0;")?;
        }
        match self.probe.also {
            Also::PreconditionsInPlace => s.precondition(r, r)?,
            Also::WritesResidual => s.product(r, r)?,
            Also::ClearsIterate => s.clear(x)?,
            Also::ReadsUnwritten => s.numbers([("rz", r.dot(z))], "probed = rz;")?,
            Also::ReadsAnothers => s.numbers([("rz", r.dot(self.anothers))], "probed = rz;")?,
            Also::CountsNothing => return s.numbers([("rr", r.dot(r))], "probed = rr;"),
            _ => {}
        }
        s.precondition(z, r)?;
        s.product(q, r)?;
        if matches!(self.probe.also, Also::SumsEight | Also::SumsNine) {
            // q = k r, z = (k + 1) r
            s.set(alpha, 1.0)?;
            s.update([z.is(r).plus(alpha, q)])?;
            let sums =
                [r.dot(r), r.dot(q), x.dot(x), q.dot(q), x.dot(r), z.dot(z), r.dot(z), z.dot(q), x.dot(z)];
            let names = ["s1", "s8", "xx", "s64", "xr", "s81", "s9", "s72", "xz"];
            let named: Vec<_> = names.into_iter().zip(sums).collect();
            // In pairs k is so large that k + 1 is told from it by pairs alone.
            let text = "
                float k = s8 / s1; float l = k + 1.0;
                float of_pairs = s1 + 1e-9 * s1 > s1 ? 1e-12 : 1e-5;
                breaks(!(abs(s64 - k * k * s1) <= of_pairs * s64), CURVATURE, s64);
                breaks(!(abs(s81 - l * l * s1) <= of_pairs * s81), CURVATURE, s81);
                breaks(!(abs(s9 - l * s1) <= of_pairs * s9), CURVATURE, s9);
                breaks(!(abs(s72 - k * l * s1) <= of_pairs * s72), CURVATURE, s72); // and a comment
                probed = k;";
            if self.probe.also == Also::SumsNine {
                s.numbers(<[_; 9]>::try_from(named).unwrap(), text)?;
            } else {
                s.numbers(<[_; 8]>::try_from(&named[..8]).unwrap(), text)?;
            }
        }
        let text =
            ["meets(rr);", self.probe.text, "breaks(rq <= 0.0, CURVATURE, rq); alpha = rr / rq; counts();"];
        s.numbers([("rq", r.dot(q)), ("rr", r.dot(r))], &text.concat())?;
        s.update([x.plus(alpha, r), r.minus(alpha, q)])?;
        match self.probe.also {
            Also::ReadsStale => s.numbers([("rz", r.dot(z))], "probed = rz;"),
            _ => Ok(()),
        }
    }

    fn tests_before(&self) -> bool {
        true
    }
}

impl OwnMethod for Probe {
    type Recipe = Descent;
    const NAME: &'static str = "Probe";

    fn stop(&self) -> Stop {
        Stop::relative(1e-6)
    }

    fn recipe(&self, store: &mut Store) -> Result<Descent> {
        let [q, z] = store.registers();
        let [alpha] = store.coefficients(["alpha"])?;
        let _ = store.numbers(["probed"])?;
        if self.also == Also::Nothing {
            let [.., last] = store.registers::<5>();
            ANOTHERS.set(Some(last));
        }
        let anothers = ANOTHERS.get().unwrap_or(z);
        Ok(Descent { q, z, alpha, anothers, probe: self.clone() })
    }
}

fn eights(device: &Device) -> StoredMatrix {
    let a = entries(6, 6, (0..6).map(|i| (i, i, 8.0)));
    StoredMatrix::new(device, a, MatrixFormat::Auto).unwrap()
}

fn solve(device: &Device, text: &'static str, also: Also) -> Result<(SolveReport, Vec<f32>)> {
    let a = eights(device);
    let b = Vector::filled(device, 6, 4.0)?;
    let mut x = Vector::zeros(device, 6)?;
    let report = Krylov::new(&a, Own(Probe { text, also }))?.solve(&mut x, &b)?;
    Ok((report, x.read()?))
}

#[test]
fn what_reads_something_stale_is_refused() {
    on_both(|device| {
        let (report, x) = solve(device, "", Also::Nothing).unwrap();
        assert!(report.converged() && x == [0.5; 6], "{report:?}, {x:?}");
        for (also, expected) in [
            (Also::ReadsStale, "`Space::R`, which another register stands for"),
            (Also::ReadsUnwritten, "register 1 of its store, from 0 on, which is read before it is written"),
            (Also::ReadsAnothers, "which is of another store"),
        ] {
            let error = solve(device, "", also).unwrap_err();
            assert!(matches!(error, Error::Parameter { op: "Recipe", name: "register", .. }), "{error}");
            assert!(error.to_string().contains(expected), "{error}");
        }
        let error = solve(device, "probed = unknown;", Also::Nothing).unwrap_err();
        let Error::Shader { kernel, .. } = &error else { panic!("{error}") };
        assert!(kernel.contains("probed = unknown;"), "{error}");
    });
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    on_both(|device| {
        let refused = |text, also| match solve(device, text, also) {
            Err(Error::Parameter { op, name, .. }) => (op, name),
            other => panic!("{text} {also:?}: {other:?}"),
        };
        assert_eq!(refused("", Also::SumsNine), ("Space::numbers", "dots"));
        assert_eq!(refused("", Also::PreconditionsInPlace), ("Space::precondition", "z"));
        assert_eq!(refused("", Also::WritesResidual), ("Space", "a register to write"));
        assert_eq!(refused("", Also::ClearsIterate), ("Space", "a register to write"));
        assert_eq!(refused("", Also::CountsNothing), ("Recipe::iterate", "text"));
        for text in
            ["probed /= 2.0;", "probed++;", "discard;", "for (int i = 0; i < 2; ++i) probed = 1.0;", "/* */"]
        {
            assert_eq!(refused(text, Also::Nothing), ("Space::numbers", "text"), "{text}");
        }
        // A comment ends with its line.
        let (report, _) =
            solve(device, "probed = 1.0; // forward\n probed = 2.0; // return\n", Also::Nothing).unwrap();
        assert!(report.converged(), "{report:?}");
    });
}

#[test]
fn eight_sums_are_taken_in_a_step() {
    on_both(|device| {
        let (report, _) = solve(device, "", Also::SumsEight).unwrap();
        assert!(report.converged(), "{report:?}");
        if !is_exact(device) {
            return;
        }
        let a = eights(device);
        let right: Vec<f64> = (0..6).map(|i| 1.0 + f64::from(i) / 7.0).collect();
        let b = DoubleVector::from_f64(device, &right).unwrap();
        let mut x = DoubleVector::zeros(device, 6).unwrap();
        // In 32 bits nothing is done.
        let text = "float u = rr / (3.0 * rr); float v = u + 1e-9; breaks(v <= u, CURVATURE, 1.0);";
        let solver = Krylov::new(&a, Own(Probe { text, also: Also::SumsEight })).unwrap();
        let report = solver.solve(&mut x, &b).unwrap();
        assert!(report.converged() && report.double_iterations > 0, "{report:?}");
    });
}

#[test]
fn numbers_that_leave_the_range_end_a_run_before_anything_moves() {
    on_both(|device| {
        let (report, x) = solve(device, "probed = 3.0e38 * (rr / rr);", Also::Nothing).unwrap();
        assert!(report.converged(), "{report:?}, {x:?}");
        for text in [
            "probed = 3.0e38 * (rr / rr) * 16.0;",
            "breaks(false, CURVATURE, 3.0e38 * (rr / rr) * 16.0);",
            "bounded(3.0e38 * (rr / rr) * 16.0);",
        ] {
            let (report, x) = solve(device, text, Also::Nothing).unwrap();
            assert_eq!((report.reason, report.iterations), (StopReason::Diverged, 0), "{text} {report:?}");
            assert_eq!(x, [0.0; 6], "{text}");
        }
        let (report, x) = solve(device, "", Also::SumsHuge).unwrap();
        assert_eq!((report.reason, report.iterations), (StopReason::Diverged, 0), "{report:?}");
        assert_eq!(x, [0.0; 6]);
        let (report, x) =
            solve(device, "breaks(rr > 0.0, CURVATURE, -7.0 * (rr / rr));", Also::Nothing).unwrap();
        let broken = report.breakdown.map(|broken| (broken.quantity, broken.value));
        assert_eq!((report.reason, broken), (StopReason::Breakdown, Some(("p.Ap", -7.0))));
        assert_eq!(x, [0.0; 6]);
    });
}

/// Each of them leaves `off`, which is far less than 32 bits can tell.
const IN_PAIRS: [&str; 17] = [
    "float off = -u + u;",
    "float off = (u / 3.0) * 3.0 - u;",
    "float off = (3.0 / u) * u - 3.0;",
    "float off = (v / u) * u - v;",
    "float root = sqrt(u); float off = root * root - u;",
    "float off = (1.0 - u) + u - 1.0;",
    "float off = (u - 1.0) + 1.0 - u;",
    "float off = max(u, v) - v;",
    "float off = min(u, v) - u;",
    "float off = max(v, u) - v;",
    "float off = min(v, u) - u;",
    "float off = min(u, 1.0) - u;",
    "float off = min(u, 0.25) - 0.25;",
    "float off = max(u, 0.0) - u;",
    "float off = max(u, 0.5) - 0.5;",
    "float off = abs(-u) - u; if (abs(u) < 0.0) { off = 1.0; }",
    "float hypot = hypotenuse(3.0 * u, 4.0 * u); float off = hypot - 5.0 * u;",
];

#[test]
fn scalar_text_computes_in_pairs() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let a = eights(device);
        let right: Vec<f64> = (0..6).map(|i| 1.0 + f64::from(i) / 7.0).collect();
        let b = DoubleVector::from_f64(device, &right).unwrap();
        for off in IN_PAIRS {
            // In 32 bits nothing is done; u and v are 1/3 and a little more, by pairs.
            let text = format!(
                "float u = rr / (3.0 * rr); float v = u + 1e-9;
                breaks(v <= u, CURVATURE, 1.0);
                {off}
                breaks(max(off, 0.0 - off) > 2e-13, INDEFINITE, off);"
            );
            let text: &'static str = Box::leak(text.into_boxed_str());
            let mut x = DoubleVector::zeros(device, 6).unwrap();
            let solver = Krylov::new(&a, Own(Probe { text, also: Also::Nothing })).unwrap();
            let report = solver.solve(&mut x, &b).unwrap();
            assert!(report.converged() && report.double_iterations > 0, "{off} {report:?}");
        }
    });
}

#[test]
fn functions_of_scalar_text_keep_within_the_range() {
    on_both(|device| {
        for text in [
            "float h = hypotenuse(3.0e25 * (rr / rr), 4.0e25); probed = h / 5.0e25;",
            "float h = hypotenuse(3.0e-25 * (rr / rr), 4.0e-25); probed = h / 5.0e-25;",
            "float h = hypotenuse(-3.0e25 * (rr / rr), 0.0); probed = h / 3.0e25;",
            "float h = hypotenuse(0.0, -3.0e-25 * (rr / rr)); probed = h / 3.0e-25;",
            "probed = cosine(-1.0e30 * (rr / rr), 1.0e30, 1.0e30) + 2.0;",
            "probed = cosine(1.0e-30 * (rr / rr), 1.0e-30, 1.0e-30);",
        ] {
            let text = format!("{text} breaks(!(abs(probed - 1.0) < 1e-5), CURVATURE, probed);");
            let (report, _) = solve(device, Box::leak(text.into_boxed_str()), Also::Nothing).unwrap();
            assert!(report.converged(), "{report:?}");
        }
    });
}
