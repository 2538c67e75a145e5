# SPDX-License-Identifier: GPL-3.0-or-later
"""Perfetto's own protobuf classes, speedscope's and SARIF's schemas, Microsoft's validator, networkx, Graphviz."""
import collections
import csv
import io
import json
import shutil
import subprocess

import jsonschema
import networkx
import pydot
from perfetto.protos.perfetto.trace import perfetto_trace_pb2

from common import cache, check, export, metrics, near, refused, run, same, tables, thread_ns, traces, work

SLICE_BEGIN, SLICE_END = 1, 2


# ---- Perfetto's protobuf


def packets(data):
    trace = perfetto_trace_pb2.Trace()
    trace.ParseFromString(data)
    return trace.packet


def no_unknown_fields(message):
    """A field that the schema does not have is a wrong number."""
    same(message.ByteSize(), len(message.SerializeToString()))
    message.DiscardUnknownFields()
    return message.ByteSize()


def check_protobuf(name):
    data = export(name, "perfetto")
    depth, last, seen = collections.Counter(), {}, set()
    size = sum(len(packet.SerializeToString()) for packet in packets(data))
    for packet in packets(data):
        packet_size = packet.ByteSize()
        same(no_unknown_fields(packet), packet_size, "known fields:")
        for table in ("event_names", "event_categories", "debug_annotation_names", "debug_annotation_string_values"):
            for entry in getattr(packet.interned_data, table):
                assert (table, entry.iid) not in seen
                seen.add((table, entry.iid))
        event = packet.track_event
        if not packet.HasField("track_event"):
            continue
        same(event.name_iid == 0 or ("event_names", event.name_iid) in seen, True)
        depth[event.track_uuid] += (event.type == SLICE_BEGIN) - (event.type == SLICE_END)
        assert depth[event.track_uuid] >= 0, "a slice ends that did not begin"
        assert packet.timestamp >= last.get(event.track_uuid, 0), "time falls on a track"
        last[event.track_uuid] = packet.timestamp
    same([track for track, open_slices in depth.items() if open_slices], [], "left open:")
    assert size <= len(data)


for name in traces:
    with check(f"perfetto: {name} by Perfetto's classes"):
        check_protobuf(name)
with refused("perfetto: rubbish by Perfetto's classes"):
    packets(export("before", "perfetto")[:-3])
with refused("perfetto: a fields' number that is none"):
    packet = packets(export("names", "perfetto").replace(b"\x08\x96", b"\xf8\xff"))
    for each in packet:
        before = each.ByteSize()
        same(no_unknown_fields(each), before)
    packet = perfetto_trace_pb2.TracePacket.FromString(b"\xf8\x3f\x01")
    before = packet.ByteSize()
    same(no_unknown_fields(packet), before)


# ---- Chrome's JSON: no reader but Perfetto's (perfetto_ui.py), so the format's own rules


def check_chrome(data):
    document = json.loads(data)
    open_slices, ends = collections.Counter(), collections.defaultdict(list)
    for event in document["traceEvents"]:
        lane = event["pid"], event["tid"]
        open_slices[lane] += (event["ph"] == "B") - (event["ph"] == "E")
        assert open_slices[lane] >= 0
        if event["ph"] in "sf":
            assert open_slices[lane] > 0, "a flow outside of slices"
            ends[event["id"]].append(event["ph"])
    same([lane for lane in open_slices if open_slices[lane]], [])
    same({tuple(sorted(pair)) for pair in ends.values()} - {("f", "s")}, set(), "flows:")


for name in traces:
    with check(f"chrome: {name}"):
        check_chrome(export(name, "chrome"))
with refused("chrome: rubbish"):
    check_chrome(export("before", "chrome").replace(b'"ph":"B"', b'"ph":"E"', 1))


# ---- speedscope


def speedscope_schema():
    return json.loads((cache / "node/node_modules/speedscope/dist/release/file-format-schema.json").read_text())


def check_speedscope(data, name):
    document = json.loads(data)
    jsonschema.validate(document, speedscope_schema())
    frames, active = document["shared"]["frames"], 0
    for profile in document["profiles"]:
        stack, at = [], profile["startValue"]
        for event in profile["events"]:
            assert at <= event["at"] <= profile["endValue"] and event["frame"] < len(frames)
            at = event["at"]
            if event["type"] == "O":
                stack.append((event["frame"], at))
            else:
                frame, since = stack.pop()
                same(frame, event["frame"])
        same(stack, [])
    same(document["profiles"][0]["endValue"] - document["profiles"][0]["startValue"], metrics(name)["wall_ns"])


def check_collapsed(name):
    """A thread's time in tasks is that of the metrics, by state."""
    total, by_state = 0, collections.Counter()
    for line in export(name, "collapsed").decode().rstrip("\n").split("\n"):
        stack, value = line.rsplit(" ", 1)
        frames = stack.split(";")
        assert len(frames) >= 3 and int(value) > 0, line
        if not (len(frames) == 3 and frames[-1] != "[active]"):  # else asleep outside of tasks
            by_state[frames[-1]] += int(value)
    near(by_state["[waiting]"], thread_ns(name, "waiting"), "waiting:")
    near(by_state["[active]"] + by_state["[blocked]"], thread_ns(name, "active"), "active:")
    near(by_state["[blocked]"], thread_ns(name, "blocked"), "blocked:")


