# What the lab measures and verifies.

stage_vectors() {
    optimized
    if [ -d "$shared/vectors/kva" ] && [ -d "$shared/vectors/percpu" ] && [ -d "$shared/vectors/maple" ]; then
        beside .ci/readme verify_objects verify_ranges
    else
        .ci/readme
        skip "all vectors: $shared/vectors is not here (the bundled ones were checked)"
    fi
}
verify_objects() { "$freehold" verify "$shared"/vectors/percpu/*.txt.zst; }
verify_ranges() {
    "$freehold" verify "$shared"/vectors/kva/*.txt.zst "$shared"/vectors/kva/talk.txt "$shared"/vectors/kva/*.tsv
    "$freehold" verify "$shared"/vectors/maple/*.txt.zst
}

# One thread each for most of the time.
stage_suites() { optimized && beside stress_families stress_maps_and_threads; }
stress_families() {
    "$freehold" stress kva --mode smoke --repeat 3 --format lkml
    "$freehold" stress percpu --mode smoke --repeat 3 --format lkml
    "$freehold" stress counters
}
stress_maps_and_threads() {
    "$freehold" stress maple --mode smoke --repeat 3 --n 10000 --format lkml
    "$freehold" stress maple --threads 3 --duration 5s
    "$freehold" stress kva --mode stress --duration 5s
}

stage_adversary() { optimized && beside adversary_in_work adversary_in_instructions; }
adversary_in_work() { for family in kva percpu; do "$freehold" stress $family --adversary; done; }
adversary_in_instructions() { for family in maple pools rcu memory; do "$freehold" stress $family --adversary; done; }

stage_systems() {
    optimized
    # Its absence is said.
    has qemu-x86_64 qemu-user || true
    .ci/systems
}

stage_record() { optimized && .ci/record; }

stage_main_job() {
    cargo run --locked --release
    test -s target/freehold/report.html
    # Every record of it is of the schema: whoever reads the document back says which is not.
    "$freehold" show --json >/dev/null
}

stage_promises() {
    optimized
    promised kva --workload churn --n 1000 --n 100000 --engine btree
    promised percpu --workload churn-4-64 --engine bitmap
    local suite
    for suite in counters readers pools memory; do promised $suite --quick; done
    if has valgrind valgrind; then
        promised maple --workload mix --n 10000 --engine range-map --engine std-btreemap --instructions
    else
        skip "promises on instructions: no valgrind, and it cannot be installed"
    fi
    .ci/ratios
}
promised() {
    local log
    log=$(mktemp)
    "$freehold" bench "$@" >"$log" || { cat "$log" && return 1; }
    grep -q '^What is promised' "$log" || { echo "nothing is promised of bench $*" && return 1; }
    # With the rivals' figures, which README and docs/compare.md have of one run.
    echo "bench $*"
    cat "$log"
    rm "$log"
}

studies=(kva-2019 percpu-2017 maple-2025)
stage_studies() {
    optimized
    beside "${studies[@]/#/$freehold reproduce }"
    local study
    for study in "${studies[@]}"; do test -s "target/freehold/$study.html"; done
    "$freehold" verify data/traces/*.vma.csv.zst data/traces/*.mt.csv.zst
}

stage_browser() {
    chromium=$(command -v chromium || command -v chromium-browser || { has chromium chromium && command -v chromium; } || true)
    [ -n "$chromium" ] || { skip "no chromium, and it cannot be installed" && return; }
    local report there=() profile
    profile=$(mktemp -d)
    for report in report "${studies[@]}"; do
        test -s "target/freehold/$report.html" || { skip "$report.html: main-job and studies make it" && continue; }
        there+=("$report")
        in_browser "$profile" "target/freehold/$report.html"
        .ci/drawn "target/freehold/$report.html" "$profile/dom.html"
        # The page before its script ran has no plot.
        if .ci/drawn "target/freehold/$report.html" "target/freehold/$report.html" >"$profile/undrawn"; then
            echo "the check of plots passes a page without any" && exit 1
        fi
    done
    [ ${#there[@]} -gt 0 ] || return 0
    # All pages in frames of one, as a window cannot be as narrow as a telephone.
    local dark=0 light=1 scheme pages
    pages=$(IFS=, && echo "${there[*]}")
    for scheme in $dark $light; do
        in_browser "$profile" ".ci/pages.html?$pages" --window-size=1400,1000 --hide-scrollbars --allow-file-access-from-files "--blink-settings=preferredColorScheme=$scheme"
        grep ' px ' "$profile/dom.html" || { echo "the pages were not looked at" && exit 1; }
        [ "$(grep -c ': right$' "$profile/dom.html")" = $((2 * ${#there[@]})) ] || { echo "a page is not right" && exit 1; }
    done
    rm -rf "$profile"
}
# A page's document after its script ran, as dom.html in a folder: in_browser FOLDER PAGE OPTION...
in_browser() {
    local folder=$1 page=$2
    shift 2
    "$chromium" --headless --no-sandbox --disable-gpu --disable-background-networking --disable-sync --no-first-run \
        --user-data-dir="$folder/user" --enable-logging=stderr --virtual-time-budget=10000 "$@" --dump-dom "file://$PWD/$page" >"$folder/dom.html" 2>"$folder/log"
    ! grep CONSOLE "$folder/log" || { echo "the script of $page complains" && exit 1; }
}
