# SPDX-License-Identifier: GPL-3.0-or-later
# The table of bench/ablation, from its estimates (slurped): a row for all corrections (without none) and each left out.
def median: sort | if length % 2 == 1 then .[length / 2 | floor] else (.[length / 2 - 1] + .[length / 2]) / 2 end;
def percent: if . == null then "–" else . * 10000 | round / 100 | tostring end;
def row: "| " + join(" | ") + " |";

# How far an estimate is off from the medians of the changed program's runs, as composite errors are reckoned.
def error: .estimated as $estimated | (.measured | map(.wall_ns) | median) as $wall
    | (.measured | map(.threads.occupied.peak) | median) as $peak | (.measured | map(.thread_time_ns) | median) as $time
    | pow($estimated.wall_ns / $wall * $estimated.threads.occupied.peak / $peak * $estimated.thread_time_ns / $time; 1 / 3) - 1 | fabs;

# Means and the worst with its name, of one figure a name: the median of its runs.
def by_name(figure): group_by(.name) | map({name: .[0].name, value: (map(figure) | median)});
def mean_and_worst: if length == 0 then ["–", "–"]
    else [(map(.value) | add / length | percent), (max_by(.value) | "\(.value | percent) (\(.name))")] end;
def cells($rows; $of): $rows | map(select(.of == $of)) | by_name(.replay) | mean_and_worst;
def errors($rows; $of): $rows | map(select(.of == $of and (.measured | length > 0))) | by_name(error) | mean_and_worst;
def changes($rows): $rows | map(select(.of == "changes")) | by_name(.error) | mean_and_worst;

. as $all
| (["without", (("pairs", "cases", "programs") | "replay of \(.), mean", "worst"),
    (("pairs", "cases", "programs") | "estimates of \(.), mean", "worst")] | row),
  "|---|---:|---|---:|---|---:|---|---:|---|---:|---|---:|---|",
  ((["none"] + ($all | map(.without) | unique - ["none"]))[] as $without
   | ($all | map(select(.without == $without))) as $rows
   | [$without] + cells($rows; "pairs") + cells($rows; "cases") + cells($rows; "programs") + errors($rows; "pairs")
     + errors($rows; "cases") + changes($rows) | row),
  "",
  "All figures in %. Replay: how far the model is off when nothing is changed. Estimates: composite error against the",
  "programs as really changed, of real programs the error of wall. Of each program the median of its recordings."
