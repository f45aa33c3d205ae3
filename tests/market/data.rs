//! The doubtful files and the real matrices of the data folder (environment variable TEXLA_DATA).

use crate::common::data;
use crate::expect::Expect::{self, Read, Refused};
use std::path::Path;
use texla::host::market::read_matrix;

/// File, outcome, decision. Files that a data folder does not have are passed over.
#[rustfmt::skip]
const DOUBTFUL: &[(&str, Expect, &str)] = &[
    ("bad/cholmod_mangle2.mtx", Refused(1, "Word"), "formats are coordinate and array"),
    ("bad/cholmod_mangle4.mtx", Refused(1, "Word"), "unknown symmetry"),
    ("bad/fmm_invalid_bad_banner.mtx", Refused(1, "Banner"), "the banner is required"),
    ("bad/fmm_invalid_bad_field.mtx", Refused(1, "Word"), "unknown field"),
    ("bad/fmm_invalid_bad_object.mtx", Refused(1, "Word"), "unknown object"),
    ("bad/fmm_invalid_bad_value.mtx", Refused(1, "Word"), "`double` is no field of the standard"),
    ("bad/fmm_invalid_bad_value_3.mtx", Refused(1, "Unsupported"), "vector objects are refused by name"),
    ("bad/fmm_invalid_dimensions_out_of_range_1.mtx", Refused(3, "Number"), "negative number of rows"),
    ("bad/fmm_invalid_dimensions_out_of_range_3.mtx", Refused(3, "Number"), "negative number of entries"),
    ("bad/fmm_invalid_indices_out_of_range_2.mtx", Refused(6, "Index"), "index beyond the matrix"),
    ("bad/fmm_invalid_indices_out_of_range_4.mtx", Refused(6, "Index"), "indices count from 1"),
    ("bad/fmm_invalid_indices_out_of_range_6.mtx", Refused(6, "Index"), "negative index"),
    ("bad/fmm_invalid_symmetry_vector.mtx", Refused(1, "Unsupported"), "vector objects are refused by name"),
    ("bad/fmm_invalid_truncated_header_2.mtx", Refused(1, "WordCount"), "the banner has five words"),
    ("bad/fmm_invalid_truncated_line_2.mtx", Refused(5, "WordCount"), "an entry has three words"),
    ("bad/fmm_invalid_vector_array_too_long.mtx", Refused(1, "Unsupported"), "vector objects are refused by name"),
    ("bad/fmm_invalid_vector_index_out_of_range_1.mtx", Refused(1, "Unsupported"), "vector objects are refused by name"),
    ("bad/fmm_invalid_vector_negative_length.mtx", Refused(1, "Unsupported"), "vector objects are refused by name"),
    ("bad/fmm_overflow_index_gt_int64.mtx", Refused(6, "Index"), "index beyond 64 bits"),
    ("bad/fmm_overflow_value_gt_complex128.mtx", Refused(1, "Unsupported"), "complex is refused by name"),
    ("bad/fmm_overflow_value_gt_float64.mtx", Refused(4, "NotFinite"), "1e310 is no 64-bit float"),
    ("bad/fmm_overflow_value_gt_int64.mtx", Refused(6, "Number"), "integers have 64 bits with sign"),
    ("bad/lagraph_mangled10.mtx", Refused(6, "TooFewEntries"), "missing entries"),
    ("bad/lagraph_mangled12.mtx", Refused(5, "WordCount"), "an entry has three words"),
    ("bad/lagraph_mangled14.mtx", Read(3, 4, 3), "duplicates are kept here and summed by to_csr"),
    ("bad/lagraph_mangled16.mtx", Refused(5, "WordCount"), "one value per line"),
    ("bad/lagraph_mangled3.mtx", Refused(1, "Word"), "unknown field"),
    ("bad/lagraph_mangled5.mtx", Refused(1, "Unsupported"), "hermitian is refused by name"),
    ("bad/lagraph_mangled7.mtx", Refused(5, "WordCount"), "an entry has three words"),
    ("bad/lagraph_mangled9.mtx", Refused(4, "NotSquare"), "symmetric matrices are square"),
    ("bad/lagraph_mangled_format.mtx", Refused(1, "Combination"), "an array has values, no pattern"),
    ("bad/lagraph_mangled_int32.mtx", Read(7, 7, 12), "GraphBLAS comments are comments"),
    ("bad/lagraph_mangled_skew.mtx", Read(6, 6, 20), "GraphBLAS comments are comments"),
    ("bad/lagraph_mangled_uint32.mtx", Read(7, 7, 12), "GraphBLAS comments are comments"),
    ("bad/made_nan_inf_f32overflow.mtx", Refused(3, "NotFinite"), "NaN is refused"),
    ("bad/made_symmetric_not_square.mtx", Refused(2, "NotSquare"), "symmetric matrices are square"),
    ("bad/poc_hecbench315_nonnumeric_size_line.mtx", Refused(2, "Number"), "sizes are integers"),
    ("bad/poc_lagraph403_nnz_u64max.mtx", Refused(4, "TooFewEntries"), "no memory on the header's word; entries are missing"),
    ("bad/sprs_too_many_elems_in_entry.mm", Refused(5, "WordCount"), "extra words are refused"),
    ("format/cholmod_tcov_3by0.mtx", Read(3, 0, 0), "a matrix without elements"),
    ("format/cholmod_tcov_fullcrud.mtx", Refused(6, "TooFewEntries"), "comments are skipped everywhere; a value is missing"),
    ("format/cholmod_tcov_fullcrud2.mtx", Refused(3, "WordCount"), "one value per line"),
    ("format/cholmod_tcov_fullrza.mtx", Read(2, 2, 2), "skew-symmetric array: strict lower triangle"),
    ("format/fmm_2col_array.mtx", Read(3, 2, 6), "array, column by column"),
    ("format/fmm_array_skew-symmetric_general.mtx", Read(3, 3, 6), "zeros of an array are not stored"),
    ("format/fmm_array_symmetric_general.mtx", Read(3, 3, 9), "array, column by column"),
    ("format/fmm_coordinate_skew_symmetric_row.mtx", Read(3, 3, 4), "expanded to both triangles"),
    ("format/fmm_coordinate_symmetric_row.mtx", Read(3, 3, 5), "expanded to both triangles"),
    ("format/fmm_coordinate_symmetric_row_general_dup.mtx", Read(3, 3, 6), "duplicates are kept here and summed by to_csr"),
    ("format/fmm_nist_ex1.mtx", Read(5, 5, 8), "plain"),
    ("format/fmm_nist_ex1_more_freeformat.mtx", Read(5, 5, 8), "blank lines, spaces and upper case are free"),
    ("format/fmm_permissive_banner_one_percent_eye3.mtx", Read(3, 3, 3), "one percent sign will do"),
    ("format/fmm_vector_array.mtx", Refused(1, "Unsupported"), "vector objects are refused by name"),
    ("format/fmm_vector_coordinate_dupes.mtx", Refused(1, "Unsupported"), "vector objects are refused by name"),
    ("format/fmm_windows_newlines.mtx", Read(3, 3, 3), "LF, CR LF and CR end a line"),
    ("format/klu_arrowc_complex.mtx", Refused(1, "Unsupported"), "complex is refused by name"),
    ("format/lagraph_comments_west0067.mtx", Refused(6, "NotFinite"), "NaN is refused"),
    ("format/lagraph_empty.mtx", Read(3, 4, 0), "a matrix without entries"),
    ("format/lagraph_full_noheader.mtx", Refused(1, "Banner"), "the banner is required"),
    ("format/lagraph_karate.mtx", Read(34, 34, 156), "pattern: every value is 1"),
    ("format/lagraph_matrix_bool.mtx", Read(7, 7, 12), "explicit zeros are kept"),
    ("format/lagraph_matrix_int64.mtx", Read(7, 7, 12), "integers beyond 2^24 give a warning"),
    ("format/lagraph_skew_fp32.mtx", Refused(5, "NotFinite"), "infinity is refused"),
    ("format/lagraph_skew_int8.mtx", Read(6, 6, 20), "explicit zeros are kept"),
    ("format/lagraph_west0067_noheader.mtx", Refused(1, "Foreign"), "the banner is required: a size line and entries without it"),
    ("format/made_f32_denormals.mtx", Read(2, 2, 2), "values below the normal range give a warning"),
    ("format/spqr_Tina_AskCal_integer.mtx", Read(11, 11, 29), "pattern: every value is 1"),
    ("format/spqr_young1c_complex.mtx", Refused(1, "Unsupported"), "complex is refused by name"),
    ("format/sprs_simple.mm", Read(5, 5, 8), "plain"),
    ("format/sprs_symmetric.mm", Read(5, 5, 8), "expanded to both triangles"),
    ("bad/made_symmetric_both_triangles.mtx", Refused(0, "BothTriangles"), "one triangle only: summing would double"),
    ("bad/fmm_dim_over_32_bit.mtx", Refused(0, "TooLarge"), "2^31 - 1 rows at most"),
    ("bad/poc_lagraph403_array_dims_2p32.mtx", Refused(0, "TooLarge"), "2^31 - 1 rows at most"),
    ("bad/lagraph_mangled15.mtx", Refused(0, ""), "extra values are refused"),
    ("bad/lagraph_mangled6.mtx", Refused(0, "Unsupported"), "hermitian is refused by name"),
    ("bad/fmm_overflow_index_gt_int8.mtx", Read(1000, 1000, 1), "indices have 32 bits"),
    ("bad/fmm_overflow_value_gt_int32.mtx", Read(3, 3, 1), "integers have 64 bits with sign"),
    ("bad/fmm_overflow_value_gt_float128.mtx", Refused(0, "NotFinite"), "no 64-bit float"),
    ("bad/nos4_raw_no_banner_no_size.mtx", Refused(1, "Banner"), "the banner is required"),
    ("bad/sprs_not_enough_entries.mm", Refused(0, "TooFewEntries"), "missing entries"),
    ("bad/lagraph_mangled_bool.mtx", Read(7, 7, 12), "GraphBLAS comments are comments"),
    ("bad/lagraph_mangled_int8.mtx", Read(7, 7, 12), "GraphBLAS comments are comments"),
    ("bad/lagraph_mangled_int16.mtx", Read(7, 7, 12), "GraphBLAS comments are comments"),
    ("bad/lagraph_mangled_uint8.mtx", Read(7, 7, 12), "GraphBLAS comments are comments"),
    ("people/spd_word.mtx", Read(2, 2, 4), "spd declares a symmetric matrix"),
    ("people/extended.mtx", Read(2, 2, 2), "a right-hand side after the entries, as Lis has it"),
    ("bad/lagraph_mangled_uint16.mtx", Read(7, 7, 12), "GraphBLAS comments are comments"),
];

