# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by bench/services: services that were not written here. Each has a function that sets `command` and `ready`, and
# one that asks it for some 30 s on the loopback.

wiremock() {
    local files=$kept/wiremock-files
    port=$(free_port)
    mkdir -p "$files/mappings"
    jq -n '{request: {method: "GET", urlPathPattern: "/stock/.*"},
        response: {status: 200, jsonBody: {stock: 4}, fixedDelayMilliseconds: 20}}' >"$files/mappings/stock.json"
    jq -n '{request: {method: "GET", urlPathPattern: "/price/.*"}, response: {status: 200, jsonBody: {cents: 400}}}' \
        >"$files/mappings/price.json"
    command=("$java" -jar "$kept"/wiremock/lib/wiremock-standalone-*.jar --port "$port" --bind-address 127.0.0.1
        --root-dir "$files" --disable-banner --container-threads 25)
    ready="answers $port /price/1"
}

load_wiremock() {
    ask "$port" --clients 16 --think 20 --seconds 30 --route "50 GET /stock/{id}" --route "50 GET /price/{id}"
}

# One broker that is its own controller. KAFKA_THREADS: its handlers, num.io.threads.
kafka() {
    local logs=$kept/kafka-logs controller class_path="$kept/kafka/lib/*"
    port=$(free_port)
    controller=$(free_port)
    jmx=$(free_port)
    rm -rf "$logs"
    printf '%s\n' process.roles=broker,controller node.id=1 "controller.quorum.voters=1@127.0.0.1:$controller" \
        "listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$controller" controller.listener.names=CONTROLLER \
        "advertised.listeners=PLAINTEXT://127.0.0.1:$port" listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT \
        "log.dirs=$logs" "num.io.threads=${KAFKA_THREADS:-8}" num.network.threads=3 offsets.topic.replication.factor=1 \
        num.partitions=4 >"$kept/kafka.properties"
    "$java" -cp "$class_path" kafka.tools.StorageTool format -t 4L6g3nShT-eMCtK--X86sw -c "$kept/kafka.properties" \
        >"$kept/kafka.format" 2>&1 || complain "$(tail -3 "$kept/kafka.format")"
    command=("$java" -Xmx512m "-Dcom.sun.management.jmxremote.port=$jmx" -Dcom.sun.management.jmxremote.authenticate=false
        -Dcom.sun.management.jmxremote.ssl=false -Dcom.sun.management.jmxremote.host=127.0.0.1
        -Djava.rmi.server.hostname=127.0.0.1 -cp "$class_path" kafka.Kafka "$kept/kafka.properties")
    ready="listens $port"
}

# With three producers requests meet at the handlers, and the cores are taken.
kafka_producers=3
load_kafka() {
    local i producers=()
    for ((i = 0; i < kafka_producers; i++)); do
        "$java" -cp "$kept/kafka/lib/*" org.apache.kafka.tools.ProducerPerformance --topic load --num-records 15000 \
            --record-size 200 --throughput 500 --producer-props "bootstrap.servers=127.0.0.1:$port" linger.ms=0 2>/dev/null &
        producers+=($!)
    done
    wait "${producers[@]}"
}

# The broker's own figures of its produce requests, twice a second, for as long as it lives.
watch_kafka() { # FILE
    local name names=()
    for name in RequestQueueTimeMs TotalTimeMs; do
        names+=(--object-name "kafka.network:type=RequestMetrics,name=$name,request=Produce")
    done
    names+=(--object-name kafka.server:type=KafkaRequestHandlerPool,name=RequestHandlerAvgIdlePercent)
    "$java" -cp "$kept/kafka/lib/*" org.apache.kafka.tools.JmxTool --reporting-interval 500 --report-format tsv "${names[@]}" \
        --jmx-url "service:jmx:rmi:///jndi/rmi://127.0.0.1:$jmx/jmxrmi" >"$1" 2>/dev/null &
    watcher=$!
}

