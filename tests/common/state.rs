//! The host's view of the GL state: not a list of ours, but whatever a context answers, asked by trying every number.
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::ffi::{CStr, c_void};
use std::sync::{Arc, Mutex, PoisonError};

use glow::HasContext;

use super::egl;

/// All numbers of GL that name a value.
const NUMBERS: std::ops::Range<u32> = 0..0x10000;

/// Not asked for: answers that change by themselves (the clock, what memory is left, whether the clock was disturbed, and an
/// occlusion test of HP's that is taken back by reading its result, 0x8166), and which device and driver it is
/// (`GL_DEVICE_UUID_EXT` and those after it), at which llvmpipe or softpipe of Mesa 22.3 ends the process.
const NOT_ASKED: [u32; 15] = [
    0x8166, 0x87FB, 0x87FC, 0x87FD, 0x8E28, 0x8FBB, 0x9047, 0x9048, 0x9049, 0x904A, 0x904B, 0x9597, 0x9598,
    0x9599, 0x959A,
];

/// What is bound to a texture unit: two targets of these and the sampler are in every version.
const UNIT: [u32; 13] =
    [0x8068, 0x8069, 0x806A, 0x84F6, 0x8514, 0x8919, 0x8C1C, 0x8C1D, 0x8C2C, 0x8D67, 0x900A, 0x9104, 0x9105];

/// Indices that are asked for at most, where a context answers all.
const INDICES: u32 = 64;

/// Bytes of an answer at most: the names of compressed formats are some hundreds.
const LONGEST: usize = 4096;

/// What an answer does not write.
const UNTOUCHED: [u8; 2] = [0xA5, 0x5A];

/// How a value is asked for: a function with one to three numbers, which writes to an address, or says yes or no.
struct Function {
    name: &'static str,
    numbers: usize,
    says: bool,
    at: *const c_void,
}

impl Function {
    fn load(name: &'static str) -> Self {
        let numbers = match name {
            "glGetTexLevelParameteriv" | "glGetFramebufferAttachmentParameteriv" => 3,
            "glGetInteger64v" | "glGetFloatv" | "glGetDoublev" | "glIsEnabled" => 1,
            _ => 2,
        };
        Function { name, numbers, says: name.starts_with("glIs"), at: egl::loader()(name) }
    }

    /// # Safety
    /// A context is current; there are [`LONGEST`] bytes at `out`.
    unsafe fn ask(&self, [a, b, c]: [u32; 3], out: *mut u8) {
        type Says<T> = unsafe extern "system" fn(T) -> u8;
        // SAFETY: an address under one of the names below is a function of this type; the rest is the caller's.
        unsafe {
            match (self.numbers, self.says) {
                (1, true) => *out = std::mem::transmute::<*const c_void, Says<u32>>(self.at)(a),
                (2, true) => {
                    type Is = unsafe extern "system" fn(u32, u32) -> u8;
                    *out = std::mem::transmute::<*const c_void, Is>(self.at)(a, b);
                }
                (1, _) => {
                    type Get = unsafe extern "system" fn(u32, *mut u8);
                    std::mem::transmute::<*const c_void, Get>(self.at)(a, out);
                }
                (2, _) => {
                    type Get = unsafe extern "system" fn(u32, u32, *mut u8);
                    std::mem::transmute::<*const c_void, Get>(self.at)(a, b, out);
                }
                _ => {
                    type Get = unsafe extern "system" fn(u32, u32, u32, *mut u8);
                    std::mem::transmute::<*const c_void, Get>(self.at)(a, b, c, out);
                }
            }
        }
    }
}

/// One value that is answered, in so many bytes.
#[derive(Clone, Copy)]
struct Question {
    function: usize,
    numbers: [u32; 3],
    bytes: usize,
}