/// File, [rows, columns, entries in the file, entries of the whole matrix].
#[rustfmt::skip]
const MATRICES: &[(&str, [usize; 4])] = &[
    ("spd/494_bus.mtx", [494, 494, 1080, 1666]),
    ("spd/685_bus.mtx", [685, 685, 1967, 3249]),
    ("spd/LFAT5.mtx", [14, 14, 30, 46]),
    ("spd/bcsstk01.mtx", [48, 48, 224, 400]),
    ("spd/bcsstk02.mtx", [66, 66, 2211, 4356]),
    ("spd/bcsstk03.mtx", [112, 112, 376, 640]),
    ("spd/bcsstk05.mtx", [153, 153, 1288, 2423]),
    ("spd/bcsstk09.mtx", [1083, 1083, 9760, 18437]),
    ("spd/bcsstk10.mtx", [1086, 1086, 11578, 22070]),
    ("spd/bcsstk20.mtx", [485, 485, 1810, 3135]),
    ("spd/bcsstk22.mtx", [138, 138, 417, 696]),
    ("spd/bcsstm22.mtx", [138, 138, 138, 138]),
    ("spd/gr_30_30.mtx", [900, 900, 4322, 7744]),
    ("spd/nos4.mtx", [100, 100, 347, 594]),
    ("spd/pts5ldd03.mtx", [161, 161, 745, 745]),
    ("sym/bcsstm10.mtx", [1086, 1086, 11589, 22092]),
    ("unsym/arc130.mtx", [130, 130, 1282, 1282]),
    ("unsym/bfwa62.mtx", [62, 62, 450, 450]),
    ("unsym/impcol_a.mtx", [207, 207, 572, 572]),
    ("unsym/qh1484.mtx", [1484, 1484, 6110, 6110]),
    ("unsym/sherman5.mtx", [3312, 3312, 20793, 20793]),
    ("unsym/west0067.mtx", [67, 67, 294, 294]),
    ("rect/ash219.mtx", [219, 85, 438, 438]),
    ("rect/illc1033.mtx", [1033, 320, 4732, 4732]),
    ("rect/lp_share1b.mtx", [117, 253, 1179, 1179]),
    ("rect/well1850.mtx", [1850, 712, 8758, 8758]),
];

