# SPDX-License-Identifier: GPL-3.0-or-later
# The table of bench/tiny, from one object for each run or estimate: {"shape", "factor", "of": untraced, recorded or estimated,
# "wall_ns", "mean": occupied threads, "cpu_ns", "lost": events}. Factor 1 is the program as it was, 0 has its tasks inlined.

def allowed: 0.1; # of wall, beyond the noise

def median: sort | if length == 0 then null elif length % 2 == 1 then .[length / 2 | floor]
    else (.[length / 2 - 1] + .[length / 2]) / 2 end;
def noise: if length < 2 then 0 else (max - min) / 2 / median end; # half of the range over the median

def of($of; $figure): map(select(.of == $of) | .[$figure]);
def change($before; $figure): ($before | of("recorded"; $figure)) as $was | of("recorded"; $figure) as $is
    | {before: ($was | median), after: ($is | median), noise: ([$was, $is | noise] | max),
       off: ((of("estimated"; $figure) | median) / ($is | median) - 1)};
def row($before): {shape: .[0].shape, factor: .[0].factor,
    untraced: {before: ($before | of("untraced"; "wall_ns") | median), after: (of("untraced"; "wall_ns") | median)},
    wall: change($before; "wall_ns"), mean: change($before; "mean"), cpu: change($before; "cpu_ns")};
def rows: group_by(.shape) | map((map(select(.factor == 1))) as $before
    | map(select(.factor != 1)) | group_by(.factor) | sort_by((.[0].factor + 999999) % 1000000) | map(row($before))) | add;

def percent: . * 1000 | round / 10 | tostring | if test("[.]") then . else . + ".0" end;
def signed: if . >= 0 then "+" + percent else percent end;
def hundredths: . * 100 | round / 100 | tostring;
def seconds: . / 1e9 | hundredths;
def name: if .factor == 0 then "inline" else "merge by \(.factor)" end;
def line: "| " + join(" | ") + " |";
def is_met: (.wall.off | fabs) <= allowed + .wall.noise;

def cells(shown): (.before | shown), (.after | shown), (.noise | percent), (.off | signed);
def table: ["shape", "change", "untraced, s", "after", "wall, s", "after", "noise, %", "off, %", "threads, mean", "after",
            "noise, %", "off, %", "computed, s", "after", "noise, %", "off, %"] as $head
    | ($head | line), ($head | map("---") | line),
      (.[] | [.shape, name, (.untraced.before, .untraced.after | seconds), (.wall | cells(seconds)), (.mean | cells(hundredths)),
              (.cpu | cells(seconds))] | line);
def verdict($met): if $met then "met" else "NOT MET" end;

(of("recorded"; "lost") | add) as $lost | rows as $rows
| ($rows | table), "",
  "Events lost: \($lost) in \(of("recorded"; "lost") | length) recordings; 0 is asked for: \(verdict($lost == 0)).",
  ($rows | map(.wall.off | fabs) | "Wall of an estimate off by \(median | percent) % (median), \(max | percent) % at most; ")
  + "within \(allowed * 100) % beyond the noise: \($rows | map(select(is_met)) | length) of \($rows | length): \(verdict($rows | all(is_met)))."
