//! Textures that cross the border: the host's as inputs of texla, texla's as inputs of the host.
#![allow(unsafe_code)]

mod common;

use common::bounds::{assert_within, product_bounds, reduction_bound};
use common::harness::{assert_padded, on_both};
use common::hostile::hosts_program;
use common::random::uniform;
use common::{bounds, reference};
use glow::HasContext;
use texla::kernel::{Kernel, NoParams};
use texla::ops::{self, ReducePlan, Shades, Windows};
use texla::{Device, Error, Extent, Picture, Vector};

/// A float texture made by the host, deleted by the host; dropping it asserts that it still exists.
struct HostTexture {
    gl: std::sync::Arc<glow::Context>,
    raw: glow::NativeTexture,
    extent: Extent,
}

impl HostTexture {
    fn new(dev: &Device, width: u32, height: u32, values: &[f32]) -> Self {
        let gl = dev.glow();
        let bytes = bytemuck::cast_slice(values);
        // SAFETY: the context is current, since the device has just been used; the slice covers the texture.
        let raw = unsafe {
            let raw = gl.create_texture().unwrap();
            gl.bind_texture(glow::TEXTURE_2D, Some(raw));
            let data = glow::PixelUnpackData::Slice(Some(bytes));
            let (w, h, internal) = (width as i32, height as i32, glow::RGBA32F as i32);
            gl.tex_image_2d(glow::TEXTURE_2D, 0, internal, w, h, 0, glow::RGBA, glow::FLOAT, data);
            gl.tex_parameter_i32(glow::TEXTURE_2D, glow::TEXTURE_MAX_LEVEL, 0);
            gl.bind_texture(glow::TEXTURE_2D, None);
            raw
        };
        HostTexture { gl, raw, extent: Extent::new(width, height) }
    }

    /// The texture as a vector of all its channels.
    fn borrow(&self, dev: &Device) -> texla::Result<Vector> {
        // SAFETY: complete, of this extent, in this context, and outlives the vectors of these tests.
        unsafe {
            Vector::from_texture(dev, self.raw, self.extent.width as usize, self.extent.height as usize)
        }
    }

    fn read(&self) -> Vec<f32> {
        read_as_host(&self.gl, self.raw, self.extent)
    }
}

impl Drop for HostTexture {
    fn drop(&mut self) {
        // SAFETY: the context is current; the texture is the host's own.
        unsafe {
            assert!(self.gl.is_texture(self.raw), "texla deleted the host's texture");
            self.gl.delete_texture(self.raw);
        }
    }
}

/// What a host reads from a texture through a framebuffer of its own.
fn read_as_host(gl: &glow::Context, texture: glow::NativeTexture, extent: Extent) -> Vec<f32> {
    let mut out = vec![0.0f32; extent.area() as usize * 4];
    // SAFETY: the context is current; RGBA floats of the whole extent fill the slice.
    unsafe {
        let framebuffer = gl.create_framebuffer().unwrap();
        gl.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffer));
        let (target, point) = (glow::FRAMEBUFFER, glow::COLOR_ATTACHMENT0);
        gl.framebuffer_texture_2d(target, point, glow::TEXTURE_2D, Some(texture), 0);
        assert_eq!(gl.check_framebuffer_status(target), glow::FRAMEBUFFER_COMPLETE);
        let data = glow::PixelPackData::Slice(Some(bytemuck::cast_slice_mut(&mut out)));
        gl.read_pixels(0, 0, extent.width as i32, extent.height as i32, glow::RGBA, glow::FLOAT, data);
        gl.bind_framebuffer(glow::FRAMEBUFFER, None);
        gl.delete_framebuffer(framebuffer);
        assert_eq!(gl.get_error(), glow::NO_ERROR);
    }
    out
}

/// Odd widths, powers of two, strips: folds that no vector of texla's own has.
const EXTENTS: [(u32, u32); 8] = [(5, 3), (3, 5), (1, 3), (7, 1), (1, 1), (4, 4), (8, 1), (2, 7)];

