# SPDX-License-Identifier: GPL-3.0-or-later
# The table of bench/accuracy, from its comparisons (slurped) and $figures.
def median: sort | if length == 0 then null elif length % 2 == 1 then .[length / 2 | floor]
    else (.[length / 2 - 1] + .[length / 2]) / 2 end;
def percent: if . == null then "–" else (. * 10000 | round / 100 | tostring) as $text
    | ($text | split(".")) as $parts | $parts[0] + "." + (($parts[1] // "") + "00")[:2] end;
def row: "|" + (map(if . == "" then " " else " \(.) " end) | join("|")) + "|";
def keys_shown: ["wall", "occupied_peak", "occupied_mean", "waiting_peak", "waiting_mean", "composite_error",
    "profile_distance"];
def models: ["dag", "pool", "cpu"];
# By how much a figure is moved: in the changed program ($of "after") or in a model's estimate, of the medians of the runs.
def effects($pair; $of): ($figures | map(select(.pair == $pair) | {key: .of, value: .}) | from_entries) as $by
    | $by.before | del(.pair, .of) | with_entries(.value = $by[$of][.key] / .value - 1);
# Of figures that changed by more than 2 %, whether an estimate goes the way that the program went, and whether that is
# clear: farther than one run of the changed program is from another.
def directions($pair; $of; $noise): effects($pair; $of) as $estimated
    | [effects($pair; "after") | to_entries[] | select((.value | fabs) > 0.02)
       | {right: ($estimated[.key] * .value > 0), clear: ((.value | fabs) > $noise[.key])}];
def wrong: map(select(.right | not));
def direction: if length == 0 then "no effect above 2 %" elif wrong == [] then "right"
    elif wrong | any(.clear) then "WRONG" else "WRONG, within noise" end;

. as $rows
| (map(.pair) | unique) as $pairs
| def medians($pair; $of): $rows | map(select(.pair == $pair and .of == $of)) as $mine
    | if $mine | length == 0 then null
      else [keys_shown[] as $key | {key: $key, value: ($mine | map(.[$key]) | map(select(. != null)) | median)}] | from_entries end;
  def cells: [keys_shown[] as $key | if has($key) then .[$key] | percent else "" end];
  [$pairs[] as $pair | {pair: $pair, noise: medians($pair; "noise"),
     models: (models | map({key: ., value: medians($pair; .)}) | from_entries)}] as $table
| ("| pair | of | wall | occupied peak | mean | waiting peak | mean | composite | profile distance | direction |",
   "|---|---|---:|---:|---:|---:|---:|---:|---:|---|",
   ($table[] as $row
    | (models[] as $model | $row.models[$model]
       | if . == null then [$row.pair, $model, "no estimate", (keys_shown[] | "")]
         else [$row.pair, $model] + cells + [directions($row.pair; $model; $row.noise) | direction] end | row),
      (["", "noise"] + ($row.noise | cells) + [""] | row),
      (["", "effect"] + (effects($row.pair; "after") | cells) + [""] | row)),
   "",
   "All figures in %: the error of the estimate against the changed program, medians of 15 comparisons; noise: one run of the",
   "changed program against another, medians of 20; effect: medians of the runs after the change against those before.",
   "–: undefined, since the changed program has none. No estimate: the model dag refuses what needs dispatch (split,",
   "resize-pool, changes of actors).",
   "",
   ("| model | pairs | median composite error | beyond noise | worst pair | direction wrong | bar |", "|---|---:|---:|---:|---:|---:|---|"),
   (models[] as $model
    | ($table | map(select(.models[$model]))) as $rows
    | ($rows | map(.models[$model].composite_error) | median) as $median
    | ($rows | map([.models[$model].composite_error - .noise.composite_error, 0] | max) | median) as $beyond
    | ($rows | max_by(.models[$model].composite_error)) as $worst
    | ($rows | map(directions(.pair; $model; .noise) | wrong | select(. != []))) as $wrong
    | [$model, "\($rows | length)", ($median | percent), ($beyond | percent),
       "\($worst.models[$model].composite_error | percent) (\($worst.pair))",
       "\($wrong | length), beyond noise \($wrong | map(select(any(.clear))) | length)",
       if $model != "cpu" then "" elif $beyond <= 0.005 and $worst.models[$model].composite_error <= 0.05 and $wrong == []
       then "met" else "NOT MET" end]
    | row))
