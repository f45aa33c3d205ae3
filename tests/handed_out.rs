//! Objects whose names the host has asked for: whatever it sets there, texla's results stay the same, and the next owner of the
//! texture finds none of it.
#![allow(unsafe_code)]

mod common;

use std::sync::Arc;

use common::egl::{core, loader};
use common::everything;
use common::harness::{alone, assert_padded, limits, on_both};
use common::loader::Entry::{glTexImage2D, glTexParameteri};
use common::loader::{begin, calls, heal, loader as watched};
use common::random::uniform;
use glow::HasContext;
use texla::gl::Api;
use texla::ops::{self, Shades};
use texla::{
    BufferVector, Device, DeviceOptions, DoubleVector, Error, Layout, Matrix, Packed, Picture, Plane, Scalar,
    Shape, Vector,
};

/// Every parameter of a texture that a host might set, by value: none of these is what texla made it with.
const HOSTILE: [(u32, u32); 14] = [
    (glow::TEXTURE_SWIZZLE_R, glow::ALPHA),
    (glow::TEXTURE_SWIZZLE_G, glow::ZERO),
    (glow::TEXTURE_SWIZZLE_B, glow::ONE),
    (glow::TEXTURE_SWIZZLE_A, glow::GREEN),
    (glow::TEXTURE_BASE_LEVEL, 2),
    (glow::TEXTURE_MAX_LEVEL, 7),
    (glow::TEXTURE_MIN_FILTER, glow::LINEAR_MIPMAP_LINEAR),
    (glow::TEXTURE_MAG_FILTER, glow::LINEAR),
    (glow::TEXTURE_WRAP_S, glow::REPEAT),
    (glow::TEXTURE_WRAP_T, glow::MIRRORED_REPEAT),
    (glow::TEXTURE_WRAP_R, glow::MIRRORED_REPEAT),
    (glow::TEXTURE_COMPARE_MODE, glow::COMPARE_REF_TO_TEXTURE),
    (glow::TEXTURE_COMPARE_FUNC, glow::GREATER),
    (glow::TEXTURE_MIN_LOD, 1),
];

/// The same as texla makes it.
const NEW: [u32; 14] = [
    glow::RED,
    glow::GREEN,
    glow::BLUE,
    glow::ALPHA,
    0,
    0,
    glow::NEAREST,
    glow::NEAREST,
    glow::CLAMP_TO_EDGE,
    glow::CLAMP_TO_EDGE,
    glow::REPEAT,
    glow::NONE,
    glow::LEQUAL,
    -1000i32 as u32,
];

/// Parameters that decide which texel is read or drawn; the others are the host's, as long as it keeps the data.
const DECISIVE: usize = 6;

/// Sets all of them in the host's name.
fn spoil(gl: &glow::Context, texture: glow::NativeTexture) {
    // SAFETY: the context is current, and the texture is alive.
    unsafe {
        gl.bind_texture(glow::TEXTURE_2D, Some(texture));
        for (name, value) in HOSTILE {
            gl.tex_parameter_i32(glow::TEXTURE_2D, name, value as i32);
        }
        gl.bind_texture(glow::TEXTURE_2D, None);
        assert_eq!(gl.get_error(), glow::NO_ERROR);
    }
}

/// What they are.
fn parameters(gl: &glow::Context, texture: glow::NativeTexture) -> Vec<u32> {
    // SAFETY: as above.
    unsafe {
        gl.bind_texture(glow::TEXTURE_2D, Some(texture));
        let ask = |(name, _)| gl.get_tex_parameter_i32(glow::TEXTURE_2D, name) as u32;
        let found = HOSTILE.map(ask).to_vec();
        gl.bind_texture(glow::TEXTURE_2D, None);
        found
    }
}

/// By hand: four numbers whose channels the host exchanges are still doubled one by one.
#[test]
fn a_swizzle_of_the_hosts_changes_no_sum() {
    on_both(|dev| {
        let x = Vector::from_slice(dev, &[1.0, 2.0, 3.0, 4.0]).unwrap();
        spoil(&dev.glow(), x.texture());
        let mut y = Vector::zeros(dev, 4).unwrap();
        ops::axpy(&mut y, 1.0, &x, &x).unwrap();
        assert_eq!(y.read().unwrap(), [2.0, 4.0, 6.0, 8.0]);
        assert_eq!(ops::sum(&x).unwrap().read().unwrap(), 10.0);
        assert_eq!(x.read().unwrap(), [1.0, 2.0, 3.0, 4.0]);
    });
}

