//! Grids for rendering from vectors and back, bit for bit.

use crate::common::bounds::bits;
use crate::common::harness::{assert_padded, on_both};
use crate::common::random::any_bits;
use glow::HasContext;
use texla::{Device, Error, Layout, Plane, Shape, Vector, ops};

const GRIDS: [(usize, usize); 14] = [
    (0, 0),
    (0, 3),
    (1, 1),
    (2, 1),
    (1, 3),
    (5, 1),
    (3, 3),
    (9, 5),
    (50, 3),
    (4, 16),
    (17, 31),
    (61, 64),
    (64, 63),
    (64, 64),
];

/// What a host gets that attaches the texture to a framebuffer of its own.
#[allow(unsafe_code)]
fn read_as_host(device: &Device, plane: &Plane) -> Vec<f32> {
    let gl = device.glow();
    let (w, h) = (plane.extent().width, plane.extent().height);
    let mut texels = vec![0.0f32; (4 * w * h) as usize];
    // SAFETY: the context is current, and the slice covers what is read.
    unsafe {
        let framebuffer = gl.create_framebuffer().unwrap();
        gl.bind_framebuffer(glow::READ_FRAMEBUFFER, Some(framebuffer));
        let (target, point) = (glow::READ_FRAMEBUFFER, glow::COLOR_ATTACHMENT0);
        gl.framebuffer_texture_2d(target, point, glow::TEXTURE_2D, Some(plane.texture()), 0);
        let data = glow::PixelPackData::Slice(Some(bytemuck::cast_slice_mut(&mut texels)));
        gl.read_pixels(0, 0, w as i32, h as i32, glow::RGBA, glow::FLOAT, data);
        gl.bind_framebuffer(glow::READ_FRAMEBUFFER, None);
        gl.delete_framebuffer(framebuffer);
    }
    texels.into_iter().step_by(4).collect()
}

/// Every element of its own is the one of the host's copy; new elements replace all others.
#[test]
fn elements_are_read_and_written_in_their_places() {
    on_both(|device| {
        for (w, h) in GRIDS {
            let values = any_bits(5, w * h);
            let mut plane = Plane::from_rows(device, w, h, &vec![1.0; w * h]).unwrap();
            plane.write(&values).unwrap();
            let mut out = vec![0.0; w * h];
            plane.read_into(&mut out).unwrap();
            assert_eq!(bits(&out), bits(&values), "{w}x{h}");
            let counted = device.counters();
            for (k, value) in values.iter().enumerate().step_by(7) {
                assert_eq!(plane.element(k % w, k / w).unwrap().to_bits(), value.to_bits(), "{w}x{h}: {k}");
            }
            let cost = device.counters().since(&counted);
            assert_eq!(cost.readbacks, (w * h).div_ceil(7) as u64);
            assert_eq!(cost.readback_bytes, 16 * cost.readbacks);
            // What is refused leaves the grid as it was.
            let mut longer = values.clone();
            longer.push(1.0);
            assert!(matches!(plane.write(&longer), Err(Error::LengthMismatch { operand: "values", .. })));
            assert!(matches!(
                plane.read_into(&mut longer),
                Err(Error::LengthMismatch { operand: "out", .. })
            ));
            longer.truncate(w * h);
            if let Some(last) = longer.last_mut() {
                *last = f32::INFINITY;
                assert!(matches!(plane.write(&longer), Err(Error::NonFinite { .. })));
            }
            assert_eq!(bits(&plane.read().unwrap()), bits(&values), "{w}x{h}");
            let outside = |error| matches!(error, Error::IndexOutOfRange { .. });
            assert!(outside(plane.element(w, 0).unwrap_err()) && outside(plane.element(0, h).unwrap_err()));
        }
    });
}

#[test]
fn there_and_back_bit_for_bit() {
    on_both(|device| {
        for (w, h) in GRIDS {
            let values = any_bits((w + h) as u64, w * h);
            let v = Vector::from_slice(device, &values).unwrap();
            // Whatever was in the target before.
            let mut plane = Plane::from_rows(device, w, h, &any_bits(9, w * h)).unwrap();
            let before = device.counters();
            ops::vector_to_plane(&mut plane, &v).unwrap();
            let mut back = Vector::from_slice(device, &any_bits(8, w * h)).unwrap();
            ops::plane_to_vector(&mut back, &plane).unwrap();
            let done = device.counters().since(&before);
            assert_eq!((done.draws, done.readbacks, done.clears), (2, 0, 0), "{w}x{h}");
            assert_eq!(bits(&plane.read().unwrap()), bits(&values), "{w}x{h}");
            assert_eq!(bits(&back.read().unwrap()), bits(&values), "{w}x{h}");
            assert_padded(&back, &format!("{w}x{h}"));
            if w * h > 0 {
                assert_eq!(bits(&read_as_host(device, &plane)), bits(&values), "{w}x{h}");
                // The same as the layout of single elements.
                let single = v.to_packed(Shape::new(h, w), Layout::Single).unwrap();
                assert_eq!(bits(&single.read().unwrap()), bits(&plane.read().unwrap()));
            }
        }
    });
}

