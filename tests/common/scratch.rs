//! Where tests put their files.

use std::path::PathBuf;

/// A folder for files of tests. CI runs them on devices of several kinds side by side: each kind has one of its own.
pub fn folder() -> PathBuf {
    let device = std::env::var("TEXLA_TEST_TEXTURE_LIMIT").ok().filter(|v| !v.is_empty());
    let name = device.map_or("any-device".to_owned(), |limit| format!("textures-to-{limit}"));
    // No example has one.
    let path = option_env!("CARGO_TARGET_TMPDIR").map_or_else(std::env::temp_dir, PathBuf::from).join(name);
    std::fs::create_dir_all(&path).unwrap();
    path
}
