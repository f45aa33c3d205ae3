//! From one layout to another on the device: bit for bit, padding zero.

mod common;

use common::bounds::bits;
use common::harness::{assert_padded, on_both};
use common::random::any_bits;
use texla::{Device, Error, Layout, Packed, Shape, Vector, ops};

const ALL: [Layout; 5] = [Layout::Folded, Layout::Column4, Layout::Block2x2, Layout::Single, Layout::Batch4];

/// No elements, one, strips, primes, 4m ± 1, 2m ± 1, powers of two; only those that every layout can hold here.
fn shapes(dev: &Device) -> Vec<Shape> {
    let sides =
        [(0, 0), (0, 5), (5, 0), (1, 1), (1, 2), (2, 1), (3, 3), (4, 4), (5, 3), (3, 5), (2, 7), (7, 2)];
    let more =
        [(1, 61), (61, 1), (13, 17), (15, 16), (16, 17), (17, 15), (31, 33), (63, 64), (64, 61), (53, 59)];
    let large = [(1, 1021), (1021, 1), (127, 129), (257, 255), (1009, 64)];
    let limit = dev.capabilities().max_texture_size;
    let all = sides.iter().chain(&more).chain(&large).map(|(rows, cols)| Shape::new(*rows, *cols));
    all.filter(|s| ALL.iter().all(|l| l.extent(*s, limit).is_ok())).collect()
}

/// All texels: the elements where they belong, zero elsewhere, as the host would have packed them.
fn assert_packed(p: &Packed, values: &[f32], what: &str) {
    let expected = p.layout().texels(p.shape(), p.extent(), values).unwrap();
    assert!(bits(&p.read_texels().unwrap()) == bits(&expected), "{what}: {:?} of {}", p.layout(), p.shape());
    assert!(bits(&p.read().unwrap()) == bits(values), "{what}: {:?} of {}", p.layout(), p.shape());
}

#[test]
fn between_any_two_layouts() {
    on_both(|dev| {
        for shape in shapes(dev) {
            let values = any_bits(shape.rows as u64, shape.len());
            for from in ALL {
                let source = Packed::from_rows(dev, shape, from, &values).unwrap();
                assert_packed(&source, &values, "uploaded");
                for to in ALL {
                    let there = source.repack(to).unwrap();
                    assert_packed(&there, &values, &format!("from {from:?}"));
                }
            }
        }
    });
}

#[test]
fn into_a_target_that_held_something_else() {
    on_both(|dev| {
        let shape = Shape::new(13, 7);
        let values = any_bits(1, shape.len());
        for from in ALL {
            let source = Packed::from_rows(dev, shape, from, &values).unwrap();
            for to in ALL {
                let mut target = Packed::from_rows(dev, shape, to, &any_bits(2, shape.len())).unwrap();
                let before = dev.counters();
                ops::repack(&mut target, &source).unwrap();
                let done = dev.counters().since(&before);
                assert_eq!((done.draws, done.readbacks, done.uploads), (1, 0, 0));
                assert_packed(&target, &values, &format!("from {from:?}"));
            }
        }
    });
}

#[test]
fn vectors_to_arrays_and_back() {
    on_both(|dev| {
        for shape in shapes(dev) {
            let values = any_bits(7, shape.len());
            let x = Vector::from_slice(dev, &values).unwrap();
            for layout in ALL {
                let there = x.to_packed(shape, layout).unwrap();
                assert_packed(&there, &values, "from a vector");
                let back = there.to_vector().unwrap();
                assert!(bits(&back.read().unwrap()) == bits(&values), "{layout:?} of {shape}");
                assert_padded(&back, "to_vector");
            }
        }
    });
}

/// The same elements under several shapes: 12 = 3x4 = 4x3 = 2x6 = 12x1.
#[test]
fn a_vector_has_every_shape_of_its_length() {
    on_both(|dev| {
        let values = any_bits(9, 12);
        let x = Vector::from_slice(dev, &values).unwrap();
        for (rows, cols) in [(3, 4), (4, 3), (2, 6), (6, 2), (12, 1), (1, 12)] {
            for layout in ALL {
                assert_packed(&x.to_packed(Shape::new(rows, cols), layout).unwrap(), &values, "reshaped");
            }
        }
    });
}

