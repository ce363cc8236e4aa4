# What a release is made of.

published=(freehold-units freehold-sys freehold-rcu freehold-kva freehold-percpu freehold-maple freehold-linux freehold-vmalloc freehold-metrics freehold)

version_now() { sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml; }
folder_of() { echo "${1#freehold-}"; }

# A copy of what git knows in a folder.
copy_of_tree() {
    rm -rf "$1"
    mkdir -p "$1"
    # What was removed and not told to git yet is not there.
    git ls-files -z | while IFS= read -r -d '' file; do
        if [ -e "$file" ] || [ -L "$file" ]; then printf '%s\0' "$file"; fi
    done | tar --null --files-from=- --create | tar -x -C "$1"
}
# The same with the published crates alone as members.
published_alone() {
    copy_of_tree "$1"
    local crate members=
    for crate in "${published[@]}"; do members+="\"crates/$(folder_of "$crate")\", "; done
    sed -i "s|^members = .*|members = [$members]|; /^default-members/d" "$1/Cargo.toml"
}

stage_package() { .ci/package; }

# Who raises a version runs the whole of it.
stage_release() {
    local out=target/dist/quick crate
    .ci/release --quick --repository https://example.org/freehold --homepage https://example.org --out $out
    for crate in "${published[@]}"; do
        grep -q " $crate-$(version_now).crate\$" $out/SHA256SUMS || { echo "no checksum of $crate" && exit 1; }
    done
    skip "the program, the C library and the wheel of a release, which take minutes to build: .ci/release"
}

stage_publish() {
    local dirty=()
    [ -z "$(git status --porcelain)" ] || dirty=(--allow-dirty)
    # The stage `package` builds them.
    cargo publish --locked --workspace --dry-run --no-verify "${dirty[@]}"
    if command -v cargo-release >/dev/null; then
        raise_versions
    else
        skip "how versions are raised: no cargo-release, which takes minutes to build (.ci/tools cargo-release)"
    fi
}
# Raises the version by cargo-release in a copy, where nothing is pushed or published: one commit, one tag, and texts that name it.
raise_versions() {
    local tree=target/cargo-release log=target/cargo-release.log next
    rm -rf $tree
    git clone --quiet --no-hardlinks . $tree
    (
        cd $tree
        git checkout --quiet -B main
        git -c tag.gpgSign=false tag --list 'v*' | xargs -r git tag --delete >/dev/null
        GIT_AUTHOR_NAME=freehold GIT_AUTHOR_EMAIL=freehold@localhost GIT_COMMITTER_NAME=freehold GIT_COMMITTER_EMAIL=freehold@localhost \
            cargo release minor --workspace --no-publish --no-push --no-confirm --execute --allow-branch main
    ) >$log 2>&1 || { cat $log && return 1; }
    next=$(cd $tree && version_now)
    [ "$next" != "$(version_now)" ] && [ "$(git -C $tree tag --list)" = "v$next" ] && [ "$(git -C $tree rev-list --count HEAD)" = $(($(git rev-list --count HEAD) + 1)) ] \
        || { cat $log && echo "cargo-release did not make one commit and the tag v$next" && return 1; }
    git -C $tree show --stat --format='%s (%D)' HEAD
    names_version CHANGELOG.md "## [$next] - "
    names_version README.md "freehold = \"$next\""
    names_version README.md "- Version $next: "
    names_version docs/start.md "freehold = { version = \"$next\""
}
# Of the texts in the copy: names_version FILE TEXT.
names_version() { grep -qF -- "$2" "target/cargo-release/$1" || { echo "$1 does not say after a release: $2" && return 1; }; }

stage_deny() {
    command -v cargo-deny >/dev/null || { skip "no cargo-deny, which takes minutes to build (.ci/tools cargo-deny)" && return; }
    cargo deny --log-level error check licenses bans sources
    # Their database is a repository of its own.
    local log=target/advisories.log
    if cargo deny --log-level error check advisories >$log 2>&1; then
        cat $log
    elif grep -qiE 'failed to fetch|unable to fetch|failed to clone|could not resolve|failed to acquire' $log; then
        skip "advisories: their database cannot be reached"
    else
        cat $log && exit 1
    fi
}

stage_semver() {
    local tag
    tag=$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null) \
        || { skip "there is no release to compare with; the stage api compares the list of public items" && return; }
    command -v cargo-semver-checks >/dev/null || { skip "no cargo-semver-checks, which takes minutes to build (.ci/tools cargo-semver-checks)" && return; }
    local crate
    for crate in "${published[@]}"; do cargo semver-checks --package "$crate" --baseline-rev "$tag" --all-features; done
}

# A list of all parts of each published crate and of the program, in CycloneDX: parts_of FOLDER.
parts_of() {
    local tree=target/parts crate
    copy_of_tree $tree
    # Of the commit's time, so that it is the same whenever it is made.
    (cd $tree && SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) cargo cyclonedx --quiet --format json --spec-version 1.5)
    for crate in "${published[@]}" freehold-lab freehold-capi; do
        # Without the place where it was built.
        sed "s|file://$(realpath $tree)/|file:|g" "$tree/crates/$(folder_of "$crate")/$crate.cdx.json" >"$1/$crate.cdx.json"
        grep -q '"bomFormat": "CycloneDX"' "$1/$crate.cdx.json"
    done
    rm -rf $tree
}
