//! Files of other formats: recognised by their first bytes or lines, and how each is converted.

use super::lines::Lines;
use super::source::GZIP;
use std::fmt;
use std::io::BufRead;

/// A format that is recognised and not read. `Display` gives its name and, after a semicolon, a command that converts a
/// file: `a.npz` stands for the file, `a.mtx` for the Matrix Market file that is written. A
/// [`MarketError`](super::MarketError) names its file in the place of `a.npz`.
///
/// Commands for Python need NumPy and SciPy (and h5py for [`Hdf5`](Self::Hdf5)).
///
/// ```
/// use texla::host::market::{ForeignFormat, MarketErrorKind, parse_matrix};
/// let e = parse_matrix(&b"\x93NUMPY\x01\x00"[..], "a.npy").unwrap_err();
/// assert_eq!(e.kind, MarketErrorKind::Foreign { format: ForeignFormat::NumpyArray });
/// assert!(e.to_string().starts_with("a.npy:1: NumPy array; convert it: python3 -c "));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ForeignFormat {
    /// A stream of gzip inside another one, or any where texla was built without the feature `gzip`.
    Gzip,
    /// A stream of bzip2.
    Bzip2,
    /// A stream of xz.
    Xz,
    /// A stream of zstd.
    Zstd,
    /// An archive of tar.
    Tar,
    /// An archive of zip that holds no arrays.
    Zip,
    /// An archive of NumPy arrays, which SciPy writes sparse matrices to (`.npz`).
    NumpyArchive,
    /// An array of NumPy (`.npy`).
    NumpyArray,
    /// A MAT-file of version 4, or of versions 5 to 7.
    MatFile,
    /// Text in UTF-16.
    Utf16,
    /// A file of HDF5, such as a MAT-file of version 7.3.
    Hdf5,
    /// A matrix in the Harwell-Boeing format, assembled.
    HarwellBoeing,
    /// A matrix in the Rutherford-Boeing format, assembled.
    RutherfordBoeing,
    /// A matrix in the Harwell-Boeing or the Rutherford-Boeing format, as a list of finite elements.
    Elements,
    /// Lines `row column value` without banner and size line.
    TripletList {
        /// Commas separate the numbers, blanks otherwise.
        commas: bool,
        /// The first line may be a size line: its numbers are no smaller than those of the other lines that were read.
        sized: bool,
    },
    /// Rows of a dense matrix.
    DenseText {
        /// Commas separate the numbers, blanks otherwise.
        commas: bool,
    },
}

/// Reads any assembled matrix; SciPy's own reader takes unsymmetric ones alone.
const BOEING: &str = "python3 -c \"import re, scipy.sparse as s, scipy.io as o; l = open('a.rb').read().upper().splitlines(); \
    c = [int(x) for x in l[1].split()] + [0, 0]; t, r, q = l[2].split()[:3]; w = re.findall(r'[IEDFG](\\d+)', l[3]) + ['1']; \
    f = lambda b, m, w: [x[i:i + w] for x in l[b:b + m] for i in range(0, len(x.rstrip()), w)]; b = 4 + (c[4] > 0); \
    p, i = [[int(x) - 1 for x in f(b + d, m, int(u))] for d, m, u in ((0, c[1], w[0]), (c[1], c[2], w[1]))]; \
    n = b + c[1] + c[2]; x = re.findall('[-+]?[0-9.]+(?:[ED][-+]?[0-9]+)?', ' '.join(l[n:n + c[3]])) if re.search('[ED]', l[3]) else f(n, c[3], int(w[2])); \
    v = [float(x.replace('D', 'E')) for x in x] or [1.0] * len(i); \
    v = [complex(*x) for x in zip(v[::2], v[1::2])] if t[0] == 'C' else v; \
    a = s.csc_matrix((v, i, p), (int(r), int(q))); u = s.tril(a, -1).T; \
    o.mmwrite('a.mtx', a + {'S': u, 'Z': -u, 'H': u.conj()}.get(t[1], 0 * a))\"";

