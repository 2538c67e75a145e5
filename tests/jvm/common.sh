# SPDX-License-Identifier: GPL-3.0-or-later
# What the tests of the agent in real JVMs share; sourced. Sets `work`, a folder that goes with the script.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
skipped=0

# The JVM's strictest: every class verified, whoever loaded it, and every JNI call checked.
strict=(-Xverify:all -XX:+UnlockDiagnosticVMOptions -XX:+BytecodeVerificationLocal -XX:+BytecodeVerificationRemote
    -Xcheck:jni)

# As "17.0.15" or "1.8.0_504". Some JDKs 8 come without the file that says so.
version_of() { # HOME
    if [ -e "$1/release" ]; then
        sed -n 's/^JAVA_VERSION="\(.*\)"/\1/p' "$1/release"
    else
        "$1/bin/java" -fullversion 2>&1 | sed -n 's/.* version "\(.*\)"/\1/p'
    fi
}

# The home of a JDK of the major version $1, or nothing. REHYPE_JVMS: another folder of JDKs than /usr/lib/jvm.
find_jdk() {
    local home version=$1
    if [ "$version" = 8 ]; then version=1.8; fi
    for home in ${JAVA_HOME:+"$JAVA_HOME"} "${REHYPE_JVMS:-/usr/lib/jvm}"/*; do
        if [ -x "$home/bin/javac" ] && [[ $(version_of "$home") =~ ^"$version"($|[._-]) ]]; then
            realpath "$home"
            return
        fi
    done
}

# Sets `jdk` to its home and `label` to its name, or skips it.
use_jdk() { # VERSION
    jdk=$(find_jdk "$1")
    label="JDK $1"
    if [ -z "$jdk" ]; then
        skip "$label: not installed"
        return 1
    fi
}

# Compiles so that JDK 8 runs it, with the JDK at `jdk`.
compile8() { # FOLDER SOURCES...
    local options=(--release 8 -Xlint:-options)
    if [[ $("$jdk/bin/javac" -version 2>&1) = "javac 1."* ]]; then options=(); fi # does not know them
    mkdir -p "$1"
    "$jdk/bin/javac" "${options[@]}" -g -d "$1" "${@:2}"
}

# expect WHAT COMMAND...: one check. What the command prints is shown if it fails.
expect() {
    if "${@:2}" >"$work/why" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $1"
        head -20 "$work/why" | sed 's/^/     /'
    fi
}

skip() {
    skipped=$((skipped + 1))
    echo "SKIP $1"
}

# Until it succeeds, for a minute at most.
wait_for() { # COMMAND...
    local tries=0
    until "$@" 2>/dev/null; do
        tries=$((tries + 1))
        [ $tries -lt 1200 ] || { echo "in vain: $*" && return 1; }
        sleep 0.05
    done
}

# Of the build folder `build` with its agent `agent`, the JDK at `jdk`, classes at `classes`, and checks that begin with
# `label`; the trace goes to `trace_file`.

# Runs a program alone and leaves plain.out, plain.err, plain.status.
run_alone() { # PROGRAM ARGUMENTS...
    local status=0
    "$jdk/bin/java" "${strict[@]}" -cp "$classes" "$@" >"$work/plain.out" 2>"$work/plain.err" || status=$?
    echo $status >"$work/plain.status"
}

# The same with the JVM options in `jvm`, by the command in `pinned`, and no traces of before. Leaves traced.out,
# traced.err, traced.status.
pinned=()
run_with() { # PROGRAM ARGUMENTS...
    local status=0
    rm -rf "$work/traces"
    mkdir "$work/traces"
    (
        cd "$work/traces"
        if [ -n "${file_blocks:-}" ]; then ulimit -f "$file_blocks"; fi
        "${pinned[@]}" "$jdk/bin/java" "${strict[@]}" "${jvm[@]}" -cp "$classes" "$@"
    ) >"$work/traced.out" 2>"$work/traced.err" || status=$?
    echo $status >"$work/traced.status"
}

# Both, with the agent's options $1, and the checks that go for every program. The trace is then in $work/dump and its
# counts in $work/counts.
trace() { # OPTIONS PROGRAM ARGUMENTS...
    local name="$label $2${3:+ $3}${1:+ ($1)}"
    run_alone "${@:2}"
    jvm=("-agentpath:$agent=out=$trace_file${1:+,$1}")
    run_with "${@:2}"
    expect "$name: runs as it does alone" same_run
    expect "$name: the trace is whole" dump "$trace_file"
}

# What -Xcheck:jni says of JDK 8's own launcher stands in both.
same_run() {
    local part
    for part in status out err; do
        diff "$work/plain.$part" "$work/traced.$part" || return 1
    done
    ! grep -E 'FATAL ERROR|VerifyError' "$work/traced.out" "$work/traced.err"
}

dump() { # TRACE
    "$build/trace_dump" "$1" >"$work/dump" && "$build/trace_dump" --count "$1" >"$work/counts" &&
        [ "$(count_of whole)" = yes ] && [ "$(count_of stopped_because)" = - ] || {
        head -20 "$work/counts"
        return 1
    }
}

count_of() { # KEY
    awk -F'\t' -v key="$1" '$1 == key {print $2}' "$work/counts"
}

counts_are() { # KEY NUMBER [KEY NUMBER]...
    while [ $# -gt 0 ]; do
        [ "$(count_of "$1")" = "$2" ] || { echo "$1: $2 expected, $(count_of "$1") found" && return 1; }
        shift 2
    done
}

need_jq() { # SCRIPT: ends it where jq is missing
    command -v jq >/dev/null && return
    skip "$1: jq is not installed"
    finish "$1"
}

# Prints the closing line and ends the script.
finish() {
    echo "$1: $passed passed, $failed failed, $skipped skipped"
    if [ "$failed" -gt 0 ]; then exit 1; fi
    exit 0
}
