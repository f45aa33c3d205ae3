//! What a kernel of texla's own is made of, as its key: two draws run the same kernel if and only if they say the same.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use smallvec::SmallVec;

use super::params::{Field, FieldType};
use super::spec::{InputSpec, KernelSpec, StageSpec, Test, VertexSpec};
use crate::gl::{Attribute, Source, UniformValue};

/// A list that is short as a rule.
pub(super) type Few<T> = SmallVec<[T; 8]>;

/// Words of the library's own: as a rule the very same ones are compared.
#[derive(Clone, Copy, Eq)]
pub(crate) struct Word(pub &'static str);

impl PartialEq for Word {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0) || self.0 == other.0
    }
}

/// By length and ends: enough to tell apart what is in one map, and every draw hashes a dozen of them.
impl Hash for Word {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let bytes = self.0.as_bytes();
        let end = |byte: Option<&u8>| byte.map_or(0, |b| u64::from(*b));
        state.write_u64((bytes.len() as u64) << 16 | end(bytes.first()) << 8 | end(bytes.last()));
    }
}

/// A name, or one of a row of names: `x`, or `x0`, `x1`, ..., or `x0_low`, `x1_low`, ...
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Name(Word, Option<u32>, Word);

impl From<&'static str> for Name {
    fn from(name: &'static str) -> Self {
        Name(Word(name), None, Word(""))
    }
}

impl From<(&'static str, usize)> for Name {
    fn from((stem, number): (&'static str, usize)) -> Self {
        (stem, number, "").into()
    }
}

impl From<(&'static str, usize, &'static str)> for Name {
    fn from((stem, number, suffix): (&'static str, usize, &'static str)) -> Self {
        // Inputs are as many as a device has texture units.
        Name(Word(stem), u32::try_from(number).ok(), Word(suffix))
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Name(Word(stem), number, Word(suffix)) = self;
        match number {
            Some(k) => write!(f, "{stem}{k}{suffix}"),
            None => write!(f, "{stem}{suffix}"),
        }
    }
}

/// What a `#define` stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Value {
    /// Nothing: it is asked for by `#ifdef`.
    Nothing,
    Number(i64),
    /// `ivec2(x, y)`
    Pair([i32; 2]),
    Words(Word),
}

impl From<()> for Value {
    fn from((): ()) -> Self {
        Value::Nothing
    }
}

impl From<&'static str> for Value {
    fn from(words: &'static str) -> Self {
        Value::Words(Word(words))
    }
}

impl From<[i32; 2]> for Value {
    fn from(pair: [i32; 2]) -> Self {
        Value::Pair(pair)
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl From<$number> for Value {
            fn from(number: $number) -> Self {
                Value::Number(i64::from(number))
            }
        }
    )*};
}

// Yes is 1, no is 0.
numbers!(bool, u8, u32, i32, i64);

/// Text in front of a body.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Text {
    Define(Word, Value),
    Lines(Word),
    Made(Made),
    /// `#define NAME` with text that is written as the draw is described.
    Written(Word, Rc<str>),
}

impl Text {
    fn push_to(&self, text: &mut String) {
        match self {
            Text::Define(Word(name), value) => {
                text.push_str("#define ");
                text.push_str(name);
                match value {
                    Value::Nothing => {}
                    Value::Number(n) => text.push_str(&format!(" {n}")),
                    Value::Pair([x, y]) => text.push_str(&format!(" ivec2({x}, {y})")),
                    Value::Words(Word(words)) => {
                        text.push(' ');
                        text.push_str(words);
                    }
                }
            }
            Text::Lines(Word(lines)) => text.push_str(lines),
            Text::Made(made) => text.push_str(&(made.make)(&made.of)),
            Text::Written(Word(name), written) => {
                text.push_str("#define ");
                text.push_str(name);
                text.push(' ');
                text.push_str(written);
            }
        }
        text.push('\n');
    }
}

/// Text made of numbers when a kernel is compiled. A function pointer holds nothing of its own: the numbers are all that
/// the text can depend on.
#[derive(Clone)]
pub(super) struct Made {
    pub make: fn(&[i64]) -> String,
    pub of: Vec<i64>,
}