const MAT: &str = "python3 -c \"import scipy.io as o; m = o.loadmat('a.mat', simplify_cells=True); m = m.get('Problem', m); \
    [o.mmwrite(k + '.mtx', v.reshape(v.shape[0], -1)) for k, v in m.items() if hasattr(v, 'dtype') and v.ndim and v.dtype.kind in 'iufc']\"";

const HDF5: &str = "python3 -c \"import h5py, scipy.sparse as s, scipy.io as o; g = h5py.File('a.mat')['A']; \
    o.mmwrite('a.mtx', s.csc_matrix((g['data'][:], g['ir'][:], g['jc'][:]), (g.attrs['MATLAB_sparse'], len(g['jc']) - 1)))\" \
    (for a sparse matrix A), or in MATLAB: save('a.mat', '-v7')";

impl fmt::Display for ForeignFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Gzip => f.write_str("gzip stream, which is not decompressed here; decompress it: gunzip a.mtx.gz"),
            Self::Bzip2 => f.write_str("bzip2 stream; decompress it: bunzip2 a.mtx.bz2"),
            Self::Xz => f.write_str("xz stream; decompress it: unxz a.mtx.xz"),
            Self::Zstd => f.write_str("zstd stream; decompress it: unzstd a.mtx.zst"),
            Self::Tar => f.write_str("tar archive; unpack it: tar -xf a.tar"),
            Self::Utf16 => f.write_str("text in UTF-16; convert it: iconv -f UTF-16 -t UTF-8 a.txt > a.mtx"),
            Self::Zip => f.write_str("zip archive; unpack it: unzip a.zip"),
            Self::NumpyArchive => f.write_str(
                "NumPy archive; convert it: python3 -c \"import numpy as n, scipy.sparse as s, scipy.io as o; \
                 a = n.load('a.npz'); o.mmwrite('a.mtx', s.load_npz('a.npz') if 'format' in a else a[a.files[0]])\" \
                 (SciPy's sparse matrix, or the first array)",
            ),
            Self::NumpyArray => f.write_str(
                "NumPy array; convert it: python3 -c \"import numpy as n, scipy.io as o; a = n.load('a.npy'); \
                 o.mmwrite('a.mtx', a.reshape(len(a), -1))\"",
            ),
            Self::MatFile => write!(f, "MATLAB MAT-file; convert its matrices: {MAT}"),
            Self::Hdf5 => write!(f, "HDF5 file, as MATLAB's MAT-files of version 7.3 are; convert it: {HDF5}"),
            Self::HarwellBoeing => write!(f, "Harwell-Boeing matrix; convert it: {BOEING}"),
            Self::RutherfordBoeing => write!(f, "Rutherford-Boeing matrix; convert it: {BOEING}"),
            Self::Elements => f.write_str("Harwell-Boeing matrix that is not assembled; add its elements up first"),
            Self::TripletList { commas, sized } => {
                let (name, separated) = text_file(commas);
                if sized {
                    f.write_str("entries `row column value` without the banner; if the first line is their size line: ")?;
                    let swap = if commas { " | tr , ' '" } else { "" };
                    write!(f, "(echo '%%MatrixMarket matrix coordinate real general'; cat {name}{swap}) > a.mtx, else: ")?;
                } else {
                    f.write_str("list of entries `row column value` without banner and size line; convert it: ")?;
                }
                write!(
                    f,
                    "python3 -c \"import numpy as n, scipy.sparse as s, scipy.io as o; \
                     i, j, v = n.loadtxt('{name}', ndmin=2{separated}).T; k = min(1, i.min(), j.min()); \
                     o.mmwrite('a.mtx', s.coo_matrix((v, ((i - k).astype(int), (j - k).astype(int)))))\""
                )
            }
            Self::DenseText { commas } => {
                let (name, separated) = text_file(commas);
                let what = if commas { "comma-separated values" } else { "rows of numbers" };
                write!(
                    f,
                    "{what}; convert it: python3 -c \"import numpy as n, scipy.io as o; \
                     o.mmwrite('a.mtx', n.loadtxt('{name}', ndmin=2{separated}))\""
                )
            }
        }
    }
}