#[test]
fn a_host_texture_is_an_input_like_any_other() {
    on_both(|dev| {
        for (w, h) in EXTENTS {
            let n = (4 * w * h) as usize;
            let (a, b) = (uniform(1, n), uniform(2, n));
            let (a64, b64) = (reference::widen(&a), reference::widen(&b));
            let host = HostTexture::new(dev, w, h, &a);
            let x = host.borrow(dev).unwrap();
            let y = Vector::from_slice(dev, &b).unwrap();
            assert_eq!(x.read().unwrap(), a);

            let mut out = Vector::filled(dev, n, 9.0).unwrap();
            ops::copy(&mut out, &x).unwrap();
            assert_eq!(out.read().unwrap(), a);
            assert_padded(&out, "copy of a host texture");
            for (p, q, name) in [(&x, &y, "host, own"), (&y, &x, "own, host"), (&x, &x, "host, host")] {
                let [p64, q64] = [p, q]
                    .map(|v| if v.extent() == x.extent() && v.texture() == host.raw { &a64 } else { &b64 });
                ops::axpy(&mut out, 0.5, p, q).unwrap();
                let want = reference::axpy(0.5, p64, q64);
                let sums = reference::axpy(0.5, &reference::abs(p64), &reference::abs(q64));
                let bound = product_bounds(&sums, std::iter::repeat_n(2, n));
                bounds::assert_componentwise(name, &out.read().unwrap(), &want, &bound);
                assert_padded(&out, name);

                let got = ops::dot(p, q).unwrap().read().unwrap();
                let longest = [x.extent(), y.extent()]
                    .map(|e| ReducePlan::new(e, Windows::Balanced).longest_chain())
                    .into_iter()
                    .max();
                let bound = reduction_bound(longest.unwrap() as usize, reference::abs_dot(p64, q64));
                assert_within(name, got, reference::dot(p64, q64), bound);
            }
            let chain = ReducePlan::new(x.extent(), Windows::Balanced).longest_chain() as usize;
            let bound = reduction_bound(chain, reference::abs_sum(&a64));
            assert_within("sum", ops::sum(&x).unwrap().read().unwrap(), reference::sum(&a64), bound);
            let largest = ops::max_element(&x).unwrap().read().unwrap();
            assert_eq!(f64::from(largest), reference::max(&a64));
        }
    });
}

#[test]
fn a_host_texture_is_no_target() {
    on_both(|dev| {
        let values = uniform(1, 60);
        let host = HostTexture::new(dev, 5, 3, &values);
        let x = Vector::filled(dev, 60, 1.0).unwrap();
        let mut borrowed = host.borrow(dev).unwrap();
        let refusals = [
            ops::fill(&mut borrowed, 1.0),
            ops::copy(&mut borrowed, &x),
            ops::add(&mut borrowed, &x, &x),
            ops::scale(&mut borrowed, 2.0),
            borrowed.write(&[1.0; 60]),
            borrowed.set_zero(),
        ];
        for (i, refusal) in refusals.iter().enumerate() {
            assert!(matches!(refusal, Err(Error::Unsupported { .. })), "{i}: {refusal:?}");
        }
        assert_eq!(borrowed.read().unwrap(), values);
        assert_eq!(borrowed.texture(), host.raw);
        assert_eq!(host.read(), values);
    });
}

#[test]
fn wrong_extents_are_refused() {
    on_both(|dev| {
        let host = HostTexture::new(dev, 5, 3, &[1.0; 60]);
        // SAFETY: refused for its extent before the texture is looked at.
        let refused = |(w, h)| unsafe { Vector::from_texture(dev, host.raw, w, h) }.unwrap_err();
        for (sides, empty) in [((0, 3), "width"), ((5, 0), "height"), ((0, 0), "width")] {
            let e = refused(sides);
            let op = "Vector::from_texture";
            let expected = "1 texel at least";
            assert_eq!(e, Error::Parameter { op, name: empty, value: "0".into(), expected });
        }
        let limit = dev.capabilities().max_texture_size as usize;
        for sides in [(limit + 1, 1), (1, limit + 1), (usize::MAX, usize::MAX)] {
            let e = refused(sides);
            assert!(matches!(e, Error::TooLarge { what: "Vector::from_texture", .. }), "{e}");
        }
        // OpenGL ES 3.0 has no query for a texture's size.
        let asked = !dev.capabilities().version.contains("OpenGL ES 3.0");
        for (w, h) in [(3, 5), (15, 1), (6, 3), (5, 4)] {
            // SAFETY: complete and alive; the wrong extent is refused, or only held here and never read.
            let made = unsafe { Vector::from_texture(dev, host.raw, w, h) };
            assert_eq!(made.is_err(), asked, "{w}x{h}: {made:?}");
            assert!(made.err().is_none_or(|e| matches!(e, Error::Unsupported { .. })));
        }
        assert_eq!(host.read(), [1.0; 60]);
    });
}

