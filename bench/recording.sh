# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced, after bench/host.sh, by benches that record programs. They set `rehype` and `bench`, the name to complain by.

lossy=0 # recordings that were made again since events were lost

complain() { # TEXT...
    echo "bench/$bench: $*" >&2
    exit 1
}

record() { # FILE JAVA ARGUMENT...
    read_jvm "$2"
    "$rehype" record -o "$1" ${record_options:-} -- "${@:2}" >"$1.out" 2>"$1.err" ||
        complain "recording ${*:3} failed: $(cat "$1.err")"
}

# A recording that lost events says so, and is made again; how often that was is counted. Options that recording the
# program needs are words in `record_options`.
record_whole() { # FILE JAVA ARGUMENT...
    local try
    for try in 1 2 3; do
        undisturbed record "$@"
        if "$rehype" info --json "$1" | jq -e '.whole and .lost_events == 0' >/dev/null; then return; fi
        lossy=$((lossy + 1))
    done
    complain "$try recordings of ${*:3} one after the other are not whole"
}

# What a JVM reads from its files as it starts is in memory: some kernels drop within minutes what is not read, and then
# a run stands still for half a second.
read_jvm() { # JAVA
    local home
    home=$(dirname "$(dirname "$(realpath "$(command -v "$1")")")")
    cat "$home"/lib/modules "$home"/lib/*.so "$home"/lib/server/* >/dev/null
}