impl ForeignFormat {
    /// What is said of the format, of this file in place of the one that stands for it. A name that a shell or Python would read as more
    /// than a name stays out of it, and so does that of the file which is written.
    pub(super) fn of_file(&self, said: &str, file: &str) -> String {
        let is_plain = |c: char| c.is_alphanumeric() || "._-+/".contains(c);
        let stands = match *self {
            Self::Gzip => "a.mtx.gz",
            Self::Bzip2 => "a.mtx.bz2",
            Self::Xz => "a.mtx.xz",
            Self::Zstd => "a.mtx.zst",
            Self::Tar => "a.tar",
            Self::Zip => "a.zip",
            Self::NumpyArchive => "a.npz",
            Self::NumpyArray => "a.npy",
            Self::MatFile | Self::Hdf5 => "a.mat",
            Self::HarwellBoeing | Self::RutherfordBoeing => "a.rb",
            Self::Elements => return said.to_owned(),
            Self::Utf16 => "a.txt",
            Self::TripletList { commas, .. } | Self::DenseText { commas } => text_file(commas).0,
        };
        // The file that is written would be the one that is read.
        let is_named = !file.is_empty() && file.chars().all(is_plain) && !file.ends_with("a.mtx");
        if is_named { said.replace(stands, file) } else { said.to_owned() }
    }
}

/// Name of a text file, and what NumPy has to know of its separators.
fn text_file(commas: bool) -> (&'static str, &'static str) {
    if commas { ("a.csv", ", delimiter=','") } else { ("a.txt", "") }
}

/// The format that the first bytes of a file mark, of those that are not text.
pub(super) fn of_bytes(head: &[u8]) -> Option<ForeignFormat> {
    use ForeignFormat as F;
    let marks: [(&[u8], F); 9] = [
        (GZIP, F::Gzip),
        (b"BZh", F::Bzip2),
        (b"\xfd7zXZ\0", F::Xz),
        (b"\x28\xb5\x2f\xfd", F::Zstd),
        (b"\x93NUMPY", F::NumpyArray),
        (b"MATLAB 5.0 MAT-file", F::MatFile),
        (b"MATLAB 7.3 MAT-file", F::Hdf5),
        (b"\x89HDF\r\n\x1a\n", F::Hdf5),
        (b"PK\x05\x06", F::Zip),
    ];
    if let Some((_, format)) = marks.iter().find(|(mark, _)| head.starts_with(mark)) {
        return Some(*format);
    }
    if head.starts_with(b"PK\x03\x04") {
        let has_arrays = head.windows(4).any(|part| part == b".npy");
        return Some(if has_arrays { F::NumpyArchive } else { F::Zip });
    }
    if is_utf16(head) {
        return Some(F::Utf16);
    }
    if is_mat_4(head).unwrap_or_default() {
        return Some(F::MatFile);
    }
    let is_tar = head.get(257..262).is_some_and(|mark| mark == b"ustar");
    is_tar.then_some(F::Tar)
}

/// A byte order mark and a character of ASCII, or such characters without a mark.
fn is_utf16(head: &[u8]) -> bool {
    match head {
        [0xff, 0xfe, low, 0, ..] | [0xfe, 0xff, 0, low, ..] => *low != 0 && low.is_ascii(),
        [b'%', 0, b'%', 0, ..] | [0, b'%', 0, b'%', ..] => true,
        _ => false,
    }
}

