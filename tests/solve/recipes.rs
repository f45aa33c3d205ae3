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

/// What an iteration does besides.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Also {
    Nothing,
    /// Reads `z = r` once `r` is another one.
    ReadsStale,
    /// Sums squares of about 10⁶⁰, of which it uses nothing.
    SumsHuge,
}

struct Descent {
    q: Register,
    z: Register,
    alpha: Number,
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
        s.precondition(z, r)?;
        s.product(q, r)?;
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
        Ok(Descent { q, z, alpha, probe: self.clone() })
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
        let error = solve(device, "", Also::ReadsStale).unwrap_err();
        assert!(matches!(error, Error::Internal { place: "Space", .. }), "{error}");
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
