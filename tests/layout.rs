//! The maps between matrix elements and texels.

use std::collections::HashSet;

use texla::shape::{Place, fold_extent, max_folded_len};
use texla::{Error, Extent, Layout, Shape};

const ALL: [Layout; 5] = [Layout::Folded, Layout::Column4, Layout::Block2x2, Layout::Single, Layout::Batch4];
const LIMITS: [u32; 3] = [64, 1024, 16_384];

/// 0x0, 1x1, 1xn, nx1, primes, 4m±1, 2m±1 and their pairs, powers of two.
fn shapes() -> Vec<Shape> {
    let sides = [0, 1, 2, 3, 4, 5, 7, 8, 9, 11, 13, 15, 16, 17, 31, 50, 53, 63, 64];
    let mut shapes: Vec<_> =
        sides.iter().flat_map(|&r| sides.iter().map(move |&c| Shape::new(r, c))).collect();
    for n in [97, 127, 128, 129, 1021, 4095, 4096, 4097, 10_007, 16_383, 16_384] {
        shapes.extend([Shape::new(1, n), Shape::new(n, 1)]);
    }
    shapes
}

fn places(extent: Extent) -> impl Iterator<Item = Place> {
    let rows = (0..extent.height).flat_map(move |y| (0..extent.width).map(move |x| (x, y)));
    rows.flat_map(|(x, y)| (0..4).map(move |channel| Place { x, y, channel }))
}

#[test]
fn elements_and_places_are_a_bijection() {
    for layout in ALL {
        for shape in shapes() {
            for limit in LIMITS {
                let Ok(extent) = layout.extent(shape, limit) else { continue };
                assert!(extent.width <= limit && extent.height <= limit, "{layout:?} {shape} {extent}");
                let mut taken = HashSet::new();
                for row in 0..shape.rows {
                    for col in 0..shape.cols {
                        let place = layout.place(shape, extent, row, col).expect("a place");
                        assert!(place.x < extent.width && place.y < extent.height && place.channel < 4);
                        assert_eq!(
                            layout.element(shape, extent, place),
                            Some((row, col)),
                            "{layout:?} {shape}"
                        );
                        assert!(taken.insert(place), "{layout:?} {shape}: {place:?} twice");
                    }
                }
                for place in places(extent) {
                    let element = layout.element(shape, extent, place);
                    assert_eq!(element.is_some(), taken.contains(&place), "{layout:?} {shape} {place:?}");
                }
                if limit == 64 && extent.area() < 400 {
                    larger_extents_work_too(layout, shape, extent);
                }
            }
        }
    }
}

fn larger_extents_work_too(layout: Layout, shape: Shape, extent: Extent) {
    let extent = Extent::new(extent.width + 3, extent.height + 2);
    let found: HashSet<_> = places(extent).filter_map(|p| layout.element(shape, extent, p)).collect();
    let number = places(extent).filter(|&p| layout.element(shape, extent, p).is_some()).count();
    assert_eq!((found.len(), number), (shape.len(), shape.len()), "{layout:?} {shape}");
    for (row, col) in found {
        let place = layout.place(shape, extent, row, col).expect("a place");
        assert_eq!(layout.element(shape, extent, place), Some((row, col)));
    }
}

#[test]
fn padding_is_what_the_shape_leaves_over() {
    // (shape, padding of Folded, Column4, Block2x2, Single, Batch4)
    let table = [
        (Shape::new(0, 0), [0, 0, 0, 0, 0]),
        (Shape::new(1, 1), [3, 3, 3, 3, 3]),
        (Shape::new(4, 4), [0, 0, 0, 48, 0]),
        (Shape::new(5, 3), [1, 9, 9, 45, 1]), // 4 texels; 3x2; 2x3; 3x5; 4 texels
        (Shape::new(3, 5), [1, 5, 9, 45, 1]),
        (Shape::new(17, 1), [15, 3, 19, 51, 15]), // folded 4x2, 1x5, 1x9, 1x17
    ];
    for (shape, padding) in table {
        for (layout, padding) in ALL.into_iter().zip(padding) {
            let extent = layout.extent(shape, 64).expect("fits");
            let empty = places(extent).filter(|&p| layout.element(shape, extent, p).is_none()).count();
            assert_eq!(empty, padding, "{layout:?} {shape} in {extent}");
            assert_eq!(4 * extent.area(), (shape.len() + padding) as u64);
        }
    }
}