/// What one kind of context answers.
pub struct Answers {
    gl: glow::Context,
    functions: Vec<Function>,
    context: Vec<Question>,
    /// Of each texture unit when it is the active one.
    unit: Vec<Question>,
    units: u32,
    /// Of what is bound, or named.
    kinds: Mutex<BTreeMap<Kind, Arc<Vec<Question>>>>,
}

// SAFETY: these functions are for whatever context is current where they are called.
unsafe impl Send for Answers {}
// SAFETY: as above.
unsafe impl Sync for Answers {}

/// Objects that have values of their own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    Texture,
    Sampler,
    Buffer,
    VertexArray,
    Framebuffer,
    Program,
}

/// An object of the application's.
pub type Object = (Kind, u32);

/// Numbers to ask with, by the number that is tried and an index.
type With<'a> = &'a dyn Fn(u32, u32) -> [u32; 3];

impl Answers {
    /// Of the current context; tried out once for each kind of context.
    fn here() -> Arc<Answers> {
        static KNOWN: Mutex<BTreeMap<String, Arc<Answers>>> = Mutex::new(BTreeMap::new());
        let get_string = egl::loader()("glGetString");
        // SAFETY: the caller has made a context current; its version is a text that ends with zero.
        let version = unsafe {
            type GetString = unsafe extern "system" fn(u32) -> *const std::ffi::c_char;
            CStr::from_ptr(std::mem::transmute::<*const c_void, GetString>(get_string)(glow::VERSION))
        };
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let version = version.to_string_lossy().into_owned();
        Arc::clone(known.entry(version).or_insert_with(|| Arc::new(Answers::find())))
    }

    fn find() -> Answers {
        // SAFETY: the caller has made a context current.
        let gl = unsafe { glow::Context::from_loader_function(egl::loader()) };
        let embedded = gl.version().is_embedded;
        let (of_es, of_desktop) =
            (["glGetFloati_vOES"].as_slice(), ["glGetDoublev", "glGetDoublei_v", "glGetFloati_v"].as_slice());
        let plain = ["glGetInteger64v", "glGetFloatv", "glIsEnabled"].as_slice();
        let indexed = ["glGetInteger64i_v", "glGetIntegeri_v", "glIsEnabledi", "glGetBooleani_v"].as_slice();
        let more = ["glGetVertexAttribfv", "glGetVertexAttribPointerv", "glGetQueryiv"].as_slice();
        let of_context = [plain, indexed, more, if embedded { of_es } else { of_desktop }].concat();
        let of_objects = [
            "glGetTexParameterfv",
            "glGetTexLevelParameteriv",
            "glGetSamplerParameterfv",
            "glGetBufferParameteri64v",
            "glGetFramebufferAttachmentParameteriv",
            "glGetProgramiv",
        ];
        let functions = of_context.iter().chain(&of_objects).map(|name| Function::load(name)).collect();
        let (context, unit, kinds) = (Vec::new(), Vec::new(), Mutex::default());
        let mut answers = Answers { gl, functions, context, unit, units: 0, kinds };
        for name in &of_context {
            let found = match *name {
                "glGetVertexAttribfv" | "glGetVertexAttribPointerv" => {
                    answers.answered(name, 16, &|n, i| [i, n, 0])
                }
                "glGetQueryiv" => answers.answered(name, 1, &|n, _| [n, glow::CURRENT_QUERY, 0]),
                _ => answers.answered(name, INDICES, &|n, i| [n, i, 0]),
            };
            answers.context.extend(found);
        }
        // SAFETY: as above.
        answers.units =
            unsafe { answers.gl.get_parameter_i32(glow::MAX_COMBINED_TEXTURE_IMAGE_UNITS) } as u32;
        let of_unit = |q: &&Question| q.function == 0 && UNIT.contains(&q.numbers[0]);
        answers.unit = answers.context.iter().filter(of_unit).copied().collect();
        answers
    }