/// The library does not ask for a name by the call that hands it out to a host: from then on parameters are set again in every
/// scope. So only a new texture sets any, and sets five. This does not depend on the dialect.
#[test]
fn the_library_hands_nothing_out_to_itself() {
    let _alone = alone();
    let _current = core(Api::Gl33, None);
    begin();
    // SAFETY: the context is current while the test holds the device; the loader knows the functions.
    let dev = unsafe { Device::from_loader(watched(), DeviceOptions::default().with_limits(limits())) };
    let (mut made, mut steps) = (0, 0);
    everything::every(&dev.unwrap(), &mut |name, step| {
        // These are given the name of another vector's texture.
        if name.ends_with("::from_texture") {
            return;
        }
        heal();
        step();
        assert_eq!(calls(glTexParameteri), 5 * calls(glTexImage2D), "{name}");
        made += calls(glTexImage2D);
        steps += 1;
    });
    assert!(made > 100 && steps > 500, "{made} textures in {steps} steps");
}

/// A kind of data: makes some, and says the name that a host gets of it, and what texla computes from it.
struct Kind<'a> {
    name: &'static str,
    texture: Box<dyn Fn() -> glow::NativeTexture + 'a>,
    works: Box<dyn Fn() -> Vec<f32> + 'a>,
}