/// A texture of this internal format with 2x2 texels and two levels, made as the host likes.
fn host_texture(
    gl: &glow::Context,
    [internal, layout, kind]: [u32; 3],
    dress: &dyn Fn(),
) -> glow::NativeTexture {
    let texels = [0u8; 16 * 4];
    // SAFETY: the context is current; the slice covers the texels of every format here.
    unsafe {
        let raw = gl.create_texture().unwrap();
        gl.bind_texture(glow::TEXTURE_2D, Some(raw));
        for (level, side) in [(0, 2), (1, 1)] {
            let data = glow::PixelUnpackData::Slice(Some(&texels));
            let internal = internal as i32;
            gl.tex_image_2d(glow::TEXTURE_2D, level, internal, side, side, 0, layout, kind, data);
        }
        dress();
        gl.bind_texture(glow::TEXTURE_2D, None);
        assert_eq!(gl.get_error(), glow::NO_ERROR);
        raw
    }
}

/// A name, a format, what else the host sets, and a word of the refusal if there is one.
type Case<'a> = (&'a str, [u32; 3], &'a dyn Fn(), Option<&'a str>);

/// What a texture of another kind would be read as is not what it holds; with a swizzle, reading it back and drawing from
/// it would even differ.
#[test]
fn a_host_texture_is_checked_for_what_it_is() {
    const RGBA32F: [u32; 3] = [glow::RGBA32F, glow::RGBA, glow::FLOAT];
    on_both(|dev| {
        let gl = dev.glow();
        let set = |name: u32, value: u32| {
            // SAFETY: the context is current, and the texture is bound.
            unsafe { gl.tex_parameter_i32(glow::TEXTURE_2D, name, value as i32) };
        };
        let nothing: &dyn Fn() = &|| {};
        let cases: [Case<'_>; 16] = [
            ("RGBA32F", RGBA32F, nothing, None),
            ("RGBA16F", [glow::RGBA16F, glow::RGBA, glow::HALF_FLOAT], nothing, None),
            ("RGBA32F without its mipmaps", RGBA32F, &|| set(glow::TEXTURE_MAX_LEVEL, 0), None),
            ("RGBA8", [glow::RGBA8, glow::RGBA, glow::UNSIGNED_BYTE], nothing, Some("RGBA32F")),
            ("sRGB", [glow::SRGB8_ALPHA8, glow::RGBA, glow::UNSIGNED_BYTE], nothing, Some("RGBA32F")),
            ("R32F", [glow::R32F, glow::RED, glow::FLOAT], nothing, Some("RGBA32F")),
            ("RG32F", [glow::RG32F, glow::RG, glow::FLOAT], nothing, Some("RGBA32F")),
            ("RGB32F", [glow::RGB32F, glow::RGB, glow::FLOAT], nothing, Some("RGBA32F")),
            ("R11F_G11F_B10F", [glow::R11F_G11F_B10F, glow::RGB, glow::FLOAT], nothing, Some("RGBA32F")),
            ("RGBA32UI", [glow::RGBA32UI, glow::RGBA_INTEGER, glow::UNSIGNED_INT], nothing, Some("RGBA32F")),
            ("RGBA32I", [glow::RGBA32I, glow::RGBA_INTEGER, glow::INT], nothing, Some("RGBA32F")),
            (
                "depth",
                [glow::DEPTH_COMPONENT32F, glow::DEPTH_COMPONENT, glow::FLOAT],
                nothing,
                Some("RGBA32F"),
            ),
            (
                "base level 1",
                RGBA32F,
                &|| set(glow::TEXTURE_BASE_LEVEL, 1),
                Some("GL_TEXTURE_BASE_LEVEL is 1"),
            ),
            (
                "red and blue exchanged",
                RGBA32F,
                &|| {
                    set(glow::TEXTURE_SWIZZLE_R, glow::BLUE);
                    set(glow::TEXTURE_SWIZZLE_B, glow::RED);
                },
                Some("swizzle"),
            ),
            ("no alpha", RGBA32F, &|| set(glow::TEXTURE_SWIZZLE_A, glow::ONE), Some("swizzle")),
            ("no green", RGBA32F, &|| set(glow::TEXTURE_SWIZZLE_G, glow::ZERO), Some("swizzle")),
        ];
        for (name, format, dress, refusal) in cases {
            let raw = host_texture(&gl, format, dress);
            // The next entry buries what the last case has left.
            drop(dev.scope().unwrap());
            let before = dev.live_objects();
            // SAFETY: a 2-D texture of this extent, which outlives what borrows it.
            let made = unsafe { Vector::from_texture(dev, raw, 2, 2) };
            match refusal {
                None => {
                    let x = made.unwrap();
                    let mut out = Vector::filled(dev, 16, 9.0).unwrap();
                    ops::copy(&mut out, &x).unwrap();
                    assert_eq!(x.read().unwrap(), [0.0; 16], "{name}");
                    assert_eq!(out.read().unwrap(), [0.0; 16], "{name}");
                }
                Some(word) => {
                    let error = made.unwrap_err();
                    assert!(matches!(error, Error::Unsupported { .. }), "{name}: {error:?}");
                    assert!(error.to_string().contains("borrowing a texture as 2x2"), "{name}: {error}");
                    assert!(error.to_string().contains(word), "{name}: {error}");
                    drop(dev.scope().unwrap());
                    assert_eq!(dev.live_objects(), before, "{name}");
                }
            }
            // SAFETY: the texture is the host's own.
            unsafe { gl.delete_texture(raw) };
        }
    });
}