    /// What is answered of objects of this kind, of which this one is bound.
    fn of(&self, (kind, name): Object) -> Arc<Vec<Question>> {
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        let found = || {
            let asked: &[(&str, u32, With<'_>)] = match kind {
                Kind::Texture => &[
                    ("glGetTexParameterfv", 1, &|n, _| [glow::TEXTURE_2D, n, 0]),
                    ("glGetTexLevelParameteriv", 1, &|n, _| [glow::TEXTURE_2D, 0, n]),
                ],
                Kind::Sampler => &[("glGetSamplerParameterfv", 1, &|n, _| [name, n, 0])],
                Kind::Buffer => &[("glGetBufferParameteri64v", 1, &|n, _| [glow::COPY_READ_BUFFER, n, 0])],
                Kind::VertexArray => &[
                    ("glGetVertexAttribfv", 16, &|n, i| [i, n, 0]),
                    ("glGetVertexAttribPointerv", 16, &|n, i| [i, n, 0]),
                    ("glGetInteger64v", 1, &|n, _| {
                        [if n == glow::ELEMENT_ARRAY_BUFFER_BINDING { n } else { 0 }, 0, 0]
                    }),
                ],
                Kind::Framebuffer => &[
                    ("glGetFramebufferAttachmentParameteriv", 8, &|n, i| {
                        [glow::READ_FRAMEBUFFER, glow::COLOR_ATTACHMENT0 + i, n]
                    }),
                    ("glGetInteger64v", 1, &|n, _| {
                        let of_framebuffer =
                            n == glow::READ_BUFFER || (n & !0xf) == (glow::DRAW_BUFFER0 & !0xf);
                        [if of_framebuffer { n } else { 0 }, 0, 0]
                    }),
                ],
                Kind::Program => &[("glGetProgramiv", 1, &|n, _| [name, n, 0])],
            };
            asked.iter().flat_map(|(name, indices, with)| self.answered(name, *indices, with)).collect()
        };
        Arc::clone(kinds.entry(kind).or_insert_with(|| Arc::new(found())))
    }

    /// Tries every number; of those with an index, further ones as long as there is an answer.
    fn answered(&self, function: &str, indices: u32, with: With<'_>) -> Vec<Question> {
        let function = self.functions.iter().position(|f| f.name == function).unwrap();
        let f = &self.functions[function];
        let indices = if f.numbers == 1 { 1 } else { indices };
        let mut written = [[0; LONGEST]; 2];
        let mut found = Vec::new();
        for number in NUMBERS.filter(|n| !f.at.is_null() && !NOT_ASKED.contains(n)) {
            for numbers in (0..indices).map(|i| with(number, i)) {
                // SAFETY: the caller has made a context current; an answer fits.
                let answers = unsafe {
                    f.ask(numbers, written[0].as_mut_ptr());
                    self.gl.get_error() == glow::NO_ERROR
                };
                if !answers {
                    break;
                }
                // Two backgrounds, since an answer may look like one of them.
                for (out, untouched) in written.iter_mut().zip(UNTOUCHED) {
                    out.fill(untouched);
                    // SAFETY: as above.
                    unsafe { f.ask(numbers, out.as_mut_ptr()) };
                }
                let touched = written[0].iter().zip(&written[1]).rposition(|(a, b)| a == b);
                found.extend(touched.map(|last| Question { function, numbers, bytes: last + 1 }));
            }
        }
        found
    }

    /// Binds an object where it can be asked, until the end.
    ///
    /// # Safety
    /// A context is current.
    unsafe fn bind(&self, kind: Kind, name: u32) -> Bound<'_> {
        let places: &'static [(u32, u32)] = match kind {
            Kind::Texture => &[(glow::TEXTURE_BINDING_2D, glow::TEXTURE_2D)],
            Kind::Buffer => &[(glow::COPY_READ_BUFFER, glow::COPY_READ_BUFFER)],
            Kind::VertexArray => &[(glow::VERTEX_ARRAY_BINDING, 0)],
            Kind::Framebuffer => &[
                (glow::DRAW_FRAMEBUFFER_BINDING, glow::DRAW_FRAMEBUFFER),
                (glow::READ_FRAMEBUFFER_BINDING, glow::READ_FRAMEBUFFER),
            ],
            Kind::Sampler | Kind::Program => &[],
        };
        let mut bound = Bound { gl: &self.gl, kind, before: Vec::new() };
        for (query, target) in places {
            // SAFETY: the caller's.
            unsafe {
                bound.before.push((*target, self.gl.get_parameter_i32(*query) as u32));
                bound.put(*target, name);
            }
        }
        bound
    }

    /// # Safety
    /// A context of this kind is current.
    unsafe fn ask_all(&self, questions: &[Question], of: Option<u32>, values: &mut Vec<u8>) {
        let mut answer = [0; LONGEST];
        for Question { function, numbers, bytes } in questions {
            answer[..*bytes].fill(UNTOUCHED[0]);
            let numbers = of.map_or(*numbers, |name| [name, numbers[1], numbers[2]]);
            // SAFETY: the caller's; an answer fits.
            unsafe { self.functions[*function].ask(numbers, answer.as_mut_ptr()) };
            values.extend_from_slice(&answer[..*bytes]);
        }
    }
}

