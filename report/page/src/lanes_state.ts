// SPDX-License-Identifier: GPL-3.0-or-later
// What the timeline shows: the lanes of threads, rows of resources and actors, each a board of its own over the same
// time; and moving about in them.
import { effect, signal } from '@preact/signals';
import * as core from './core';
import { report } from './data';
import { estimated, estimates, opened, run, selected, view } from './state';

export interface Board {
    id: 'threads' | 'resources' | 'actors';
    number: number; // of its lanes among core.LaneNames.counts
    title: string;
    most: number; // lanes at once; the rest is a scroll away
    states: [number, string][]; // that it has: enum lane_state (lanes.h), and what they are called here
    first: { value: number }; // lane on top, of its own
    drawn: { value: core.Lanes | null };
}

const board = (id: Board['id'], number: number, title: string, most: number, states: [number, string][]): Board => ({
    id, number, title, most, states, first: signal(0), drawn: signal<core.Lanes | null>(null),
});

export const boards: Board[] = [
    board('threads', 0, 'Threads', 40, [[0, 'running'], [1, 'waiting'], [2, 'blocked'], [3, 'handing over'], [4, 'idle']]),
    board('resources', 1, 'Resources', 24, [[0, 'held'], [2, 'waited for']]),
    board('actors', 2, 'Actors', 24, [[0, 'handling a message'], [1, 'with messages waiting']]),
];
export const STATE_COLOURS = ['--active', '--waiting', '--blocked', '--spawning', '--idle'];

// Arrows that lead here; all others lead on.
export const INWARD = new Set(['spawned by', 'handed over in', 'result of', 'unblocked by', 'freed by', 'waited for in', 'sent by']);

export const overview = report.overview; // of a trace that the page does not have
export const lanes = signal<core.LaneNames | null>(
    overview ? { names: overview.names, counts: [overview.names.length, 0, 0], length: overview.length_ns } : null,
);
if (overview)
    boards[0]!.drawn.value = { records: Float64Array.from(overview.records), count: overview.records.length / core.LANE_FIELDS };
export const critical = signal<core.Lanes | null>(null);
export const span = signal<core.Span | null>(null);
export const used = signal<Board>(boards[0]!); // where something was chosen last: there it is told what it is
const trail: number[] = []; // spans that [ left, for ] to come back to

export const range = (): [number, number] => view.value ?? [0, lanes.value?.length ?? 1];
export const countOf = (of: Board) => lanes.value?.counts[of.number] ?? 0;

// The number of its first lane among all.
export const startOf = (of: Board) => (lanes.value?.counts ?? []).slice(0, of.number).reduce((sum, count) => sum + count, 0);
export const has = (of: Board, lane: number) => lane >= startOf(of) && lane < startOf(of) + countOf(of);

effect(() => {
    estimates.value;
    const of = run.value;
    if (!opened.value || (of === core.ESTIMATED && estimated.value?.outcome !== 'done')) return;
    void core.names(of).then((found) => (lanes.value = found));
});

effect(() => {
    estimates.value;
    if (!opened.value || selected.value < 0) {
        span.value = null;
        return;
    }
    const asked = selected.value;
    const show = (found: core.Span | null) => {
        if (selected.peek() === asked) span.value = found; // else another one was selected meanwhile
    };
    void core.span(run.value, asked).then(show, () => show(null));
});

// ---- moving about

export function zoom(factor: number, around = 0.5) {
    const [from, to] = range();
    const whole = lanes.value?.length ?? 1;
    const middle = from + (to - from) * around;
    const length = Math.max(10, Math.min(whole, (to - from) * factor));
    const begin = Math.max(0, Math.min(whole - length, middle - length * around));
    view.value = length >= whole ? null : [begin, begin + length];
}

export function pan(share: number) {
    const [from, to] = range();
    const whole = lanes.value?.length ?? 1;
    const begin = Math.max(0, Math.min(whole - (to - from), from + (to - from) * share));
    if (to - from < whole) view.value = [begin, begin + (to - from)];
}

function scroll(of: Board, lanesDown: number) {
    of.first.value = Math.max(0, Math.min(Math.max(0, countOf(of) - 1), of.first.value + lanesDown));
}

function scrollTo(lane: number) {
    const of = boards.find((b) => has(b, lane));
    const own = of ? lane - startOf(of) : 0;
    if (of && (own < of.first.value || own >= of.first.value + of.most)) of.first.value = Math.max(0, own - 5);
}

// So that the span is seen, with as much around it.
export function show(of: core.Span) {
    const length = Math.max(20, of.to_ns - of.from_ns);
    const whole = lanes.value?.length ?? 1;
    view.value = [Math.max(0, of.from_ns - length), Math.min(whole, of.to_ns + length)];
    scrollTo(of.lane);
    if (of.also) scrollTo(of.also.lane);
}

export function select(vertex: number, on: Board) {
    trail.length = 0;
    used.value = on;
    selected.value = vertex;
}

// Along an arrow of the board, or else of any.
export function step(back: boolean, on: Board = used.value) {
    const of = span.value;
    if (!of) return;
    used.value = on;
    if (!back && trail.length) {
        selected.value = trail.pop()!;
        return;
    }
    const arrows = of.arrows.filter((a) => INWARD.has(a.what) === back);
    const arrow = arrows.find((a) => has(on, a.lane)) ?? arrows[0];
    if (!arrow) return;
    if (back) trail.push(of.vertex);
    selected.value = arrow.vertex;
}

export const keys: Record<string, (on: Board) => void> = {
    '+': () => zoom(0.5),
    '=': () => zoom(0.5),
    '-': () => zoom(2),
    ArrowLeft: () => pan(-0.2),
    ArrowRight: () => pan(0.2),
    ArrowUp: (on) => scroll(on, -1),
    ArrowDown: (on) => scroll(on, 1),
    Home: () => (view.value = null),
    Enter: () => span.value && show(span.value),
    Escape: () => (selected.value = -1),
    '[': (on) => step(true, on),
    ']': (on) => step(false, on),
};