/// MAT-files of version 4 begin with a matrix: five integers (kind of numbers, rows, columns, whether there is an imaginary part, length of
/// the name), in the order of bytes that the kind says, and a name that ends in a zero.
fn is_mat_4(head: &[u8]) -> Option<bool> {
    let integer = |k: usize| head.get(4 * k..4 * k + 4).and_then(|bytes| <[u8; 4]>::try_from(bytes).ok());
    let of = |big: bool| {
        let read = |k| integer(k).map(if big { u32::from_be_bytes } else { u32::from_le_bytes });
        let (kind, imaginary, length) = (read(0)?, read(3)?, read(4)? as usize);
        // Thousands are the order of bytes, hundreds zero, tens the format of a number, ones that of the matrix.
        let known = kind / 100 == if big { 10 } else { 0 } && kind / 10 % 10 <= 5 && kind % 10 <= 2;
        let name = head.get(20..20usize.checked_add(length)?)?;
        let (end, letters) = name.split_last()?;
        let named = !letters.is_empty() && letters.iter().all(|c| c.is_ascii_alphanumeric() || *c == b'_');
        Some(known && imaginary <= 1 && *end == 0 && named)
    };
    Some(of(false).unwrap_or_default() || of(true)?)
}

/// Lines that are looked at.
const LINES: usize = 6;

/// The format of a text whose first line is no banner. Reads on for a few lines.
pub(super) fn of_text<R: BufRead>(lines: &mut Lines<'_, R>) -> Option<ForeignFormat> {
    let mut found = vec![lines.text()];
    while found.len() < LINES && lines.load().is_ok_and(|more| more) {
        found.push(lines.text());
    }
    boeing(&found).or_else(|| numbers(&found))
}

/// Harwell-Boeing and Rutherford-Boeing files begin with four lines of fixed format: a title; numbers of lines; the kind
/// of matrix, rows, columns and entries; Fortran formats in parentheses.
fn boeing(lines: &[String]) -> Option<ForeignFormat> {
    let [_, counts, kind, formats, ..] = lines else { return None };
    let integers = |text: &str| text.split_whitespace().all(|word| word.parse::<u64>().is_ok());
    let counted = counts.split_whitespace().count();
    let (kind, sizes) = kind.split_at_checked(3)?;
    let sized = sizes.split_whitespace().count();
    let marks = kind.to_ascii_uppercase();
    let mut letters = marks.chars().zip(["RCPIQ", "SUHZR", "AE"]);
    let known = letters.all(|(letter, list)| list.contains(letter));
    let fits = known && (3..=5).contains(&counted) && (3..=4).contains(&sized);
    if !fits || !integers(counts) || !integers(sizes) || !formats.trim_start().starts_with('(') {
        return None;
    }
    Some(if marks.ends_with('E') {
        ForeignFormat::Elements
    } else if counted == 4 && kind != marks {
        // Its authors write the kind in small letters, and leave out the lines of right-hand sides.
        ForeignFormat::RutherfordBoeing
    } else {
        ForeignFormat::HarwellBoeing
    })
}

/// Lines of equally many numbers.
fn numbers(lines: &[String]) -> Option<ForeignFormat> {
    let lines: Vec<&str> = lines
        .iter()
        .map(|line| line.trim())
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    let commas = lines.iter().any(|line| line.contains(','));
    // One line of numbers may be anything, such as the size line of a file that has lost its banner.
    if lines.len() < 2 && !commas {
        return None;
    }
    let words = |line: &str| -> Option<Vec<f64>> {
        let list: Vec<&str> =
            if commas { line.split(',').collect() } else { line.split_whitespace().collect() };
        list.into_iter().map(|word| word.trim().parse().ok()).collect()
    };
    let rows: Vec<Vec<f64>> = lines.iter().map(|line| words(line)).collect::<Option<_>>()?;
    let (first, rest) = rows.split_first()?;
    if rest.iter().any(|row| row.len() != first.len()) {
        return None;
    }
    let whole = |value: &f64| *value >= 0.0 && value.fract() == 0.0;
    let is_entry = |row: &Vec<f64>| row.len() == 3 && row.iter().take(2).all(whole);
    if !rows.iter().all(is_entry) {
        return Some(ForeignFormat::DenseText { commas });
    }
    let covers = |row: &Vec<f64>| row.iter().zip(first).take(2).all(|(index, size)| index <= size);
    let sized = first.iter().all(whole) && !rest.is_empty() && rest.iter().all(covers);
    Some(ForeignFormat::TripletList { commas, sized })
}