/// A name without a texture stays one, and a texture of another target is told as that; what comes next is bound as it should be.
#[test]
fn what_is_no_texture_of_two_dimensions_is_refused() {
    on_both(|dev| {
        let gl = dev.glow();
        // SAFETY: the context is current; all of these are the host's own.
        let (unborn, others) = unsafe {
            let others = [glow::TEXTURE_3D, glow::TEXTURE_2D_ARRAY, glow::TEXTURE_CUBE_MAP].map(|target| {
                let raw = gl.create_texture().unwrap();
                gl.bind_texture(target, Some(raw));
                gl.bind_texture(target, None);
                raw
            });
            (gl.create_texture().unwrap(), others)
        };
        let x = Vector::from_slice(dev, &[1.0; 16]).unwrap();
        for scoped in [false, true] {
            let _scope = scoped.then(|| dev.scope().unwrap());
            for (raw, word) in [(unborn, "no texture of that name")]
                .into_iter()
                .chain(others.map(|raw| (raw, "no GL_TEXTURE_2D")))
            {
                // SAFETY: refused, so that nothing borrows it.
                let lent = unsafe { Vector::from_texture(dev, raw, 2, 2).map(drop) };
                // SAFETY: as above.
                let shown = unsafe { Picture::from_texture(dev, raw, 2, 2).map(drop) };
                for refused in [lent, shown] {
                    let error = refused.unwrap_err();
                    let told = matches!(&error, Error::Unsupported { why, .. } if why.contains(word));
                    assert!(told, "{error}");
                }
                // SAFETY: the context is current.
                unsafe {
                    assert_eq!(gl.is_texture(raw), raw != unborn);
                    assert_eq!(gl.get_error(), glow::NO_ERROR);
                }
                let mut y = Vector::zeros(dev, 16).unwrap();
                ops::copy(&mut y, &x).unwrap();
                assert_eq!(y.read().unwrap(), [1.0; 16]);
            }
        }
        // SAFETY: as above.
        unsafe { [unborn].into_iter().chain(others).for_each(|raw| gl.delete_texture(raw)) };
    });
}

/// The colour of a number in 64 bits, by the two shades around it.
fn shade(x: f64, [low, high]: [f64; 2], colours: &[[f32; 4]; 5]) -> [f64; 4] {
    let place = 4.0 * ((x - low) / (high - low)).clamp(0.0, 1.0);
    let below = (place.floor() as usize).min(3);
    let share = place - below as f64;
    std::array::from_fn(|c| {
        let [a, b] = [below, below + 1].map(|k| f64::from(colours[k][c]));
        a + share * (b - a)
    })
}