# The mean wait of what RequestChannel was given in a part of the recording, each to the nearest ms, which is how the broker
# counts.
rounded_waits_ms() { # TRACE FROM_S TO_S
    "$build/trace_dump" "$1" | awk -F'\t' -v from="$2" -v to="$3" '
        $1 == "event" && $4 == "spawn_begin" && /processCompletedReceives/ {given[$5] = $3}
        $1 == "event" && $4 == "task_start" && $3 >= from * 1e9 && $3 <= to * 1e9 {started[$5] = $3}
        END {
            for (id in given) if (id in started) {sum += int((started[id] - given[id]) / 1e6 + 0.5); count++}
            print count ? sum / count : "null"
        }'
}

# Between the first and the last look at the broker's figures that lie in the recording, ours beside them.
compare_kafka() { # KIND
    local trace=$kept/kafka-$1.msgpack from to
    "$rehype" info --json "$trace" >"$kept/kafka-$1.info" 2>/dev/null
    "$rehype" metrics --json --window 0%..100% "$trace" >"$kept/kafka-$1.json" 2>/dev/null
    jq -Rn -L "$root/bench" --slurpfile info "$kept/kafka-$1.info" --slurpfile whole "$kept/kafka-$1.json" \
        'include "services"; looks($info[0].start_unix_ns; $whole[0].wall_ns)' "$kept/kafka-$1.broker" >"$kept/kafka-$1.looks"
    read -r from to < <(jq -r '"\(.first.s * 1000 | round / 1000) \(.last.s * 1000 | round / 1000)"' "$kept/kafka-$1.looks")
    "$rehype" metrics --json --window "$from..$to" "$trace" >"$kept/kafka-$1.json" 2>/dev/null
    printf '\nthe broker and the recording (%s), %s s to %s s\n' "$1" "$from" "$to"
    jq -rn -L "$root/bench" --argjson rounded_ms "$(rounded_waits_ms "$trace" "$from" "$to")" --slurpfile looks "$kept/kafka-$1.looks" \
        --slurpfile ours "$kept/kafka-$1.json" 'include "services"; broker_table($looks[0]; $ours[0]; $rounded_ms)'
}

# Two threads for each of the pools.
two_threads() { # POOL...
    jq -n '{schema: "rehype.plan/1", improvements: ($ARGS.positional | map({kind: "resize-pool", params: {pool: ., threads: 2}}))}' \
        --args "$@"
}

# A broker with two handlers (and its controller, whose pool has the same name), as estimated from one with eight and as
# recorded, three times in turns; under one producer, so that cores are free. Of each the second half, in which code is
# warm.
change_kafka() {
    local run threads half=50%..100% kafka_producers=1
    for run in 1 2 3; do
        for threads in 8 2; do
            KAFKA_THREADS=$threads kafka
            record_foreign kafka "handlers$threads.$run"
            "$rehype" metrics --json --window $half "$kept/kafka-handlers$threads.$run.msgpack" \
                >"$kept/kafka-handlers$threads.$run.json" 2>/dev/null
        done
        estimate_handlers $half "$kept/kafka-handlers8.$run.msgpack" >"$kept/kafka-to2.$run.json"
    done
    printf '\nhandlers 8 to 2, the second half of each run\n'
    jq -rn -L "$root/bench" --slurpfile from <(cat "$kept"/kafka-handlers8.?.json) --slurpfile to <(cat "$kept"/kafka-handlers2.?.json) \
        --slurpfile estimates <(cat "$kept"/kafka-to2.?.json) 'include "services"; handlers_table($from; $to; $estimates)'
}