/// An object in the place of another.
struct Bound<'a> {
    gl: &'a glow::Context,
    kind: Kind,
    before: Vec<(u32, u32)>,
}

impl Bound<'_> {
    /// # Safety
    /// A context is current.
    unsafe fn put(&self, target: u32, name: u32) {
        let (gl, name) = (self.gl, std::num::NonZeroU32::new(name));
        // SAFETY: the caller's.
        unsafe {
            match self.kind {
                Kind::Texture => gl.bind_texture(target, name.map(glow::NativeTexture)),
                Kind::Buffer => gl.bind_buffer(target, name.map(glow::NativeBuffer)),
                Kind::VertexArray => gl.bind_vertex_array(name.map(glow::NativeVertexArray)),
                Kind::Framebuffer => gl.bind_framebuffer(target, name.map(glow::NativeFramebuffer)),
                Kind::Sampler | Kind::Program => {}
            }
        }
    }
}

impl Drop for Bound<'_> {
    fn drop(&mut self) {
        for (target, name) in &self.before {
            // SAFETY: the context is the one in which this was made.
            unsafe { self.put(*target, *name) };
        }
    }
}

/// The answers to everything.
#[derive(Clone)]
pub struct Snapshot {
    answers: Arc<Answers>,
    objects: Vec<(Object, Arc<Vec<Question>>)>,
    values: Vec<u8>,
}

impl PartialEq for Snapshot {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

impl Snapshot {
    /// Number of values compared.
    pub fn len(&self) -> usize {
        self.questions().count()
    }

    /// In the order of the answers, each with what it is asked of.
    fn questions(&self) -> impl Iterator<Item = (String, &Question)> {
        let Answers { context, unit, units, .. } = &*self.answers;
        let context = context.iter().map(|q| (String::new(), q));
        let of_unit = |i: u32| unit.iter().map(move |q| (format!("unit {i}: "), q));
        let of = self
            .objects
            .iter()
            .flat_map(|(object, questions)| questions.iter().map(move |q| (format!("{object:?}: "), q)));
        context.chain((0..*units).flat_map(of_unit)).chain(of)
    }

