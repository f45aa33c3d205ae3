//! What each instruction multiplies, against the matrix.

use texla::pack::{Form, LowerOptions, Order, Packing, Program, ShaderStage, instances};

#[test]
fn every_non_zero_is_multiplied_once() {
    for (name, make) in instances::ALL {
        let e = make().unwrap();
        let n = e.unknowns();
        for stride in [1, 3, 7, 11] {
            // A permutation: the stride shares no factor with any of the sizes.
            let order: Vec<usize> = (0..n).map(|k| k * stride % n).collect();
            let packing = Packing::symmetric(Order::new(n, &order).unwrap());
            let one_constant = LowerOptions::VERTEX.with_one_constant(true);
            for options in [LowerOptions::VERTEX, LowerOptions::FRAGMENT, one_constant] {
                if options.stage == ShaderStage::Fragment && e.form() == Form::GaussSeidel {
                    continue;
                }
                let program = Program::lower(&e, &packing, options).unwrap();
                let mut found: Vec<_> = program.products().flat_map(|p| p.entries).collect();
                let position = |i: usize| packing.rows().position(i);
                let mut expected: Vec<_> =
                    e.matrix().entries().map(|(i, j, _)| (position(i), position(j))).collect();
                found.sort_unstable();
                expected.sort_unstable();
                assert_eq!(found, expected, "{name}, stride {stride}, {options:?}");
                let counts = program.counts();
                let (mut straight, mut curved) = (0, 0);
                for product in program.products() {
                    let rows = product.entries.iter().filter(|(row, _)| *row == product.entries[0].0).count();
                    assert!(!product.row_major || rows == product.entries.len());
                    assert!(product.row_major || rows == 1);
                    *(if product.row_major { &mut straight } else { &mut curved }) += 1;
                }
                assert_eq!((straight, curved), (counts.dp4, counts.mul + counts.mad), "{name}");
            }
        }
    }
}
