//! The one door to a shader: a draw said call by call - what it reads, is told, writes and covers - and run.

use super::describe::{Access, Attributes, Description, Made, Name, Stage, Text, Value, Word};
use super::domain::{Accum, Domain, Predicate};
use super::params::{ParamType, Params};
use super::pass::{Compiled, Operand, Pass, Said, View};
use super::predicate::Mask;
use super::spec::Test;
use crate::device::Device;
use crate::error::Result;
use crate::gl::{Block, Depth, Source, UniformValue};

/// The kernel of a draw.
enum Kernel<'a> {
    /// One of texla's own, compiled when it is first needed and kept by the device.
    Described(Box<Description>),
    /// One that somebody keeps: a user's.
    Kept(&'a Compiled),
}

/// A draw being described. What names an input, a `#define` or a parameter also says what it is: the kernel that fits
/// is found by all of it (its [`Description`]), and no list has to be kept in step with another.
///
/// Inputs and parameters keep the order in which they are named; so do texts.
///
/// Calls hand it on by value, a dozen of them for the least draw: so it is three words and what they point to.
pub(crate) struct Draw<'a> {
    device: &'a Device,
    kernel: Kernel<'a>,
    said: Box<Said<'a>>,
}

impl<'a> Draw<'a> {
    /// A draw with the body in this file.
    #[inline]
    pub fn new(device: &'a Device, source: Source<'static>) -> Self {
        Self::with(device, Kernel::Described(device.description(source)))
    }

    /// A draw with a kernel that somebody keeps: names of inputs and parameters are only notes, and the order counts.
    #[inline]
    pub fn of(device: &'a Device, kernel: &'a Compiled) -> Self {
        Self::with(device, Kernel::Kept(kernel))
    }

    #[inline]
    fn with(device: &'a Device, kernel: Kernel<'a>) -> Self {
        Draw { device, kernel, said: Box::default() }
    }

    #[inline]
    fn describe(mut self, say: impl FnOnce(&mut Description)) -> Self {
        if let Kernel::Described(description) = &mut self.kernel {
            say(description);
        }
        self
    }

    #[inline]
    fn text(self, text: Text) -> Self {
        self.describe(|d| d.texts.push(text))
    }

    /// What messages call the kernel, where that is not its file.
    #[inline]
    pub fn named(self, name: &'static str) -> Self {
        self.describe(|d| d.name = Word(name))
    }

    /// `#define NAME VALUE` in front of the body.
    #[inline]
    pub fn define(self, name: &'static str, value: impl Into<Value>) -> Self {
        self.text(Text::Define(Word(name), value.into()))
    }

    /// Lines in front of the body.
    #[inline]
    pub fn lines(self, lines: &'static str) -> Self {
        self.text(Text::Lines(Word(lines)))
    }

