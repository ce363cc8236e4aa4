# What is run on this machine.

stage_tests() {
    local log=target/tests.log host
    host=$(rustc -vV | sed -n 's/^host: //p' | tr 'a-z-' 'A-Z_')
    # `cargo test --workspace` in two parts: under a runner, examples in the documentation share a process, and what is there once in it.
    linted env "CARGO_TARGET_${host}_RUNNER=$PWD/.ci/timed" cargo test --locked --workspace --lib --bins --tests --examples 2>&1 | tee $log
    linted cargo test --locked --workspace --doc
    longest_tests $log
}
# The ten tests that took longest, each with what it buys, which .ci/long-tests says.
longest_tests() {
    echo "the longest tests, beside others that ran at the same time:"
    awk '/^ +Running / { program = $NF; sub(/.*\//, "", program); sub(/-[0-9a-f]+\)$/, "", program) }
        /^test .* <[0-9.]+s>$/ { seconds = $NF; gsub(/[<>s]/, "", seconds); print seconds, program, $2 }' "$1" | sort -rn | sed -n 1,10p \
        | while read -r seconds program name; do
            printf '%6.1f s  %s %s: %s\n' "$seconds" "$program" "$name" \
                "$(awk -v test="$program $name:" 'index($0, test) == 1 { print substr($0, length(test) + 2); found = 1 } END { if (!found) print "not in .ci/long-tests, which says what tests buy" }' .ci/long-tests)"
        done
}

stage_deep_models() {
    deep || { skip "takes minutes; DEEP=1 runs it" && return; }
    linted some_tests cargo test --locked --workspace --test models -- --ignored
}

stage_loom() {
    RUSTFLAGS="--cfg loom" some_tests cargo test --locked --target-dir target/loom -p freehold-kva -p freehold-percpu -p freehold-rcu \
        --features freehold-kva/std,freehold-percpu/std --lib -- slab::loom_tests magazine::loom_tests slot::loom_tests
}

stage_shuttle() {
    RUSTFLAGS="--cfg shuttle" some_tests cargo test --locked --target-dir target/shuttle -p freehold-kva -p freehold-maple \
        --features freehold-kva/std,freehold-kva/shuttle,freehold-maple/std,freehold-maple/shuttle --lib shuttle
}

stage_rcu_model() {
    has spin spin && command -v cc >/dev/null || { skip "no spin, and it cannot be installed, or no C compiler" && return; }
    .ci/spin
}

stage_examples() {
    # Of the whole workspace, as the tests were built.
    linted cargo build --locked --workspace --examples
    local example
    for example in vmm extents percpu vmm_mmio vma_map coroutines requests page_cache near_code gc_heap; do target/debug/examples/$example; done
}

stage_c() { .ci/capi; }

stage_kernel() { .ci/kernel; }

stage_parquet() { linted .ci/parquet; }

stage_python() { .ci/python; }

stage_fleet() { .ci/python fleet; }

# Linted as they are built: `cargo clippy` would check all that they depend on as well, which takes minutes.
stage_clients() { linted clients/run --check; }

stage_rangemap() {
    cargo clippy --locked --manifest-path clients/rangemap/Cargo.toml --all-targets -- -D warnings
    if deep; then
        clients/run rangemap --check
    else
        some_tests cargo test --locked --manifest-path clients/rangemap/Cargo.toml --test original
        skip "the tests of memflow and lopdf, which take minutes to build; DEEP=1 runs them"
    fi
    # It says itself where there is no valgrind.
    has valgrind valgrind || true
    cargo test --locked --release --manifest-path clients/rangemap/Cargo.toml --test instructions
}

stage_servers() { linted .ci/server; }

stage_openmetrics() {
    has_venv || has python3-venv python3-venv || has_venv || { skip "no python3 with venv, and it cannot be installed" && return; }
    linted .ci/openmetrics
}
has_venv() { command -v python3 >/dev/null && python3 -c 'import ensurepip, venv' 2>/dev/null; }