/// A frame's work allocates nothing, and the texture's name stays the same.
#[test]
fn every_frame_uses_the_same_texture() {
    on_both(|device| {
        let v = Vector::filled(device, 33 * 21, 2.5).unwrap();
        let mut plane = Plane::zeros(device, 33, 21).unwrap();
        ops::vector_to_plane(&mut plane, &v).unwrap();
        let (name, before) = (plane.texture(), device.pool_stats());
        for _ in 0..5 {
            ops::vector_to_plane(&mut plane, &v).unwrap();
        }
        assert_eq!(plane.texture(), name);
        assert_eq!(device.pool_stats(), before);
        // A fourth of the bytes of a texture with the value in its red channel.
        assert_eq!(Plane::zeros(device, 40, 25).map(|p| p.extent().area()).unwrap(), 1000);
    });
}

#[test]
fn layers_of_a_volume() {
    on_both(|device| {
        let (w, h, depth) = (7, 5, 4);
        let values = any_bits(1, w * h * depth);
        let v = Vector::from_slice(device, &values).unwrap();
        let mut plane = Plane::zeros(device, w, h).unwrap();
        for z in 0..depth {
            ops::slice_to_plane(&mut plane, &v, z * w * h).unwrap();
            assert_eq!(bits(&plane.read().unwrap()), bits(&values[z * w * h..(z + 1) * w * h]), "layer {z}");
        }
        let past = ops::slice_to_plane(&mut plane, &v, 3 * w * h + 1);
        assert!(matches!(past, Err(Error::IndexOutOfRange { index: 140, bound: 140, .. })), "{past:?}");
    });
}

/// The application draws into the plane, here by clearing it, and texla goes on with that.
#[test]
#[allow(unsafe_code)]
fn what_the_host_draws_becomes_a_vector() {
    on_both(|device| {
        let plane = Plane::zeros(device, 6, 5).unwrap();
        let gl = device.glow();
        // SAFETY: the context is current.
        unsafe {
            let framebuffer = gl.create_framebuffer().unwrap();
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffer));
            let (target, point) = (glow::FRAMEBUFFER, glow::COLOR_ATTACHMENT0);
            gl.framebuffer_texture_2d(target, point, glow::TEXTURE_2D, Some(plane.texture()), 0);
            gl.enable(glow::SCISSOR_TEST);
            gl.scissor(2, 1, 2, 2);
            gl.clear_color(0.75, 0.0, 0.0, 0.0);
            gl.clear(glow::COLOR_BUFFER_BIT);
            gl.disable(glow::SCISSOR_TEST);
            gl.bind_framebuffer(glow::FRAMEBUFFER, None);
            gl.delete_framebuffer(framebuffer);
        }
        let mut v = Vector::zeros(device, 30).unwrap();
        ops::plane_to_vector(&mut v, &plane).unwrap();
        let mut expected = vec![0.0; 30];
        [8, 9, 14, 15].into_iter().for_each(|i| expected[i] = 0.75);
        assert_eq!(v.read().unwrap(), expected);
    });
}

#[test]
fn mistakes_are_named() {
    on_both(|device| {
        let mut plane = Plane::zeros(device, 3, 2).unwrap();
        let mut five = Vector::zeros(device, 5).unwrap();
        let result = ops::vector_to_plane(&mut plane, &five);
        assert!(matches!(result, Err(Error::ShapeMismatch { op: "vector_to_plane", operand: "v", .. })));
        let result = ops::plane_to_vector(&mut five, &plane);
        assert!(matches!(result, Err(Error::ShapeMismatch { op: "plane_to_vector", operand: "out", .. })));
        let too_long = device.capabilities().max_texture_size as usize + 1;
        let before = device.pool_stats();
        for (w, h) in [(too_long, 1), (1, too_long), (usize::MAX, 2)] {
            let result = Plane::zeros(device, w, h);
            assert!(matches!(result, Err(Error::TooLarge { what: "Plane", .. })), "{result:?}");
        }
        assert_eq!(device.pool_stats(), before);
        let result = Plane::from_rows(device, 2, 2, &[1.0, f32::NAN, 0.0, 0.0]);
        assert!(matches!(result, Err(Error::NonFinite { index: 1, .. })));
        let result = Plane::from_rows(device, 2, 2, &[1.0]);
        assert!(matches!(result, Err(Error::LengthMismatch { .. })));
    });
}