/// Makes data of every kind, asks for their names, and lets `look` see them.
fn every_kind(dev: &Device, look: &mut dyn FnMut(&Kind<'_>)) {
    let values = uniform(3, 48);
    let x = Vector::from_slice(dev, &values).unwrap();
    let vector_works = |x: &Vector| {
        let mut y = Vector::zeros(dev, x.len()).unwrap();
        ops::axpy(&mut y, 0.5, x, x).unwrap();
        assert_padded(&y, "a sum");
        [y.read().unwrap(), x.read().unwrap(), vec![x.element(1).unwrap()]].concat()
    };
    look(&Kind { name: "Vector", texture: Box::new(|| x.texture()), works: Box::new(|| vector_works(&x)) });
    let pairs =
        DoubleVector::from_f64(dev, &values.iter().map(|v| f64::from(*v) / 3.0).collect::<Vec<_>>()).unwrap();
    for (name, part) in [("DoubleVector, rounded", pairs.high()), ("DoubleVector, rest", pairs.low())] {
        look(&Kind { name, texture: Box::new(|| part.texture()), works: Box::new(|| vector_works(part)) });
    }
    let plane = Plane::from_rows(dev, 8, 6, &values).unwrap();
    look(&Kind {
        name: "Plane",
        texture: Box::new(|| plane.texture()),
        works: Box::new(|| {
            let mut back = Vector::zeros(dev, 48).unwrap();
            ops::plane_to_vector(&mut back, &plane).unwrap();
            [back.read().unwrap(), plane.read().unwrap()].concat()
        }),
    });
    let picture = std::cell::RefCell::new(Picture::new(dev, 8, 6).unwrap());
    look(&Kind {
        name: "Picture",
        texture: Box::new(|| picture.borrow().texture()),
        works: Box::new(|| {
            let mut picture = picture.borrow_mut();
            ops::vector_to_picture(&mut picture, &x, &Shades::viridis(-1.0, 1.0)).unwrap();
            picture.read().unwrap().iter().flatten().map(|b| f32::from(*b)).collect()
        }),
    });
    let matrix = Matrix::from_rows(dev, Shape::new(6, 8), &values).unwrap();
    look(&Kind {
        name: "Matrix",
        texture: Box::new(|| matrix.tiles().next().unwrap().texture()),
        works: Box::new(|| {
            let v = Vector::from_slice(dev, &values[..8]).unwrap();
            let mut y = Vector::zeros(dev, 6).unwrap();
            ops::product(&mut y, ops::Combine::Replace, 1.0, &matrix, &v).unwrap();
            [y.read().unwrap(), matrix.read().unwrap()].concat()
        }),
    });
    let packed = Packed::from_rows(dev, Shape::new(8, 6), Layout::Block2x2, &values).unwrap();
    look(&Kind {
        name: "Packed",
        texture: Box::new(|| packed.texture()),
        works: Box::new(|| {
            let mut other = Packed::zeros(dev, packed.shape(), Layout::Batch4).unwrap();
            ops::repack(&mut other, &packed).unwrap();
            [other.read().unwrap(), packed.read().unwrap()].concat()
        }),
    });
    let scalar = Scalar::new(dev, 0.25).unwrap();
    look(&Kind {
        name: "Scalar",
        texture: Box::new(|| scalar.texture()),
        works: Box::new(|| {
            let mut y = Vector::from_slice(dev, &values).unwrap();
            ops::scale(&mut y, &scalar).unwrap();
            [y.read().unwrap(), vec![scalar.read().unwrap()]].concat()
        }),
    });
}

/// What decides about texels is set back before texla's next use, call by call and within a scope; the rest stays the host's.
#[test]
fn parameters_of_the_hosts_decide_nothing() {
    on_both(|dev| {
        let gl = dev.glow();
        every_kind(dev, &mut |kind| {
            let expected = (kind.works)();
            for in_a_scope in [false, true, false] {
                let texture = (kind.texture)();
                spoil(&gl, texture);
                let scope = in_a_scope.then(|| dev.scope().unwrap());
                let (found, again) = ((kind.works)(), (kind.works)());
                drop(scope);
                assert_eq!(found, expected, "{}", kind.name);
                assert_eq!(again, expected, "{}", kind.name);
                // SAFETY: the context is current.
                assert_eq!(unsafe { gl.get_error() }, glow::NO_ERROR, "{}", kind.name);
                let kept = parameters(&gl, texture);
                assert_eq!(kept[..DECISIVE], NEW[..DECISIVE], "{}", kind.name);
                let hosts = HOSTILE.map(|(_, value)| value);
                assert_eq!(
                    kept[DECISIVE..],
                    hosts[DECISIVE..],
                    "{}: what the host has set is its own",
                    kind.name
                );
            }
        });
    });
}

/// The pool gives a texture to others as if it were new.
#[test]
fn the_next_owner_finds_a_new_texture() {
    on_both(|dev| {
        let gl = dev.glow();
        let mut names = Vec::new();
        every_kind(dev, &mut |kind| {
            let texture = (kind.texture)();
            spoil(&gl, texture);
            names.push(texture);
        });
        let mut met = 0;
        let before = dev.pool_stats();
        every_kind(dev, &mut |kind| {
            let expected = (kind.works)();
            let texture = (kind.texture)();
            met += usize::from(names.contains(&texture));
            assert_eq!((kind.works)(), expected, "{}", kind.name);
            assert_eq!(parameters(&gl, texture), NEW, "{}", kind.name);
        });
        assert!(dev.pool_stats().reused > before.reused && met >= 4, "{met} textures were met again");
    });
}

/// What a host must not do, done while the texture is its own: another image, or none. It spoils no other data.
#[test]
fn an_image_of_the_hosts_is_not_reused() {
    on_both(|dev| {
        let gl = dev.glow();
        let values: Vec<f32> = (0..64).map(|i| 0.5 + i as f32).collect();
        type Spoil = fn(&glow::Context, glow::NativeTexture);
        // SAFETY: in both of these the context is current.
        let spoils: [Spoil; 2] = [
            |gl, texture| unsafe {
                gl.bind_texture(glow::TEXTURE_2D, Some(texture));
                let (format, kind, none) =
                    (glow::RGBA, glow::UNSIGNED_BYTE, glow::PixelUnpackData::Slice(None));
                gl.tex_image_2d(glow::TEXTURE_2D, 0, glow::RGBA8 as i32, 4, 4, 0, format, kind, none);
                gl.bind_texture(glow::TEXTURE_2D, None);
            },
            |gl, texture| unsafe { gl.delete_texture(texture) },
        ];
        // OpenGL ES says from 3.1 on what a texture has for an image.
        let version = gl.version();
        let first = usize::from(version.is_embedded && (version.major, version.minor) < (3, 1));
        for spoil in &spoils[first..] {
            let x = Vector::from_slice(dev, &values).unwrap();
            spoil(&gl, x.texture());
            drop(x);
            let y = Vector::from_slice(dev, &values).unwrap();
            assert_eq!(y.read().unwrap(), values);
            assert_eq!(ops::sum(&y).unwrap().read().unwrap(), values.iter().sum::<f32>());
            let live = dev.pool_stats().live;
            drop(y);
            assert_eq!(dev.pool_stats().live, live - 1);
            dev.trim().unwrap();
        }
    });
}

/// A context that shares objects sets parameters between two calls of a scope.
#[test]
fn parameters_from_a_sharing_context_decide_nothing() {
    for api in Api::ALL {
        let _alone = alone();
        let ours = core(api, None);
        // SAFETY: the context is current whenever the device is called.
        let dev =
            unsafe { Device::from_loader(loader(), DeviceOptions::default().with_limits(limits())) }.unwrap();
        let x = Vector::from_slice(&dev, &uniform(8, 200)).unwrap();
        let expected = ops::sum(&x).unwrap().read().unwrap();
        let texture = x.texture();
        let theirs = core(api, Some(&ours));
        // SAFETY: the context is current.
        let gl = unsafe { glow::Context::from_loader_function(loader()) };
        ours.make_current_surfaceless().unwrap();
        let scope = dev.scope().unwrap();
        for _ in 0..3 {
            assert_eq!(ops::sum(&x).unwrap().read().unwrap(), expected, "{api}");
            theirs.make_current_surfaceless().unwrap();
            spoil(&gl, texture);
            // A call there is an error, within the scope too.
            assert!(matches!(ops::sum(&x), Err(Error::NoContext(_))));
            ours.make_current_surfaceless().unwrap();
        }
        drop(scope);
        drop((x, dev));
    }
}

/// A stale name: the host still sets parameters by it when the texture serves for something else.
#[test]
fn a_name_of_yesterday_does_no_harm() {
    on_both(|dev| {
        let gl = dev.glow();
        let mut x = Vector::from_slice(dev, &uniform(5, 64)).unwrap();
        let names: Vec<_> = (0..4)
            .map(|_| {
                let name = x.texture();
                ops::scale(&mut x, 1.0).unwrap(); // into another texture
                name
            })
            .collect();
        let expected = x.read().unwrap();
        for _ in 0..4 {
            names.iter().for_each(|name| spoil(&gl, *name));
            ops::scale(&mut x, 1.0).unwrap();
            assert_eq!(x.read().unwrap(), expected);
            assert_eq!(
                ops::max_element(&x).unwrap().read().unwrap(),
                expected.iter().copied().max_by(f32::total_cmp).unwrap()
            );
        }
        let reused = dev.pool_stats();
        assert!(reused.reused > reused.allocated, "{reused:?}");
    });
}

/// Asking for a name in every frame creates nothing.
#[test]
fn a_frame_that_asks_for_names_allocates_nothing() {
    on_both(|dev| {
        let mut x = Vector::from_slice(dev, &uniform(6, 1000)).unwrap();
        let mut allocated = 0;
        for frame in 0..10 {
            let _ = x.texture();
            ops::scale(&mut x, 1.0).unwrap();
            if frame == 3 {
                allocated = dev.pool_stats().allocated;
            }
        }
        assert_eq!(dev.pool_stats().allocated, allocated);
    });
}

/// A buffer that the host has left mapped is an error of the call that would write to it; the next buffer is a new one.
#[test]
fn a_buffer_that_is_mapped_is_refused() {
    on_both(|dev| {
        let gl: Arc<glow::Context> = dev.glow();
        let mut x = BufferVector::from_slice(dev, &[1.0; 8]).unwrap();
        let name = x.buffer();
        // SAFETY: the context is current, and the buffer has 32 bytes.
        unsafe {
            gl.bind_buffer(glow::ARRAY_BUFFER, Some(name));
            let at = gl.map_buffer_range(glow::ARRAY_BUFFER, 0, 32, glow::MAP_READ_BIT);
            assert!(!at.is_null());
        }
        let refused = x.write(&[2.0; 8]);
        assert!(matches!(refused, Err(Error::Gl { .. })), "{refused:?}");
        drop(x);
        let y = BufferVector::from_slice(dev, &[3.0; 8]).unwrap();
        assert_eq!(y.read().unwrap(), [3.0; 8]);
        // SAFETY: as above.
        unsafe { gl.bind_buffer(glow::ARRAY_BUFFER, None) };
    });
}