/// Bytes are off by half a step, and by a tenth more where a device's conversion is no better than Direct3D asks for (an H100's is
/// not); and by what the shader's rounding makes of numbers up to `scale` times the range.
fn assert_shaded(picture: &Picture, values: &[f32], range: [f32; 2], colours: &[[f32; 4]; 5], what: &str) {
    let range = range.map(f64::from);
    let scale = range[0].abs().max(range[1].abs()) / (range[1] - range[0]);
    // A dozen roundings in colours up to 1, three in the place, times the slope of 4 shades.
    let bound = 0.6 + 255.0 * 2f64.powi(-24) * (12.0 + 4.0 * 3.0 * (1.0 + scale));
    let texels = picture.read().unwrap();
    assert_eq!(texels.len(), values.len());
    for (i, (texel, value)) in texels.iter().zip(values).enumerate() {
        for (byte, want) in texel.iter().zip(shade(f64::from(*value), range, colours)) {
            let off = (f64::from(*byte) - 255.0 * want).abs();
            assert!(off <= bound, "{what}, texel {i} of {value}: {texel:?} is off by {off}, bound {bound}");
        }
    }
}

const RAMP: [[f32; 4]; 5] = [
    [0.0, 1.0, 0.25, 1.0],
    [0.5, 0.0, 0.5, 0.75],
    [1.0, 0.25, 0.0, 0.5],
    [0.25, 0.75, 1.0, 0.25],
    [0.0, 0.5, 0.75, 0.0],
];

#[test]
fn a_vector_is_shown_in_its_shades() {
    on_both(|dev| {
        for (w, h) in [(1, 1), (5, 3), (3, 5), (1, 64), (61, 1), (31, 29)] {
            let values: Vec<f32> = uniform(4, w * h).iter().map(|v| 3.0 * v).collect();
            let v = Vector::from_slice(dev, &values).unwrap();
            let mut picture = Picture::new(dev, w, h).unwrap();
            assert_eq!(picture.read().unwrap(), vec![[0, 0, 0, 255]; w * h]);
            let name = picture.texture();
            for range in
                [[-1.0, 1.0], [-3.0, -2.5], [0.0, 1e-3], [0.0, 2e-38], [1000.0, 1001.0], [-1e38, 1e38]]
            {
                let shades = Shades::new(range[0], range[1], RAMP);
                ops::vector_to_picture(&mut picture, &v, &shades).unwrap();
                assert_shaded(&picture, &values, range, &RAMP, &format!("{w}x{h}, {range:?}"));
            }
            assert_eq!((picture.texture(), picture.extent()), (name, Extent::new(w as u32, h as u32)));
        }
        // Their ends, and the middle of the one with two signs.
        let v = Vector::from_slice(dev, &[-2.0, 0.0, 2.0]).unwrap();
        let mut picture = Picture::new(dev, 3, 1).unwrap();
        for (shades, want) in [
            (Shades::grey(-1.0, 1.0), [[0, 0, 0], [128, 128, 128], [255, 255, 255]]),
            (Shades::viridis(-1.0, 1.0), [[68, 1, 84], [33, 145, 140], [253, 231, 37]]),
            (Shades::diverging(-1.0, 1.0), [[33, 102, 172], [247, 247, 247], [178, 24, 43]]),
        ] {
            ops::vector_to_picture(&mut picture, &v, &shades).unwrap();
            let near = |(a, b): (&u8, &u8)| a.abs_diff(*b) <= 1;
            let texels = picture.read().unwrap();
            assert!(
                texels.iter().zip(&want).all(|(t, w)| t.iter().zip(w).all(near)),
                "{shades:?}: {texels:?}"
            );
            assert!(texels.iter().all(|t| t[3] == 255));
        }
    });
}

