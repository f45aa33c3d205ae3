//! Repeated blocks: the paper's counts from the programs themselves, and the matrix against the stencil on the whole grid.

use texla::host::Triplets;
use texla::pack::StencilBoundary::{Copied, Dropped, Fixed, Periodic, Scaled};
use texla::pack::{
    Form, Instructions, LinearExpression, LowerBound, Order, Orders, RepeatedExpression, SearchLimits,
    SearchParams, SimdMachine, StencilBoundary, instances, optimize,
};
use texla::{Error, Grid, Shape};

use crate::common::grids::{Taps, laplace};
use crate::common::random::uniform;

fn wave(grid: Grid, pieces: usize) -> RepeatedExpression {
    let s = instances::COURANT_SQUARED;
    let own = |(offset, _)| if offset == [0; 3] { (offset, 2.0 * (1.0 - 2.0 * s)) } else { (offset, s) };
    let taps: Taps = laplace(2).into_iter().map(own).collect();
    RepeatedExpression::stencil(grid, pieces, &taps, [[Dropped; 2], [Copied; 2], [Copied; 2]], true).unwrap()
}

/// Poisson's iteration, Neumann everywhere: along the line in the coefficients, across by clamping.
fn poisson(grid: Grid) -> RepeatedExpression {
    let dimensions = if grid.nz > 1 { 3 } else { 2 };
    let a = RepeatedExpression::stencil(grid, 1, &laplace(dimensions), [[Copied; 2]; 3], true).unwrap();
    a.jacobi().unwrap()
}

/// Instructions, fetches and multiplications of the program of a block, counted in the program.
fn counted(e: &RepeatedExpression, order: &Order) -> (u32, u32, usize) {
    let program = e.lower(order, false).unwrap();
    program.verify().unwrap();
    assert_eq!(program.extra, 0);
    assert_eq!(e.cost(order).unwrap(), Instructions(program.counts().total()));
    let multiplications = program.products().map(|p| p.entries.len()).sum();
    (program.counts().total(), program.counts().tex, multiplications)
}

#[test]
fn the_papers_counts_stand_in_the_programs() {
    let flat = poisson(Grid::new_2d(8, 8));
    let natural = Order::new(8, &[0, 3, 4, 7, 1, 2, 5, 6]).unwrap();
    let deep = poisson(Grid::new_3d(40, 80, 80));
    let wave = wave(Grid::new_2d(512, 512), 16);
    // Before and after: instructions, their share of the multiplications that four lanes could do, fetches.
    for (what, e, order, before, after, efficiency, fetches) in [
        ("2D", &flat, natural, 10, 8, ["75.0", "93.8"], [10, 10]),
        ("3D", &deep, Order::accordion(40), 78, 60, ["76.3", "99.2"], [78, 70]),
        ("wave", &wave, Order::accordion(32), 56, 42, ["71.4", "95.2"], [48, 48]),
    ] {
        let orders = [Order::identity(order.unknowns()), order];
        for (k, order) in orders.iter().enumerate() {
            let (instructions, tex, multiplications) = counted(e, order);
            assert_eq!(instructions, [before, after][k], "{what}");
            assert_eq!(multiplications, e.nnz(), "{what}");
            let share = 100.0 * multiplications as f64 / f64::from(4 * instructions);
            assert_eq!(format!("{share:.1}"), efficiency[k], "{what}");
            assert_eq!(tex, fetches[k], "{what}");
        }
        assert_eq!(e.lower_bound().value, Instructions(after), "{what}: no order is better");
    }
    assert_eq!((flat.nnz(), deep.nnz(), wave.nnz()), (30, 238, 160));
}

#[test]
fn the_search_finds_the_papers_orders_in_the_block_alone() {
    for (e, cost) in [(poisson(Grid::new_3d(40, 80, 80)), 60), (wave(Grid::new_2d(512, 512), 16), 42)] {
        let bound = LowerBound::new(e.block(), Orders::One).value;
        let params = SearchParams::default().with_lower_bound(Some(bound));
        let found = optimize(&SimdMachine, e.block(), &params, &SearchLimits::default()).unwrap();
        assert_eq!(e.cost(found.packing.rows()).unwrap(), Instructions(cost));
    }
}