# Where two pools have the name, the refusal has both with their numbers.
estimate_handlers() { # WINDOW TRACE
    local handlers=data-plane-kafka-request-handler plan=$kept/kafka-to2.plan pools refusal
    two_threads $handlers >"$plan"
    if ! refusal=$("$rehype" estimate --apply "$plan" -o "$kept/kafka-estimated.msgpack" --no-interval "$2" 2>&1); then
        mapfile -t pools < <(grep -o "$handlers@[0-9]*" <<<"$refusal")
        [ ${#pools[@]} -gt 0 ] || complain "$(tail -3 <<<"$refusal")"
        two_threads "${pools[@]}" >"$plan"
    fi
    "$rehype" estimate --json --window "$1" --apply "$plan" -o "$kept/kafka-estimated.msgpack" --no-interval "$2" 2>/dev/null ||
        complain "no estimate of the broker's handlers"
}

more_kafka() {
    compare_kafka recorded
    compare_kafka attached
    change_kafka
}

# The examples of Debian's package, in Tomcat as a library.
tomcat() {
    port=$(free_port)
    command=("$java" -cp "$kept/tomcat/classes:$kept/tomcat/lib/*" Examples "$port" "$kept/tomcat/usr/share/tomcat10-examples/examples")
    ready="answers $port /examples/"
}

load_tomcat() {
    ask "$port" --clients 16 --think 40 --seconds 30 --route "45 GET /examples/servlets/servlet/HelloWorldExample" \
        --route "20 GET /examples/jsp/jsp2/el/basic-arithmetic.jsp" --route "5 GET /examples/async/async0" \
        --route "30 GET /examples/servlets/servlet/RequestInfoExample"
}

# Every part of a cluster in one JVM, which asks itself: jobs one after the other.
flink() {
    command=("$root/fixtures/run" -n 20 flink "$kept" "$kept/flink.report")
    ready=true
}

load_flink() {
    sleep 12
}

fetch_foreign() { # SERVICE
    "$root/fixtures/fetch" "$1" "$kept/$1"
    if [ "$1" = tomcat ] && [ ! -e "$kept/tomcat/usr" ]; then
        (cd "$kept/tomcat" && apt-get download tomcat10-examples >/dev/null && dpkg -x tomcat10-examples_*.deb .)
    fi
}

answer() { # SERVICE KIND
    local trace=$kept/$1-$2.msgpack begin
    begin=$EPOCHREALTIME
    "$rehype" suggest "$trace" -o "$kept/$1-$2.plan.json" >"$kept/$1-$2.suggest" 2>&1 || true
    printf '\n## %s, %s: suggest took %.1f s\n\n' "$1" "$2" "$(jq -n "$EPOCHREALTIME - $begin")"
    head -12 "$kept/$1-$2.suggest"
    "$rehype" metrics "$trace" >"$kept/$1-$2.metrics" 2>&1 || true
}

# Some services are watched while they are asked.
watcher=
watch_foreign() { # SERVICE FILE
    if declare -F "watch_$1" >/dev/null; then "watch_$1" "$2"; fi
}

stop_foreign() {
    if [ -n "$watcher" ]; then kill $watcher && wait $watcher || true; fi
    watcher=
    stop_service
}

record_foreign() { # SERVICE KIND
    start_service "$kept/$1-$2.said" "$ready" "$rehype" record -o "$kept/$1-$2.msgpack" -- "${command[@]}"
    watch_foreign "$1" "$kept/$1-$2.broker"
    "load_$1" >"$kept/$1-$2.client"
    stop_foreign
}

attach_foreign() { # SERVICE
    local client
    start_service "$kept/$1.log" "$ready" "${command[@]}"
    watch_foreign "$1" "$kept/$1-attached.broker"
    "load_$1" >"$kept/$1-attached.client" &
    client=$!
    sleep 2
    "$rehype" attach "$service_pid" -d 10 -o "$kept/$1-attached.msgpack" >"$kept/$1-attached.said" 2>&1 ||
        complain "$(cat "$kept/$1-attached.said")"
    wait $client
    stop_foreign
}

foreign() { # SERVICE...
    local service services=("$@")
    [ $# -gt 0 ] || services=(wiremock kafka tomcat)
    build_service
    trap stop_foreign EXIT
    for service in "${services[@]}"; do
        fetch_foreign "$service"
        "$service"
        record_foreign "$service" recorded
        answer "$service" recorded
        "$service"
        attach_foreign "$service"
        answer "$service" attached
        if declare -F "more_$service" >/dev/null; then "more_$service"; fi
    done
}
