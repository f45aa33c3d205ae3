//! Small scripts with whole numbers, whose results are exact, and the bundled scripts against their golden output.

use crate::common::harness::on_both;
use crate::golden;
use crate::support::printed;
use texla::script::{Interpreter, parse};

/// Statements and what they print.
const EXACT: &[(&str, &str)] = &[
    // Precedence and association.
    ("1 + 2 * 3 - 4 / 2", "5"),
    ("(1 + 2) * 3", "9"),
    ("8 / 4 / 2", "1"),
    ("8 - 4 - 2", "2"),
    ("-2 * -3", "6"),
    ("- - 2", "2"),
    ("+2", "2"),
    ("2 \\ 8", "4"),
    ("-[1 2]'", "-1\n-2"),
    ("[1 2]' * 2", "2\n4"),
    ("[1 2; 3 4]' - [1 2; 3 4]", " 0  1\n-1  0"),
    ("2 * [1 2]' + 1", "3\n5"),
    ("1.*[1 2]", "1  2"),
    ("2./[1 2]", "2  1"),
    ("[1 2].'", "1\n2"),
    ("transpose([1 2]) * 2", "2\n4"),
    // Literals.
    ("[1 -2]", "1  -2"),
    ("[1 - 2]", "-1"),
    ("[1 -2 + 3]", "1  1"),
    ("[1, 2\n 3, 4]", "1  2\n3  4"),
    ("[1 2; 3 4;]", "1  2\n3  4"),
    ("[]", "[](0x0)"),
    ("[[] 1 []; []]", "1"),
    ("[[1 2]; [3 4]]", "1  2\n3  4"),
    ("[[1; 2] [3; 4]]", "1  3\n2  4"),
    ("[eye(2) [5; 6]; 7 8 9]", "1  0  5\n0  1  6\n7  8  9"),
    ("[dot([1 2], [3 4]) 1]", "11  1"),
    ("[zeros(0, 2); 1 2]", "1  2"),
    // Making and asking.
    ("zeros(2)", "0  0\n0  0"),
    ("ones(2, 1)", "1\n1"),
    ("ones(1, 2)", "1  1"),
    ("zeros(0, 3)", "[](0x3)"),
    ("eye(3)", "1  0  0\n0  1  0\n0  0  1"),
    ("eye(1)", "1"),
    ("size([1 2 3; 4 5 6])", "2  3"),
    ("size([1 2 3; 4 5 6], 2)", "3"),
    ("rows([1 2 3]) + cols([1 2 3]) * 10 + columns(5) * 100", "131"),
    ("numel([1 2; 3 4]) + nnz([1 0; 0 4])", "6"),
    ("diag([1 2; 3 4])", "1\n4"),
    ("diag([1 2])", "1  0\n0  2"),
    ("diag([1; 2; 3])", "1  0  0\n0  2  0\n0  0  3"),
    ("diag([1 2 3; 4 5 6])", "1\n5"),
    // Element by element, 1x1 on either side, on the host and on the device.
    ("[1 2; 3 4] .* [5 6; 7 8]", " 5  12\n21  32"),
    ("[4 9] ./ [2 3]", "2  3"),
    ("[1 2] + 10", "11  12"),
    ("10 - [1 2]", "9  8"),
    ("[1 2] - 10", "-9  -8"),
    ("12 ./ [3 4]", "4  3"),
    ("[3 4] / 2", "1.5  2"),
    ("[1; 2] + dot([3], [4])", "13\n14"),
    ("dot([3], [4]) - [1; 2]", "11\n10"),
    ("[1; 2] - dot([3], [4])", "-11\n-10"),
    ("[12 24] / dot([3 0], [4 0])", "1  2"),
    ("dot([3], [4]) ./ [3; 4]", "4\n3"),
    ("dot([3 4], [1 1]) * dot([1 1], [1 1]) - 4", "10"),
    ("8 / dot([1 1], [1 1])", "4"),
    ("max([1 5; 7 2], 3)", "3  5\n7  3"),
    ("max(3, [1 5])", "3  5"),
    ("min([1 5; 7 2], 3)", "1  3\n3  2"),
    ("min(3, [1; 5])", "1\n3"),
    ("max([1 5], [2 4])", "2  5"),
    ("max(2, dot([1], [3])) + min(2, 3)", "5"),
    ("abs([-1 2])", "1  2"),
    ("sqrt([4 9])", "2  3"),
    ("sqrt(16) + abs(-1)", "5"),
    ("divz([1 2 0], [2 0 0])", "0.5  0  0"),
    ("divz(1, 0) + divz(0, 0) + divz(6, 3)", "2"),
    ("mad([1 2], [3 4], 10)", "31  42"),
    ("mad([1 2], [3 4], [5 6])", "16  26"),
    ("mad([1; 2], [3; 4], dot([1 3], [1 3]))", "31\n42"),
    ("mad(1, 2, 3)", "7"),
    ("mad(1, [2 3], 4)", "9  13"),
    ("mad([1 2], 3, [4 5])", "13  17"),
    ("madad([1 2], [3 4], [5 6], [7 8])", "57  82"),
    ("madad(1, 2, [3 4], 5)", "26  31"),
    ("madad(1, 2, 3, 4)", "21"),
    // To a number.
    ("sum([1 2 3])", "6"),
    ("sum([1; 2; 3])", "6"),
    ("sum([1 2; 3 4])", "4  6"),
    ("sum([1 2; 3 4], \"all\")", "10"),
    ("sum([1 2; 3 4], 1)", "4  6"),
    ("sum([1 2; 3 4], 2)", "3\n7"),
    ("sum([1 2 3], 1)", "1  2  3"),
    ("sum([1 2 3], 2)", "6"),
    ("sum([1; 2], 1)", "3"),
    ("sum([1; 2], 2)", "1\n2"),
    ("sum(5, 2)", "5"),
    ("sum(sparse([1 0; 2 3]), 2)", "1\n5"),
    ("sum([])", "0"),
    ("sum(zeros(0, 2))", "0  0"),
    ("max([1 5 2])", "5"),
    ("max([1 5; 7 2])", "7  5"),
    ("min([1 5; 7 2])", "1  2"),
    ("max([1 5; 7 2], \"all\")", "7"),
    ("min([1 5; 7 2], \"all\")", "1"),
    ("max(4)", "4"),
    ("dot([1 2 3], [4; 5; 6])", "32"),
    ("dot([1; 2], [3; 4])", "11"),
    ("normSquared([3 4])", "25"),
    ("norm([3 4])", "5"),
    ("norm([3; -4], 2)", "5"),
    ("norm([3; -4], 1)", "7"),
    ("norm([3 -4], 1)", "7"),
    ("norm([3 -4], inf)", "4"),
    ("norm([3; -4], \"inf\")", "4"),
    ("norm([1 -2; -3 4], 1)", "6"),
    ("norm([1 -2; -3 4], Inf)", "7"),
    ("norm([2 0; 0 0], \"fro\")", "2"),
    ("norm(-3)", "3"),
    ("norm([])", "0"),
    ("trace([1 2; 3 4])", "5"),
    ("trace(7)", "7"),
    // Products.
    ("[1 2] * [3; 4]", "11"),
    ("[1; 2] * [3 4]", "3  4\n6  8"),
    ("[1; 2] * [3; 4]'", "3  4\n6  8"),
    ("[1; 2]' * [3; 4]", "11"),
    ("[1 2; 3 4] * [1; 1]", "3\n7"),
    ("[1 2; 3 4]' * [1; 1]", "4\n6"),
    ("[1 1] * [1 2; 3 4]", "4  6"),
    ("[1; 1]' * [1 2; 3 4]'", "3  7"),
    ("[1 2; 3 4]' * [1 2; 3 4]'", " 7  15\n10  22"),
    ("zeros(2, 0) * zeros(0, 3)", "0  0  0\n0  0  0"),
    ("zeros(0, 1)' * zeros(0, 1)", "0"),
    ("3 * [1 2] * 2", "6  12"),
    // Elements and blocks.
    ("A = [1 2 3; 4 5 6]\nA(2, 3)", "6"),
    ("A = [1 2 3; 4 5 6]\nA(:, 2)", "2\n5"),
    ("A = [1 2 3; 4 5 6]\nA(2, :)", "4  5  6"),
    ("A = [1 2 3; 4 5 6]\nA(1:2, 2:3)", "2  3\n5  6"),
    ("A = [1 2 3; 4 5 6]\nA(1:0, :)", "[](0x3)"),
    ("x = [7 8 9]\nx(2) + x(1, 3)", "17"),
    ("x = [7; 8; 9]\nx(2:3)", "8\n9"),
    ("x = [7 8 9]'\nx(:)", "7\n8\n9"),
    ("x = 5\nx(1) + x(1, 1)", "10"),
    ("A = [1 2; 3 4]\nA(1, 2) = 20\nA", "1  20\n3   4"),
    ("A = [1 2; 3 4]\nB = A\nA(1, 1) = 9\nB", "1  2\n3  4"),
    ("A = zeros(2, 3)\nA(:, 2:3) = [1 2; 3 4]\nA(2, 1) = dot([1 2], [3 4])\nA", " 0  1  2\n11  3  4"),
    ("A = zeros(2)\nA(:, :) = 7\nA", "7  7\n7  7"),
    ("x = [1 2 3]'\nx(2) = 5\nx(3) *= 2\nx", "1\n5\n6"),
    ("x = 3\nx(1) = 4\nx", "4"),
    ("A = [1 2; 3 4]\nA(:, 1) = A(:, 2)\nA", "2  2\n4  4"),
    // Statements.
    ("x = 1\nx += 2\nx *= 5\nx -= 3\nx /= 4\nx", "3"),
    ("x = [1 2]\nx += 1\nx", "2  3"),
    ("x = 1;\nx;\n[1 2];\nx", "1"),
    ("n = 0\nrepeat 3\n repeat 4\n n += 1\n end\nend\nn", "12"),
    ("repeat 0\nundefined\nend\n1", "1"),
    ("n = 0\nrepeat dot([1 2], [1 2])\nn += 1\nend\nn", "5"),
    ("f = [1 1]\nrepeat 4\nf = [f, f(cols(f)) + f(cols(f) - 1)]\nend\nf", "1  1  2  3  5  8"),
    ("x = 1 # not this: + 1\n# nor this\nx", "1"),
    ("print(1, \"and\", [1 2], \"then\", 3, 4)", "1 and\n1  2\nthen 3 4"),
    ("print(\"# is no comment here\")", "# is no comment here"),
    ("print([], \"a\", \"b\")", "[](0x0)\na b"),
    ("pi", "3.14159"),
    ("1 / 3", "0.333333"),
    ("1e-7 * 2", "2e-07"),
    ("123456789", "1.23457e+08"),
    ("[1e-9 1000000]", "1e-09  1e+06"),
    // Sparse.
    ("S = sparse([1 0; 2 3])\nS", "sparse 2x2, 3 nonzeros\n(1, 1)  1\n(2, 1)  2\n(2, 2)  3"),
    ("full(sparse([1 0; 2 3])')", "1  2\n0  3"),
    ("full(-2 * sparse([1 0; 2 3]) / 4)", "-0.5     0\n  -1  -1.5"),
    ("full(sparse([1 0; 2 3]) * dot([1 1], [1 1]))", "2  0\n4  6"),
    ("full(sparse([1 0; 2 3]) - sparse([0 1; 2 0]))", "1  -1\n0   3"),
    ("full(abs(sparse([1 0; -2 3])) + sqrt(sparse([4 0; 0 9])))", "3  0\n2  6"),
    ("S = sparse([1 0; 2 3])\nS * [1; 10]", " 1\n32"),
    ("S = sparse([1 0; 2 3])\nS' * [1; 10]", "21\n30"),
    ("S = sparse([1 0; 2 3])\n[1 10] * S", "21  30"),
    ("S = sparse([1 0; 2 3])\nS * [1 2; 3 4]", " 1   2\n11  16"),
    ("S = sparse([1 0; 2 3])\nS' * [1 2; 3 4]'", "5  11\n6  12"),
    ("S = sparse([1 0; 2 3])\n[1 2; 3 4] * S", " 5   6\n11  12"),
    ("S = sparse([1 0; 2 3])\n[1 2; 3 4]' * S'", "1  11\n2  16"),
    ("S = sparse([1 0; 2 3])\nrows(S) + S(2, 1) * 10 + S(1, 2) + nnz(S) * 100", "322"),
    ("S = sparse([1 0; -2 3])\ntrace(S) + norm(S, 1) * 10 + norm(S, inf) * 100", "534"),
    ("norm(sparse([3 0; 0 -4]), \"fro\") + sum(sparse([1 0; 2 3]), \"all\")", "11"),
    ("sum(sparse([1 0; 2 3]))", "3  3"),
    ("diag(sparse([1 0; 2 3]))", "1\n3"),
    ("sparse([5; 0])", "5\n0"),
];