#[test]
fn every_doubtful_file_has_the_documented_outcome() {
    let Some(root) = data::data_root() else { return data::not_run(DOUBTFUL.len(), "doubtful files") };
    let mut wrong = Vec::new();
    let mut present = 0;
    for (file, expected, decision) in DOUBTFUL.iter().filter(|(file, ..)| root.join(file).exists()) {
        present += 1;
        if let Err(found) = expected.check(&read_matrix(root.join(file))) {
            wrong.push(format!("{file}: found {found}, expected {expected:?} ({decision})"));
        }
    }
    assert!(wrong.is_empty(), "{} of {present} files:\n{}", wrong.len(), wrong.join("\n"));
    assert!(present > 0, "no doubtful file in {}", root.display());
    if present < DOUBTFUL.len() {
        data::not_run(DOUBTFUL.len() - present, "doubtful files (not in the folder)");
    }
}

#[test]
fn files_beyond_the_table_do_not_panic() {
    let Some(root) = data::data_root() else { return data::not_run(1, "folder of doubtful files") };
    for path in ["bad", "format"].iter().flat_map(|dir| data::files(&root, dir)) {
        let listed = |file: &str| path == root.join(Path::new(file));
        if !DOUBTFUL.iter().any(|(file, ..)| listed(file)) {
            let outcome = read_matrix(&path).map(|m| m.triplets.shape());
            data::say(&format!("not in the table: {}: {outcome:?}", path.display()));
        }
    }
}

