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

# The home of a JDK of the major version $1, or nothing.
find_jdk() {
    local home version=$1
    if [ "$version" = 8 ]; then version='1\.8'; fi
    for home in ${JAVA_HOME:+"$JAVA_HOME"} /usr/lib/jvm/*; do
        if [ -x "$home/bin/javac" ] && grep -qs "^JAVA_VERSION=\"$version[._\"]" "$home/release"; then
            realpath "$home"
            return
        fi
    done
}

# expect WHAT COMMAND...: one check. What the command prints is shown if it fails.
expect() {
    if "${@:2}" >"$work/why" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $1"
        sed 's/^/     /' "$work/why" | head -20
    fi
}

skip() {
    skipped=$((skipped + 1))
    echo "SKIP $1"
}

# Prints the closing line and ends the script.
finish() {
    echo "$1: $passed passed, $failed failed, $skipped skipped"
    if [ "$failed" -gt 0 ]; then exit 1; fi
    exit 0
}
