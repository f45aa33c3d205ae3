//! What is a script, and where an error points when a text is none. No GL.

use texla::script::{MAX_DEPTH, MAX_SOURCE, ScriptError, ScriptErrorKind as Kind, parse};

fn refused(text: &str) -> ScriptError {
    match parse(text, "t") {
        Ok(program) => panic!("{text:?} is accepted: {program:?}"),
        Err(e) => e,
    }
}

#[track_caller]
fn at(text: &str, line: usize, column: usize, message: &str) {
    let e = refused(text);
    assert_eq!((e.line, e.column), (line, column), "{text:?}: {e}");
    assert!(e.kind.to_string().contains(message), "{text:?}: {e}");
}

#[test]
fn what_is_accepted() {
    for text in [
        "",
        "\n\n",
        "# only a comment",
        "\u{feff}x = 1\r\ny = 2\rz = 3\n",
        "x = 1;\nx;\nx",
        "x = .5 + 1. - 1e-3 * 2.5E+2",
        "A = [1 2; 3 4]\nB = [1, 2\n3, 4 # the second row\n]\nC = []\nD = [;]",
        "x = A' * B.' .* -C ./ 2 \\ d",
        "x = 1.*A + 1./A + 2.'",
        "A(1, 2) = 3\nA(1:2, :) = B\nx(3) = A(2, 1)\nA(i, j) += 1",
        "x += 1\nx -= 1\nx *= 2\nx /= 2",
        "repeat 3\nrepeat n + 1 # inner\nx = x\nend\nend",
        "repeat 2;\nend;\ntiming on\ntiming off;",
        "print(\"x is\", x, [1 2]')\nsave(x, \"a b.mtx\")\ny = load(\"c.txt\")",
        "f = (1 +\n 2) * sum(\n[1 2\n3 4],\n\"all\")",
        "repeated = 1\nend_ = repeated\ntimings = 2",
        "x = transpose(A) * A",
    ] {
        if let Err(e) = parse(text, "t") {
            panic!("{text:?}: {e}");
        }
    }
}

#[test]
fn errors_point_at_the_place() {
    at("x = 1\ny = (2 + * 3)", 2, 10, "found `*`, expected a value");
    at("x = 1 2", 1, 7, "found a number, expected an operator or the end of the line");
    at("x = y z", 1, 7, "found `z`");
    at("x = )", 1, 5, "found `)`, expected a value");
    at("x = (1]", 1, 7, "found `]`, expected an operator, `,` or `)`");
    at("x = [1)", 1, 7, "found `)`");
    at("x = [1 ) 2]", 1, 8, "found `)`");
    at("x = [1,,2]", 1, 8, "found `,`, expected a value");
    at("x = [1 2,\n3]", 1, 10, "found the end of the line");
    at("x = [a 'b']", 1, 8, "double quotes");
    at("1 = 2", 1, 3, "left of `=` stands a variable");
    at("A' = 2", 1, 4, "left of `=` stands a variable");
    at("x = 1 = 2", 1, 7, "found `=`");
    at("sum = 3", 1, 1, "`sum` is a function");
    at("sum(x) = 3", 1, 1, "`sum` is a function");
    at("pi = 3", 1, 1, "`pi` is a constant");
    at("x = end", 1, 5, "found `end`, expected a value");
    at("end", 1, 1, "no `repeat` is open");
    at("repeat 2\nend\nend", 3, 1, "no `repeat` is open");
    at("repeat 2 x = 1\nend", 1, 10, "found `x`");
    at("timing maybe", 1, 8, "`on` or `off`");
    at("x = sum", 1, 8, "expected `(` after the function sum");
    at("x = sum()", 1, 5, "sum has 0 arguments, expected sum(A), sum(A, 1), sum(A, 2) or sum(A, \"all\")");
    at("x = dot(1)", 1, 5, "dot has 1 arguments, expected dot(x, y)");
    at("x = zeros(1, 2, 3)", 1, 5, "zeros has 3 arguments");
    at("x = zeros(1,)", 1, 13, "expected another argument");
    at("x = print(1)", 1, 5, "print gives no value");
    at("print 1", 1, 7, "expected `(` after print");
    at("x = \"text\"", 1, 5, "texts stand among the arguments");
    at("print(\"no end)", 1, 7, "a text without end");
    at("x = 1e", 1, 5, "`1e` is no number");
    at("x = 1.2.3", 1, 5, "`1.2.3` is no number");
    at("x = 12abc", 1, 5, "`12abc` is no number");
    at("x = 1e-50", 1, 5, "`1e-50` is no number: the smallest 32-bit float is about 1.4e-45");
    at("x = -1e39", 1, 6, "`1e39` is no number: the largest 32-bit float is about 3.4e38");
    at("x = 1e999999999999", 1, 5, "largest 32-bit float");
    at("x = A^2", 1, 6, "powers are written as products");
    at("% comment", 1, 1, "`#` before a comment");
    at("x = 1 && 2", 1, 7, "there are no comparisons");
    at("x\u{a0}= 1", 1, 2, "plain spaces");
    at("\u{e4}\u{f6} = 1", 1, 1, "found `\u{e4}`");
    // Columns count characters, not bytes; lines end with LF, CR LF or CR.
    at("print(\"\u{e4}\u{f6}\") )", 1, 13, "found `)`");
    at("a = 1\r\nb = 2\rc = 3\nd = *", 4, 5, "found `*`");
    at("x = A(1, 2", 1, 6, "");
}

