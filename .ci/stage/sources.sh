# What is looked at without being run.

stage_formatting() {
    rustup component add rustfmt clippy >/dev/null 2>&1 || true
    cargo fmt --all --check
    local manifest
    for manifest in fuzz clients clients/rangemap; do cargo fmt --manifest-path "$manifest/Cargo.toml" --check; done
}

stage_clippy() {
    # All targets but the lab's library as its own test, which it does not have, and `--all-targets` would check; there are no benches.
    # The same build as that of `tests`.
    linted cargo build --locked --workspace --lib --bins --examples --tests
    # What is only checked is not linked: libFuzzer, which takes a minute to build, is left out.
    CUSTOM_LIBFUZZER_PATH=$PWD/fuzz/Cargo.toml CARGO_TARGET_DIR=target cargo clippy --locked --manifest-path fuzz/Cargo.toml -- -D warnings
    # The part of the lab that the fuzz targets build.
    cargo clippy --locked -p freehold-lab --no-default-features --lib -- -D warnings
}

stage_docs() { RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps; }

stage_book() {
    if command -v mdbook >/dev/null; then
        .ci/book
    else
        skip "no mdbook, which takes minutes to build (.ci/tools mdbook); links and programs of the book are tested"
    fi
}

stage_lines() {
    command -v python3 >/dev/null || { skip "no python3" && return; }
    .ci/lines --check
    .ci/lines
    .ci/layers --check
    .ci/layers
}
