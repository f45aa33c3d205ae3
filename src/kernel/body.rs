//! What can be told of a body from its words, before a driver sees it: the same on every device, in both dialects.

use super::names::{is_builtin, is_own_function, is_reserved, why_not};
use crate::error::{Error, Result};
use crate::gl::macros_of_includes;

/// A body taken apart into words and signs, without comments.
pub(super) struct Body<'a> {
    /// Its name, for messages.
    file: &'a str,
    /// Without preprocessor directives.
    code: Vec<Token<'a>>,
    directives: Vec<Token<'a>>,
    /// A word that goes on in the next line, which only a preprocessor puts together.
    split: Option<Token<'a>>,
    /// The line of a NUL, behind which a driver sees nothing.
    nul: Option<usize>,
}

/// A name, a number or a single sign, and the line it stands in.
#[derive(Clone, Copy)]
struct Token<'a> {
    text: &'a str,
    line: usize,
}

impl Token<'_> {
    /// Whether it consists of characters of GLSL; the quotes are those of `#include`.
    fn is_glsl(&self) -> bool {
        self.text.chars().all(|c| c.is_ascii_alphanumeric() || "_.+-/*%<>[](){}^|&~=!:;,?#\\\"".contains(c))
    }

    fn is_word(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    }
}

/// The head of a function: what it gives, its name, and for each argument a direction other than `in` and the type.
struct Head<'a> {
    result: &'a str,
    name: Token<'a>,
    arguments: Vec<Vec<&'a str>>,
    /// As it is written.
    text: String,
}

impl Head<'_> {
    fn same(&self, other: &Head<'_>) -> bool {
        (self.result, &self.arguments) == (other.result, &other.arguments)
    }
}

/// Blanks, tabs and the like; nothing else that other alphabets take for a blank.
fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_whitespace() || c == '\u{b}')
        || text.starts_with("\\\n")
        || text.starts_with("\\\r")
}

/// Words before a type that make no other function of it.
const PLAIN: [&str; 5] = ["const", "in", "highp", "mediump", "lowp"];

impl<'a> Body<'a> {
    pub fn new(file: &'a str, text: &'a str) -> Self {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (mut code, mut directives) = (Vec::new(), Vec::new());
        let nul = text.find('\0').map(|at| 1 + text.get(..at).unwrap_or_default().matches('\n').count());
        let mut split = None;
        let (mut rest, mut line) = (text, 1);
        // A directive begins with the first sign of a line and ends with the line.
        let (mut first, mut directive) = (true, false);
        while let Some(c) = rest.chars().next() {
            let length = match c {
                _ if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
                _ if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
                _ if rest.starts_with("\\\n") => 2,
                _ if rest.starts_with("\\\r\n") => 3,
                c if word(c) => rest.find(|c| !word(c)).unwrap_or(rest.len()),
                c => c.len_utf8(),
            };
            let (text, after) = rest.split_at(length);
            rest = after;
            if text == "\n" {
                (first, directive) = (true, false);
            } else if !is_blank(text) && !text.starts_with("//") && !text.starts_with("/*") {
                directive |= first && c == '#';
                first = false;
                let tokens = if directive { &mut directives } else { &mut code };
                tokens.push(Token { text, line });
                let on = rest.strip_prefix("\\\n").or_else(|| rest.strip_prefix("\\\r\n"));
                if word(c) && on.is_some_and(|next| next.starts_with(word)) {
                    split.get_or_insert(Token { text, line });
                }
            }
            line += text.matches('\n').count();
        }
        Body { file, code, directives, split, nul }
    }