#[test]
fn an_unfinished_script_is_told_from_a_wrong_one() {
    for (text, line, column) in [
        ("x = (1 + ", 1, 5),
        ("x = [1 2;", 1, 5),
        ("x = [1 2\n3 4\n", 1, 5),
        ("x = sum(", 1, 8),
        ("x = sum([1, (2", 1, 13),
        ("repeat 3", 1, 1),
        ("y = 1\nrepeat 3\nrepeat 2\nend\n", 2, 1),
    ] {
        let e = refused(text);
        assert!(e.is_unfinished(), "{text:?}: {e}");
        assert_eq!((e.line, e.column), (line, column), "{text:?}: {e}");
    }
    for text in ["x = ", "x = 1 +", "repeat", "repeat 3\nx = )", "x = [1 2; )", "print(\"a"] {
        assert!(!refused(text).is_unfinished(), "{text:?}");
    }
}

#[test]
fn blanks_separate_the_elements_of_a_literal() {
    // The number of columns shows in the second row, which must have as many.
    for (row, elements) in [
        ("1 -2", 2),
        ("1 - 2", 1),
        ("1-2", 1),
        ("1 -2 + 3", 2),
        ("1 , -2", 2),
        ("- 1", 1),
        ("a' -b'", 2),
        ("a (1)", 2),
        ("a(1)", 1),
        ("a(1, 2) b", 2),
        ("(1 -2)", 1),
        ("sum([1 -2]) +3", 2),
        ("2 *3", 1),
        ("1 .* 2", 1),
        ("[1 2] [3]", 2),
        ("1 .5", 2),
    ] {
        let program = format!("{:?}", parse(format!("x = [{row}]"), "").unwrap());
        let starts: Vec<u32> = top_level_elements(&program);
        assert_eq!(starts.len(), elements, "[{row}]: {program}");
    }
    for text in ["[1(2)]", "[a\"b\"]", "[1[2]]"] {
        assert!(parse(format!("x = {text}"), "").is_err(), "{text}");
    }
}

/// Starts of the elements of the one row of the outermost literal in a program's debug text.
fn top_level_elements(debug: &str) -> Vec<u32> {
    let row = &debug[debug.find("Literal([[").unwrap() + "Literal([[".len()..];
    let mut depth = 0;
    let mut starts = Vec::new();
    for (i, c) in row.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => break,
            ')' | ']' | '}' => depth -= 1,
            's' if depth == 1 && row[i..].starts_with("start: ") => {
                let digits: String = row[i + 7..].chars().take_while(char::is_ascii_digit).collect();
                starts.push(digits.parse().unwrap());
            }
            _ => {}
        }
    }
    starts
}

#[test]
fn the_caret_stands_under_the_place() {
    let e = refused("x = 1\n\ty =\t2 3");
    assert_eq!(
        e.to_string(),
        "t: line 2, column 8: found a number, expected an operator or the end of the line\n     y = 2 3\n           ^"
    );
    // A long line is shown in part.
    let e = refused(&format!("x = {} $ {}", "1 + ".repeat(20) + "1", "z".repeat(1000)));
    let text = e.to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[1].starts_with("    ...") && lines[1].ends_with("..."), "{text}");
    assert!(lines[1].len() < 140, "{text}");
    assert_eq!(lines[1].chars().nth(lines[2].len() - 1), Some('$'), "{text}");
    // Without a name there is no prefix; control characters do not reach the terminal.
    let e = parse("x = \u{1b}[2J", "").unwrap_err();
    assert!(e.to_string().starts_with("line 1, column 5: found `\\u{1b}`"), "{e}");
    assert!(!e.to_string().contains('\u{1b}'));
}

#[test]
fn bytes_that_are_no_text() {
    let e = parse(b"x = 1\ny = \xff2", "t").unwrap_err();
    assert_eq!((e.line, e.column, e.kind), (2, 5, Kind::Encoding { byte: 0xff }));
}

#[test]
fn limits_are_typed_errors() {
    let deep = usize::from(MAX_DEPTH) - 2;
    for (open, close) in
        [("(", ")"), ("[", "]"), ("-", ""), ("sum(", ")"), ("-(", ")"), ("1 + (", ")"), ("[1;(", ")]")]
    {
        let nested = |n: usize| format!("x = {}1{}", open.repeat(n), close.repeat(n));
        if let Err(e) = parse(nested(deep / 4), "") {
            panic!("{open}: {e}");
        }
        for n in [deep + 3, 100_000] {
            let e = refused(&nested(n));
            let limit = u64::from(MAX_DEPTH);
            assert!(matches!(e.kind, Kind::Limit { limit: l, .. } if l == limit), "{open} {n}: {e}");
        }
    }
    let loops = |n: usize| "repeat 1\n".repeat(n) + &"end\n".repeat(n);
    assert!(parse(loops(deep), "").is_ok());
    assert!(matches!(refused(&loops(100_000)).kind, Kind::Limit { .. }));
    for (first, more) in [("1", "+1"), ("1", "*1"), ("1", "-1*1")] {
        let chain = |n: usize| format!("x = {first}{}", more.repeat(n));
        assert!(parse(chain(deep), "").is_ok());
        assert!(matches!(refused(&chain(100_000)).kind, Kind::Limit { .. }));
    }
    // Two transpositions are none, and take no depth.
    assert!(parse(format!("x = A{}", "'".repeat(100_000)), "").is_ok());
    // Long, but flat: no limit but that of the text.
    assert!(parse(format!("x = [{}]", "1 ".repeat(400_000)), "").is_ok());
    assert!(parse("x = 1\n".repeat(150_000), "").is_ok());
    let e = refused(&" ".repeat(MAX_SOURCE + 1));
    assert_eq!((e.line, e.column), (1, 1));
    assert!(matches!(e.kind, Kind::Limit { limit, .. } if limit == MAX_SOURCE as u64));
    let e = refused(&format!("x = {}", "9".repeat(500_000)));
    assert!(matches!(e.kind, Kind::Number { .. }) && e.to_string().len() < 300, "{e}");
}