#[test]
fn pictures_refuse_what_they_cannot_show() {
    on_both(|dev| {
        let v = Vector::filled(dev, 6, 1.0).unwrap();
        let mut picture = Picture::new(dev, 3, 2).unwrap();
        let before = picture.read().unwrap();
        for [low, high] in
            [[1.0, 1.0], [2.0, 1.0], [f32::NAN, 1.0], [0.0, f32::INFINITY], [-3e38, 3e38], [-1e-38, 1e-38]]
        {
            let error = ops::vector_to_picture(&mut picture, &v, &Shades::grey(low, high)).unwrap_err();
            assert!(matches!(error, Error::Parameter { name: "shades", .. }), "{error}");
        }
        for wrong in [f32::NAN, -0.1, 1.5, 9e30] {
            let mut colours = RAMP;
            colours[3][1] = wrong;
            let error =
                ops::vector_to_picture(&mut picture, &v, &Shades::new(0.0, 1.0, colours)).unwrap_err();
            assert!(matches!(error, Error::Parameter { name: "shades", .. }), "{error}");
        }
        let long = Vector::filled(dev, 7, 1.0).unwrap();
        let error = ops::vector_to_picture(&mut picture, &long, &Shades::grey(0.0, 1.0)).unwrap_err();
        assert!(matches!(error, Error::ShapeMismatch { .. }), "{error}");
        assert_eq!(picture.read().unwrap(), before);
        let past = dev.capabilities().max_texture_size as usize + 1;
        for (w, h, wrong) in [(0, 3, "width"), (3, 0, "height")] {
            assert!(
                matches!(Picture::new(dev, w, h), Err(Error::Parameter { op: "Picture", name, .. }) if name == wrong),
                "{w}x{h}"
            );
        }
        for (w, h, wrong) in [(past, 1, past), (1, past, past)] {
            assert!(
                matches!(Picture::new(dev, w, h), Err(Error::TooLarge { what: "Picture", requested, .. }) if requested == wrong as u64),
                "{w}x{h}"
            );
        }
    });
}