impl PartialEq for Made {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::fn_addr_eq(self.make, other.make) && self.of == other.of
    }
}

impl Eq for Made {}

impl Hash for Made {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.of.hash(state);
    }
}

/// A shader file, known by its name.
#[derive(Clone, Copy)]
pub(super) struct File(pub Source<'static>);

impl PartialEq for File {
    fn eq(&self, other: &Self) -> bool {
        Word(self.0.name) == Word(other.0.name)
    }
}

impl Eq for File {}

impl Hash for File {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Word(self.0.name).hash(state);
    }
}

/// How an input is read: see [`InputSpec`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Access {
    Float,
    Unsigned,
    Addressed,
    Filtered,
}

/// Attributes of the vertices of points: name and type.
pub(crate) type Attributes = &'static [(&'static str, Attribute)];

/// Where the body runs: see [`StageSpec`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Stage {
    Fragment { mask: bool },
    Condition(Test),
    Points(Attributes),
}

/// A whole kernel. All of it is the key.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Description {
    pub(super) file: File,
    pub(super) name: Word,
    pub(super) stage: Stage,
    pub(super) outputs: usize,
    pub(super) texts: Few<Text>,
    pub(super) inputs: Few<(Name, Access)>,
    pub(super) fields: Few<(Word, FieldType)>,
    /// A uniform block, and the `vec4`s in it.
    pub(super) block: Option<(Word, u32)>,
    /// Varyings, and the vertex stage that sets them.
    pub(super) vertex: Option<(&'static [&'static str], File)>,
}

impl Description {
    pub(crate) fn new(source: Source<'static>) -> Self {
        Description {
            file: File(source),
            name: Word(source.name),
            stage: Stage::Fragment { mask: false },
            outputs: 0,
            texts: Few::new(),
            inputs: Few::new(),
            fields: Few::new(),
            block: None,
            vertex: None,
        }
    }

    /// Like `new`, where there is a description already: its room is most of a kilobyte, and stays where it is.
    pub(crate) fn begin(&mut self, source: Source<'static>) {
        let Description { file, name, stage, outputs, texts, inputs, fields, block, vertex } = self;
        (*file, *name, *stage) = (File(source), Word(source.name), Stage::Fragment { mask: false });
        (*outputs, *block, *vertex) = (0, None, None);
        texts.clear();
        inputs.clear();
        fields.clear();
    }

    pub(super) fn field(&mut self, name: &'static str, value: &UniformValue) {
        self.fields.push((Word(name), FieldType(value.kind())));
    }

    /// The kernel written out.
    pub(crate) fn spec(&self) -> KernelSpec {
        let File(source) = self.file;
        let mut generated = String::new();
        self.texts.iter().for_each(|text| text.push_to(&mut generated));
        let input = |(name, access): &(Name, Access)| InputSpec {
            name: name.to_string(),
            unsigned: *access == Access::Unsigned,
            addressed: *access == Access::Addressed,
            filtered: *access == Access::Filtered,
        };
        KernelSpec {
            name: self.name.0.to_owned(),
            stage: match self.stage {
                Stage::Fragment { mask } => StageSpec::Fragment {
                    outputs: (0..self.outputs).map(|i| format!("out{i}")).collect(),
                    mask,
                },
                Stage::Condition(test) => StageSpec::Condition(test),
                Stage::Points(attributes) => StageSpec::Points {
                    attributes: attributes.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect(),
                    mask: false,
                },
            },
            inputs: self.inputs.iter().map(input).collect(),
            block: self.block.map(|(Word(name), vec4s)| (name.to_owned(), vec4s)),
            params: self.fields.iter().map(|(Word(name), kind)| Field { name, kind: *kind }).collect(),
            generated,
            file: source.name.to_owned(),
            text: source.text.to_owned(),
            wanted: Vec::new(),
            vertex: self.vertex.map(|(varyings, File(source))| VertexSpec {
                varyings: varyings.iter().map(|v| (*v).to_owned()).collect(),
                file: source.name.to_owned(),
                text: source.text.to_owned(),
            }),
            combines: None,
        }
    }
}
