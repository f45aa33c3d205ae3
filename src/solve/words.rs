//! Names of what can be asked for.

/// A list of names: what they stand for by the word, and the word by what it stands for.
macro_rules! words {
    ($of:ident, $what:literal: $first:literal => $least:ident $(, $word:literal => $value:ident)* $(,)?) => {
        impl $of {
            /// The words for them.
            pub const WORDS: &'static [(&'static str, $of)] = &[($first, <$of>::$least) $(, ($word, <$of>::$value))*];

            /// The word for it.
            pub fn word(self) -> &'static str {
                match self {
                    <$of>::$least => $first,
                    $(<$of>::$value => $word,)*
                }
            }
        }

        impl std::fmt::Display for $of {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }

        /// By its word, in capital or small letters. *Errors*: [`Error::Parameter`](crate::Error::Parameter), with all of them.
        impl std::str::FromStr for $of {
            type Err = crate::error::Error;

            fn from_str(word: &str) -> crate::error::Result<Self> {
                let named = Self::WORDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
                named.map(|(_, of)| *of).ok_or_else(|| crate::error::Error::Parameter {
                    op: $what,
                    name: "name",
                    value: format!("{word:?}"),
                    expected: concat!("one of ", $first $(, ", ", $word)*),
                })
            }
        }
    };
}