#[test]
fn exact_results() {
    on_both(|device| {
        let mut wrong = Vec::new();
        for (script, expected) in EXACT {
            let program = parse(script, "").unwrap_or_else(|e| panic!("{e}"));
            let mut out = Vec::new();
            let ran = Interpreter::new(device).run(&program, &mut out);
            let found = ran.map_or_else(|e| e.to_string(), |()| String::from_utf8(out).unwrap());
            if found.trim_end_matches('\n') != *expected {
                wrong.push(format!("{script}\ngives\n{found}\nexpected\n{expected}\n"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    });
}

const BUNDLED: [(&str, &str, &str); 3] = [
    ("cg", include_str!("../../examples/scripts/cg.texla"), include_str!("../golden/cg.txt")),
    ("lcp", include_str!("../../examples/scripts/lcp.texla"), include_str!("../golden/lcp.txt")),
    ("tour", include_str!("../../examples/scripts/tour.texla"), include_str!("../golden/tour.txt")),
];

#[test]
fn the_bundled_scripts_print_their_golden_output() {
    on_both(|device| {
        for (name, script, expected) in BUNDLED {
            assert!(expected.lines().count() > 5, "{name}");
            let found = printed(device, script);
            assert_eq!(golden::difference(&found, expected, 1e-4), None, "{name}:\n{found}");
        }
    });
}

/// The comparison itself can fail.
#[test]
fn golden_output_is_compared_as_numbers() {
    let expected = "x is\n1.5 2\n";
    assert_eq!(golden::difference("x is\n1.50001   2\n", expected, 1e-4), None);
    for wrong in [
        "x is\n1.51 2\n",
        "x was\n1.5 2\n",
        "x is\n1.5 2 3\n",
        "x is\n1.5\n",
        "x is\n",
        "x is\n1.5 2\n3\n",
        "x is\n1.5 nan\n",
    ] {
        assert!(golden::difference(wrong, expected, 1e-4).is_some(), "{wrong}");
    }
}

/// Listing 4.1 keeps its scalars on the device: the number of readbacks does not depend on that of iterations.
#[test]
fn the_listings_read_nothing_back_in_their_loops() {
    on_both(|device| {
        for (name, script, _) in &BUNDLED[..2] {
            let loops = |rounds: usize| {
                let text: Vec<String> =
                    script
                        .lines()
                        .filter(|line| !line.starts_with("print"))
                        .map(|line| {
                            if line.starts_with("repeat") { format!("repeat {rounds}") } else { line.into() }
                        })
                        .collect();
                let before = device.counters();
                assert_eq!(printed(device, &text.join("\n")), "");
                device.counters().since(&before)
            };
            let (few, many) = (loops(2), loops(20));
            assert_eq!((few.readbacks, few.async_checks), (many.readbacks, many.async_checks), "{name}");
            assert!(many.draws >= few.draws + 18 * 3, "{name}");
        }
    });
}

#[test]
fn timing_tells_the_time_of_each_statement() {
    on_both(|device| {
        let text = "timing on\nx = ones(3, 1)\nrepeat 3\n x = x + 1\nend\ntiming off\nx\n";
        let out = printed(device, text);
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines.len(), 5, "{out}");
        for (line, number) in lines.iter().zip([2, 3]) {
            let ms = line.strip_prefix(&format!("# line {number}: ")).and_then(|l| l.strip_suffix(" ms"));
            assert!(ms.is_some_and(|ms| ms.parse::<f64>().unwrap() >= 0.0), "{out}");
        }
        assert_eq!(lines[2..], ["4", "4", "4"]);
    });
}

/// A program is text and tree; it runs on any device, any number of times.
#[test]
fn a_program_is_used_again() {
    let program = parse("n += 1\nn", "").unwrap();
    on_both(|device| {
        let mut interpreter = Interpreter::new(device);
        interpreter.set("n", 1.0).unwrap();
        let mut out = Vec::new();
        for _ in 0..3 {
            interpreter.run(&program, &mut out).unwrap();
        }
        assert_eq!(String::from_utf8(out).unwrap(), "2\n3\n4\n");
    });
}
