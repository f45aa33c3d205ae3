//! Transmitters: from a file, or made up.

use std::path::Path;

use crate::support::{Failure, Result, read_file, shortened};

/// A transmitter, in the units of its map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tower {
    pub x: f64,
    pub y: f64,
    pub range: f64,
    pub strength: f64,
}

/// More than this in a file is refused, and so are larger files.
pub const MOST: usize = 100_000;
const MOST_BYTES: u64 = 1 << 26;

/// What a column may hold.
struct Column {
    name: &'static str,
    least: f64,
    most: f64,
}

const COLUMNS: [Column; 4] = [
    Column { name: "x", least: -1e9, most: 1e9 },
    Column { name: "y", least: -1e9, most: 1e9 },
    Column { name: "range", least: 1e-6, most: 1e9 },
    Column { name: "strength", least: 1e-6, most: 1e6 },
];

/// Reads comma-separated values under a heading with `x`, `y`, `range` and, if need be, `strength`.
pub fn read(path: &Path) -> Result<Vec<Tower>> {
    let name = path.display();
    let text = read_file(path, MOST_BYTES)?;
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
    let at = |place: Option<&csv::Position>, fault: String| {
        let line = place.map_or(1, |place| line(text, place.byte() as usize));
        Failure::bad_input(format_args!("{name}, line {line}: {fault}"))
    };
    let malformed = |error: csv::Error| match error.kind() {
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            at(pos.as_ref(), format!("{len} fields, expected {expected_len}"))
        }
        csv::ErrorKind::Utf8 { pos, .. } => at(pos.as_ref(), "it is no UTF-8 text".into()),
        _ => Failure::bad_input(format_args!("{name}: {error}")),
    };
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text);
    let heading = reader.headers().map_err(malformed)?.clone();
    let place = |column: &Column| heading.iter().position(|title| title.eq_ignore_ascii_case(column.name));
    let places = COLUMNS.each_ref().map(place);
    for (column, place) in COLUMNS.iter().zip(places).take(3) {
        if place.is_none() {
            let (column, found) = (column.name, heading.iter().collect::<Vec<_>>().join(", "));
            return Err(at(heading.position(), format!("no column `{column}` in the heading `{found}`")));
        }
    }
    let mut towers = Vec::new();
    for record in reader.records() {
        let record = record.map_err(malformed)?;
        if towers.len() == MOST {
            return Err(at(record.position(), format!("more than {MOST} towers")));
        }
        let mut values = [1.0; 4];
        for ((column, place), value) in COLUMNS.iter().zip(places).zip(&mut values) {
            let Some(text) = place.and_then(|place| record.get(place)) else { continue };
            let Column { name, least, most } = column;
            *value = text.parse().ok().filter(|v| (*least..=*most).contains(v)).ok_or_else(|| {
                at(
                    record.position(),
                    format!("{name} is `{}`, expected a number from {least:e} to {most:e}", shortened(text)),
                )
            })?;
        }
        let [x, y, range, strength] = values;
        towers.push(Tower { x, y, range, strength });
    }
    if towers.is_empty() {
        return Err(Failure::bad_input(format_args!("{name}: no tower after the heading")));
    }
    Ok(towers)
}

/// The line of a record, which the reader says begins with the empty lines before it.
fn line(text: &[u8], record: usize) -> usize {
    let before = text.get(..record).unwrap_or(text);
    let empty = text[before.len()..].iter().take_while(|byte| b"\r\n".contains(byte)).count();
    let before = &text[..before.len() + empty];
    let ends =
        |(k, byte): (usize, &u8)| *byte == b'\n' || *byte == b'\r' && before.get(k + 1) != Some(&b'\n');
    1 + before.iter().enumerate().filter(|end| ends(*end)).count()
}

/// Transmitters of a made-up country of 100 by 100, most of them in towns; the more there are, the shorter they reach.
pub fn made_up(count: usize, seed: u64) -> Vec<Tower> {
    let mut state = seed;
    // SplitMix64.
    let mut unit = move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    };
    let towns: Vec<[f64; 2]> = (0..1 + count / 12).map(|_| [(); 2].map(|()| 12.0 + 76.0 * unit())).collect();
    let reach = 100.0 / (count as f64).sqrt();
    let tower = |k: usize| {
        let in_town = !k.is_multiple_of(3);
        let town = towns[k % towns.len()];
        let place = town.map(|centre| {
            // A sum of three is near enough to a bell.
            let off = unit() + unit() + unit() - 1.5;
            if in_town { (centre + 1.3 * reach * off).clamp(2.0, 98.0) } else { 2.0 + 96.0 * unit() }
        });
        let range = if in_town { reach * (0.45 + 0.5 * unit()) } else { reach * (0.9 + 0.8 * unit()) };
        let strength = 0.55 + 0.45 * unit();
        Tower { x: place[0], y: place[1], range, strength }
    };
    (0..count).map(tower).collect()
}
