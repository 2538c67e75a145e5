# SPDX-License-Identifier: GPL-3.0-or-later
# The table of bench/accuracy, from its comparisons (slurped) and $figures.
def median: sort | if length == 0 then null elif length % 2 == 1 then .[length / 2 | floor]
    else (.[length / 2 - 1] + .[length / 2]) / 2 end;
def percent: if . == null then "–" else (. * 10000 | round / 100 | tostring) as $text
    | ($text | split(".")) as $parts | $parts[0] + "." + (($parts[1] // "") + "00")[:2] end;
def keys_shown: ["wall", "occupied_peak", "occupied_mean", "waiting_peak", "waiting_mean", "composite_error",
    "profile_distance"];
def models: ["dag", "pool", "cpu"];
# By how much the change moved a figure, of the medians of its runs.
def effects($pair): ($figures | map(select(.pair == $pair) | {key: .of, value: .}) | from_entries) as $by
    | {wall: "wall", occupied_peak: "peak", occupied_mean: "mean"} | map_values($by.after[.] / $by.before[.] - 1);
# Whether an estimate goes the way that the program went, in figures that changed by more than 2 % and by more than one
# run of the changed program differs from another.
def directions($pair; $of; $noise): {wall: "wall", occupied_peak: "peak", occupied_mean: "mean"} as $names
    | ($figures | map(select(.pair == $pair) | {key: .of, value: .}) | from_entries) as $by
    | [effects($pair) | to_entries[] | select((.value | fabs) > 0.02 and (.value | fabs) > $noise[.key])
       | ($by[$of][$names[.key]] / $by.before[$names[.key]] - 1) * .value > 0];
# Those that changed by more than 2 %, but by no more than the noise.
def unclear($pair; $noise): [effects($pair) | to_entries[]
    | select((.value | fabs) > 0.02 and (.value | fabs) <= $noise[.key]) | .key | gsub("_"; " ")];

. as $rows
| (map(.pair) | unique) as $pairs
| def medians($pair; $of): $rows | map(select(.pair == $pair and .of == $of)) as $mine
    | if $mine | length == 0 then null
      else [keys_shown[] as $key | {key: $key, value: ($mine | map(.[$key]) | map(select(. != null)) | median)}] | from_entries end;
  [$pairs[] as $pair | {pair: $pair, noise: medians($pair; "noise"),
     models: (models | map({key: ., value: medians($pair; .)}) | from_entries)}] as $table
| ("| pair | of | wall | occupied peak | mean | waiting peak | mean | composite | profile distance | direction |",
   "|---|---|---:|---:|---:|---:|---:|---:|---:|---|",
   ($table[] as $row
    | (models[] as $model | $row.models[$model] as $m
       | if $m == null then "| \($row.pair) | \($model) | no estimate | | | | | | | |"
         else directions($row.pair; $model; $row.noise) as $right
         | "| \($row.pair) | \($model) | " + ([keys_shown[] as $key | $m[$key] | percent] | join(" | "))
           + " | \(if $right | length == 0 then "no effect above 2 % and noise" elif $right | all then "right" else "WRONG" end) |" end),
      ("| | noise | " + ([keys_shown[] as $key | $row.noise[$key] | percent] | join(" | ")) + " | |"),
      (effects($row.pair) as $effects | unclear($row.pair; $row.noise) as $unclear
       | "| | effect | " + ([keys_shown[] as $key | if $effects[$key] == null then "" else $effects[$key] | percent end] | join(" | "))
         + " | \(if $unclear == [] then "" else "within noise: " + ($unclear | join(", ")) end) |")),
   "",
   "All figures in %: the error of the estimate against the changed program, medians of 15 comparisons; noise: one run of the",
   "changed program against another, medians of 20; effect: medians of the runs after the change against those before.",
   "–: undefined, since the changed program has none. No estimate: the model dag refuses what needs dispatch (split,",
   "resize-pool).",
   "",
   ("| model | pairs | median composite error | beyond noise | worst pair | direction wrong | bar |", "|---|---:|---:|---:|---:|---:|---|"),
   (models[] as $model
    | ($table | map(select(.models[$model]))) as $rows
    | ($rows | map(.models[$model].composite_error) | median) as $median
    | ($rows | map([.models[$model].composite_error - .noise.composite_error, 0] | max) | median) as $beyond
    | ($rows | max_by(.models[$model].composite_error)) as $worst
    | ($rows | map(select(directions(.pair; $model; .noise) | all | not)) | length) as $wrong
    | "| \($model) | \($rows | length) | \($median | percent) | \($beyond | percent) | "
      + "\($worst.models[$model].composite_error | percent) (\($worst.pair)) | \($wrong) | "
      + (if $model != "cpu" then "" elif $beyond <= 0.005 and $worst.models[$model].composite_error <= 0.05 and $wrong == 0
         then "met" else "NOT MET" end) + " |"))
