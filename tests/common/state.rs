//! The host's view of the GL state: not a list of ours, but whatever a context answers, asked by trying every number.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, c_void};
use std::rc::Rc;

use glow::HasContext;

use super::egl;

/// All numbers of GL that name a value.
const NUMBERS: std::ops::Range<u32> = 0..0x10000;

/// Answers that change by themselves: the clock, what memory is left, whether the clock was disturbed.
const RESTLESS: [u32; 10] = [0x8E28, 0x9047, 0x9048, 0x9049, 0x904A, 0x904B, 0x87FB, 0x87FC, 0x87FD, 0x8FBB];

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
    fn load(name: &'static str, numbers: usize) -> Self {
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
struct Question {
    function: usize,
    numbers: [u32; 3],
    bytes: usize,
}

/// What one kind of context answers.
pub struct Answers {
    gl: glow::Context,
    functions: Vec<Function>,
    /// Of the context, of its active texture unit, and of what is bound of each kind.
    context: Vec<Question>,
    unit: Vec<Question>,
    units: u32,
    kinds: BTreeMap<Kind, Vec<Question>>,
}

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

impl Answers {
    /// Of the current context; tried out once for each kind of context.
    pub fn here(objects: &[Object]) -> Rc<Answers> {
        thread_local! {
            static KNOWN: RefCell<BTreeMap<String, Rc<Answers>>> = RefCell::default();
        }
        let get_string = egl::loader()("glGetString");
        // SAFETY: the caller has made a context current; its version is a text that ends with zero.
        let version = unsafe {
            type GetString = unsafe extern "system" fn(u32) -> *const std::ffi::c_char;
            CStr::from_ptr(std::mem::transmute::<*const c_void, GetString>(get_string)(glow::VERSION))
        };
        let kinds: BTreeSet<Kind> = objects.iter().map(|(kind, _)| *kind).collect();
        let key = format!("{} {kinds:?}", version.to_string_lossy());
        KNOWN.with_borrow_mut(|known| {
            Rc::clone(known.entry(key).or_insert_with(|| Rc::new(Answers::find(objects))))
        })
    }

    fn find(objects: &[Object]) -> Answers {
        // SAFETY: the caller has made a context current.
        let gl = unsafe { glow::Context::from_loader_function(egl::loader()) };
        let mut functions = vec![
            Function::load("glGetInteger64v", 1),
            Function::load("glGetFloatv", 1),
            Function::load("glIsEnabled", 1),
            Function::load("glGetInteger64i_v", 2),
            Function::load("glGetIntegeri_v", 2),
            Function::load("glIsEnabledi", 2),
            Function::load("glGetBooleani_v", 2),
            Function::load("glGetVertexAttribfv", 2),
            Function::load("glGetVertexAttribPointerv", 2),
            Function::load("glGetQueryiv", 2),
        ];
        if gl.version().is_embedded {
            functions.push(Function::load("glGetFloati_vOES", 2));
        } else {
            functions.push(Function::load("glGetDoublev", 1));
            functions.push(Function::load("glGetDoublei_v", 2));
            functions.push(Function::load("glGetFloati_v", 2));
        }
        let of_context = functions.len();
        functions.extend([
            Function::load("glGetTexParameterfv", 2),
            Function::load("glGetTexLevelParameteriv", 3),
            Function::load("glGetSamplerParameterfv", 2),
            Function::load("glGetBufferParameteri64v", 2),
            Function::load("glGetFramebufferAttachmentParameteriv", 3),
            Function::load("glGetProgramiv", 2),
        ]);
        let mut answers = Answers {
            gl,
            functions,
            context: Vec::new(),
            unit: Vec::new(),
            units: 0,
            kinds: BTreeMap::new(),
        };
        // SAFETY: as above.
        unsafe {
            let gl = &answers.gl;
            answers.units = gl.get_parameter_i32(glow::MAX_COMBINED_TEXTURE_IMAGE_UNITS).min(192) as u32;
            for function in 0..of_context {
                let f = &answers.functions[function];
                let tries: &mut dyn FnMut(u32) -> Vec<[u32; 3]> = match f.name {
                    name if name.contains("VertexAttrib") => &mut |n| (0..16).map(|i| [i, n, 0]).collect(),
                    "glGetQueryiv" => &mut |n| vec![[n, glow::CURRENT_QUERY, 0]],
                    _ if f.numbers == 2 => &mut |n| (0..INDICES).map(|i| [n, i, 0]).collect(),
                    _ => &mut |n| vec![[n, 0, 0]],
                };
                let found = answers.answered(function, tries);
                answers.context.extend(found);
            }
            let of_unit = |n| UNIT.into_iter().filter(|q| *q == n).map(|q| [q, 0, 0]).collect();
            answers.unit = answers.answered(0, &mut { of_unit });
            for (kind, name) in objects {
                if !answers.kinds.contains_key(kind) {
                    let bound = answers.bind(*kind, *name);
                    let found = answers.of_object(*kind, *name, of_context);
                    drop(bound);
                    answers.kinds.insert(*kind, found);
                }
            }
        }
        answers
    }

    /// What is answered of an object that is bound.
    ///
    /// # Safety
    /// A context is current.
    unsafe fn of_object(&self, kind: Kind, name: u32, first: usize) -> Vec<Question> {
        let by = |question: &str| self.functions.iter().position(|f| f.name == question).unwrap_or(first);
        // SAFETY: the caller's.
        let find = |function: &str, tries: &mut dyn FnMut(u32) -> Vec<[u32; 3]>| unsafe {
            self.answered(by(function), tries)
        };
        match kind {
            Kind::Texture => {
                let mut all = find("glGetTexParameterfv", &mut |n| vec![[glow::TEXTURE_2D, n, 0]]);
                let level = find("glGetTexLevelParameteriv", &mut |n| vec![[glow::TEXTURE_2D, 0, n]]);
                all.extend(level);
                all
            }
            Kind::Sampler => find("glGetSamplerParameterfv", &mut |n| vec![[name, n, 0]]),
            Kind::Buffer => find("glGetBufferParameteri64v", &mut |n| vec![[glow::COPY_READ_BUFFER, n, 0]]),
            Kind::VertexArray => {
                let mut all = find("glGetVertexAttribfv", &mut |n| (0..16).map(|i| [i, n, 0]).collect());
                let more = find("glGetVertexAttribPointerv", &mut |n| (0..16).map(|i| [i, n, 0]).collect());
                all.extend(more);
                all.extend(find("glGetInteger64v", &mut |n| {
                    (n == glow::ELEMENT_ARRAY_BUFFER_BINDING).then_some([n, 0, 0]).into_iter().collect()
                }));
                all
            }
            Kind::Framebuffer => {
                let mut all = find("glGetFramebufferAttachmentParameteriv", &mut |n| {
                    (0..8).map(|i| [glow::READ_FRAMEBUFFER, glow::COLOR_ATTACHMENT0 + i, n]).collect()
                });
                let buffers = glow::DRAW_BUFFER0..glow::DRAW_BUFFER0 + 8;
                all.extend(find("glGetInteger64v", &mut |n| {
                    (n == glow::READ_BUFFER || buffers.contains(&n))
                        .then_some([n, 0, 0])
                        .into_iter()
                        .collect()
                }));
                all
            }
            Kind::Program => find("glGetProgramiv", &mut |n| vec![[name, n, 0]]),
        }
    }

    /// Tries every number; of those with an index, further ones as long as there is an answer.
    ///
    /// # Safety
    /// A context is current.
    unsafe fn answered(&self, function: usize, tries: &mut dyn FnMut(u32) -> Vec<[u32; 3]>) -> Vec<Question> {
        let mut found = Vec::new();
        let f = &self.functions[function];
        if f.at.is_null() {
            return found;
        }
        for number in NUMBERS.filter(|n| !RESTLESS.contains(n)) {
            for numbers in tries(number) {
                let mut written = [[0; LONGEST]; 2];
                // Two backgrounds, since an answer may look like one of them.
                // SAFETY: the caller's; an answer fits.
                let answered = unsafe {
                    let mut ask = |i: usize| {
                        written[i].fill(UNTOUCHED[i]);
                        f.ask(numbers, written[i].as_mut_ptr());
                        self.gl.get_error() == glow::NO_ERROR
                    };
                    ask(0) && ask(1)
                };
                if !answered {
                    break;
                }
                let touched = |(at, pair): (usize, (&u8, &u8))| (*pair.0 == *pair.1).then_some(at + 1);
                let bytes = written[0].iter().zip(&written[1]).enumerate().filter_map(touched).last();
                found.extend(bytes.map(|bytes| Question { function, numbers, bytes }));
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

    /// The questions in the order of the answers, each with what it is asked of.
    fn all<'a>(&'a self, objects: &'a [Object]) -> impl Iterator<Item = (String, &'a Question)> {
        let context = self.context.iter().map(|q| (String::new(), q));
        let units =
            (0..self.units).flat_map(|unit| self.unit.iter().map(move |q| (format!("unit {unit}: "), q)));
        let of = |object: &'a Object| self.kinds[&object.0].iter().map(move |q| (format!("{object:?}: "), q));
        context.chain(units).chain(objects.iter().flat_map(of))
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
    answers: Rc<Answers>,
    objects: Vec<Object>,
    values: Vec<u8>,
}

impl PartialEq for Snapshot {
    fn eq(&self, other: &Self) -> bool {
        self.objects == other.objects && self.values == other.values
    }
}

impl Snapshot {
    /// Number of values compared.
    pub fn len(&self) -> usize {
        self.answers.all(&self.objects).count()
    }

    /// Which questions have other answers: a sentence for each, and its number in GL.
    fn changed(&self, after: &Snapshot) -> Vec<(String, u32)> {
        assert_eq!((&self.objects, self.values.len()), (&after.objects, after.values.len()));
        let mut at = 0;
        let mut changed = Vec::new();
        for (of, Question { function, numbers, bytes }) in self.answers.all(&self.objects) {
            let range = at..at + bytes;
            at += bytes;
            let (was, is) = (&self.values[range.clone()], &after.values[range]);
            if was != is {
                let Function { name, numbers: count, .. } = self.answers.functions[*function];
                let asked = &numbers[..count];
                let place = usize::from(name.contains("Attrib") || name.contains("Parameter"));
                let query = numbers[place.min(count - 1)];
                changed.push((format!("{of}{name}({asked:x?}): was {was:02x?}, is {is:02x?}"), query));
            }
        }
        changed
    }

    /// What differs, as sentences.
    pub fn differences(&self, after: &Snapshot) -> Vec<String> {
        self.changed(after).into_iter().map(|(sentence, _)| sentence).collect()
    }

    /// What differs, as the numbers that GL has for the questions.
    pub fn questions(&self, after: &Snapshot) -> BTreeSet<u32> {
        self.changed(after).into_iter().map(|(_, query)| query).collect()
    }
}

/// Everything that the current context answers.
pub fn snapshot() -> Snapshot {
    snapshot_with(&[])
}

/// And of these objects.
pub fn snapshot_with(objects: &[Object]) -> Snapshot {
    let answers = Answers::here(objects);
    let mut values = Vec::new();
    let gl = &answers.gl;
    // SAFETY: the caller has made the context current.
    unsafe {
        assert_eq!(gl.get_error(), glow::NO_ERROR, "an error is pending before the snapshot");
        answers.ask_all(&answers.context, None, &mut values);
        let active = gl.get_parameter_i32(glow::ACTIVE_TEXTURE) as u32;
        for unit in 0..answers.units {
            gl.active_texture(glow::TEXTURE0 + unit);
            answers.ask_all(&answers.unit, None, &mut values);
        }
        gl.active_texture(active);
        for (kind, name) in objects {
            let _bound = answers.bind(*kind, *name);
            let by_name = matches!(kind, Kind::Sampler | Kind::Program).then_some(*name);
            answers.ask_all(&answers.kinds[kind], by_name, &mut values);
        }
        // What has no answer in this state has none after it either.
        while gl.get_error() != glow::NO_ERROR {}
    }
    Snapshot { answers, objects: objects.to_vec(), values }
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
        panic!("{what} changed the host's state: {:#?}", before.differences(after));
    }
}
