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

# [{"what", "theirs", "ours"}]: totals that both count. $held: how long connections were held, each time in whole ms.
def totals($theirs; $ours; $held): [$ours.resources[]? | select(.name == "shop-db")][0] as $pool |
    [{what: "time waited for connections, s", theirs: $theirs["hikaricp.connections.acquire"].TOTAL_TIME, ours: ($pool.wait_ns / 1e9)},
     {what: "time connections were held, s", theirs: ($theirs["hikaricp.connections.usage"].TOTAL_TIME), ours: ($pool.held_ns / 1e9)},
     {what: "... each time in whole ms, s", theirs: ($theirs["hikaricp.connections.usage"].TOTAL_TIME), ours: $held},
     {what: "requests of /product/{id}", theirs: $theirs["/product/{id}"].COUNT, ours: endpoint($ours; "GET /product/{id}").requests},
     {what: "requests of /offer/{id}", theirs: $theirs["/offer/{id}"].COUNT, ours: endpoint($ours; "GET /offer/{id}").requests},
     {what: "requests of /order", theirs: $theirs["/order"].COUNT, ours: endpoint($ours; "POST /order").requests},
     {what: "requests of Tomcat", theirs: $theirs["tomcat.global.request"].COUNT, ours: $ours.requests.count}];

def totals_table: . as $runs | [range($runs[0] | length) as $i | [$runs[][$i]]] | (("total" | padded(34)) + ("theirs" | pad(10)) + ("ours" | pad(10)) + ("differ by" | pad(11))),
    (.[] | (.[0].what | padded(34)) + (map(.theirs) | median | rounded(1) | pad(10)) + (map(.ours | select(. != null)) | median | rounded(1) | pad(10)) +
        ([.[] | select(.ours != null and .theirs > 0) | (.ours / .theirs - 1) * 100] | median | if . == null then "-" else rounded(2) + " %" end | pad(11)));

# What Kafka's JmxTool told, of each look one object: {"RequestQueueTimeMs.Count", ..., "time"}. Of those that lie in a recording
# the first and the last, with their times in it (s).
def looks($start_ns; $wall_ns): [foreach (inputs | split("\t") | select(length == 2)) as [$key, $value] ({look: {}, done: null};
        if $key == "time" then {look: {}, done: (.look + {s: (($value | tonumber) / 1e3 - $start_ns / 1e9)})}
        else {look: (.look + {($key | capture("name=(?<name>[^,:]+)[^:]*:(?<of>[A-Za-z0-9]+)$") | .name + "." + .of): ($value | tonumber? // null)}),
            done: null} end; .done | select(. != null))] |
    .[5:] | # while its code is cold the tool reads late
    map(select(.s > 0.5 and .s < $wall_ns / 1e9 - 0.5 and .["TotalTimeMs.Count"] != null)) |
    {first: first, last: last};

def grown($looks; $name): $looks.last[$name + ".Count"] - $looks.first[$name + ".Count"];

# The mean of what was added between two looks at a mean.
def mean_between($looks; $name): grown($looks; $name) as $count | if $count <= 0 then null else
    ($looks.last[$name + ".Count"] * $looks.last[$name + ".Mean"] - $looks.first[$name + ".Count"] * $looks.first[$name + ".Mean"]) / $count end;

def handlers: [.stages[] | select(.stage == "data-plane-kafka-request-handler")];

def broker_line($what; $theirs; $ours; $digits): ($what | padded(34)) + ($theirs | rounded($digits) | pad(10)) + ($ours | rounded($digits) | pad(10)) +
    (if $ours == null or ($theirs // 0) == 0 then "-" else (($ours / $theirs - 1) * 100 | rounded(1)) + " %" end | pad(11));

# $rounded_ms: the mean wait of ours, each in whole ms, as the broker counts them.
def broker_table($looks; $ours; $rounded_ms): ("" | padded(34)) + ("broker" | pad(10)) + ("ours" | pad(10)) + ("differ by" | pad(11)),
    broker_line("Produce requests"; grown($looks; "TotalTimeMs"); endpoint($ours; "Produce").requests; 0),
    broker_line("in the handlers\u0027 queue, mean, ms"; mean_between($looks; "RequestQueueTimeMs"); $rounded_ms; 3),
    broker_line("... not rounded to whole ms"; null; ($ours | handlers | max_by(.tasks).queue_wait_ns.mean / 1e6); 3),
    broker_line("from request to answer, mean, ms"; mean_between($looks; "TotalTimeMs");
        (endpoint($ours; "Produce").latency_ns.mean | if . then . / 1e6 else null end); 3),
    broker_line("handlers idle, of both pools";
        grown($looks; "RequestHandlerAvgIdlePercent") / ($looks.last.s - $looks.first.s) / 1e9;
        ($ours | handlers | map(1 - .busy / .threads) | add); 3);

# Of runs the median, and half of what they differ by beside the measured one.
def handlers_line($what; $path; $from; $to; $estimates; $unit; $digits):
    def figures: map(getpath($path) / $unit);
    ($to | figures) as $after | ($after | median) as $measured | ($estimates | map(.estimated) | figures | median) as $estimated |
    ($what | padded(22)) + ([($from | figures | median), $measured, ($after | (max - min) / 2), $estimated | rounded($digits) | pad(11)] | join("")) +
    ((($estimated / $measured - 1) * 100 | rounded(1)) + " %" | pad(9));

def handlers_table($from; $to; $estimates): ("" | padded(22)) +
        (["recorded", "changed", "noise", "estimated", "off"] | (.[0:4] | map(pad(11)) | join("")) + (.[4] | pad(9))),
    handlers_line("requests/s"; ["requests", "throughput_per_s"]; $from; $to; $estimates; 1; 1),
    handlers_line("latency, median, ms"; ["requests", "latency_ns", "p50"]; $from; $to; $estimates; 1e6; 3),
    handlers_line("latency, p99, ms"; ["requests", "latency_ns", "p99"]; $from; $to; $estimates; 1e6; 2);
