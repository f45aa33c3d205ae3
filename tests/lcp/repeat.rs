//! Results depend on the problem alone: not on when the host looks, nor on how often a solve is repeated.

use crate::common::harness::on_both;
use crate::common::systems::gather_fits;
use crate::problems::{bits, generated, solve};
use texla::MatrixFormat;
use texla::solve::{LcpParams, Relaxation, Stop};

#[test]
fn looks_do_not_change_the_result() {
    on_both(|device| {
        for lcp in generated() {
            if !gather_fits(device, &lcp.a) {
                continue;
            }
            for (relaxation, tol, max_sweeps) in [
                (Relaxation::Accelerated, 1e-4, 20_000),
                (Relaxation::Accelerated, 1e-9, 21),
                (Relaxation::Estimated, 1e-3, 20_000),
                (Relaxation::Fixed(0.4), 1e-3, 100),
            ] {
                let run = |every| {
                    let params = LcpParams::default()
                        .with_max_sweeps(max_sweeps)
                        .with_stop(Stop::relative(tol).check_every(every))
                        .with_relaxation(relaxation);
                    let (x, report) = solve(device, &lcp, MatrixFormat::Auto, params)
                        .unwrap_or_else(|e| panic!("{} {relaxation:?}: {e}", lcp.name));
                    assert_eq!(report.history.first().map(|h| h.iteration), Some(0));
                    assert!(
                        report.history.windows(2).all(|w| w[0].iteration < w[1].iteration),
                        "{:?}",
                        report.history
                    );
                    assert!(
                        report
                            .history
                            .iter()
                            .all(|h| h.iteration <= report.outcome.sweeps && h.residual.is_finite())
                    );
                    (bits(&x), report.outcome, report.certifications)
                };
                let once = run(1);
                for every in [1, 3, 8, 16, 100] {
                    assert_eq!(run(every), once, "{} {relaxation:?} every {every}", lcp.name);
                }
            }
        }
    });
}
