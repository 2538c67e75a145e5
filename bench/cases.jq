# SPDX-License-Identifier: GPL-3.0-or-later
# The tables of bench/cases.
include "figures";

def median: sort | if length == 0 then null elif length % 2 == 1 then .[length / 2 | floor]
    else (.[length / 2 - 1] + .[length / 2]) / 2 end;

# How many values from either end a median's 95 % interval begins, by the binomial distribution; 0 where there are too few.
def rank: length as $n | reduce range(0; $n) as $k ({rank: 0, below: 0, choose: 1};
    .below += .choose / pow(2; $n) | (if 2 * .below <= 0.05 then .rank = $k + 1 else . end) | .choose *= ($n - $k) / ($k + 1)) | .rank;

# Half of the median's 95 % interval; half of the range where there are too few values for one.
def half_width: sort | rank as $rank | ([$rank - 1, 0] | max) as $low | (.[length - 1 - $low] - .[$low]) / 2;

def row: "| " + (map(tostring) | join(" | ")) + " |";
def rounded: if . == null then "–" elif fabs >= 100 then round elif fabs >= 10 then . * 10 | round / 10 else . * 100 | round / 100 end;
def percent: if . == null then "–" else . * 1000 | round / 10 end;

# Of one line: its figures by what they are of, null where one run has none.
def values($of): map(select(.of == $of).value) | if any(. == null) then [] else . end;
def known: if length == 0 then null else {value: median, half: half_width} end;
def lines: map(select(.figure)) | group_by([.recording, .plan, .figure])
    | map({recording: .[0].recording, plan: .[0].plan, figure: .[0].figure, before: (values("before") | known),
           estimated: (values("estimated") | known), measured: (values("measured") | known)});

# Off by no more than 5 % and what the two medians may be off by themselves.
def is_right: .figure as $figure | (.estimated.value - .measured.value | fabs)
    <= 0.05 * .measured.value + .estimated.half + .measured.half + slack($figure);
def verdict($refusals): .plan as $plan | $refusals[$plan] as $refusal
    | if $refusal then (if $refusal | test("unknown kind|no kind|kind .*not") and ($plan | test("overlap|own-pool"))
                        then "later" else "refused" end)
      elif .estimated == null or .measured == null then "WRONG: no such figure"
      elif is_right then "right" else "WRONG" end;

def estimates_table: (map(select(.refused) | {key: .plan, value: .refused}) | from_entries) as $refusals | lines as $lines
    | ($lines | map(. + {verdict: verdict($refusals)})) as $judged
    | "| recording | plan | figure | before | estimated | measured | error, % | noise, % | verdict |",
      "|---|---|---|---:|---:|---:|---:|---:|---|",
      ($judged[] | [.recording, .plan, "\(.figure) \(unit(.figure))", (.before.value | rounded), (.estimated.value | rounded),
           (.measured.value | rounded),
           (if .estimated and .measured and .measured.value != 0 then .estimated.value / .measured.value - 1 else null end | percent),
           (if .estimated and .measured and .measured.value != 0 then (.estimated.half + .measured.half) / .measured.value
            else null end | percent), .verdict] | row),
      "",
      "\($judged | map(select(.verdict == "right")) | length) of \($judged | length) right.",
      ($refusals | to_entries[] | "Refused: \(.key): \(.value)");

def words_table: "| recording | command | is to say | |", "|---|---|---|---|",
    (.[] | [.recording, "`\(.command)`", "\(if .what == "never" then "never " else "" end)`\(.expression | gsub("\\|"; "\\|"))`",
        if .held then "right" elif .what == "must" then "NOT SAID" else "SAID" end] | row),
    "", "\(map(select(.held)) | length) of \(length) right.";

def measured_rows: lines[] | select(.measured)
    | "\(.recording) | \(.plan) | \(.figure) | \(.measured.value | rounded) | \(.measured.half | rounded)";