if (cache / "node/node_modules/speedscope").exists():
    for name in traces:
        with check(f"speedscope: {name} by its schema"):
            check_speedscope(export(name, "speedscope"), name)
    with refused("speedscope: rubbish by its schema"):
        check_speedscope(export("names", "speedscope").replace(b'"evented"', b'"invented"'), "names")
else:
    print("skip speedscope's and SARIF's schemas: no npm modules")
for name in traces:
    with check(f"collapsed: {name} adds up to what metrics says"):
        check_collapsed(name)


# ---- SARIF

SARIF_SCHEMA = cache / "node/node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json"
VALIDATOR = cache / "node/node_modules/@microsoft/sarif-multitool-linux/bin.js"


def sarif_of(name, *options):
    suggestions = work / f"{name}.suggest.json"
    suggestions.write_bytes(run("suggest", traces[name], "--json", "-o", work / "plan.json"))
    return run("export", suggestions, "--to", "sarif", *options)


def validate_sarif(data):
    """Both by the schema and by the validator, whose exit status says nothing."""
    schemas = list((cache / "node/node_modules/@microsoft/jest-sarif").rglob("sarif-2.1.0*.json"))
    for schema in schemas:
        jsonschema.Draft7Validator(json.loads(schema.read_text())).validate(json.loads(data))
    file, report = work / "validated.sarif", work / "report.sarif"
    file.write_bytes(data)
    report.unlink(missing_ok=True)
    subprocess.run(["node", VALIDATOR, "validate", file, "--output", report], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False)
    results = json.loads(report.read_text())["runs"][0].get("results", [])
    same([result for result in results if result.get("level") == "error"], [], "the validator:")


def check_sarif(name):
    data = sarif_of(name, "--sources", "src/main/java")
    validate_sarif(data)
    run_of = json.loads(data)["runs"][0]
    suggested = json.loads((work / f"{name}.suggest.json").read_text())
    best = suggested["plans"][0]["improvements"]
    same(sorted(r["properties"]["improvement"] for r in run_of["results"] if r["level"] == "warning"), sorted(best))
    for result in run_of["results"]:
        improvement = suggested["improvements"][result["properties"]["improvement"] - 1]
        same(result["ruleId"], improvement["kind"])
        same(run_of["tool"]["driver"]["rules"][result["ruleIndex"]]["id"], improvement["kind"])
        if improvement["site"]:
            place = result["locations"][0]["physicalLocation"]
            same(place["region"]["startLine"], improvement["site"]["line"])
            same(place["artifactLocation"]["uri"], "src/main/java/" + improvement["site"]["file"])


if VALIDATOR.exists():
    for name in ("before", "kinds"):
        with check(f"sarif: {name} by schema and validator"):
            check_sarif(name)
    with refused("sarif: rubbish by schema and validator"):
        validate_sarif(sarif_of("before").replace(b'"startLine":\t', b'"startLine":\t-'))

# ---- GraphML, DOT, CSV


def read_graphml(data):
    return networkx.read_graphml(io.BytesIO(data))


def check_graphml(name):
    graph = read_graphml(export(name, "graphml"))
    assert networkx.is_directed_acyclic_graph(networkx.DiGraph(graph))
    kinds = collections.Counter(kind for _, kind in graph.nodes(data="kind"))
    started = sum(1 for task in tables(name)["tasks"] if task[6] is not None)
    same(kinds["start"], started, "starts:")


for name in traces:
    with check(f"graphml: {name} by networkx"):
        check_graphml(name)
with check("graphml: messages by networkx"):
    messages = read_graphml(export("names", "graphml", "--messages"))
    assert 'a.Tick --> "x"' in next(iter(messages.edges(data="message")))[2]
with refused("graphml: rubbish by networkx"):
    read_graphml(export("names", "graphml", "--messages").replace(b"--&gt;", b"--<"))


def read_dot(data):
    if shutil.which("dot"):
        subprocess.run(["dot", "-Tsvg"], input=data, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    (graph,) = pydot.graph_from_dot_data(data.decode())
    return graph


if not shutil.which("dot"):
    print("skip dot by Graphviz: it is not installed")
for name in ("actors", "names", "before"):
    with check(f"dot: {name} by Graphviz and pydot"):
        same(read_dot(export(name, "dot")).get_name(), "tasks" if name == "before" else "messages")
with refused("dot: rubbish by Graphviz and pydot"):
    read_dot(export("names", "dot").replace(b'\\"x', b'"x'))


def check_csv(name):
    rows = list(csv.DictReader(io.StringIO(export(name, "csv").decode(), newline="")))
    events = tables(name)["events"]
    same([(int(row["thread"]), int(row["time_ns"]), row["kind"]) for row in rows], [tuple(e[:3]) for e in events])
    same({row["thread_name"] for row in rows} - {t["name"] or "" for t in tables(name)["threads"]}, set())


for name in traces:
    with check(f"csv and json: {name} say the same"):
        check_csv(name)
with check("csv and json: a window's events"):
    whole = len(tables("before")["events"])
    parts = [len(json.loads(export("before", "json", "--window", window))["events"]) for window in ("..1", "1..")]
    same(sum(parts), whole)
    same(len(export("before", "csv", "--window", "..1").splitlines()) - 1, parts[0])
