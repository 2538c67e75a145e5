// SPDX-License-Identifier: GPL-3.0-or-later
// Usage: node plot.mjs SPEC.json < DATA.csv > PLOT.svg
// Draws a Vega-Lite chart of the rows on standard input, which the chart knows as the data set "rows".
import { readFileSync } from "node:fs";
import * as vega from "vega";
import { compile } from "vega-lite";

const spec = JSON.parse(readFileSync(process.argv[2], "utf8"));
const rows = vega.read(readFileSync(0, "utf8"), { type: "csv", parse: "auto" });
const chart = compile({ ...spec, datasets: { rows }, data: { name: "rows" } }).spec;
process.stdout.write(await new vega.View(vega.parse(chart), { renderer: "none" }).toSVG());