/// The diagrams of the documentation, 0 for a dot, elements counted from 1.
#[test]
fn diagrams() {
    let table: [(Layout, Shape, Extent, &[u8]); 5] = [
        (
            Layout::Folded,
            Shape::column(10),
            Extent::new(2, 2),
            &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 0, 0, 0, 0, 0],
        ),
        (
            Layout::Column4,
            Shape::new(5, 3),
            Extent::new(3, 2),
            &[1, 4, 7, 10, 2, 5, 8, 11, 3, 6, 9, 12, 13, 0, 0, 0, 14, 0, 0, 0, 15, 0, 0, 0],
        ),
        (
            Layout::Block2x2,
            Shape::new(3, 3),
            Extent::new(2, 2),
            &[1, 2, 4, 5, 3, 0, 6, 0, 7, 8, 0, 0, 9, 0, 0, 0],
        ),
        (
            Layout::Single,
            Shape::new(2, 3),
            Extent::new(3, 2),
            &[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0],
        ),
        (
            Layout::Batch4,
            Shape::column(10),
            Extent::new(2, 2),
            &[1, 4, 7, 10, 2, 5, 8, 0, 3, 6, 9, 0, 0, 0, 0, 0],
        ),
    ];
    for (layout, shape, extent, lanes) in table {
        assert_eq!(layout.extent(shape, 64), Ok(extent), "{layout:?}");
        let values: Vec<_> = (1..=shape.len()).map(|v| v as f32).collect();
        let lanes: Vec<_> = lanes.iter().map(|&v| f32::from(v)).collect();
        assert_eq!(layout.texels(shape, extent, &values), Ok(lanes.clone()), "{layout:?}");
        assert_eq!(layout.elements(shape, extent, &lanes), Ok(values), "{layout:?}");
    }
}

#[test]
fn texels_agree_with_place_and_elements_invert_them() {
    for layout in ALL {
        for shape in shapes() {
            let Ok(extent) = layout.extent(shape, 16_384) else { continue };
            let values: Vec<_> = (0..shape.len()).map(|v| v as f32 + 0.5).collect();
            let mut texels = layout.texels(shape, extent, &values).expect("texels");
            assert_eq!(texels.len() as u64, 4 * extent.area());
            for (place, lane) in places(extent).zip(&mut texels) {
                let want = layout.element(shape, extent, place).map(|(r, c)| values[r * shape.cols + c]);
                assert_eq!(*lane, want.unwrap_or(0.0), "{layout:?} {shape} {place:?}");
                if want.is_none() {
                    *lane = f32::NAN; // not to be looked at
                }
            }
            assert_eq!(layout.elements(shape, extent, &texels), Ok(values), "{layout:?} {shape}");
        }
    }
}

#[test]
fn fold_width_is_the_smallest_power_of_two_that_is_wide_enough() {
    for texels in (1..5000u64).chain([1 << 20, (1 << 20) + 1, (1 << 22) - 1, 1 << 28]) {
        for len in [4 * texels - 3, 4 * texels] {
            let Extent { width, height } = fold_extent(len, 16_384).expect("fits");
            let (w, h) = (u64::from(width), u64::from(height));
            assert!(w.is_power_of_two() && w * w >= texels, "{len}");
            assert!(w == 1 || (w / 2) * (w / 2) < texels, "{len}: half of {w} would do");
            assert!(h <= w && h * w >= texels && (h - 1) * w < texels, "{len}");
        }
    }
    // Long vectors at a small limit: the width stops at the limit, the height goes on.
    assert_eq!(fold_extent(4 * 512 * 900, 1000), Ok(Extent::new(512, 900)));
}

#[test]
fn limits() {
    for (limit, max) in [(64, 1 << 14), (1024, 1 << 22), (16_384, 1 << 30), (1000, 2_048_000), (1, 4), (0, 0)]
    {
        assert_eq!(max_folded_len(limit), max);
        if max > 0 {
            let extent = fold_extent(max, limit).expect("the longest vector fits");
            assert_eq!(4 * extent.area(), max);
        }
        let refused =
            Error::TooLarge { what: "a folded vector", requested: max + 1, limit: max, unit: "elements" };
        assert_eq!(fold_extent(max + 1, limit), Err(refused));
    }
    for limit in LIMITS {
        let n = limit as usize;
        for (layout, rows, cols) in
            [(Layout::Column4, 4 * n, n), (Layout::Block2x2, 2 * n, 2 * n), (Layout::Single, n, n)]
        {
            assert_eq!(layout.extent(Shape::new(rows, cols), limit), Ok(Extent::new(limit, limit)));
            for shape in [Shape::new(rows + 1, 1), Shape::new(1, cols + 1), Shape::new(rows + 1, cols + 1)] {
                let Err(Error::TooLarge { requested, limit: stated, unit, .. }) = layout.extent(shape, limit)
                else {
                    panic!("{layout:?} {shape} must not fit {limit}");
                };
                assert_eq!((requested, stated, unit), (n as u64 + 1, n as u64, "texels a side"));
            }
            // Empty needs no texture, however long the other side.
            assert_eq!(layout.extent(Shape::new(0, usize::MAX), limit), Ok(Extent::new(0, 0)));
        }
        for layout in [Layout::Folded, Layout::Batch4] {
            assert_eq!(layout.extent(Shape::new(4 * n, n), limit), Ok(Extent::new(limit, limit)));
            assert!(matches!(
                layout.extent(Shape::column(4 * n * n + 1), limit),
                Err(Error::TooLarge { unit: "elements", .. })
            ));
        }
    }
}