    /// Refuses what one dialect might take and the other not, or only a linker would complain of; and a body that does not
    /// define the functions wanted.
    pub fn check(&self, kernel: &str, wanted: &[String]) -> Result<()> {
        let fail = |at: &Token<'_>, detail: String| {
            let detail = format!("{}:{}: {detail}", self.file, at.line);
            Err(Error::Interface { kernel: kernel.to_owned(), detail })
        };
        if let Some(line) = self.nul {
            let nul = Token { text: "", line };
            return fail(&nul, "a NUL, behind which drivers see nothing, expected none".to_owned());
        }
        if let Some(at) = &self.split {
            let detail = format!("`{}` goes on in the next line, expected whole words", at.text);
            return fail(at, detail);
        }
        if let Some(at) = self.all().find(|t| !t.is_glsl()) {
            let found = at.text.escape_default();
            return fail(
                at,
                format!("`{found}` is no character of GLSL, expected those alone outside comments"),
            );
        }
        if let Some((at, name)) = self.forbidden_directive() {
            let detail = format!(
                "`#{name}`, expected none: texla writes the version, and lines are those of the body"
            );
            return fail(at, detail);
        }
        if let Some((at, why)) = self.all().find_map(|t| Some((t, why_not(t.text)?))) {
            return fail(at, format!("`{}` {why}", at.text));
        }
        if let Some(at) = self.code.iter().find(|t| is_reserved(t.text)) {
            return fail(at, format!("`{}` is reserved in GLSL or GLSL ES, expected another name", at.text));
        }
        if let Some((at, name)) = self.declared() {
            let detail = format!(
                "the body declares `{name}` as `{}`, expected none of its own: parameters are declared by `params!`, \
                 textures are inputs",
                at.text
            );
            return fail(at, detail);
        }
        let heads = self.heads();
        if let Some(head) = heads.iter().find(|h| is_builtin(h.name.text)) {
            let detail = format!("`{}` is a function of GLSL, expected another name", head.name.text);
            return fail(&head.name, detail);
        }
        if let Some(head) = heads.iter().find(|h| is_own_function(h.name.text)) {
            let detail = format!("`{}` is a function of texla's, expected another name", head.name.text);
            return fail(&head.name, detail);
        }
        wanted.iter().try_for_each(|wanted| self.check_defined(kernel, &heads, wanted))
    }

    /// Words and signs of code and directives.
    fn all(&self) -> impl Iterator<Item = &Token<'a>> {
        self.code.iter().chain(&self.directives)
    }

    /// A first directive that would change the dialect, or the lines that errors name.
    fn forbidden_directive(&self) -> Option<(&Token<'a>, &'a str)> {
        let named = self.directives.windows(2).filter(|pair| matches!(pair, [Token { text: "#", .. }, _]));
        let mut named = named.filter_map(|pair| pair.last());
        named.find(|t| matches!(t.text, "version" | "extension" | "line")).map(|t| (t, t.text))
    }

    /// The names that the body defines for its preprocessor, or may have from a file that it includes.
    fn macros(&self) -> impl Iterator<Item = &'a str> {
        let includes = self.directives.iter().any(|t| t.text == "include");
        let defined = self.directives.windows(3).filter_map(|three| match three {
            [Token { text: "#", .. }, Token { text: "define", .. }, name] => Some(name.text),
            _ => None,
        });
        defined.chain(macros_of_includes().filter(move |_| includes).map(|name| -> &'a str { name }))
    }

    fn check_defined(&self, kernel: &str, heads: &[Head<'_>], wanted: &str) -> Result<()> {
        let text = format!("{wanted} {{");
        let template = Body::new("", &text);
        let template = template.heads();
        let Some(head) = template.first() else { return Ok(()) };
        let name = head.name.text;
        let named: Vec<_> = heads.iter().filter(|h| h.name.text == name).collect();
        // What a macro may have made is left to the compiler.
        let expanded = |word: &str| self.directives.iter().any(|t| t.text == word);
        let written = |h: &Head<'_>| expanded(h.result) || h.arguments.iter().flatten().any(|w| expanded(w));
        if expanded(name) || named.iter().any(|h| h.same(head) || written(h)) {
            return Ok(());
        }
        let detail = match named.first() {
            Some(found) => {
                format!("{}:{}: found `{}`, expected `{wanted}`", self.file, found.name.line, found.text)
            }
            None => format!("{}: `{name}` is not defined, expected `{wanted}`", self.file),
        };
        Err(Error::Interface { kernel: kernel.to_owned(), detail })
    }

    /// A first variable that would be part of the program's interface: its qualifier and its name.
    fn declared(&self) -> Option<(&Token<'a>, &'a str)> {
        let mut depth = 0i32;
        for (i, token) in self.code.iter().enumerate() {
            match token.text {
                "(" => depth += 1,
                ")" => depth -= 1,
                "uniform" => {}
                // Elsewhere than among arguments.
                "in" | "out" if depth == 0 => {}
                _ => continue,
            }
            if token.is_word() {
                let rest = self.code.iter().skip(i + 1);
                let words = rest.take_while(|t| !matches!(t.text, ";" | "{" | "=" | "[" | ","));
                let name = words.filter(|t| t.is_word()).last()?;
                return Some((token, name.text));
            }
        }
        None
    }

    /// The functions that the body defines.
    fn heads(&self) -> Vec<Head<'a>> {
        let mut heads = Vec::new();
        for (i, pair) in self.code.windows(3).enumerate() {
            let [result, name, Token { text: "(", .. }] = pair else { continue };
            if !result.is_word() || !name.is_word() {
                continue;
            }
            let inside: Vec<_> = self.code.iter().skip(i + 3).take_while(|t| t.text != ")").collect();
            if self.code.get(i + 4 + inside.len()).is_none_or(|t| t.text != "{") {
                continue;
            }
            let argument = |words: &[&Token<'a>]| -> Vec<&'a str> {
                let words: Vec<_> = words.iter().map(|t| t.text).filter(|w| !PLAIN.contains(w)).collect();
                let types = 1 + usize::from(matches!(words.first(), Some(&("out" | "inout"))));
                // The name goes; what stands behind it makes an array.
                words.iter().enumerate().filter(|(k, _)| *k != types).map(|(_, w)| *w).collect()
            };
            let mut arguments: Vec<_> = inside.split(|t| t.text == ",").map(argument).collect();
            arguments.retain(|a| !a.is_empty() && *a != ["void"]);
            let text = inside.iter().fold(String::new(), |text, t| {
                let gap = !text.is_empty() && !matches!(t.text, "," | "[" | "]");
                text + if gap { " " } else { "" } + t.text
            });
            let text = format!("{} {}({text})", result.text, name.text);
            heads.push(Head { result: result.text, name: *name, arguments, text });
        }
        heads
    }

    /// Whether the body reads this input by the target's texels: `x(p)` or `x_here()`.
    ///
    /// After the preprocessor `x` and `(` can stand side by side in three more ways, of which each counts: `x` is in a
    /// macro, or among what a macro is given, or before a macro. GLSL has no way to put words together of parts.
    pub fn reads_by_target(&self, input: &str) -> bool {
        let is_field = |at: usize, tokens: &[Token<'_>]| {
            at.checked_sub(1).and_then(|before| tokens.get(before)).is_some_and(|t| t.text == ".")
        };
        let stands = |at: usize, tokens: &[Token<'_>]| {
            tokens.get(at).is_some_and(|t| t.text == input) && !is_field(at, tokens)
        };
        let here = |t: &Token<'_>| t.text.strip_prefix(input) == Some("_here");
        if self.all().any(here) || (0..self.directives.len()).any(|at| stands(at, &self.directives)) {
            return true;
        }
        let macros: Vec<&str> = self.macros().collect();
        // The depth of brackets at which what a macro is given begins.
        let (mut depth, mut given) = (0usize, None);
        for (at, token) in self.code.iter().enumerate() {
            let next = self.code.get(at + 1).map_or("", |t| t.text);
            match token.text {
                "(" => depth += 1,
                ")" => {
                    depth = depth.saturating_sub(1);
                    given = given.filter(|begin| *begin < depth);
                }
                name if next == "(" && given.is_none() && macros.contains(&name) => given = Some(depth),
                _ => {}
            }
            let spoken_to = next == "(" || macros.contains(&next) || given.is_some();
            if stands(at, &self.code) && spoken_to {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, wanted: &str) -> String {
        match Body::new("f", text).check("k", &[wanted.to_owned()]) {
            Ok(()) => String::new(),
            Err(Error::Interface { detail, .. }) => detail,
            Err(other) => other.to_string(),
        }
    }

    #[test]
    fn functions_are_told_by_their_types() {
        let wanted = "void kernel(ivec2 p, out vec4 o0, out vec4 o1)";
        for right in [
            "void kernel(ivec2 p, out vec4 a, out vec4 b) {}",
            "void kernel(const in highp ivec2 where,\n    out vec4 a /* , */, out highp vec4 b) // {\n{}",
            "vec4 kernel(float x) { return vec4(x); }\nvoid kernel(ivec2, out vec4 a, out vec4 b) {}",
            "#define V vec4\nvoid kernel(ivec2 p, out V a, out V b) {}",
            "#define HEAD void kernel(ivec2 p, out vec4 a, \\\n out vec4 b)\nHEAD {}",
        ] {
            assert_eq!(check(right, wanted), "", "{right}");
        }
        for (wrong, found) in [
            ("", "f: `kernel` is not defined, expected `void kernel(ivec2 p, out vec4 o0, out vec4 o1)`"),
            ("void kernel(ivec2 p, out vec4 a, out vec4 b);", "not defined"),
            ("// void kernel(ivec2 p, out vec4 a, out vec4 b) {}", "not defined"),
            (
                "\nvoid kernel(ivec2 p, out vec4 a) {}",
                "f:2: found `void kernel(ivec2 p, out vec4 a)`, expected",
            ),
            ("void kernel(ivec2 p, out vec4 a, vec4 b) {}", "f:1: found"),
            ("void kernel(ivec2 p, out vec4 a, out vec4 b[2]) {}", "f:1: found"),
            ("vec4 kernel(ivec2 p, out vec4 a, out vec4 b) {}", "f:1: found"),
        ] {
            assert!(check(wrong, wanted).contains(found), "{wrong}: {}", check(wrong, wanted));
        }
    }

    #[test]
    fn inputs_read_by_the_targets_texels() {
        let read = |text: &str| Body::new("f", text).reads_by_target("x");
        assert!(read("x(p)") && read("x (p)") && read("x_here()") && read("#define X x(p)\nX"));
        assert!(!read("x_at(p) + y_here() + max_x(p) + x_heres() // x(p)\n") && !read("/* x(p) */ f(x)"));
        // By way of the preprocessor.
        for macros in
            ["#define P(a) (a)\nx P(p)", "#define J(a) a(p)\nJ(x)", "#define X x\nX(p)", "#define E\nx E (p)"]
        {
            assert!(read(macros), "{macros}");
        }
        assert!(read("#define J(a, b) b(p)\nJ(f(1), x)") && read("#define I(a) a\nI((I(1), x))(p)"));
        // By a macro of a file that is included.
        assert!(read("#include \"include/exact.glsl\"\nx held(p)") && !read("x held(p)"));
        for other in ["#define N 4\nq.x(p)", "#define N 4\nx_at(ivec2(N))", "#define F(a) a\nF(1) + x + F(2)"]
        {
            assert!(!read(other), "{other}");
        }
    }

    #[test]
    fn what_would_change_a_result_behind_texlas_back_is_named() {
        let body = "float kernel(ivec2 p) { return 1.0; }";
        for (before, found) in [
            ("void f() { gl_FragDepth = 0.0; }", "f:1: `gl_FragDepth` is texla's"),
            ("\n#define DEEP gl_FragDepth", "f:2: `gl_FragDepth` is texla's"),
            ("void main() {}", "f:1: `main` is texla's"),
            ("#define M void main() {}\nM", "f:1: `main` is texla's"),
            ("int texel_index(ivec2 p) { return 0; }", "f:1: `texel_index` is a function of texla's"),
            ("float a;\0", "f:1: a NUL"),
            ("// \0 in a comment", "f:1: a NUL"),
            ("float \u{e9} = 1.0;", "f:1: `\\u{e9}` is no character of GLSL"),
            ("float\u{a0}a;", "f:1: `\\u{a0}` is no character"),
            ("float a = 1.0 @ 2.0;", "f:1: `@` is no character"),
            ("#define A \u{e9}", "f:1: `\\u{e9}` is no character"),
            ("precision mediump float;", "f:1: `mediump` lowers precision"),
            ("lowp float a;", "f:1: `lowp` lowers precision"),
            ("#define P mediump", "f:1: `mediump` lowers precision"),
            ("#line 1000", "f:1: `#line`, expected none"),
            ("# version 330", "version`, expected none"),
            ("#extension all : enable", "f:1: `#extension`, expected none"),
            ("uni\\\nform float stray;", "f:1: `uni` goes on in the next line"),
            ("uni\\\r\nform float stray;", "f:1: `uni` goes on in the next line"),
        ] {
            let text = format!("{before}\n{body}");
            let detail = check(&text, "float kernel(ivec2 p)");
            assert!(detail.contains(found), "{before:?}: {detail}");
        }
        for right in [
            "// caf\u{e9}, 'quoted' $",
            "/* \u{a0} @ */",
            "#include \"include/exact.glsl\"",
            "precision highp float;",
            "bool front() { return gl_FrontFacing; }",
            "int most = gl_MaxDrawBuffers; // main",
            "#define LONG(a) \\\n (a)",
            "\tfloat a;\x0c\x0b",
        ] {
            assert_eq!(check(&format!("{right}\n{body}"), "float kernel(ivec2 p)"), "", "{right}");
        }
    }
}
