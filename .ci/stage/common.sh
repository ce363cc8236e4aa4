# What stages have in common.

skip() { printf 'not run: %s\n' "$1"; }
deep() { [ -n "${DEEP:-}" ]; }
# Builds with clippy's driver in the compiler's place: what is built is linted, and nothing is checked once more for it.
linted() { RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__ "$@"; }
# Runs tests of which each program must have some: a filter that matches nothing passes otherwise.
some_tests() {
    local log
    log=$(mktemp)
    "$@" 2>&1 | tee "$log"
    grep -q '^test result: ' "$log" && ! grep -q '^test result: ok\. 0 passed' "$log" || { echo "no test ran: $*" && return 1; }
    rm "$log"
}
# Runs commands beside each other, and prints in their order what each said. Nobody reads the times that are measured here.
beside() {
    local logs command at pids=() failed=0
    logs=$(mktemp -d)
    for command in "$@"; do
        $command >"$logs/${#pids[@]}" 2>&1 &
        pids+=($!)
    done
    for at in "${!pids[@]}"; do
        wait "${pids[at]}" || failed=1
        cat "$logs/$at"
    done
    rm -r "$logs"
    return $failed
}
# Whether a program is here; its package is installed where this may.
has() {
    command -v "$1" >/dev/null && return
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    { apt-get update -q && apt-get install -q -y --no-install-recommends "$2"; } >/dev/null 2>&1 || return 1
    command -v "$1" >/dev/null
}
# A nightly toolchain with Miri and the sources of the standard library, or the reason why a stage is not run.
has_nightly() {
    { cargo +nightly miri --version && test -d "$(rustc +nightly --print sysroot)/lib/rustlib/src/rust"; } >/dev/null 2>&1 && return
    rustup toolchain install nightly --profile minimal --component miri --component rust-src >/dev/null 2>&1 \
        || { skip "no nightly toolchain with Miri, and it cannot be installed" && return 1; }
}
# The lab's program, optimized.
freehold=target/release/freehold
shared=${FREEHOLD_SHARED:-../shared}
optimized() { cargo build --locked --release; }
