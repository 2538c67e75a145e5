# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by bench/services: services that were not written here. Each has a function that sets `command` and `ready`, and
# one that asks it for 10 to 15 s on the loopback, and no more than a few hundred times a second.

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
    ask "$port" --clients 16 --think 20 --seconds 12 --route "50 GET /stock/{id}" --route "50 GET /price/{id}"
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

load_kafka() {
    "$java" -cp "$kept/kafka/lib/*" org.apache.kafka.tools.ProducerPerformance --topic load --num-records 4800 \
        --record-size 200 --throughput 400 --producer-props "bootstrap.servers=127.0.0.1:$port" linger.ms=0 2>/dev/null
    kafka_totals
}

# The broker's own figures of its produce requests.
kafka_totals() {
    local name names=()
    for name in RequestQueueTimeMs LocalTimeMs ResponseQueueTimeMs TotalTimeMs; do
        names+=(--object-name "kafka.network:type=RequestMetrics,name=$name,request=Produce")
    done
    names+=(--object-name kafka.server:type=KafkaRequestHandlerPool,name=RequestHandlerAvgIdlePercent)
    "$java" -cp "$kept/kafka/lib/*" org.apache.kafka.tools.JmxTool --one-time --report-format tsv "${names[@]}" \
        --jmx-url "service:jmx:rmi:///jndi/rmi://127.0.0.1:$jmx/jmxrmi" 2>/dev/null |
        grep -E ':(Count|Mean|MeanRate|50thPercentile|99thPercentile|OneMinuteRate)' || true
}

# The examples of Debian's package, in Tomcat as a library.
tomcat() {
    port=$(free_port)
    command=("$java" -cp "$kept/tomcat/classes:$kept/tomcat/lib/*" Examples "$port" "$kept/tomcat/usr/share/tomcat10-examples/examples")
    ready="answers $port /examples/"
}

load_tomcat() {
    ask "$port" --clients 16 --think 40 --seconds 12 --route "45 GET /examples/servlets/servlet/HelloWorldExample" \
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

foreign() { # SERVICE...
    local service services=("$@")
    [ $# -gt 0 ] || services=(wiremock kafka tomcat)
    build_service
    for service in "${services[@]}"; do
        fetch_foreign "$service"
        "$service"
        start_service "$kept/$service-recorded.said" "$ready" "$rehype" record -o "$kept/$service-recorded.msgpack" -- "${command[@]}"
        "load_$service" >"$kept/$service-recorded.client"
        stop_service
        answer "$service" recorded
        "$service"
        start_service "$kept/$service.log" "$ready" "${command[@]}"
        "load_$service" >"$kept/$service-attached.client" &
        sleep 2
        "$rehype" attach "$service_pid" -d 10 -o "$kept/$service-attached.msgpack" >"$kept/$service-attached.said" 2>&1 ||
            complain "$(cat "$kept/$service-attached.said")"
        wait $!
        stop_service
        answer "$service" attached
    done
}
