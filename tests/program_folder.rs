//! Linked programs that a folder keeps: found again, never taken for another one, and never trusted.

mod common;

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::Hasher;
use std::path::{Path, PathBuf};

use common::bounds::bits;
use common::harness::limits;
use common::random::uniform;
use common::scratch;
use texla::gl::{Api, Counters};
use texla::kernel::{Kernel, NoParams, Points, PointsKernel, VertexKernel};
use texla::{BufferVector, DeviceOptions, Error, Headless, HeadlessOptions, Vector, ops};

/// A folder of this test's own, empty.
fn folder(name: &str, api: Api) -> PathBuf {
    let path = scratch::folder().join(format!("programs-{name}-{api:?}"));
    let _ = fs::remove_dir_all(&path);
    path
}

/// A bit of everything that a program is made of: uniforms, several draw buffers, points and their attributes, captured
/// vertices with their blocks. What it came to, and the work that it took after probing.
fn run(api: Api, folder: &Path) -> (Vec<u32>, Counters) {
    let options = DeviceOptions::default().with_limits(limits()).with_program_folder(Some(folder.to_owned()));
    let context =
        Headless::new(HeadlessOptions::default().with_api(Some(api)).with_options(options)).unwrap();
    let dev = context.device();
    let begun = dev.counters();
    let [x, z] = [1, 2].map(|seed| Vector::from_slice(dev, &uniform(seed, 50)).unwrap());
    let mut y = Vector::zeros(dev, 50).unwrap();
    ops::axpy(&mut y, 0.5, &x, &z).unwrap();
    let dot = ops::dot(&x, &y).unwrap().read().unwrap();
    let mut constants = [1, 2].map(|_| Vector::zeros(dev, 50).unwrap());
    for (value, y) in ["1.0", "2.0"].into_iter().zip(&mut constants) {
        let body = format!("vec4 kernel(ivec2 p) {{ return vec4({value}); }}");
        Kernel::<NoParams>::new(dev, "constant", [], &body).unwrap().run(y, [], &NoParams).unwrap();
    }
    let [one, two] = constants.map(|v| v.read().unwrap());
    let body = "void point(int i, out ivec2 texel, out vec4 value) {
        texel = texel_position(int(attribute0.x)); value = attribute0.yzwy; }";
    let place = PointsKernel::<NoParams>::new(dev, "place", [], 1, body).unwrap();
    let points = Points::new(dev, &[&[[1., 2., 3., 4.], [0., 5., 6., 7.]]]).unwrap();
    let mut placed = Vector::zeros(dev, 50).unwrap();
    place.with([], &points, &NoParams).run(&mut placed).unwrap();
    let body = "void kernel(int vertex) { y[0] = x[1] + x[0].wzyx; y[1] = x[0]; }";
    let kernel = VertexKernel::<NoParams>::new(dev, "step", [("x", 2)], 2, body).unwrap();
    let inputs = BufferVector::from_slice(dev, &uniform(3, 8)).unwrap();
    let mut stepped = BufferVector::zeros(dev, 8).unwrap();
    kernel.run(&mut stepped, 0, [&inputs], &NoParams).unwrap();
    let read = [y.read().unwrap(), vec![dot], one, two, placed.read().unwrap(), stepped.read().unwrap()];
    (bits(&read.concat()), dev.counters().since(&begun))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    found.sort();
    found
}

/// The second device compiles nothing, where the driver hands programs out, and computes the same bits.
#[test]
fn a_program_is_linked_once() {
    for api in Api::ALL {
        let folder = folder("once", api);
        let (first, linked) = run(api, &folder);
        let (second, taken) = run(api, &folder);
        assert_eq!(second, first, "{api}");
        assert!(linked.compiles >= 4 && linked.programs_taken_back == 0, "{linked:?}");
        if !folder.exists() {
            // A driver that hands none out: there is no difference, and no folder.
            assert_eq!((taken.compiles, taken.programs_taken_back), (linked.compiles, 0));
            continue;
        }
        assert_eq!((taken.compiles, taken.programs_taken_back), (0, linked.compiles), "{api}");
        // Of probing there may be more.
        assert!(files(&folder).len() as u64 >= linked.compiles);
        assert!(
            files(&folder).iter().all(|f| f.extension().is_some_and(|e| e == "program")),
            "parts are left"
        );
    }
}

