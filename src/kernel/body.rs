//! What can be told of a body from its words, before a driver sees it: the same on every device, in both dialects.

use super::names::{is_builtin, is_reserved};
use crate::error::{Error, Result};

/// A body taken apart into words and signs, without comments.
pub(super) struct Body<'a> {
    /// Its name, for messages.
    file: &'a str,
    /// Without preprocessor directives.
    code: Vec<Token<'a>>,
    directives: Vec<Token<'a>>,
}

/// A name, a number or a single sign, and the line it stands in.
#[derive(Clone, Copy)]
struct Token<'a> {
    text: &'a str,
    line: usize,
}

impl Token<'_> {
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

/// Words before a type that make no other function of it.
const PLAIN: [&str; 5] = ["const", "in", "highp", "mediump", "lowp"];

impl<'a> Body<'a> {
    pub fn new(file: &'a str, text: &'a str) -> Self {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (mut code, mut directives) = (Vec::new(), Vec::new());
        let (mut rest, mut line) = (text, 1);
        // A directive begins with the first sign of a line and ends with the line.
        let (mut first, mut directive) = (true, false);
        while let Some(c) = rest.chars().next() {
            let length = match c {
                _ if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
                _ if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
                _ if rest.starts_with("\\\n") => 2,
                c if word(c) => rest.find(|c| !word(c)).unwrap_or(rest.len()),
                c => c.len_utf8(),
            };
            let (text, after) = rest.split_at(length);
            rest = after;
            if text == "\n" {
                (first, directive) = (true, false);
            } else if !c.is_whitespace() && length > 0 && !text.starts_with("//") && !text.starts_with("/*") {
                directive |= first && c == '#';
                first = false;
                let tokens = if directive { &mut directives } else { &mut code };
                tokens.push(Token { text, line });
            }
            line += text.matches('\n').count();
        }
        Body { file, code, directives }
    }

    /// Refuses what one dialect might take and the other not, or only a linker would complain of; and a body that does not
    /// define the functions wanted.
    pub fn check(&self, kernel: &str, wanted: &[String]) -> Result<()> {
        let fail = |at: &Token<'_>, detail: String| {
            let detail = format!("{}:{}: {detail}", self.file, at.line);
            Err(Error::Interface { kernel: kernel.to_owned(), detail })
        };
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
        wanted.iter().try_for_each(|wanted| self.check_defined(kernel, &heads, wanted))
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
    pub fn reads_by_target(&self, input: &str) -> bool {
        let here = |t: &Token<'_>| t.text.strip_prefix(input) == Some("_here");
        let called = |pair: &[Token<'_>]| matches!(pair, [x, open] if x.text == input && open.text == "(");
        [&self.code, &self.directives].into_iter().any(|t| t.iter().any(here) || t.windows(2).any(called))
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
    }
}