#[test]
fn jacobi_of_the_stencil_is_the_papers_block() {
    // Both print D^-1 (L + U) with its own sign; an iteration has the other.
    for (e, instance) in [
        (poisson(Grid::new_2d(8, 8)), instances::poisson_2d_s8().unwrap()),
        (poisson(Grid::new_3d(40, 3, 5)), instances::poisson_3d_s40().unwrap()),
    ] {
        let negated: Vec<_> = instance.matrix().entries().map(|(i, j, v)| (i, j, -v)).collect();
        assert!(e.block().matrix().entries().eq(negated));
        for (_, link) in e.links() {
            let diagonal = link.diagonal();
            let (ends, others) = (-instance.row(0).next().unwrap().1, -instance.row(1).next().unwrap().1);
            let last = diagonal.len() - 1;
            assert!((0..=last).all(|i| diagonal[i] == if i % last == 0 { ends } else { others }));
        }
    }
    assert_eq!(wave(Grid::new_2d(512, 8), 16).block(), &instances::wave_s32().unwrap());
}

#[test]
fn the_matrix_is_that_of_the_stencil_on_the_whole_grid() {
    let values = uniform(5, 27);
    // All 27 neighbours: links that are no diagonals.
    let all: Taps =
        (0..27).map(|k| ([k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1], f64::from(values[k as usize]))).collect();
    let plane: Taps = all.iter().filter(|(offset, _)| offset[2] == 0).copied().collect();
    let kinds = [
        [Dropped; 2],
        [Copied; 2],
        [Periodic; 2],
        [Copied, Dropped],
        [Dropped, Copied],
        [Scaled(-1.0), Scaled(0.25)],
        [Dropped, Scaled(-1.0)],
    ];
    let same = |grid: Grid, pieces, taps: &Taps, sides: [[StencilBoundary; 2]; 3]| {
        let whole = LinearExpression::stencil(grid, taps, sides, true).unwrap();
        let repeated = RepeatedExpression::stencil(grid, pieces, taps, sides, true).unwrap();
        assert_eq!(repeated.unknowns(), whole.unknowns());
        let dense = |entries: &mut dyn Iterator<Item = (usize, usize, f64)>| {
            let mut dense = vec![0.0; grid.len() * grid.len()];
            entries.for_each(|(i, j, v)| dense[grid.len() * i + j] += v);
            dense
        };
        let found = dense(&mut repeated.to_triplets().unwrap().to_csr().entries());
        let expected = dense(&mut whole.matrix().entries());
        // Where several taps meet, they are summed in other orders.
        let off = found.iter().zip(&expected).any(|(f, e)| (f - e).abs() > 1e-14);
        assert!(!off, "{grid}, {pieces} pieces, {sides:?}");
    };
    for grid in [Grid::new_3d(1, 1, 1), Grid::new_3d(5, 1, 2), Grid::new_3d(3, 4, 2), Grid::new_3d(6, 2, 1)] {
        for (k, x) in kinds.into_iter().chain([[Fixed; 2], [Fixed, Copied]]).enumerate() {
            same(grid, 1, &all, [x, kinds[k % 7], kinds[(k + 5) % 7]]);
            same(grid, 1, &laplace(3), [x, kinds[(k + 1) % 7], kinds[(k + 3) % 7]]);
        }
    }
    for (pieces, nx) in [(2, 2), (2, 10), (3, 9), (6, 6)] {
        for (x, y) in [
            ([Dropped; 2], kinds[1]),
            ([Periodic; 2], kinds[3]),
            ([Dropped; 2], kinds[2]),
            ([Dropped; 2], kinds[5]),
        ] {
            same(Grid::new_2d(nx, 3), pieces, &plane, [x, y, [Dropped; 2]]);
        }
    }
}

#[test]
fn blocks_that_are_no_whole_quads() {
    for n in [1, 2, 3, 5, 7, 9] {
        let grid = Grid::new_2d(n, 4);
        let e = RepeatedExpression::stencil(grid, 1, &laplace(2), [[Dropped; 2]; 3], true).unwrap();
        let (_, _, multiplications) = counted(&e, &Order::identity(n));
        assert_eq!((multiplications, e.nnz()), (n + 2 * (n - 1) + 2 * n, 5 * n - 2));
        assert_eq!(e.fragment_parts(&Order::identity(n), false).unwrap().len(), n.div_ceil(4));
    }
}

#[test]
fn what_cancels_is_no_entry() {
    let s = LinearExpression::new(&Triplets::from_diagonal(&[1.0; 4]), &[true; 4]).unwrap();
    let e = RepeatedExpression::new(s, [2, 2], [[Dropped; 2]; 2]).unwrap();
    let e = e.link([1, 0], &[2.0; 4]).unwrap().link([1, 0], &[-2.0; 4]).unwrap();
    assert_eq!((e.nnz(), e.lower_bound().value, counted(&e, &Order::identity(4)).0), (4, Instructions(1), 1));
}