/// What an engine has made itself is drawn into, by an operation and by a kernel, and nothing else of it changes; what a driver
/// would write otherwise than it was told is refused.
#[test]
fn pictures_draw_into_textures_of_the_hosts() {
    on_both(|dev| {
        let gl = dev.glow();
        let values = [-1.0, -0.5, 0.25, 1.0];
        let v = Vector::from_slice(dev, &values).unwrap();
        let double =
            Kernel::<NoParams>::new(dev, "half", ["x"], "vec4 kernel(ivec2 p) { return 0.5 * x(p); }");
        let double = double.unwrap();
        let set = |name: u32, value: u32| {
            // SAFETY: the context is current, and the texture is bound.
            unsafe { gl.tex_parameter_i32(glow::TEXTURE_2D, name, value as i32) };
        };
        let nothing: &dyn Fn() = &|| {};
        let bytes = glow::UNSIGNED_BYTE;
        let cases: [Case<'_>; 12] = [
            ("RGBA8", [glow::RGBA8, glow::RGBA, bytes], nothing, None),
            ("RGBA8, nearest", [glow::RGBA8, glow::RGBA, bytes], &|| set(glow::TEXTURE_MAX_LEVEL, 0), None),
            ("RGB10_A2", [glow::RGB10_A2, glow::RGBA, glow::UNSIGNED_INT_2_10_10_10_REV], nothing, None),
            ("RGBA16F", [glow::RGBA16F, glow::RGBA, glow::HALF_FLOAT], nothing, None),
            ("RGBA32F", [glow::RGBA32F, glow::RGBA, glow::FLOAT], nothing, None),
            ("RG8", [glow::RG8, glow::RG, bytes], nothing, None),
            ("R8", [glow::R8, glow::RED, bytes], nothing, None),
            ("sRGB", [glow::SRGB8_ALPHA8, glow::RGBA, bytes], nothing, Some("sRGB")),
            ("RGBA8UI", [glow::RGBA8UI, glow::RGBA_INTEGER, bytes], nothing, Some("integers")),
            (
                "depth",
                [glow::DEPTH_COMPONENT32F, glow::DEPTH_COMPONENT, glow::FLOAT],
                nothing,
                Some("as colours"),
            ),
            (
                "base level 1",
                [glow::RGBA8, glow::RGBA, bytes],
                &|| set(glow::TEXTURE_BASE_LEVEL, 1),
                Some("BASE_LEVEL"),
            ),
            (
                "no red",
                [glow::RGBA8, glow::RGBA, bytes],
                &|| set(glow::TEXTURE_SWIZZLE_R, glow::ZERO),
                Some("swizzle"),
            ),
        ];
        for (name, format, dress, refusal) in cases {
            let raw = host_texture(&gl, format, dress);
            drop(dev.scope().unwrap());
            let before = dev.live_objects();
            // SAFETY: a 2-D texture of this extent, which outlives what borrows it.
            let made = unsafe { Picture::from_texture(dev, raw, 2, 2) };
            if let Some(word) = refusal {
                let error = made.unwrap_err();
                assert!(
                    matches!(error, Error::Unsupported { .. }) && error.to_string().contains(word),
                    "{name}: {error}"
                );
            } else {
                let mut picture = made.unwrap();
                assert_eq!(picture.texture(), raw);
                ops::vector_to_picture(&mut picture, &v, &Shades::new(-1.0, 1.0, RAMP)).unwrap();
                let channels = match name {
                    "R8" => 1,
                    "RG8" => 2,
                    _ => 4,
                };
                // Two bits of alpha are what they are.
                let steps = |c: usize| if name == "RGB10_A2" && c == 3 { 86.0 } else { 1.0 };
                let texels = picture.read().unwrap();
                for (texel, value) in texels.iter().zip(values) {
                    let want = shade(f64::from(value), [-1.0, 1.0], &RAMP);
                    for c in 0..channels {
                        assert!(
                            (f64::from(texel[c]) - 255.0 * want[c]).abs() <= 0.61 * steps(c),
                            "{name}: {texels:?}"
                        );
                    }
                }
                // It can be read by a kernel, and be the target of one.
                let mut half = Picture::new(dev, 2, 2).unwrap();
                double.run(&mut half, [&picture], &NoParams).unwrap();
                let halves = half.read().unwrap();
                let near = |(a, b): (&[u8; 4], &[u8; 4])| {
                    (0..channels).all(|c| (f64::from(a[c]) - 0.5 * f64::from(b[c])).abs() <= 1.01)
                };
                assert!(halves.iter().zip(&texels).all(near), "{name}: {halves:?}, {texels:?}");
                double.run(&mut picture, [&half], &NoParams).unwrap();
                let quarter = picture.read().unwrap();
                assert!(quarter[0][0] <= 1 && quarter != texels, "{name}: {quarter:?}");
            }
            drop(dev.scope().unwrap());
            dev.trim().unwrap();
            assert_eq!(dev.live_objects().textures, before.textures, "{name}");
            // SAFETY: the texture is the host's own.
            unsafe {
                assert!(gl.is_texture(raw), "{name}");
                gl.delete_texture(raw);
            }
        }
        // A driver that can be asked knows the extent.
        let raw = host_texture(&gl, [glow::RGBA8, glow::RGBA, bytes], nothing);
        // SAFETY: as above; it is refused, or nothing is drawn.
        let wrong = unsafe { Picture::from_texture(dev, raw, 3, 2) };
        assert!(wrong.err().is_none_or(|e| matches!(e, Error::Unsupported { .. })));
        // SAFETY: the texture is the host's own.
        unsafe { gl.delete_texture(raw) };
    });
}

/// Half floats are floats: what is read and what is computed from them are their values.
#[test]
fn a_texture_of_half_floats_is_read_and_drawn_alike() {
    on_both(|dev| {
        let gl = dev.glow();
        let (one, two, tiny) = (0x3c00u16, 0xc000u16, 0x0400u16);
        let values: Vec<u16> = (0..16).map(|i| [one, two, tiny, 0x7bff][i % 4]).collect();
        let raw = host_texture(&gl, [glow::RGBA16F, glow::RGBA, glow::HALF_FLOAT], &|| {
            let data = glow::PixelUnpackData::Slice(Some(bytemuck::cast_slice(&values)));
            let (kind, format) = (glow::HALF_FLOAT, glow::RGBA);
            // SAFETY: the context is current, the texture bound, and the slice covers it.
            unsafe { gl.tex_sub_image_2d(glow::TEXTURE_2D, 0, 0, 0, 2, 2, format, kind, data) };
        });
        // SAFETY: a 2-D texture of this extent, which outlives what borrows it.
        let x = unsafe { Vector::from_texture(dev, raw, 2, 2) }.unwrap();
        let want: Vec<f32> = (0..16).map(|i| [1.0, -2.0, 2.0f32.powi(-14), 65504.0][i % 4]).collect();
        let mut out = Vector::zeros(dev, 16).unwrap();
        ops::copy(&mut out, &x).unwrap();
        assert_eq!((x.read().unwrap(), out.read().unwrap()), (want.clone(), want));
        drop(x);
        // SAFETY: the texture is the host's own.
        unsafe { gl.delete_texture(raw) };
    });
}