    /// `#define NAME TEXT` of each in front of the body, all of which is part of the kernel's key.
    pub fn written(self, texts: &[(&'static str, &str)]) -> Self {
        let text = |&(name, text): &(_, &str)| Text::Written(Word(name), text.into());
        self.describe(|d| d.texts.extend(texts.iter().map(text)))
    }

    /// Lines in front of the body, made of nothing but these numbers when the kernel is compiled.
    #[inline]
    pub fn lines_made(self, make: fn(&[i64]) -> String, of: Vec<i64>) -> Self {
        self.text(Text::Made(Made { make, of }))
    }

    #[inline]
    fn read(mut self, name: Name, access: Access, view: View<'a>) -> Self {
        self.said.inputs.push(view);
        self.describe(|d| d.inputs.push((name, access)))
    }

    /// An input.
    #[inline]
    pub fn input(self, name: impl Into<Name>, view: View<'a>) -> Self {
        self.read(name.into(), Access::Float, view)
    }

    /// An input that is only sometimes there.
    #[inline]
    pub fn input_if(self, name: impl Into<Name>, view: Option<View<'a>>) -> Self {
        match view {
            Some(view) => self.input(name, view),
            None => self,
        }
    }

    /// Inputs of one stem, numbered.
    #[inline]
    pub fn inputs(self, stem: &'static str, views: impl IntoIterator<Item = View<'a>>) -> Self {
        views.into_iter().enumerate().fold(self, |draw, (k, view)| draw.input((stem, k), view))
    }

    /// An input read by `_at`, `_clamped` and `_extent` alone, so that it is compiled once.
    #[inline]
    pub fn addressed(self, name: impl Into<Name>, view: View<'a>) -> Self {
        self.read(name.into(), Access::Addressed, view)
    }

    /// An input read by `_average` and `_at` alone. Needs
    /// [`Capabilities::float_filter`](crate::gl::Capabilities::float_filter).
    #[inline]
    pub fn filtered(self, name: impl Into<Name>, view: View<'a>) -> Self {
        self.read(name.into(), Access::Filtered, view)
    }

    /// An input of unsigned integers.
    #[inline]
    pub fn unsigned(self, name: impl Into<Name>, view: View<'a>) -> Self {
        self.read(name.into(), Access::Unsigned, view)
    }

    /// Sums of a pass before this one, which go on: `#define START name_here()`, by whatever accessor; zeros where
    /// there are none.
    #[inline]
    pub fn carried(
        self,
        start: &'static str,
        (name, accessor): (&'static str, &'static str),
        view: Option<View<'a>>,
    ) -> Self {
        let from = if view.is_some() { accessor } else { "vec4(0.0)" };
        self.input_if(name, view).define(start, from)
    }

    /// A uniform block: `name[i]` is `vec4` `i` of it.
    #[inline]
    pub fn block(mut self, name: &'static str, block: Block<'a>) -> Self {
        self.said.block = Some(block);
        self.describe(|d| d.block = Some((Word(name), block.vec4s)))
    }

    /// A parameter.
    #[inline]
    pub fn param<T: ParamType>(self, name: &'static str, value: T) -> Self {
        self.uniform(name, value.value().0)
    }

    /// A parameter that is an array of floats.
    #[inline]
    pub fn floats(self, name: &'static str, values: Vec<f32>) -> Self {
        self.uniform(name, UniformValue::Floats(values))
    }

    /// A parameter that is an array of integers.
    #[inline]
    pub fn ints(self, name: &'static str, values: Vec<i32>) -> Self {
        self.uniform(name, UniformValue::Ints(values))
    }

    /// Inputs of a kernel that somebody keeps.
    #[inline]
    pub fn operands(self, inputs: &[&'a dyn Operand]) -> Self {
        inputs.iter().fold(self, |draw, input| draw.input("", input.view()))
    }

    /// Parameters of a kernel that somebody keeps.
    #[inline]
    pub fn params<P: Params>(self, params: &P) -> Self {
        params.values().into_iter().fold(self, |draw, value| draw.uniform("", value.0))
    }

    /// A parameter of any type.
    #[inline]
    pub fn uniform(mut self, name: &'static str, value: UniformValue) -> Self {
        if let Kernel::Described(description) = &mut self.kernel {
            description.field(name, &value);
        }
        self.said.params.push(value);
        self
    }

    /// Forces lanes past the end of the target to zero, where `mask` says so.
    #[inline]
    pub fn masked(self, mask: bool) -> Self {
        self.describe(|d| d.stage = Stage::Fragment { mask })
    }

    /// A vertex stage of its own: `varyings` are interpolated between what it says at the corners of the domain
    /// [Goeddeke05].
    #[inline]
    pub fn interpolating(self, varyings: &'static [&'static str], source: Source<'static>) -> Self {
        self.describe(|d| d.vertex = Some((varyings, super::describe::File(source))))
    }

    /// The body places points that carry these attributes, and the domain is points.
    #[inline]
    pub fn placing(self, attributes: Attributes) -> Self {
        self.describe(|d| d.stage = Stage::Points(attributes))
    }

    /// A target. Every texel of it is written unless the draw says otherwise.
    #[inline]
    pub fn target(mut self, view: View<'a>) -> Self {
        self.said.targets.push(view);
        self.describe(|d| d.outputs += 1)
    }

    /// Several targets of one extent.
    #[inline]
    pub fn targets(self, views: impl IntoIterator<Item = View<'a>>) -> Self {
        views.into_iter().fold(self, Draw::target)
    }

    /// Covers part of the targets.
    #[inline]
    pub fn on(mut self, domain: Domain<'a>) -> Self {
        self.said.domain = domain;
        self
    }

    /// Meets what the targets hold in another way than by replacing it.
    #[inline]
    pub fn accumulate(mut self, accum: Accum) -> Self {
        self.said.accum = accum;
        self
    }

    /// Leaves texels out.
    #[inline]
    pub fn only(mut self, predicate: Predicate<'a>) -> Self {
        self.said.predicate = predicate;
        self
    }

    /// About how often a fragment goes round the loop of the body: long draws are cut into bands, each a call of its own, which
    /// together count as one.
    #[inline]
    pub fn rounds(mut self, rounds: u64) -> Self {
        self.said.rounds = rounds;
        self
    }

    /// Draws. *Cost*: 1 draw (of points and splats: as many as it takes), and the compilation of its program on first
    /// use. *Errors*: [`Error::Interface`](crate::Error::Interface), [`Error::Feedback`](crate::Error::Feedback),
    /// [`Error::WrongDevice`](crate::Error::WrongDevice), [`Error::Unsupported`](crate::Error::Unsupported),
    /// [`Error::Shader`](crate::Error::Shader), [`Error::Gl`](crate::Error::Gl).
    pub fn run(self) -> Result<()> {
        self.pass(|pass, _| pass.execute())
    }

    /// Draws a condition: a mask for data like this.
    pub fn mask(self, like: View<'_>) -> Result<Mask> {
        self.condition(Test::Write).pass(|pass, device| Mask::write(device, pass, like))
    }

    /// The body is a condition, of which this becomes.
    #[inline]
    pub(super) fn condition(self, test: Test) -> Self {
        self.describe(|d| d.stage = Stage::Condition(test))
    }

    /// Draws a condition into the depth of a mask.
    pub(super) fn test(self, mask: &Mask, depth: Depth) -> Result<()> {
        self.pass(|pass, _| pass.test(mask, depth))
    }

    fn pass<T>(self, run: impl FnOnce(&Pass<'_>, &Device) -> Result<T>) -> Result<T> {
        let Draw { device, kernel, said } = self;
        let _scope = device.scope()?;
        let found;
        let kernel = match kernel {
            Kernel::Kept(kernel) => kernel,
            Kernel::Described(description) => {
                found = device.kernel(description)?;
                &found
            }
        };
        run(&Pass { kernel, said }, device)
    }
}
