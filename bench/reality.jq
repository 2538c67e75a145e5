# SPDX-License-Identifier: GPL-3.0-or-later
# The table of bench/reality, from one object for each value: {"case", "to", "run", "wall_ns", "thread_time_ns"} of what was
# measured, with "from" and "way" of what was estimated. $knobs: [{"case", "knob"}] in the order of rows. $form: json or text.
# $ways: the ways of estimating, a line each; the text has columns for four.
# Where a measured median is not known within 3 % the row does not count: nothing that near can be told from luck.

def counted_noise: 0.03;
def large: 0.1; # a change of wall time that a user would see
def ways: $ways | split("\n");
def figures: ["wall", "thread_time"];

def median: sort | if length == 0 then null elif length % 2 == 1 then .[length / 2 | floor]
    else (.[length / 2 - 1] + .[length / 2]) / 2 end;

# How many values from either end a median's 95 % interval begins, by the binomial distribution; 0 where there are too few.
def rank: length as $n | reduce range(0; $n) as $k ({rank: 0, below: 0, choose: 1};
    .below += .choose / pow(2; $n) | (if 2 * .below <= 0.05 then .rank = $k + 1 else . end) | .choose *= ($n - $k) / ($k + 1)) | .rank;

# Half of the median's 95 % interval over the median; half of the range where there are too few values for one; of one value null.
def noise: if length < 2 then null else sort | rank as $rank | ([$rank - 1, 0] | max) as $low | (.[length - 1 - $low] - .[$low]) / 2 / median end;

def known($figure): map(.[$figure + "_ns"] / 1e9) | {median: median, noise: noise};
def off($figure; $real): map(.[$figure + "_ns"] | select(.)) | median as $estimated
    | if $estimated then $estimated / 1e9 / $real - 1 else null end;

# One change by one figure: medians in seconds, and by how much the median estimate of each way is off.
def change($before; $after; $estimated; $figure): ($before | known($figure)) as $was | ($after | known($figure)) as $is
    | {before: $was.median, after: $is.median, noise: (if $was.noise and $is.noise then [$was.noise, $is.noise] | max else null end),
       off: (ways | map(. as $way | {key: $way, value: ($estimated | map(select(.way == $way)) | off($figure; $is.median))})
             | from_entries)};

def rows: . as $values | $knobs[] | . as $knob | $values | map(select(.case == $knob.case)) as $of
    | ($of | map(select(.from == null)) | group_by(.to) | map({key: .[0].to, value: .}) | from_entries) as $measured
    | ($measured | keys | sort_by(tonumber)) as $settings | $settings[] as $from | $settings[] as $to | select($from != $to)
    | ($of | map(select(.from == $from and .to == $to))) as $estimated
    | {case: $knob.case, knob: $knob.knob, from: $from, to: $to}
        + (figures | map(. as $figure | {key: $figure, value: change($measured[$from]; $measured[$to]; $estimated; $figure)})
           | from_entries)
        + {refused: ($estimated | map(select(.way == "cpu").refused | select(.)) | first)}
    | .counts = ([.wall.noise, .thread_time.noise] | all(. != null and . < counted_noise));

def percent: if . == null then "–" else . * 1000 | round / 10 | tostring | if test("[.]") then . else . + ".0" end end;
def signed: if . == null then "–" elif . >= 0 then "+" + percent else percent end;
def seconds: . * 100 | round / 100 | tostring;
def line: "| " + join(" | ") + " |";

def cells($figure): .[$figure] | [(.before | seconds), (.after | seconds), (.noise | percent), (ways[] as $way | .off[$way] | signed)];
def table: ["case", "knob", "from", "to", "wall, s", "after", "noise, %", "off, %", "pool", "dag", "no pace",
            "thread-time, s", "after", "noise, %", "off, %", "pool", "dag", "no pace", ""] as $head
    | ($head | line), ($head | map("---") | line),
      (.[] | [.case, .knob, .from, .to] + cells("wall") + cells("thread_time") + [if .counts then "" else "noisy" end] | line);

def worst: map(fabs) | "\(median | percent) and \(max | percent)";
def errors($figure; $way): map(.[$figure].off[$way] | select(.));
def beyond_noise($figure; $way): map(.[$figure] | select(.off[$way]) | [(.off[$way] | fabs) - .noise, 0] | max);
def worth: . as $rows | map(select(.counts)) as $counting
    | (["off, %: median and worst", "all", "that count", "... beyond noise", "estimates"] | (line), (map("---") | line)),
      (figures[] as $figure | ways[] as $way | ($rows | errors($figure; $way)) | select(length > 0) as $all
       | [($figure | sub("_"; "-")) + ", " + $way, ($all | worst),
          ($counting | errors($figure; $way), beyond_noise($figure; $way) | if length > 0 then worst else "–" end), "\($all | length) of \($rows | length)"] | line);

# Where the effect is more than its noise and 3 %, an estimate that did not move the same way is wrong, however near it is.
def directions: map(select(.wall.off.cpu) | .wall | {effect: (.after / .before - 1), noise, estimated: (.after * (1 + .off.cpu) / .before - 1)})
    | map(select((.effect | fabs) > counted_noise and .noise and (.effect | fabs) > .noise))
    | "\(map(select(.effect * .estimated > 0)) | length) of \(length)";
def closing: map(select(.counts)) as $counting
    | "Of \(length) changes \($counting | length) count: both walls and thread-times are known within \(counted_noise | percent) %."
      + " \($counting | map(select(.wall | .after / .before - 1 | fabs > large)) | length) of those change the wall time by more than \(large | percent) %."
      + " The direction is right in \($counting | directions) whose wall time changes beyond noise and \(counted_noise | percent) %"
      + " (of all changes in \(directions)).";

[rows] | if $form == "json" then tojson
    else table, "", worth, "", closing, (.[] | select(.refused) | "No estimate: \(.case), \(.from) to \(.to): \(.refused)") end
