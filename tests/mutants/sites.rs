//! Where faults can be put into a shader: operators, comparisons, constants, channels, neighbours, signs, by its tokens.

/// One fault: a line of a file and what it becomes.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    pub file: String,
    /// From 0.
    pub line: usize,
    pub column: usize,
    /// What stood there and what stands there now.
    pub change: String,
    /// The whole line with the fault in it.
    pub text: String,
}

impl Fault {
    /// The same fault has the same name as long as its line stays what and where it is.
    pub fn name(&self) -> String {
        format!("{}:{}:{} {}", self.file, self.line + 1, self.column + 1, self.change)
    }
}

/// Operators and what they are taken for. Tried as whole tokens.
const SWAPS: &[(&str, &str)] = &[
    ("+", "-"),
    ("-", "+"),
    ("*", "+"),
    ("/", "*"),
    ("%", "/"),
    ("+=", "-="),
    ("-=", "+="),
    ("*=", "+="),
    ("/=", "*="),
    ("<", "<="),
    ("<=", "<"),
    (">", ">="),
    (">=", ">"),
    ("==", "!="),
    ("!=", "=="),
    ("&&", "||"),
    ("||", "&&"),
    ("<<", ">>"),
    (">>", "<<"),
    ("&", "|"),
    ("|", "&"),
    ("^", "&"),
    ("^=", "&="),
    ("min", "max"),
    ("max", "min"),
    ("any", "all"),
    ("all", "any"),
    ("equal", "notEqual"),
    ("lessThan", "lessThanEqual"),
    ("lessThanEqual", "lessThan"),
    ("greaterThan", "greaterThanEqual"),
    ("greaterThanEqual", "greaterThan"),
    ("floor", "ceil"),
    ("abs", ""),
    ("sqrt", ""),
    ("true", "false"),
    ("false", "true"),
];

/// Every token that is longer than one sign and no word.
const LONG: &[&str] = &[
    "<<=", ">>=", "&&", "||", "==", "!=", "<=", ">=", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=",
    "^=", "<<", ">>",
];

/// The faults of one file, in the order of its lines.
pub fn faults(file: &str, text: &str) -> Vec<Fault> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let tokens = tokens(line);
        // A macro's value is code; the other directives choose among dialects and variants.
        let first = match tokens.as_slice() {
            [(_, "#"), (_, "define"), ..] => 3,
            [(_, "#"), ..] => continue,
            _ => 0,
        };
        let mut add = |at: usize, length: usize, with: &str| {
            let (before, rest) = line.split_at(at);
            let (was, after) = rest.split_at(length);
            found.push(Fault {
                file: file.to_owned(),
                line: number,
                column: at,
                change: format!("`{was}` to `{with}`"),
                text: format!("{before}{with}{after}"),
            });
        };
        for (i, &(at, token)) in tokens.iter().enumerate().skip(first) {
            let previous = if i > first { tokens[i - 1].1 } else { "" };
            for with in replacements(previous, token) {
                add(at, token.len(), &with);
            }
            let gives = (token == "=" && !line.contains("for (")) || token == "return";
            let end = tokens[i..].iter().find(|(_, t)| *t == ";").map(|(end, _)| *end);
            if let Some(end) = end.filter(|_| gives) {
                let start = at + token.len();
                let value = line[start..end].trim();
                add(start, end - start, &format!(" -({value})"));
            }
        }
    }
    found
}

/// The tokens of a line without its comment, each with its place.
fn tokens(line: &str) -> Vec<(usize, &str)> {
    let line = &line[..line.find("//").unwrap_or(line.len())];
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = line[at..].chars().next() {
        let rest = &line[at..];
        let length = if c.is_alphanumeric() || c == '_' {
            word(rest)
        } else {
            LONG.iter().find(|t| rest.starts_with(**t)).map_or(c.len_utf8(), |t| t.len())
        };
        if !c.is_whitespace() {
            tokens.push((at, &line[at..at + length]));
        }
        at += length;
    }
    tokens
}

/// The length of the name or number that a text begins with.
fn word(text: &str) -> usize {
    let number = text.starts_with(|c: char| c.is_ascii_digit());
    let hexadecimal = text.starts_with("0x");
    let mut previous = ' ';
    let inside = |c: char| {
        let exponent = number && !hexadecimal && (c == '-' || c == '+') && previous == 'e';
        let inside = c.is_alphanumeric() || c == '_' || (number && c == '.') || exponent;
        previous = c;
        inside
    };
    let mut inside = inside;
    text.find(|c| !inside(c)).unwrap_or(text.len())
}

fn replacements(previous: &str, token: &str) -> Vec<String> {
    let operand =
        previous != "return" && previous.ends_with(|c: char| c.is_alphanumeric() || "_)]".contains(c));
    if ["-", "!", "~"].contains(&token) && !operand {
        return vec![String::new()];
    }
    if let Some((_, with)) = SWAPS.iter().find(|(from, _)| *from == token) {
        return vec![(*with).to_owned()];
    }
    if token.starts_with(|c: char| c.is_ascii_digit()) {
        return constants(token);
    }
    if previous == "." && token.chars().all(|c| "xyzw".contains(c)) {
        return vec![channels(token)];
    }
    // Another input in place of this one.
    let inputs = [("x_", "y_"), ("y_", "x_"), ("z_", "y_"), ("w_", "x_")];
    inputs
        .iter()
        .filter_map(|(from, to)| token.strip_prefix(from).map(|rest| format!("{to}{rest}")))
        .collect()
}

/// One more and one less; a float that is neither 0 nor 1, one more only.
fn constants(token: &str) -> Vec<String> {
    if let Ok(n) = token.parse::<i64>() {
        let mut both = vec![(n + 1).to_string()];
        if n > 0 {
            both.push((n - 1).to_string());
        }
        return both;
    }
    match token {
        "0.0" => vec!["1.0".into()],
        "1.0" => vec!["0.0".into(), "2.0".into()],
        _ if token.ends_with('u') => vec![format!("({token} + 1u)")],
        _ if token.starts_with("0x") => vec![format!("({token} + 1)")],
        _ => vec![format!("({token} + 1.0)")],
    }
}

/// Channels in another order; a single one becomes its neighbour.
fn channels(token: &str) -> String {
    match token {
        "x" => "y".into(),
        "y" => "x".into(),
        "z" => "w".into(),
        "w" => "z".into(),
        _ => token[1..].chars().chain(token.chars().take(1)).collect(),
    }
}
