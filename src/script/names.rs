//! The functions and constants of the language: one table.

macro_rules! functions {
    ($($variant:ident $name:literal $least:literal $most:literal $arguments:literal)*) => {
        /// A function of the language.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Function { $($variant),* }

        const TABLE: &[(Function, &str, usize, usize, &str)] =
            &[$((Function::$variant, $name, $least, $most, $arguments)),*];
    };
}

functions! {
    // Making
    Zeros "zeros" 1 2 "zeros(n) or zeros(rows, cols)"
    Ones "ones" 1 2 "ones(n) or ones(rows, cols)"
    Eye "eye" 1 1 "eye(n)"
    Full "full" 1 1 "full(A)"
    Sparse "sparse" 1 1 "sparse(A)"
    Diag "diag" 1 1 "diag(A)"
    Load "load" 1 1 "load(\"file\")"
    // Asking
    Rows "rows" 1 1 "rows(A)"
    Cols "cols" 1 1 "cols(A)"
    Columns "columns" 1 1 "columns(A)"
    Size "size" 1 2 "size(A) or size(A, k)"
    Numel "numel" 1 1 "numel(A)"
    Nnz "nnz" 1 1 "nnz(A)"
    // Element by element
    Abs "abs" 1 1 "abs(A)"
    Sqrt "sqrt" 1 1 "sqrt(A)"
    Max "max" 1 2 "max(A), max(A, B) or max(A, \"all\")"
    Min "min" 1 2 "min(A), min(A, B) or min(A, \"all\")"
    Divz "divz" 2 2 "divz(A, B)"
    Mad "mad" 3 3 "mad(A, B, c) for A + B * c, or mad(A, B, C) for A + B .* C"
    Madad "madad" 4 4 "madad(A, B, C, D) for A + (B + C) .* D"
    // To a number
    Sum "sum" 1 2 "sum(A), sum(A, 1), sum(A, 2) or sum(A, \"all\")"
    Dot "dot" 2 2 "dot(x, y)"
    NormSquared "normSquared" 1 1 "normSquared(x)"
    Norm "norm" 1 2 "norm(x) or norm(A, 1), norm(A, inf), norm(A, \"fro\")"
    Trace "trace" 1 1 "trace(A)"
    // Solving
    Solve "solve" 2 5 "solve(A, b), solve(A, b, tolerance), then a word as in solve(A, b, tolerance, \"double\"), then a start"
    Lcp "lcp" 2 4 "lcp(M, q), lcp(M, q, tolerance) or lcp(M, q, tolerance, \"double\")"
    // Without a value
    Print "print" 1 1_000_000 "print(A), or several values"
    Save "save" 2 2 "save(A, \"file\")"
    // Written as an operator in the tree
    Transpose "transpose" 1 1 "transpose(A)"
}

impl Function {
    pub(super) fn find(name: &str) -> Option<Function> {
        TABLE.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// A function whose name differs only in case.
    pub(super) fn similar(name: &str) -> Option<&'static str> {
        TABLE.iter().find(|row| row.1.eq_ignore_ascii_case(name)).map(|row| row.1)
    }

    fn row(self) -> (&'static str, usize, usize, &'static str) {
        let row = TABLE.iter().find(|row| row.0 == self);
        row.map_or(("", 0, 0, ""), |row| (row.1, row.2, row.3, row.4))
    }

    pub(super) fn name(self) -> &'static str {
        self.row().0
    }

    /// The forms in which it is called, if this number of arguments fits none.
    pub(super) fn refuses(self, arguments: usize) -> Option<&'static str> {
        let (_, least, most, forms) = self.row();
        if (least..=most).contains(&arguments) { None } else { Some(forms) }
    }

    /// Print and save do something and have no value.
    pub(super) fn has_value(self) -> bool {
        !matches!(self, Function::Print | Function::Save)
    }
}

/// The constants. `inf` is for `norm(A, inf)`.
pub(super) const CONSTANTS: [(&str, f64); 3] =
    [("pi", std::f64::consts::PI), ("inf", f64::INFINITY), ("Inf", f64::INFINITY)];

const KEYWORDS: [&str; 3] = ["repeat", "end", "timing"];

pub(super) fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

/// Why a variable cannot have this name.
pub(super) fn reserved(name: &str) -> Option<&'static str> {
    if Function::find(name).is_some() {
        Some("a function")
    } else if CONSTANTS.iter().any(|constant| constant.0 == name) {
        Some("a constant")
    } else if is_keyword(name) {
        Some("a keyword")
    } else {
        None
    }
}
