//! What the library says, in the words of a program's flags: what it refuses, and what would do instead.

use std::fmt::Display;

use texla::Error;
use texla::host::Csr;
use texla::solve::{MethodKind, PreconditionerKind};

/// Names of the library, and what they are for somebody with flags.
const NAMES: [(&str, &str); 26] = [
    ("HostSystem: ", ""),
    ("(DoubleVector)", "(--precision refined)"),
    ("(Recurrence::Double)", "(--precision double)"),
    (" (MOST_RESTART)", ""),
    (" (LinOp::pattern)", ""),
    ("Recurrence::Double", "--precision double"),
    ("SparseFormat::Points", "--format points"),
    ("SparseFormat::Gather", "--format gather"),
    ("ConjugateGradient::solve", "cg"),
    ("DoubleVector::from_f64", "vector"),
    ("Vector::from_f64", "vector"),
    ("ConjugateGradient", "cg"),
    ("Minres", "minres"),
    ("BiCgStab", "bicgstab"),
    ("Gmres", "gmres"),
    ("Cgls", "cgls"),
    ("BlockJacobi", "block-jacobi"),
    ("Jacobi", "jacobi"),
    ("Chebyshev", "chebyshev"),
    ("Fsai", "fsai"),
    ("Spai", "spai"),
    ("IncompleteLu", "ilut"),
    ("IncompleteCholesky", "ic0"),
    ("AggregationMultigrid", "amg"),
    ("Multigrid::of_matrix", "geometric"),
    ("Multigrid", "multigrid"),
];

/// Parameters of solvers, and the flags for them.
const PARAMETERS: [(&str, &str); 5] = [
    ("vectors", "--null"),
    ("relative", "--tol"),
    ("max_iters", "--max-iters"),
    ("check_every", "--check-every"),
    ("restart", "--restart"),
];

/// What the library says by names of its own, by those of flags.
pub fn in_flags(text: impl Display) -> String {
    NAMES.iter().fold(text.to_string(), |text, (name, word)| replaced(&text, name, word))
}

/// The same of an error. What files and drivers say stays as it is.
pub fn told(error: &Error) -> String {
    match error {
        Error::Parameter { name, value, expected, .. } => {
            let flag = PARAMETERS.iter().find(|(parameter, _)| parameter == name);
            in_flags(match flag {
                Some((_, flag)) => format!("{flag} {value}: expected {expected}"),
                None => error.to_string(),
            })
        }
        Error::Market(_) | Error::File { .. } | Error::NoContext(_) | Error::Shader { .. } => {
            error.to_string()
        }
        _ => in_flags(error),
    }
}

/// The text with a word in the place of a name, where that is not part of a longer one.
fn replaced(text: &str, name: &str, word: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let (begins, ends) = (name.starts_with(is_part), name.ends_with(is_part));
    let (mut made, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once(name) {
        made += before;
        let whole = !(begins && made.ends_with(is_part) || ends && after.starts_with(is_part));
        made += if whole { word } else { name };
        rest = after;
    }
    made + rest
}

/// A refusal of a matrix by what was asked for, with what would take it in the end; `None` is what was not asked for.
pub fn refused(
    error: &Error,
    a: &Csr,
    method: Option<MethodKind>,
    preconditioner: Option<PreconditionerKind>,
) -> String {
    let about_both = match error {
        // Of a matrix that nothing was asked for, there is nothing else to ask for.
        Error::Matrix { .. } if method.is_none() && preconditioner.is_none() && a.shape().is_square() => {
            return in_flags(error);
        }
        Error::Matrix { .. } => false,
        // Of a preconditioner that a method does not take, whatever the matrix.
        Error::Unsupported { what, .. }
            if what.contains("a preconditioner that") || what.ends_with("for least squares") =>
        {
            true
        }
        // Of what a preconditioner makes of the matrix.
        Error::NonFinite { .. }
            if let Some(kind) = preconditioner.filter(|kind| *kind != PreconditionerKind::None) =>
        {
            return format!(
                "--precond {kind}: what it makes of the matrix leaves the range of 32-bit floats ({}); --precond none takes it",
                told(error)
            );
        }
        _ => return told(error),
    };
    let text = error.to_string();
    // The library's own advice is of methods alone.
    let text = text.split("; bicgstab and gmres").next().unwrap_or_default();
    let asked = [method.map(MethodKind::word), preconditioner.map(PreconditionerKind::word)];
    // What bicgstab and bicgstab2, or fsai and fsai2, share in the library has one name there.
    let text = asked.into_iter().flatten().fold(in_flags(text), |text, asked| match text.split_once(": ") {
        Some((name, rest)) if asked.starts_with(name) => format!("{asked}: {rest}"),
        _ => text,
    });
    format!("{text}; {}", instead(about_both, a, method, preconditioner))
}

fn instead(
    about_both: bool,
    a: &Csr,
    method: Option<MethodKind>,
    preconditioner: Option<PreconditionerKind>,
) -> String {
    use MethodKind::{Cg, Cgls, Minres};
    use PreconditionerKind::{Jacobi, None as Plain};
    let has_plain = matches!(preconditioner, None | Some(Plain));
    if method == Some(Cgls) || method.is_none() && !a.shape().is_square() {
        // Jacobi is refused for columns of zeros alone.
        return match preconditioner {
            Some(Jacobi) => "--precond none takes it",
            _ => "--precond jacobi and --precond none go with least squares",
        }
        .to_owned();
    }
    if !a.shape().is_square() {
        return match preconditioner {
            None | Some(Plain | Jacobi) => "--method cgls takes it, in the sense of least squares",
            _ => "--method cgls with --precond jacobi or none takes it, in the sense of least squares",
        }
        .to_owned();
    }
    let positive = a.is_symmetric() && a.diagonal().iter().all(|d| *d > 0.0);
    match method {
        Some(method @ (Cg | Minres)) if about_both && positive => {
            format!("--method gmres takes it, and --method {method} takes --precond fsai, ic0 or jacobi where the matrix is positive definite")
        }
        Some(Cg | Minres) if about_both => "--method gmres takes it".to_owned(),
        Some(Cg | Minres) if has_plain => {
            "--method gmres takes it, with --precond ilut at best, and --method auto chooses by the matrix".to_owned()
        }
        Some(Cg | Minres) => {
            "--method gmres with --precond ilut takes it, which matches rows first, and --method auto without --precond \
             chooses by the matrix"
                .to_owned()
        }
        Some(_) => "--precond ilut takes it, which matches rows first, and so does --precond none".to_owned(),
        None => {
            "--precond ilut takes it, which matches rows first, and without --precond the matrix decides".to_owned()
        }
    }
}
