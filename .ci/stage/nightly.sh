# What only a nightly toolchain can run: unsafe code under Miri and ThreadSanitizer, fuzzing, documentation as docs.rs builds it.

stage_doctests() {
    has_nightly || return 0
    some_tests cargo +nightly test --locked --doc -p freehold-units -p freehold-sys -p freehold-rcu -p freehold-maple \
        -p freehold-kva -p freehold-linux -p freehold-percpu -p freehold-vmalloc -p freehold-harness \
        --features freehold-maple/std,freehold-kva/std,freehold-percpu/std,freehold-sys/failing
}

stage_api() {
    has_nightly || return 0
    command -v cargo-public-api >/dev/null || { skip "no cargo-public-api, which takes minutes to build (.ci/tools cargo-public-api)" && return; }
    .ci/api
}

# With all features, on the target that docs.rs is told to build for; and badges on what needs a feature: a page of each crate that has
# features, but for `rcu`, whose one is for tests. `metrics` has none.
badges="
freehold/index.html                        std
freehold/index.html                        metrics
freehold_units/struct.Span.html            serde
freehold_sys/failing/index.html            failing
freehold_kva/shared/struct.SharedSpace.html  std
freehold_percpu/struct.Counter.html        std
freehold_maple/struct.MapleTree.html       std
freehold_linux/maple/index.html            std
freehold_vmalloc/struct.VirtualMemory.html allocator-api2
freehold_vmalloc/struct.Stack.html         corosensei
"
stage_docs_rs() {
    has_nightly || return 0
    RUSTDOCFLAGS="--cfg docsrs -D warnings" cargo +nightly doc --locked --no-deps --all-features --target-dir target/docs-rs "${published[@]/#/--package=}"
    local page feature crate
    while read -r page feature; do
        grep -qE "Available on .*crate feature .*$feature" "target/docs-rs/doc/$page" || { echo "$page has no badge of the feature $feature" && exit 1; }
    done < <(awk 'NF' <<<"$badges")
    for crate in "${published[@]}"; do
        grep -A 2 -F '[package.metadata.docs.rs]' "crates/$(folder_of "$crate")/Cargo.toml" | grep -qxF 'targets = ["x86_64-unknown-linux-gnu"]' \
            || { echo "$crate would be documented for targets on which it does not build" && exit 1; }
    done
}

# The cores' unit tests on a machine with the other order of bytes: what has a layout has the same answers there.
stage_miri_big_endian() {
    has_nightly || return 0
    local machine=(--target s390x-unknown-linux-gnu)
    # Few cases of each property: an interpreter takes seconds for one.
    export PROPTEST_CASES=4
    if ! deep; then
        # What is written as bytes or text. Each byte of an image damaged in turn is too much for an interpreter.
        miri "${machine[@]}" -p freehold-units -p freehold-kva --lib -- image:: text:: --skip damage_is_found
        skip "the cores' other unit tests with the other order of bytes, which take ten minutes; DEEP=1 runs them"
        return
    fi
    miri "${machine[@]}" -p freehold-units --lib -- --skip pool::
    miri "${machine[@]}" -p freehold-kva --lib -- space::tests
    # Each link of its lists is broken in each way, which is too much for an interpreter.
    miri "${machine[@]}" -p freehold-percpu --lib -- object_map:: set:: --skip broken_sets_are_told
    miri "${machine[@]}" -p freehold-maple --test map -- edges::
}

# Tests of the crates with `unsafe`, which are shorter under Miri by `cfg(miri)`.
miri() { MIRIFLAGS="-Zmiri-disable-isolation ${flags:-}" some_tests cargo +nightly miri test --locked "$@"; }

stage_miri_maple() {
    has_nightly || return 0
    miri -p freehold-linux --test maple
    miri -p freehold-maple --features std --lib
}

stage_miri_map() {
    has_nightly || return 0
    # Their entries are numbers, of values in a safe arena or by themselves, and they hand out no mutable reference: no unsafe code
    # has a part in them.
    local safe=(range_map:: range_set:: keys:: closures:: transactions:: iterators::entries_that_are_moved_out a_map_of_any_value
        sets_and_overlays)
    if deep; then safe=(); else skip "tests of maps whose entries are no pointers, in which no unsafe code has a part; DEEP=1 runs them"; fi
    miri -p freehold-maple --test map --test out_of_memory -- ${safe[@]+"${safe[@]/#/--skip=}"}
    # Mutable iterators under the other model of borrows, too.
    flags=-Zmiri-tree-borrows miri -p freehold-maple --test map -- iterators::whole_maps iterators::bounds_within
}

stage_miri_shared() {
    has_nightly || return 0
    local files=(map:: threads:: reclaim::)
    if deep; then files=(); else skip "tests of the shared map other than ${files[*]}, which take minutes; DEEP=1 runs them"; fi
    miri -p freehold-maple --features std --test shared -- ${files[@]+"${files[@]}"}
}

stage_miri_rest() {
    has_nightly || return 0
    miri -p freehold-sys --lib
    miri -p freehold-rcu --test stress --test domains
    miri -p freehold-percpu --features std --lib -- heap:: count::
    miri -p freehold-kva --features std --test space shared_devices
    miri -p freehold-vmalloc --test pools --test vectors
    if deep; then
        # Backlogs that are dropped while their own thread reads leak on purpose.
        flags=-Zmiri-ignore-leaks miri -p freehold-rcu --lib
        miri -p freehold-kva --features std --lib -- pooled::tests::threads
    else
        skip "threads of pooled spaces, and rcu's unit tests: safe code, whose threads are under ThreadSanitizer and loom; DEEP=1 runs them"
    fi
}

thread_sanitizer() {
    RUSTFLAGS="-Zsanitizer=thread" some_tests cargo +nightly test --locked -Zbuild-std --target x86_64-unknown-linux-gnu \
        --target-dir target/thread-sanitizer "$@"
}
stage_sanitizer() {
    has_nightly || return 0
    # Unit tests with threads by their names, and all tests in these files.
    thread_sanitizer --lib --test storm -p freehold-percpu -p freehold-kva --features freehold-percpu/std,freehold-kva/std \
        -- heap:: count:: storm pooled::tests::threads
    # Tests of the shared map whose readers and writers are one thread have no race.
    thread_sanitizer --test stress --test domains --test shared --test races --test pools --test blocks \
        -p freehold-rcu -p freehold-maple -p freehold-vmalloc --features freehold-maple/std \
        -- --skip iterators:: --skip refusals:: --skip stalled::
}

# Who looks for a fault that was found builds the fuzz targets with its lines, by `.ci/fuzz`.
fuzz_flags=-Cdebuginfo=0
stage_fuzz_build() {
    has_nightly || return 0
    # It only calls cargo and what that builds: optimized, it is no faster.
    command -v cargo-fuzz >/dev/null || .ci/tools cargo-fuzz
    RUSTFLAGS=$fuzz_flags cargo +nightly fuzz build
}
stage_fuzz() {
    has_nightly || return 0
    command -v cargo-fuzz >/dev/null || .ci/tools cargo-fuzz
    local seconds=${FUZZ_SECONDS:-3}
    echo "$seconds s for each engine of ours and target"
    RUSTFLAGS=$fuzz_flags .ci/fuzz "$seconds"
}