#[test]
fn huge_shapes_are_arithmetic_only() {
    // 2^34 elements fit sides of 65,536; the corners survive the round trip.
    let shape = Shape::new(1 << 17, 1 << 17);
    for (layout, limit) in [
        (Layout::Folded, 65_536),
        (Layout::Batch4, 65_536),
        (Layout::Column4, 1 << 17),
        (Layout::Block2x2, 65_536),
        (Layout::Single, 1 << 17),
    ] {
        let extent = layout.extent(shape, limit).expect("fits");
        for row in [0, 1, 65_537, shape.rows - 1] {
            for col in [0, 1, 65_535, shape.cols - 1] {
                let place = layout.place(shape, extent, row, col).expect("a place");
                assert_eq!(layout.element(shape, extent, place), Some((row, col)), "{layout:?}");
            }
        }
        assert!(matches!(layout.extent(shape, 16_384), Err(Error::TooLarge { .. })), "{layout:?}");
    }
    assert_eq!(fold_extent(1 << 34, 65_536), Ok(Extent::new(65_536, 65_536)));
    assert_eq!(fold_extent((1 << 34) - 1, 65_536), Ok(Extent::new(65_536, 65_536)));

    // Nothing overflows at the ends of the integers.
    let ends = [1, 2, 4, 5, u32::MAX as usize, usize::MAX - 1, usize::MAX];
    for layout in ALL {
        for shape in ends.iter().flat_map(|&r| ends.iter().map(move |&c| Shape::new(r, c))) {
            for limit in [0, 1, 16_384, 1 << 31, u32::MAX] {
                if let Ok(extent) = layout.extent(shape, limit) {
                    assert!(extent.width <= limit && extent.height <= limit);
                }
            }
            let extent = Extent::new(u32::MAX, u32::MAX);
            let last = Place { x: u32::MAX - 1, y: u32::MAX - 1, channel: 3 };
            if let Some((row, col)) = layout.element(shape, extent, last) {
                assert!(row < shape.rows && col < shape.cols);
            }
            if let Some(place) = layout.place(shape, extent, shape.rows - 1, shape.cols - 1) {
                let back = layout.element(shape, extent, place);
                assert_eq!(back, Some((shape.rows - 1, shape.cols - 1)), "{layout:?} {shape}");
            }
        }
    }
    assert_eq!(max_folded_len(u32::MAX), u64::MAX);
    assert!(fold_extent(u64::MAX, u32::MAX).is_ok() && fold_extent(u64::MAX, 1 << 30).is_err());
}

#[test]
fn misuse_is_none_or_a_typed_error() {
    let shape = Shape::new(5, 3);
    for layout in ALL {
        let extent = layout.extent(shape, 64).expect("fits");
        for (row, col) in [(5, 0), (0, 3), (usize::MAX, usize::MAX)] {
            assert_eq!(layout.place(shape, extent, row, col), None);
        }
        for place in [
            Place { x: extent.width, y: 0, channel: 0 },
            Place { x: 0, y: extent.height, channel: 0 },
            Place { x: 0, y: 0, channel: 4 },
        ] {
            assert_eq!(layout.element(shape, extent, place), None);
        }
        let small = Extent::new(extent.width, extent.height - 1);
        assert!(layout.holds(shape, extent) && !layout.holds(shape, small));
        assert_eq!(layout.place(shape, small, 0, 0), None);
        assert_eq!(layout.element(shape, small, Place::default()), None);
        assert!(matches!(
            layout.texels(shape, small, &[0.0; 15]),
            Err(Error::Parameter { name: "extent", .. })
        ));
        assert!(matches!(layout.elements(shape, small, &[0.0; 15]), Err(Error::Parameter { .. })));
        assert!(matches!(
            layout.texels(shape, extent, &[0.0; 14]),
            Err(Error::LengthMismatch { operand: "values", found: 14, expected: 15, .. })
        ));
        assert!(matches!(
            layout.elements(shape, extent, &[0.0; 3]),
            Err(Error::LengthMismatch { operand: "texels", found: 3, .. })
        ));
        let none = Extent::new(0, 0);
        for empty in [Shape::new(0, 0), Shape::new(0, 7), Shape::new(usize::MAX, 0)] {
            assert_eq!(layout.extent(empty, 0), Ok(none));
            assert_eq!(layout.place(empty, none, 0, 0), None);
            assert_eq!(layout.element(empty, Extent::new(1, 1), Place::default()), None);
            assert_eq!(layout.texels(empty, none, &[]), Ok(Vec::new()));
            assert_eq!(layout.elements(empty, none, &[]), Ok(Vec::new()));
        }
        let everything = Extent::new(u32::MAX, u32::MAX);
        assert!(matches!(
            layout.texels(shape, everything, &[0.0; 15]),
            Err(Error::TooLarge { unit: "bytes", .. })
        ));
    }
}
