# SPDX-License-Identifier: GPL-3.0-or-later
# The table of bench/accuracy, from its comparisons (slurped) and $figures.
def median: sort | if length == 0 then null elif length % 2 == 1 then .[length / 2 | floor]
    else (.[length / 2 - 1] + .[length / 2]) / 2 end;
def percent: if . == null then "–" else (. * 10000 | round / 100 | tostring) as $text
    | ($text | split(".")) as $parts | $parts[0] + "." + (($parts[1] // "") + "00")[:2] end;
def keys_shown: ["wall", "occupied_peak", "occupied_mean", "waiting_peak", "waiting_mean", "composite_error",
    "profile_distance"];
def models: ["dag", "pool", "cpu"];
# Whether an estimate goes the way that the program went, in figures that changed by more than 2 %.
def directions($pair; $of): ($figures | map(select(.pair == $pair))) as $all
    | ($all | map({key: .of, value: .}) | from_entries) as $by
    | [("wall", "peak", "mean") as $key
       | ($by.after[$key] / $by.before[$key] - 1) as $effect
       | select(($effect | fabs) > 0.02)
       | ($by[$of][$key] / $by.before[$key] - 1) * $effect > 0];

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
         else directions($row.pair; $model) as $right
         | "| \($row.pair) | \($model) | " + ([keys_shown[] as $key | $m[$key] | percent] | join(" | "))
           + " | \(if $right | length == 0 then "no effect above 2 %" elif $right | all then "right" else "WRONG" end) |" end),
      ("| | noise | " + ([keys_shown[] as $key | $row.noise[$key] | percent] | join(" | ")) + " | |")),
   "",
   "All figures in %: the error of the estimate against the changed program, medians of 15 comparisons; noise: one run of the",
   "changed program against another, medians of 20. –: undefined, since the changed program has none. No estimate: the model dag",
   "refuses what needs dispatch (split, resize-pool).",
   "",
   ("| model | pairs | median composite error | beyond noise | worst pair | direction wrong | bar |", "|---|---:|---:|---:|---:|---:|---|"),
   (models[] as $model
    | ($table | map(select(.models[$model]))) as $rows
    | ($rows | map(.models[$model].composite_error) | median) as $median
    | ($rows | map([.models[$model].composite_error - .noise.composite_error, 0] | max) | median) as $beyond
    | ($rows | max_by(.models[$model].composite_error)) as $worst
    | ($rows | map(select(directions(.pair; $model) | all | not)) | length) as $wrong
    | "| \($model) | \($rows | length) | \($median | percent) | \($beyond | percent) | "
      + "\($worst.models[$model].composite_error | percent) (\($worst.pair)) | \($wrong) | "
      + (if $model != "cpu" then "" elif $beyond <= 0.005 and $worst.models[$model].composite_error <= 0.05 and $wrong == 0
         then "met" else "NOT MET" end) + " |"))
