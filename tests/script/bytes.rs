//! No sequence of bytes makes the parser panic, loop or take much memory. No GL.

use proptest::prelude::*;
use texla::script::{ScriptError, parse};

use crate::common::alloc::peak_of;

/// Scripts that use all of the language, to be mutated.
pub const VALID: &[&str] = &[
    "A = [4 -1 0; -1 4 -1; 0 -1 4]\nb = A * ones(3, 1)\nx = solve(A, b)\nprint(x)\n",
    "# comment\nrepeat 3\n  repeat 2\n    x += 1;\n  end\nend\nprint(\"x\", x, norm(x, inf))\n",
    "A(1:2, :) = [1, 2\n3, 4]'\nB = A.' .* -A ./ 2.5e-3 \\ A(:, 1)\ntiming on\nz = lcp(M, q)\n",
    "t = madad(x, b, w, d)\nx = max(t, 0)\ny = mad(x, p, -alpha)\nsave(x, \"a.mtx\")\nM = load(\"b.txt\")\n",
    include_str!("../../examples/scripts/cg.texla"),
    include_str!("../../examples/scripts/lcp.texla"),
    include_str!("../../examples/scripts/tour.texla"),
];

/// Whatever comes out, an error knows its place and shows it.
fn look(bytes: &[u8]) -> Result<(), TestCaseError> {
    let Err(e) = parse(bytes, "fuzz") else { return Ok(()) };
    let ScriptError { line, column, .. } = &e;
    prop_assert!(*line >= 1 && *column >= 1);
    let text = String::from_utf8_lossy(bytes).into_owned();
    let lines = text.replace("\r\n", "\n").replace('\r', "\n");
    let shown = lines.split('\n').nth(line - 1);
    prop_assert!(shown.is_some(), "line {line} of {text:?}");
    prop_assert!(*column <= shown.unwrap_or_default().chars().count() + 1, "column {column} of {text:?}");
    let message = e.to_string();
    prop_assert!(message.len() < 2000, "{message}");
    prop_assert_eq!(message.lines().count(), 3, "{}", message);
    Ok(())
}

/// A change of a valid script.
#[derive(Clone, Debug)]
enum Change {
    Cut(usize, usize),
    Insert(usize, Vec<u8>),
    Repeat(usize, usize, usize),
    Replace(usize, u8),
}

fn change() -> impl Strategy<Value = Change> {
    let place = 0usize..4000;
    let signs = prop::sample::select(b"()[]{};,:'\"\n\r#.*/\\+-=e10 \t\xff\x00".to_vec());
    prop_oneof![
        (place.clone(), 0usize..40).prop_map(|(at, n)| Change::Cut(at, n)),
        (place.clone(), prop::collection::vec(signs.clone(), 1..6)).prop_map(|(at, v)| Change::Insert(at, v)),
        (place.clone(), 1usize..30, 2usize..60).prop_map(|(at, n, times)| Change::Repeat(at, n, times)),
        (place, signs).prop_map(|(at, byte)| Change::Replace(at, byte)),
    ]
}

pub fn mutated() -> impl Strategy<Value = Vec<u8>> {
    (prop::sample::select(VALID), prop::collection::vec(change(), 0..4)).prop_map(|(text, changes)| {
        let mut bytes = text.as_bytes().to_vec();
        for change in changes {
            let within = |at: usize, bytes: &[u8]| at % (bytes.len() + 1);
            match change {
                Change::Cut(at, n) => {
                    let at = within(at, &bytes);
                    bytes.drain(at..bytes.len().min(at + n));
                }
                Change::Insert(at, new) => {
                    let at = within(at, &bytes);
                    bytes.splice(at..at, new);
                }
                Change::Repeat(at, n, times) => {
                    let at = within(at, &bytes);
                    let piece = bytes[at..bytes.len().min(at + n)].repeat(times);
                    bytes.splice(at..at, piece);
                }
                Change::Replace(at, byte) => {
                    let at = within(at, &bytes);
                    if let Some(b) = bytes.get_mut(at) {
                        *b = byte;
                    }
                }
            }
        }
        bytes
    })
}

#[test]
fn the_valid_scripts_are_valid() {
    for text in VALID {
        if let Err(e) = parse(text, "") {
            panic!("{e}");
        }
    }
}

/// Every beginning of a valid script, and every script with one byte replaced.
#[test]
fn truncations_and_single_bytes() {
    for text in VALID {
        let bytes = text.as_bytes();
        for end in 0..bytes.len() {
            look(&bytes[..end]).unwrap();
        }
        for at in 0..bytes.len() {
            for byte in [0, b'\n', b'(', b')', b'[', b'\'', b'"', b'.', b'e', b'9', b' ', 0x80, 0xff] {
                let mut changed = bytes.to_vec();
                changed[at] = byte;
                look(&changed).unwrap();
            }
        }
    }
}

/// The memory of a parse stays in proportion to the text.
#[test]
fn memory_is_bounded() {
    for unit in
        ["1 ", "[1]\n", "x=1\n", "a(1)\n", "[", "repeat 1\n", "sum(1)\n", "\"a", "-", "1+", "A''\n", ";", "#"]
    {
        for before in ["", "x = ["] {
            let text = before.to_owned() + &unit.repeat((1 << 19) / unit.len());
            let (_, peak) = peak_of(|| parse(&text, ""));
            let bound = 128 * text.len() + (1 << 20);
            assert!(peak < bound, "{before}{unit}...: {peak} bytes for {}", text.len());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        look(&bytes)?;
    }

    #[test]
    fn random_signs(bytes in prop::collection::vec(prop::sample::select(b"()[];,:'\"\n#.*/\\+-=e1x ".to_vec()), 0..200)) {
        look(&bytes)?;
    }

    #[test]
    fn changed_scripts(bytes in mutated()) {
        look(&bytes)?;
    }
}