#[test]
fn real_matrices_have_the_sizes_of_the_index() {
    let Some(root) = data::data_root() else { return data::not_run(MATRICES.len(), "real matrices") };
    let mut absent = 0;
    for (file, [rows, cols, stored, nnz]) in MATRICES {
        if !root.join(file).exists() {
            absent += 1;
            continue;
        }
        let m = read_matrix(root.join(file)).unwrap_or_else(|e| panic!("{e}"));
        let shape = m.triplets.shape();
        assert_eq!((shape.rows, shape.cols, m.stored_entries), (*rows, *cols, *stored), "{file}");
        let csr = m.triplets.to_csr();
        assert_eq!((m.triplets.nnz(), csr.nnz()), (*nnz, *nnz), "{file}");
        let declared = m.symmetry == texla::host::market::Symmetry::Symmetric;
        assert!(!declared || csr.is_symmetric(), "{file}: {:?}", csr.asymmetry());
    }
    assert!(absent < MATRICES.len(), "no matrix in {}", root.display());
    if absent > 0 {
        data::not_run(absent, "real matrices (not in the folder)");
    }
}

#[test]
fn warnings_name_count_and_line() {
    use texla::host::market::Warning::{BelowNormal, IntegerRounded};
    let cases = [
        ("format/lagraph_matrix_int64.mtx", IntegerRounded { count: 2, line: 7 }),
        ("format/made_f32_denormals.mtx", BelowNormal { count: 2, line: 3 }),
    ];
    let Some(root) = data::data_root() else { return data::not_run(cases.len(), "files with warnings") };
    for (file, warning) in cases.into_iter().filter(|(file, _)| root.join(file).exists()) {
        assert_eq!(read_matrix(root.join(file)).map(|m| m.warnings), Ok(vec![warning]), "{file}");
    }
}