    /// Which questions have other answers: a sentence for each, and its number in GL.
    pub fn changes(&self, after: &Snapshot) -> Vec<(String, u32)> {
        assert_eq!(self.values.len(), after.values.len());
        let mut at = 0;
        let mut changed = Vec::new();
        for (of, Question { function, numbers, bytes }) in self.questions() {
            let range = at..at + bytes;
            at += bytes;
            let (was, is) = (&self.values[range.clone()], &after.values[range]);
            if was != is {
                let Function { name, numbers: count, .. } = &self.answers.functions[*function];
                let asked = &numbers[..*count];
                let number = if name.contains("Attrib") { numbers[1] } else { numbers[0] };
                changed.push((format!("{of}{name}({asked:x?}): was {was:02x?}, is {is:02x?}"), number));
            }
        }
        changed
    }
}

/// Everything that the current context answers.
pub fn snapshot() -> Snapshot {
    snapshot_with(&[])
}

/// And of these objects.
pub fn snapshot_with(objects: &[Object]) -> Snapshot {
    let answers = Answers::here();
    let mut values = Vec::new();
    let gl = &answers.gl;
    // SAFETY: the caller has made the context current.
    let objects = unsafe {
        assert_eq!(gl.get_error(), glow::NO_ERROR, "an error is pending before the snapshot");
        answers.ask_all(&answers.context, None, &mut values);
        let active = gl.get_parameter_i32(glow::ACTIVE_TEXTURE) as u32;
        for unit in 0..answers.units {
            gl.active_texture(glow::TEXTURE0 + unit);
            answers.ask_all(&answers.unit, None, &mut values);
        }
        gl.active_texture(active);
        let of = |(kind, name): &Object| {
            let _bound = answers.bind(*kind, *name);
            let questions = answers.of((*kind, *name));
            let by_name = matches!(kind, Kind::Sampler | Kind::Program).then_some(*name);
            answers.ask_all(&questions, by_name, &mut values);
            ((*kind, *name), questions)
        };
        objects.iter().map(of).collect()
    };
    // What has no answer in this state has none after it either.
    // SAFETY: as above.
    while unsafe { gl.get_error() } != glow::NO_ERROR {}
    Snapshot { answers, objects, values }
}

/// True from this desktop version or this ES version on.
pub fn since(gl: &glow::Context, desktop: (u32, u32), es: (u32, u32)) -> bool {
    let version = gl.version();
    (version.major, version.minor) >= if version.is_embedded { es } else { desktop }
}

/// Whether an active transform feedback can be asked for, and paused.
pub fn feedback_can_pause(gl: &glow::Context) -> bool {
    since(gl, (4, 0), (3, 0)) || gl.supported_extensions().contains("GL_ARB_transform_feedback2")
}

/// Whether the driver names this extension.
pub fn has(gl: &glow::Context, extension: &str) -> bool {
    gl.supported_extensions().contains(extension)
}

/// Whether the clip space can be another.
pub fn clip_control(gl: &glow::Context) -> bool {
    let name = if gl.version().is_embedded { "GL_EXT_clip_control" } else { "GL_ARB_clip_control" };
    since(gl, (4, 5), (9, 9)) || has(gl, name)
}

/// Whether there are viewports past the first.
pub fn several_viewports(gl: &glow::Context) -> bool {
    if gl.version().is_embedded {
        return since(gl, (9, 9), (3, 2)) && has(gl, "GL_OES_viewport_array");
    }
    since(gl, (4, 1), (9, 9)) || has(gl, "GL_ARB_viewport_array")
}

/// Whether each draw buffer has factors and equations of its own.
pub fn blends_apart(gl: &glow::Context) -> bool {
    let extensions = if gl.version().is_embedded {
        ["GL_OES_draw_buffers_indexed", "GL_EXT_draw_buffers_indexed"].as_slice()
    } else {
        &["GL_ARB_draw_buffers_blend"]
    };
    since(gl, (4, 0), (3, 2)) || extensions.iter().any(|name| has(gl, name))
}

/// What the snapshot was for: nothing has changed.
pub fn assert_same(before: &Snapshot, after: &Snapshot, what: &str) {
    if before != after {
        let changes: Vec<String> = before.changes(after).into_iter().map(|(sentence, _)| sentence).collect();
        panic!("{what} changed the host's state: {changes:#?}");
    }
}
