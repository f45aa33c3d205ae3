//! Any bytes as a matrix script: a program, or an error whose text can be written. Needs no GL.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(e) = texla::script::parse(bytes, "fuzz") {
        assert!(e.line >= 1 && e.column >= 1);
        assert_eq!(e.to_string().lines().count(), 3);
    }
});
