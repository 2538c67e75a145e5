# SPDX-License-Identifier: GPL-3.0-or-later
# What bench/services makes of the figures that it gathered.

def median: sort | if length == 0 then null else (.[(length - 1) / 2 | floor] + .[length / 2 | floor]) / 2 end;
def spread: if length == 0 then 0 else (max - min) / 2 end;
def rounded($digits): if . == null then "-" else pow(10; $digits) as $unit | . * $unit | round / $unit | tostring end;
def pad($width): tostring | " " * ([$width - length, 0] | max) + .;
def padded($width): tostring | . + " " * ([$width - length, 0] | max);

# Of `metrics --json`, or of an estimate's "estimated".
def load: .requests | {throughput_per_s, p50_ms: (.latency_ns.p50 | if . then . / 1e6 else null end),
    p99_ms: (.latency_ns.p99 | if . then . / 1e6 else null end)};

# Of what the load generator printed.
def client($variant): {variant: $variant, of: "real", throughput_per_s, p50_ms: .latency_ms.p50, p99_ms: .latency_ms.p99};

# The error beyond noise, in per cent of the real figure: 0 within it.
def beyond($real; $noise): if . == null or $real == null then null
    else ([(. - $real | fabs) - $noise, 0] | max) / $real * 100 end;

def row($all; $variant; $figure; $digits):
    def of($of): [$all[] | select(.variant == $variant and .of == $of) | .[$figure] | select(. != null)];
    (of("real") | median) as $real | (of("real") | spread) as $noise |
    ($variant | padded(15)) + ($figure | padded(17)) + ($real | rounded($digits) | pad(9)) + ($noise | rounded($digits) | pad(8)) +
    ([of("base"), of("attached") | median | (rounded($digits) | pad(11)) +
        (beyond($real; $noise) | rounded(1) | if . == "-" then . else . + " %" end | pad(9))] | join(""));

def table: . as $all | (("change" | padded(15)) + ("" | padded(17)) + ("measured" | pad(9)) + ("noise" | pad(8)) + ("recorded" | pad(11)) +
    ("beyond" | pad(9)) + ("attached" | pad(11)) + ("beyond" | pad(9))),
    (reduce .[].variant as $v ([]; if index([$v]) then . else . + [$v] end) | .[] as $variant |
        row($all; $variant; "throughput_per_s"; 1), row($all; $variant; "p50_ms"; 1), row($all; $variant; "p99_ms"; 1));

def endpoint($ours; $name): [$ours.endpoints.endpoints[]? | select(.endpoint == $name)][0];

# [{"what", "theirs", "ours"}]: totals that both count.
def totals($theirs; $ours): [$ours.resources[]? | select(.name == "shop-db")][0] as $pool |
    [{what: "time waited for connections, s", theirs: $theirs["hikaricp.connections.acquire"].TOTAL_TIME, ours: ($pool.wait_ns / 1e9)},
     {what: "time connections were held, s", theirs: ($theirs["hikaricp.connections.usage"].TOTAL_TIME), ours: ($pool.held_ns / 1e9)},
     {what: "requests of /product/{id}", theirs: $theirs["/product/{id}"].COUNT, ours: endpoint($ours; "GET /product/{id}").requests},
     {what: "requests of /offer/{id}", theirs: $theirs["/offer/{id}"].COUNT, ours: endpoint($ours; "GET /offer/{id}").requests},
     {what: "requests of /order", theirs: $theirs["/order"].COUNT, ours: endpoint($ours; "POST /order").requests},
     {what: "requests of Tomcat", theirs: $theirs["tomcat.global.request"].COUNT, ours: $ours.requests.count}];

def totals_table: add | group_by(.what) | (("total" | padded(34)) + ("theirs" | pad(10)) + ("ours" | pad(10)) + ("differ by" | pad(11))),
    (.[] | (.[0].what | padded(34)) + (map(.theirs) | median | rounded(1) | pad(10)) + (map(.ours | select(. != null)) | median | rounded(1) | pad(10)) +
        ([.[] | select(.ours != null and .theirs > 0) | (.ours / .theirs - 1) * 100] | median | if . == null then "-" else rounded(2) + " %" end | pad(11)));
