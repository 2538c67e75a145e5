// SPDX-License-Identifier: GPL-3.0-or-later
// A board of lanes on a canvas: the estimator says what each pixel of a lane was (report/page/lanes.h). Arrows are those
// of the selected span only.
import * as core from './core';
import { critical, has, INWARD, lanes, range, span, startOf, STATE_COLOURS, countOf, type Board } from './lanes_state';
import { estimated, run } from './state';

const LANE_PX = 22;
const BODY_PX = 18;
const AXIS_PX = 22;

const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim() || '#888';

// Names have less room where the canvas is narrow.
export const namesWidth = (width: number) => (width < 700 ? 110 : 190);

interface Drawing {
    g: CanvasRenderingContext2D;
    board: Board;
    width: number;
    left: number; // of the first pixel that has a time
    x: (ns: number) => number;
    row: (lane: number) => number; // a lane's by its number among all; where it is not seen, beyond the edges
}

const top = (row: number) => AXIS_PX + row * LANE_PX;
const seen = (on: Drawing, lane: number) => has(on.board, lane) && on.row(lane) >= 0 && on.row(lane) < on.board.most;

function drawAxis(on: Drawing) {
    const [from, to] = range();
    on.g.fillStyle = colour('--text');
    const step = niceStep((to - from) / Math.max(2, on.width / 140));
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
        on.g.fillRect(on.x(t), AXIS_PX - 5, 1, 5);
        if (on.x(t) < on.width - 50) on.g.fillText(instant(t, to, step), on.x(t) + 3, AXIS_PX - 7);
    }
}

// In the unit that the last one has, to as many places as tell it from the next.
function instant(time: number, last: number, step: number): string {
    const [unit, size] = ([['s', 1e9], ['ms', 1e6], ['us', 1e3]] as const).find(([, ns]) => last >= ns) ?? ['ns', 1];
    return `${(time / size).toFixed(Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9)))} ${unit}`;
}

function niceStep(least: number): number {
    const ten = 10 ** Math.floor(Math.log10(Math.max(1, least)));
    return [1, 2, 5, 10].map((f) => f * ten).find((s) => s >= least)!;
}

function drawLanes(on: Drawing, made: core.Lanes) {
    const colours = STATE_COLOURS.map(colour);
    for (let i = 0; i < made.count; i++) {
        const at = i * core.LANE_FIELDS;
        const [lane, from, to, state, vertex, depth] = made.records.subarray(at, at + core.LANE_FIELDS) as unknown as number[];
        if (!seen(on, lane!)) continue;
        const inset = Math.min(depth!, 4) * 3;
        const left = Math.max(on.left, on.x(from!));
        on.g.fillStyle = colours[state!]!;
        on.g.globalAlpha = vertex! < 0 ? 0.6 : 1;
        on.g.fillRect(left, top(on.row(lane!)) + inset, Math.max(0.6, on.x(to!) - left), BODY_PX - inset);
    }
    on.g.globalAlpha = 1;
}

function drawCritical(on: Drawing, made: core.Lanes) {
    on.g.fillStyle = colour('--critical');
    for (let i = 0; i < made.count; i++) {
        const [lane, from, to] = made.records.subarray(i * core.LANE_FIELDS) as unknown as number[];
        const left = Math.max(on.left, on.x(from!));
        if (seen(on, lane!)) on.g.fillRect(left, top(on.row(lane!)) + BODY_PX - 3, Math.max(1, on.x(to!) - left), 4);
    }
}

function drawArrow(on: Drawing, from: [number, number], to: [number, number], head: number) {
    on.g.beginPath();
    on.g.moveTo(...from);
    on.g.lineTo(...to);
    on.g.stroke();
    on.g.beginPath();
    on.g.arc(...to, head, 0, 7);
    on.g.fill();
}

// The tasks of a plan that could not end, each with an arrow to what it waits for.
function drawStuck(on: Drawing, chain: core.Lanes) {
    on.g.strokeStyle = on.g.fillStyle = colour('--blocked');
    on.g.lineWidth = 2;
    const spots: [number, number][] = [];
    for (let i = 0; i < chain.count; i++) {
        const [lane, from, to] = chain.records.subarray(i * core.LANE_FIELDS) as unknown as number[];
        const row = top(on.row(lane!));
        on.g.strokeRect(on.x(from!), row - 2, Math.max(4, on.x(to!) - on.x(from!)), BODY_PX + 4);
        spots.push([Math.max(on.left, (on.x(from!) + on.x(to!)) / 2), row + BODY_PX / 2]);
    }
    spots.forEach((spot, i) => {
        const next = spots[(i + 1) % spots.length]!;
        if (spots.length < 2 || (i + 1 === spots.length && estimated.peek()?.stuck?.starves)) return; // starving is no cycle
        drawArrow(on, spot, next, 4);
    });
}