/// What stands in the files is not what the driver gave: damaged, of a driver that is no more, or of another program. All of
/// it is compiled, to the same bits, and kept again.
#[test]
fn what_is_no_program_is_compiled() {
    for api in Api::ALL {
        let folder = folder("damaged", api);
        let (right, linked) = run(api, &folder);
        if !folder.exists() {
            continue;
        }
        let kept: Vec<_> = files(&folder).into_iter().map(|f| (fs::read(&f).unwrap(), f)).collect();
        // The head of a file: a word, a checksum of what follows it, the form of the binary, the length of the key. A test
        // has to write checksums that hold.
        let [sum_at, form, length, key_at] = [16, 24, 28, 36];
        let sealed = |mut file: Vec<u8>| {
            let mut sum = DefaultHasher::new();
            sum.write(&file[form..]);
            file[sum_at..form].copy_from_slice(&sum.finish().to_le_bytes());
            file
        };
        let cut = |file: &[u8]| file[..file.len() - 1].to_vec();
        let unknown_form = |file: &[u8]| {
            let mut file = file.to_vec();
            file[form + 3] ^= 16;
            sealed(file)
        };
        let no_binary = |file: &[u8]| {
            let key = u64::from_le_bytes(file[length..key_at].try_into().unwrap()) as usize;
            sealed([&file[..key_at + key], &[0x5a; 64]].concat())
        };
        for damage in [&cut as &dyn Fn(&[u8]) -> Vec<u8>, &unknown_form, &no_binary] {
            for (bytes, file) in &kept {
                fs::write(file, damage(bytes)).unwrap();
            }
            let (bits, done) = run(api, &folder);
            assert_eq!(bits, right, "{api}");
            assert_eq!((done.compiles, done.programs_taken_back), (linked.compiles, 0), "{api}");
            let (bits, done) = run(api, &folder);
            assert_eq!((bits == right, done.compiles), (true, 0), "{api}: was not kept again");
        }
        // One file under the name of the other: a program is known by its text, where two are alike in all else.
        let of = |text: &str| {
            let has = |bytes: &[u8]| bytes.windows(text.len()).any(|w| w == text.as_bytes());
            kept.iter().find(|(bytes, _)| has(bytes)).unwrap()
        };
        let ((ones, one), (_, two)) = (of("return vec4(1.0)"), of("return vec4(2.0)"));
        assert_ne!(one, two);
        fs::write(two, ones).unwrap();
        let (bits, done) = run(api, &folder);
        assert_eq!((bits == right, done.compiles), (true, 1), "{api}");
    }
}

/// Nothing can be written there: nothing is kept, and nothing else is different.
#[test]
fn a_folder_that_cannot_be_is_none() {
    for api in Api::ALL {
        let file = folder("file", api);
        fs::write(&file, "a file").unwrap();
        let (right, linked) = run(api, &folder("elsewhere", api));
        let (bits, done) = run(api, &file.join("below"));
        assert_eq!((bits, done.compiles), (right, linked.compiles));
        assert_eq!(fs::read_to_string(&file).unwrap(), "a file");
        fs::remove_file(&file).unwrap();
    }
}

/// It would be the current directory.
#[test]
fn an_empty_path_is_refused() {
    for api in Api::ALL {
        let options = DeviceOptions::default().with_program_folder(Some(PathBuf::new()));
        let made = Headless::new(HeadlessOptions::default().with_api(Some(api)).with_options(options));
        match made {
            Err(Error::Parameter { name: "program_folder", .. }) => {}
            other => panic!("{other:?}"),
        }
    }
}
