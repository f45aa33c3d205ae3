//! Measured schedules: kept for the process, written and read, never against what a device can do.

mod common;

use common::harness::{headless_with, limits, on_both};
use common::hostile::Host;
use common::state::assert_same;
use texla::gl::Api;
use texla::ops::{self, CALIBRATED_SIDES, Calibration, MatmulForm, MatmulSchedule, Reason};
use texla::{Device, Error, Matrix, Shape};

fn product(dev: &Device, side: usize) -> ops::MatmulReport {
    let a = Matrix::filled(dev, Shape::new(side, side), 1.0).unwrap();
    let mut c = Matrix::zeros(dev, Shape::new(side, side)).unwrap();
    let report = ops::matmul_with(&mut c, MatmulForm::Plain, &a, &a, MatmulSchedule::Auto).unwrap();
    assert_eq!(c.element(side - 1, side / 2).unwrap(), side as f32);
    report
}

/// One test, since what it is about is kept for the whole process.
#[test]
fn measured_choices() {
    on_both(|dev| {
        assert_eq!(product(dev, 64).reason, Reason::Rule);
        let host = Host::new(dev.glow());
        dev.trim().unwrap();
        let (live, state) = (dev.live_objects().textures, host.snapshot());
        let made = ops::calibrate(dev).unwrap();
        assert_same(&state, &host.snapshot(), "calibrate");
        dev.trim().unwrap();
        assert_eq!(dev.live_objects().textures, live);
        assert_eq!(made.choices().iter().map(|c| c.0).collect::<Vec<_>>(), CALIBRATED_SIDES);
        for (side, schedule) in made.choices() {
            let report = product(dev, *side);
            assert_eq!((report.schedule, report.reason), (*schedule, Reason::Measured), "{side}");
        }
        // Where shapes have a schedule of their own, nothing was measured.
        let column = Matrix::filled(dev, Shape::new(64, 1), 1.0).unwrap();
        let mut c = Matrix::zeros(dev, Shape::new(64, 64)).unwrap();
        let outer = ops::matmul_with(&mut c, MatmulForm::TransposedB, &column, &column, MatmulSchedule::Auto)
            .unwrap();
        assert_eq!((outer.schedule, outer.reason), (MatmulSchedule::Outer, Reason::Rule));

        let path =
            std::env::temp_dir().join(format!("texla-calibration-{}-{}", std::process::id(), dev.api()));
        made.save(&path).unwrap();
        assert_eq!(Calibration::load(&path).unwrap(), made);
        Calibration::forget(dev);
        assert_eq!(product(dev, 512).reason, Reason::Rule);
        assert!(Calibration::load(&path).unwrap().apply(dev).unwrap());
        assert_eq!(product(dev, 512).reason, Reason::Measured);
        std::fs::write(&path, "texla matmul calibration 1\ngl33\nsome GPU\n1.0\n64 split 9\n").unwrap();
        let e = Calibration::load(&path).unwrap_err();
        let said = e.to_string();
        assert!(matches!(&e, Error::File { path: p, .. } if *p == path.display().to_string()), "{e}");
        assert!(said.contains("line 5") && said.contains("`64 split 9`"), "{said}");
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(Calibration::load(&path), Err(Error::File { .. })));

        // Another device's choice is not this one's, and a smaller one cannot do what a larger one can.
        let text = made.to_string();
        let other: Calibration =
            text.replace(&dev.capabilities().renderer, "another renderer").parse().unwrap();
        assert!(!other.apply(dev).unwrap());
        let eight = format!("{}\n", text.lines().take(4).collect::<Vec<_>>().join("\n")) + "64 split 8\n";
        let eight: Calibration = eight.parse().unwrap();
        assert!(eight.apply(dev).unwrap());
        if dev.api() == Api::Gl33 {
            let small = headless_with(Api::Gl33, limits().with_max_draw_buffers(Some(2)));
            assert_eq!(product(small.device(), 128).schedule, MatmulSchedule::OnePass);
        }
        Calibration::forget(dev);
        for bad in
            ["", "texla matmul calibration 2\n", "texla matmul calibration 1\nvulkan\nx\ny\n64 split 8\n"]
        {
            assert!(bad.parse::<Calibration>().is_err(), "{bad:?}");
        }
        for end in ["", "0 split 8\n", "64\n", "64 split 8 8\n", "99999999999999999999 split 8\n"] {
            let bad = format!("texla matmul calibration 1\ngl33\nx\ny\n{end}");
            assert!(bad.parse::<Calibration>().is_err(), "{bad:?}");
        }
    });
}
