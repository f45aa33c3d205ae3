//! Scalar text for pairs: operators become calls of functions, which `glsl/include/element.glsl` has for floats and pairs.

/// The text with its arithmetic and comparisons as calls. It is GLSL as recipes write it: statements of expressions, with `float`
/// for local numbers; literals, names, calls, `?:`, and the operators `+ - * / < <= > >= == && || !` and `=`.
pub(super) fn translated(text: &str) -> String {
    let mut parser = Parser { tokens: tokens(text), at: 0 };
    let mut out = String::new();
    while parser.at < parser.tokens.len() {
        parser.statement(&mut out);
    }
    out
}

fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let len = if word(first) {
            let mut end = rest.find(|c| !word(c)).unwrap_or(rest.len());
            // The exponent of a literal may have a sign.
            let literal = first.is_ascii_digit() && rest.get(..end).is_some_and(|t| t.ends_with(['e', 'E']));
            if literal && rest.get(end..).is_some_and(|t| t.starts_with(['+', '-'])) {
                let after = rest.get(end + 1..).unwrap_or("");
                end += 1 + after.find(|c| !word(c)).unwrap_or(after.len());
            }
            end
        } else if ["<=", ">=", "==", "!=", "&&", "||"].iter().any(|two| rest.starts_with(two)) {
            2
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(len);
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

struct Parser<'t> {
    tokens: Vec<&'t str>,
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).copied().unwrap_or("")
    }

    fn next(&mut self) -> String {
        let token = self.peek().to_owned();
        self.at += 1;
        token
    }

    fn takes(&mut self, token: &str) -> bool {
        let found = self.peek() == token;
        self.at += usize::from(found);
        found
    }

    fn statement(&mut self, out: &mut String) {
        match self.peek() {
            "{" | "}" | ";" => out.push_str(&self.next()),
            "if" => {
                self.at += 2;
                let condition = self.choice();
                self.takes(")");
                out.push_str(&format!("if ({condition}) "));
            }
            "else" => {
                self.at += 1;
                out.push_str("else ");
            }
            kind => {
                let local = match kind {
                    "float" => Some("Number "),
                    "bool" => Some("bool "),
                    _ => None,
                };
                if let Some(local) = local {
                    self.at += 1;
                    out.push_str(local);
                }
                let left = self.choice();
                if self.takes("=") {
                    let right = self.choice();
                    let right = if local == Some("bool ") { right } else { format!("number({right})") };
                    out.push_str(&format!("{left} = {right}"));
                } else {
                    out.push_str(&left);
                }
                if self.takes(";") {
                    out.push_str("; ");
                }
            }
        }
    }

    fn choice(&mut self) -> String {
        let condition = self.either();
        if !self.takes("?") {
            return condition;
        }
        let yes = self.choice();
        self.takes(":");
        let no = self.choice();
        format!("({condition} ? number({yes}) : number({no}))")
    }

    fn either(&mut self) -> String {
        let mut left = self.both();
        while self.takes("||") {
            left = format!("({left} || {})", self.both());
        }
        left
    }

    fn both(&mut self) -> String {
        let mut left = self.comparison();
        while self.takes("&&") {
            left = format!("({left} && {})", self.comparison());
        }
        left
    }

    fn comparison(&mut self) -> String {
        let left = self.sum();
        for operator in ["<=", ">=", "<", ">", "==", "!="] {
            if self.takes(operator) {
                let right = self.sum();
                return format!("(sign_of(minus({left}, {right})) {operator} 0.0)");
            }
        }
        left
    }

    fn sum(&mut self) -> String {
        let mut left = self.product();
        loop {
            left = match self.peek() {
                "+" => self.call("plus", left, Self::product),
                "-" => self.call("minus", left, Self::product),
                _ => return left,
            }
        }
    }

    fn product(&mut self) -> String {
        let mut left = self.unary();
        loop {
            left = match self.peek() {
                "*" => self.call("times", left, Self::unary),
                "/" => self.call("over", left, Self::unary),
                _ => return left,
            }
        }
    }

    fn call(&mut self, name: &str, left: String, right: fn(&mut Self) -> String) -> String {
        self.at += 1;
        format!("{name}({left}, {})", right(self))
    }

    fn unary(&mut self) -> String {
        if self.takes("-") {
            return format!("(-{})", self.unary());
        }
        if self.takes("!") {
            return format!("(!{})", self.unary());
        }
        if self.takes("(") {
            let inner = self.choice();
            self.takes(")");
            return format!("({inner})");
        }
        let name = self.next();
        if !self.takes("(") {
            return name;
        }
        let mut arguments = Vec::new();
        while !self.takes(")") && self.at < self.tokens.len() {
            arguments.push(self.choice());
            self.takes(",");
        }
        // What GLSL has for floats alone.
        let name = match name.as_str() {
            "sqrt" => "root",
            "abs" => "magnitude",
            "max" => "larger",
            "min" => "smaller",
            "meets" | "will_meet" | "bounded" | "breaks" | "halts" | "cosine" => {
                // The last of them is a number of the method's, or the only one; all of a cosine.
                let first = if name == "cosine" { 0 } else { arguments.len().saturating_sub(1) };
                arguments.iter_mut().skip(first).for_each(|last| *last = format!("number({last})"));
                name.as_str()
            }
            other => other,
        };
        format!("{name}({})", arguments.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::translated;

    #[test]
    fn operators_become_calls_in_their_order() {
        assert_eq!(translated("a = b + c * d;"), "a = number(plus(b, times(c, d))); ");
        assert_eq!(translated("a = (b - c) / 2.0e-3;"), "a = number(over((minus(b, c)), 2.0e-3)); ");
        assert_eq!(translated("a = b - c - d;"), "a = number(minus(minus(b, c), d)); ");
        assert_eq!(translated("float s = sqrt(-x);"), "Number s = number(root((-x))); ");
        let chosen = translated("a = b > 0.0 ? b : 1e+5;");
        assert_eq!(chosen, "a = number(((sign_of(minus(b, 0.0)) > 0.0) ? number(b) : number(1e+5))); ");
        let breaks = translated("breaks(pq <= 0.0 && !x, CURVATURE, pq); counts();");
        assert_eq!(
            breaks,
            "breaks(((sign_of(minus(pq, 0.0)) <= 0.0) && (!x)), CURVATURE, number(pq)); counts(); "
        );
        assert_eq!(
            translated("if (a < b) { c = d; }"),
            "if ((sign_of(minus(a, b)) < 0.0)) {c = number(d); }"
        );
        assert_eq!(translated("meets(rr);"), "meets(number(rr)); ");
    }
}