/// No aliasing, through the one door that the borrow checker does not watch.
#[test]
fn an_alias_of_the_target_is_refused() {
    on_both(|dev| {
        let mut x = Vector::filled(dev, 16, 1.0).unwrap();
        // SAFETY: the texture is texla's own, complete, 2x2, and lives longer than its alias.
        let alias = unsafe { Vector::from_texture(dev, x.texture(), 2, 2) }.unwrap();
        let e = ops::add(&mut x, &alias, &alias).unwrap_err();
        assert_eq!(e, Error::Feedback { kernel: "add".into(), input: "x".into() });
        assert_eq!(x.read().unwrap(), [1.0; 16]);
        // What a draw into two attachments of one texture writes GL does not say.
        let body = "void kernel(ivec2 p, out vec4 a, out vec4 b) { a = vec4(2.0); b = vec4(3.0); }";
        let two = Kernel::<NoParams>::with_outputs(dev, "two", [], 2, body).unwrap();
        let [mut y, mut z] = [(); 2].map(|()| Vector::filled(dev, 16, 1.0).unwrap());
        let picture = || {
            // SAFETY: as above.
            unsafe { Picture::from_texture(dev, y.texture(), 2, 2) }.unwrap()
        };
        let (mut one, mut other) = (picture(), picture());
        let refused = two.with([], &NoParams).run_many([&mut one, &mut other]).unwrap_err();
        assert!(
            matches!(&refused, Error::Interface { detail, .. } if detail.contains("one texture")),
            "{refused}"
        );
        drop((one, other));
        assert_eq!(y.read().unwrap(), [1.0; 16]);
        two.with([], &NoParams).run_many([&mut y, &mut z]).unwrap();
        assert_eq!((y.read().unwrap(), z.read().unwrap()), (vec![2.0; 16], vec![3.0; 16]));
    });
}

/// A program of the host's that copies `picture` into the red channel and its own extent into the others.
const HOST_FRAGMENT: &str = "uniform sampler2D picture;
out vec4 colour;
void main() { colour = texture(picture, gl_FragCoord.xy / vec2(textureSize(picture, 0))); }";

#[test]
fn the_host_can_sample_a_texture_handed_out() {
    on_both(|dev| {
        let values = uniform(5, 61);
        let x = Vector::from_slice(dev, &values).unwrap();
        let (gl, extent) = (dev.glow(), x.extent());
        let (w, h) = (extent.width, extent.height);
        let target = HostTexture::new(dev, w, h, &vec![0.0; extent.area() as usize * 4]);
        let vertex = "void main() {
            gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0);
        }";
        // SAFETY: the context is current; plain drawing with objects of the host's own and no sampler object.
        unsafe {
            let program = hosts_program(&gl, vertex, HOST_FRAGMENT, &[]);
            let array = gl.create_vertex_array().unwrap();
            let framebuffer = gl.create_framebuffer().unwrap();
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffer));
            let (kind, point) = (glow::FRAMEBUFFER, glow::COLOR_ATTACHMENT0);
            gl.framebuffer_texture_2d(kind, point, glow::TEXTURE_2D, Some(target.raw), 0);
            gl.use_program(Some(program));
            gl.bind_vertex_array(Some(array));
            gl.bind_texture(glow::TEXTURE_2D, Some(x.texture()));
            gl.viewport(0, 0, w as i32, h as i32);
            gl.draw_arrays(glow::TRIANGLES, 0, 3);
            gl.bind_framebuffer(glow::FRAMEBUFFER, None);
            gl.use_program(None);
            gl.bind_vertex_array(None);
            gl.bind_texture(glow::TEXTURE_2D, None);
            gl.delete_framebuffer(framebuffer);
            gl.delete_vertex_array(array);
            gl.delete_program(program);
            assert_eq!(gl.get_error(), glow::NO_ERROR);
        }
        assert_eq!(target.read()[..61], values);
        // The host's drawing has not disturbed texla.
        assert_eq!(x.read().unwrap(), values);
    });
}