#[test]
fn the_program_of_a_block_computes_its_block_row() {
    let e = wave(Grid::new_2d(20, 3), 2); // pieces of 10: two lanes of padding
    for order in [Order::identity(10), Order::new(10, &[3, 11, 9, 0, 1, 4, 10, 8, 7, 6, 5, 2]).unwrap()] {
        let program = e.lower(&order, true).unwrap();
        let n = program.packing.rows().unknowns();
        let wide = |seed| uniform(seed, n).into_iter().map(f64::from).collect::<Vec<_>>();
        let (x, b) = (wide(1), wide(2));
        let y = program.run(&x, &b).unwrap();
        for i in 0..10 {
            let own: f64 = e.block().row(i).map(|(j, v)| v * x[j]).sum();
            let of_links = e.links().enumerate().flat_map(|(k, (_, link))| {
                link.entries().map(move |entry| (12 * (k + 1), entry)).collect::<Vec<_>>()
            });
            let links: f64 =
                of_links.filter(|(_, (row, ..))| *row == i).map(|(first, (_, j, v))| v * x[first + j]).sum();
            // The program's constants are of 32 bits.
            assert!((y[i] - (own + links - b[i])).abs() < 1e-6, "row {i}");
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let s = || LinearExpression::new(&Triplets::from_diagonal(&[1.0, 2.0]), &[true; 2]).unwrap();
    let e = || RepeatedExpression::new(s(), [3, 2], [[Dropped; 2]; 2]).unwrap();
    let parameter = |found: texla::Result<RepeatedExpression>, wanted: &str| match found {
        Err(Error::Parameter { name, .. }) => assert_eq!(name, wanted),
        other => panic!("{other:?}, expected {wanted} to be refused"),
    };
    parameter(RepeatedExpression::new(s(), [0, 2], [[Dropped; 2]; 2]), "blocks");
    parameter(RepeatedExpression::new(s(), [1 << 20, 1 << 10], [[Dropped; 2]; 2]), "blocks");
    parameter(RepeatedExpression::new(s(), [3, 2], [[Dropped; 2], [Fixed, Dropped]]), "sides");
    parameter(RepeatedExpression::new(s(), [3, 2], [[Dropped; 2], [Periodic, Dropped]]), "sides");
    let endless = RepeatedExpression::new(s(), [3, 2], [[Dropped; 2], [Copied, Scaled(f64::INFINITY)]]);
    assert!(matches!(endless, Err(Error::NonFinite { .. })));
    let cube = LinearExpression::gauss_seidel(&Triplets::from_diagonal(&[1.0])).unwrap();
    assert_eq!(cube.form(), Form::GaussSeidel);
    parameter(RepeatedExpression::new(cube, [3, 2], [[Dropped; 2]; 2]), "block");
    parameter(e().link([0, 0], &[1.0; 2]), "offset");
    parameter(e().link([4, 0], &[1.0; 2]), "offset");
    parameter(e().corner([0, -3], 0, 0, 1.0), "offset");
    let tap = |grid, pieces, x| {
        RepeatedExpression::stencil(grid, pieces, &laplace(2), [x, [Copied; 2], [Copied; 2]], true)
    };
    for pieces in [0, 4, 7] {
        parameter(tap(Grid::new_2d(6, 2), pieces, [Dropped; 2]), "pieces");
    }
    parameter(tap(Grid::new_2d(6, 2), 2, [Dropped, Copied]), "pieces");
    parameter(tap(Grid::new_2d(6, 2), 2, [Dropped, Scaled(-1.0)]), "pieces");
    parameter(tap(Grid::new_2d(6, 2), 2, [Fixed, Dropped]), "pieces");
    parameter(tap(Grid::new_3d(6, 2, 2), 2, [Dropped; 2]), "pieces");
    assert!(matches!(e().link([1, 0], &[1.0; 3]), Err(Error::LengthMismatch { found: 3, expected: 2, .. })));
    assert!(matches!(e().link([1, 0], &[1.0, f64::NAN]), Err(Error::NonFinite { .. })));
    assert!(matches!(e().corner([1, 0], 0, 2, 1.0), Err(Error::IndexOutOfRange { .. })));
    assert!(matches!(
        e().cost(&Order::identity(3)),
        Err(Error::LengthMismatch { found: 3, expected: 2, .. })
    ));
    let singular = LinearExpression::new(&Triplets::new(Shape::new(2, 2)), &[true; 2]).unwrap();
    let singular = RepeatedExpression::new(singular, [1, 1], [[Dropped; 2]; 2]).unwrap();
    assert!(matches!(singular.jacobi(), Err(Error::Matrix { .. })));
}