/// Whatever stands in the texture that the pool gives.
#[test]
fn zeros_are_zero_in_every_texel() {
    on_both(|dev| {
        for shape in shapes(dev) {
            for layout in ALL {
                let used = vec![7.0; shape.len()];
                let allocated =
                    Packed::from_rows(dev, shape, layout, &used).map(|_| dev.pool_stats().allocated);
                let made = Packed::zeros(dev, shape, layout).unwrap();
                assert_eq!(dev.pool_stats().allocated, allocated.unwrap(), "what was used comes back");
                assert_eq!((made.shape(), made.layout()), (shape, layout));
                assert!(made.read_texels().unwrap().iter().all(|v| v.to_bits() == 0), "{made:?}");
                assert!(bits(&made.read().unwrap()) == bits(&vec![0.0; shape.len()]), "{made:?}");
            }
        }
        let x = Vector::from_slice(dev, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        let mut target = Packed::zeros(dev, Shape::new(2, 3), Layout::Single).unwrap();
        ops::repack(&mut target, &x.to_packed(Shape::new(2, 3), Layout::Block2x2).unwrap()).unwrap();
        assert_packed(&target, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "a target");
        let row = Shape::new(1, dev.capabilities().max_texture_size as usize + 1);
        let before = dev.live_objects();
        let refused = Packed::zeros(dev, row, Layout::Single);
        assert!(matches!(refused, Err(Error::TooLarge { .. })), "{refused:?}");
        assert_eq!(dev.live_objects(), before);
    });
}

#[test]
fn what_does_not_fit_is_refused() {
    on_both(|dev| {
        let small = Packed::from_rows(dev, Shape::new(2, 3), Layout::Single, &[1.0; 6]).unwrap();
        let mut target = Packed::from_rows(dev, Shape::new(3, 2), Layout::Single, &[2.0; 6]).unwrap();
        let (found, expected) = (Shape::new(2, 3), Shape::new(3, 2));
        let e = ops::repack(&mut target, &small).unwrap_err();
        assert_eq!(e, Error::ShapeMismatch { op: "repack", operand: "x", found, expected });
        assert_eq!(target.read().unwrap(), [2.0; 6]);

        let x = Vector::filled(dev, 6, 1.0).unwrap();
        let e = x.to_packed(Shape::new(2, 4), Layout::Column4).err().unwrap();
        assert!(matches!(e, Error::ShapeMismatch { op: "repack_vector", operand: "x", .. }), "{e}");
        let e = Packed::from_rows(dev, Shape::new(2, 3), Layout::Folded, &[1.0; 5]).err().unwrap();
        let (op, operand) = ("Packed::from_rows", "values");
        assert_eq!(e, Error::LengthMismatch { op, operand, found: 5, expected: 6 });

        // Four elements of a column to a texel: a row of `limit + 1` elements fits as a vector, not as a row.
        let limit = dev.capabilities().max_texture_size as usize;
        let row = Shape::new(1, limit + 1);
        let long = Vector::filled(dev, row.len(), 1.0).unwrap();
        let before = dev.live_objects();
        for layout in [Layout::Column4, Layout::Single] {
            let e = long.to_packed(row, layout).err().unwrap();
            assert!(matches!(e, Error::TooLarge { .. }), "{e}");
        }
        assert_eq!(dev.live_objects(), before);
        assert!(long.to_packed(row, Layout::Batch4).is_ok());
    });
}

#[test]
fn arrays_of_another_device_are_refused() {
    on_both(|dev| {
        let other = common::harness::headless(dev.api());
        let shape = Shape::new(2, 2);
        let there = Packed::from_rows(other.device(), shape, Layout::Single, &[1.0; 4]).unwrap();
        let mut here = Packed::from_rows(dev, shape, Layout::Single, &[2.0; 4]).unwrap();
        let e = ops::repack(&mut here, &there).unwrap_err();
        assert!(matches!(&e, Error::WrongDevice { operand, .. } if operand == "x"), "{e}");
        assert_eq!(here.read().unwrap(), [2.0; 4]);
    });
}
