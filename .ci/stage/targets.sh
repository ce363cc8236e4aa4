# Other compilers, versions and machines.

cores=(-p freehold-units -p freehold-kva -p freehold-percpu -p freehold-maple -p freehold-linux)

stage_oldest() {
    local oldest
    oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    rustup toolchain install "$oldest" --profile minimal >/dev/null 2>&1 || cargo "+$oldest" --version \
        || { skip "Rust $oldest cannot be installed" && return; }
    CARGO_TARGET_DIR=target/oldest cargo "+$oldest" check --locked --features freehold/serde "${cores[@]}" -p freehold --lib --examples
    CARGO_TARGET_DIR=target/oldest cargo "+$oldest" check --locked --features freehold/std -p freehold -p freehold-metrics -p freehold-vmalloc --lib
}

stage_minimal_versions() {
    has_nightly || return 0
    .ci/minimal-versions
}

stage_no_std() {
    local target
    for target in x86_64-unknown-none aarch64-unknown-none riscv64gc-unknown-none-elf; do
        rustup target add $target || { skip "$target: it cannot be installed" && continue; }
        cargo check --locked --target $target "${cores[@]}" -p freehold
    done
    cargo check --locked --target x86_64-unknown-none -p freehold --features serde
    # Their tests without features, too: in the workspace others ask for these.
    cargo check --locked --tests "${cores[@]}"
}

# `kva` and `maple` need 64 bits, and say so; so do what is built on them, and memory.
stage_bits_32() {
    rustup target add i686-unknown-linux-musl || { skip "the target cannot be installed" && return; }
    # The compiler's own linker: the system's C compiler may have no libraries of 32 bits.
    CARGO_TARGET_I686_UNKNOWN_LINUX_MUSL_LINKER=rust-lld some_tests cargo test --locked --target i686-unknown-linux-musl -p freehold-units --lib
    cargo check --locked --target i686-unknown-linux-musl -p freehold-percpu --lib
    skip "percpu's tests with 32 bits (it is checked): they use sys, which does not build there, as libc has no number of the call rseq"
    local crate log=target/bits-32.log
    for crate in freehold-kva freehold-maple; do
        if cargo check --locked --target i686-unknown-linux-musl -p $crate >"$log" 2>&1; then
            echo "$crate builds for 32 bits, which README says it does not" && exit 1
        fi
        grep -q "$crate needs a 64-bit target" "$log" || { cat "$log" && echo "$crate does not say why it does not build for 32 bits" && exit 1; }
    done
}

stage_musl() {
    rustup target add x86_64-unknown-linux-musl || { skip "the target cannot be installed" && return; }
    cargo test --locked --target x86_64-unknown-linux-musl -p freehold-sys -p freehold-percpu --features freehold-percpu/std --lib --test processes
    cargo test --locked --target x86_64-unknown-linux-musl -p freehold-vmalloc --lib --test blocks --test processes
}

stage_aarch64() {
    rustup target add aarch64-unknown-linux-gnu || { skip "the target cannot be installed" && return; }
    local std=freehold-kva/std,freehold-percpu/std,freehold-maple/std
    if [ "$(uname -m)" != x86_64 ] || ! has aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu || ! has qemu-aarch64 qemu-user \
        || ! { test -e /usr/aarch64-linux-gnu/lib/crti.o || apt-get install -q -y libc6-dev-arm64-cross; }; then
        cargo check --locked --target aarch64-unknown-linux-gnu "${cores[@]}" -p freehold-sys -p freehold-rcu -p freehold-vmalloc --features $std
        skip "tests on aarch64 (they are checked): no aarch64-linux-gnu-gcc or no qemu-aarch64, and they cannot be installed"
        return
    fi
    on_aarch64 -p freehold-units -p freehold-rcu --lib
    # The emulator answers these calls otherwise than a kernel does.
    local otherwise=(abilities::tests::an_answer_stays mark::tests::a_child_has_another memory::page_scan::tests::both_ways
        memory::tests::each_run_counts_once_whatever_their_number_and_guards_count_nothing)
    on_aarch64 -p freehold-sys --lib -- "${otherwise[@]/#/--skip=}"
    skip "on aarch64: ${otherwise[*]}, which an emulator of system calls does not pass, or not always"
    if deep; then
        on_aarch64 "${cores[@]}" -p freehold-vmalloc --features $std --lib
    else
        # What depends on the machine most: assembly, and words that are pointers.
        on_aarch64 -p freehold-percpu --features freehold-percpu/std --lib -- heap:: count::
        # Atomic words of two threads, and memory that is mapped.
        on_aarch64 -p freehold-kva --features freehold-kva/std --lib -- space::tests pooled::tests::cases pooled::tests::residency
        on_aarch64 -p freehold-vmalloc --lib --test blocks
        skip "the other unit tests on aarch64, which take half an hour in an emulator; DEEP=1 runs them"
    fi
}
on_aarch64() {
    CARGO_TARGET_DIR=target/aarch64 CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
        CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu" PROPTEST_CASES=8 \
        some_tests cargo test --locked --target aarch64-unknown-linux-gnu "$@"
}
