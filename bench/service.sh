# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by benches that record services under load. They set `rehype`, `bench` (the name to complain by), `java`, and
# `kept`, the folder where builds and recordings stay. Of each run these files are kept beside its trace FILE.msgpack:
# FILE.client (what the load generator measured, JSON) and FILE.said (what rehype printed).

service_pid=0
trap 'stop_service' EXIT

complain() { # TEXT...
    echo "bench/$bench: $*" >&2
    exit 1
}

# The shop and the load generator, built once.
build_service() {
    [ -e "$kept/service/shop.jar" ] || "$root/fixtures/service/build" "$kept/service"
}

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# Starts COMMAND, whose streams go to a log, and waits until the command READY (words in one) succeeds.
start_service() { # LOG READY COMMAND...
    local tries=0
    "${@:3}" >"$1" 2>&1 &
    service_pid=$!
    until $2 >/dev/null 2>&1; do
        kill -0 $service_pid 2>/dev/null || complain "no service: $(tail -3 "$1")"
        tries=$((tries + 1))
        [ $tries -lt 480 ] || complain "no answer after two minutes: $3"
        sleep 0.25
    done
}

answers() { # PORT PATH
    curl -s -o /dev/null "http://127.0.0.1:$1$2"
}

listens() { # PORT
    (: <"/dev/tcp/127.0.0.1/$1")
}

# Asks the JVM to end as its supervisor would, and waits for it and for what rehype prints.
stop_service() {
    local pid=$service_pid
    service_pid=0
    if ((pid == 0)); then return; fi
    kill "$(pgrep -P "$pid" -x java || echo "$pid")" 2>/dev/null || true
    wait "$pid" || true
}

ask() { # PORT OPTIONS...
    "$java" -cp "$kept/service/load" Load "$@"
}
