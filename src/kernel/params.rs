//! A kernel's parameters as a typed struct, one uniform for each field.

use crate::gl::{UniformKind, UniformValue};

/// The GLSL type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FieldType(pub(crate) UniformKind);

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamValue(pub(crate) UniformValue);

/// Name and type of one parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// Name, the same in the struct and in GLSL.
    pub name: &'static str,
    /// Type.
    pub kind: FieldType,
}

/// What is wrong with values for these fields: a [`Params`] written by hand may say one thing and give another.
pub(super) fn mismatch<'a>(
    fields: &[Field],
    values: impl ExactSizeIterator<Item = &'a UniformValue>,
) -> Option<String> {
    if values.len() != fields.len() {
        let names: Vec<_> = fields.iter().map(|f| f.name).collect();
        let (found, expected, names) = (values.len(), names.len(), names.join(", "));
        return Some(format!(
            "`Params::values` gives {found} values, expected one for each of {expected} fields: {names}"
        ));
    }
    let wrong = fields.iter().zip(values).find(|(field, value)| field.kind.0 != value.kind());
    wrong.map(|(field, value)| {
        let (name, found, expected) = (field.name, value.kind().glsl(), field.kind.0.glsl());
        format!("the parameter `{name}` is given as `{found}`, expected `{expected}` as its field says")
    })
}

/// A Rust type that a parameter can have.
pub trait ParamType {
    /// The GLSL type.
    const KIND: FieldType;
    /// The value as a uniform.
    fn value(&self) -> ParamValue;
}

macro_rules! param_type {
    ($($rust:ty => $kind:ident),* $(,)?) => {$(
        impl ParamType for $rust {
            const KIND: FieldType = FieldType(UniformKind::$kind);
            fn value(&self) -> ParamValue {
                ParamValue(UniformValue::$kind(*self))
            }
        }
    )*};
}

param_type! {
    f32 => Float, [f32; 2] => Vec2, [f32; 3] => Vec3, [f32; 4] => Vec4,
    i32 => Int, [i32; 2] => IVec2, [i32; 3] => IVec3, [i32; 4] => IVec4, u32 => UInt,
}

/// The parameters of a kernel. Written by [`params!`](crate::params).
pub trait Params {
    /// The fields in order.
    const FIELDS: &'static [Field];
    /// The values in the same order, of the same types: a kernel that is given others says
    /// [`Error::Interface`](crate::Error::Interface), with the field's name, and draws nothing.
    fn values(&self) -> Vec<ParamValue>;
}

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoParams;

impl Params for NoParams {
    const FIELDS: &'static [Field] = &[];

    fn values(&self) -> Vec<ParamValue> {
        Vec::new()
    }
}

/// Declares a struct of kernel parameters; each field becomes a uniform of the same name.
///
/// Field types: `f32`, `i32`, `u32`, `[f32; 2..=4]`, `[i32; 2..=4]`.
///
/// ```
/// texla::params! {
///     /// Weighted Jacobi.
///     pub struct Relax { omega: f32, sweep: i32 }
/// }
/// use texla::kernel::Params;
/// assert_eq!(Relax::FIELDS.len(), 2);
/// assert_eq!(Relax::FIELDS[0].name, "omega");
/// # let _ = Relax { omega: 0.8, sweep: 1 };
/// ```
#[macro_export]
macro_rules! params {
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($field:ident : $kind:ty),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        $vis struct $name {
            $(#[allow(missing_docs)] pub $field: $kind),*
        }
        impl $crate::kernel::Params for $name {
            const FIELDS: &'static [$crate::kernel::Field] = &[
                $($crate::kernel::Field {
                    name: stringify!($field),
                    kind: <$kind as $crate::kernel::ParamType>::KIND,
                }),*
            ];
            fn values(&self) -> Vec<$crate::kernel::ParamValue> {
                vec![$($crate::kernel::ParamType::value(&self.$field)),*]
            }
        }
    };
}