// Cut in the middle, where both ends tell names apart.
function fitting(g: CanvasRenderingContext2D, name: string, width: number): string {
    if (g.measureText(name).width <= width) return name;
    let kept = name.length - 1;
    const cut = () => `${name.slice(0, Math.ceil(kept * 0.4))}…${name.slice(name.length - Math.floor(kept * 0.6))}`;
    while (kept > 4 && g.measureText(cut()).width > width) kept--;
    return cut();
}

function drawNames(on: Drawing) {
    const { g, board } = on;
    const begin = startOf(board) + board.first.value;
    const end = Math.min(begin + board.most, startOf(board) + countOf(board));
    g.clearRect(0, 0, on.left, top(board.most));
    g.fillStyle = colour('--text');
    (lanes.value?.names ?? []).slice(begin, end).forEach((name, row) => {
        g.fillText(fitting(g, name, on.left - 8), 2, top(row) + 13);
    });
}

function drawPlace(on: Drawing, place: core.Place) {
    if (!seen(on, place.lane)) return;
    on.g.strokeRect(on.x(place.from_ns), top(on.row(place.lane)) - 1, Math.max(2, on.x(place.to_ns) - on.x(place.from_ns)), BODY_PX + 2);
}

function drawSelected(on: Drawing, of: core.Span) {
    const middle = (lane: number) => top(on.row(lane)) + BODY_PX / 2;
    on.g.strokeStyle = on.g.fillStyle = colour('--selected');
    on.g.lineWidth = 2;
    drawPlace(on, of);
    if (of.also) drawPlace(on, of.also);
    on.g.lineWidth = 1.2;
    for (const arrow of of.arrows) {
        if (!has(on.board, arrow.lane) || !has(on.board, arrow.here_lane)) continue;
        const there: [number, number] = [on.x(arrow.time_ns), middle(arrow.lane)];
        const here: [number, number] = [on.x(arrow.here_ns), middle(arrow.here_lane)];
        const [from, to] = INWARD.has(arrow.what) ? [there, here] : [here, there];
        drawArrow(on, from, to, 3);
    }
}

export function draw(canvas: HTMLCanvasElement, board: Board) {
    const width = canvas.clientWidth;
    const height = top(Math.min(board.most, Math.max(1, countOf(board) - board.first.value)));
    const dots = devicePixelRatio || 1;
    canvas.width = width * dots;
    canvas.height = height * dots;
    canvas.style.height = `${height}px`;
    const g = canvas.getContext('2d')!;
    g.scale(dots, dots);
    g.font = '12px system-ui, sans-serif';
    const [from, to] = range();
    const left = namesWidth(width);
    const on: Drawing = {
        g, board, width, left,
        x: (ns) => left + ((ns - from) / (to - from)) * (width - left),
        row: (lane) => lane - startOf(board) - board.first.value,
    };
    if (board.drawn.value) drawLanes(on, board.drawn.value);
    if (critical.value) drawCritical(on, critical.value);
    if (span.value) drawSelected(on, span.value);
    const chain = run.value === core.RECORDED ? estimated.value?.stuck : null;
    if (chain && board.id === 'threads') drawStuck(on, chain);
    drawNames(on);
    drawAxis(on);
}

// The lane, by its number among all, and the time at a place of the canvas; null where there is none.
export function placeAt(canvas: HTMLCanvasElement, board: Board, event: MouseEvent): [number, number] | null {
    const box = canvas.getBoundingClientRect();
    const own = board.first.value + Math.floor((event.clientY - box.top - AXIS_PX) / LANE_PX);
    const [from, to] = range();
    const left = namesWidth(box.width);
    const time = from + ((event.clientX - box.left - left) / (box.width - left)) * (to - from);
    return own < 0 || own >= countOf(board) || time < from ? null : [startOf(board) + own, time];
}
