// SPDX-License-Identifier: GPL-3.0-or-later
// The estimator in its worker: questions go out with a number, answers come back with it.
import { carried, report, type Figures } from './data';
import type { Answer, Question } from './worker';

export type Run = 0 | 1 | 2; // enum page_run: recorded, replayed, estimated
export const RECORDED: Run = 0;
export const REPLAYED: Run = 1;
export const ESTIMATED: Run = 2;

export interface Estimate {
    outcome: 'done' | 'stuck' | 'refused' | 'failed';
    message: string;
    stuck: (Lanes & { starves: boolean }) | null; // where the tasks of the chain ran as recorded, in its order
    figures: Figures;
    ms: number;
}

export interface Opened {
    recorded: Figures;
    replayed: Figures;
    replayError: number;
    refused: string[]; // why a switch can't be had here, "" where it can
    conflicts: [number, number][];
    ms: number;
}

export interface Lanes {
    records: Float64Array; // LANE_FIELDS each
    count: number;
}
export const LANE_FIELDS = 6;

// Of all lanes, those of threads first, then rows of resources, then actors; counts says how many of each.
export interface LaneNames {
    names: string[];
    counts: [number, number, number];
    length: number;
}

export interface Place {
    lane: number;
    from_ns: number;
    to_ns: number;
}

export interface Arrow {
    what: string;
    vertex: number;
    lane: number;
    here_lane: number;
    time_ns: number;
    here_ns: number;
}

export interface Span {
    vertex: number;
    lane: number;
    thread: string;
    kind: string;
    name: string | null;
    site?: string | null;
    pool?: string | null;
    resource?: string | null;
    from_ns: number;
    to_ns: number;
    queued_ns?: number | null;
    computed_ns?: number | null;
    also: Place | null; // in the row of a resource or actor
    for?: string | null;
    arrows: Arrow[];
    switches: number[];
}

// Why the page can't compute; "" where it can.
export const missing = !carried.core
    ? 'This build of rehype has no estimator for pages.'
    : !carried.trace
      ? (report.carried.why ?? 'The trace is too large for this page; `rehype report --full` puts it in all the same.')
      : '';

let worker: Worker | null = null;
let last = 0;
const waiting = new Map<number, { resolve: (value: never) => void; reject: (reason: Error) => void }>();
let onProgress: (what: string) => void = () => {};

function start(): Worker {
    const url = URL.createObjectURL(new Blob([carried.worker], { type: 'text/javascript' }));
    const made = new Worker(url);
    URL.revokeObjectURL(url);
    made.onmessage = (event: MessageEvent<Answer>) => {
        const answer = event.data;
        if ('progress' in answer) return onProgress(answer.progress);
        const asked = waiting.get(answer.number);
        waiting.delete(answer.number);
        if ('failed' in answer) asked?.reject(new Error(answer.failed));
        else asked?.resolve(answer.value as never);
    };
    made.onerror = (event) => {
        for (const asked of waiting.values()) asked.reject(new Error(event.message));
        waiting.clear();
    };
    return made;
}

function ask<T>(question: Question, transfer: Transferable[] = []): Promise<T> {
    worker ??= start();
    const number = ++last;
    return new Promise<T>((resolve, reject) => {
        waiting.set(number, { resolve, reject });
        worker!.postMessage({ number, ...question }, transfer);
    });
}

export function open(progress: (what: string) => void): Promise<Opened> {
    onProgress = progress;
    const window: [number, number] = report.window.whole ? [1, 0] : [report.window.from_ns, report.window.to_ns];
    return ask<Opened>({
        ask: 'open',
        core: carried.core,
        trace: carried.trace,
        model: report.model_number,
        window,
        functions: report.carried.functions,
        switches: report.switches,
    });
}

export const estimate = (switches: number[]) => ask<Estimate>({ ask: 'estimate', switches });
export const profile = (run: Run, state: number, virtual: boolean, bins: number) =>
    ask<{ wall: number; values: Float64Array }>({ ask: 'profile', run, state, virtual, bins });
export const lanes = (run: Run, from: number, to: number, width: number, first: number, count: number) =>
    ask<Lanes>({ ask: 'lanes', run, from, to, width, first, count });
export const names = (run: Run) => ask<LaneNames>({ ask: 'names', run });
export const at = (run: Run, lane: number, time: number) => ask<number>({ ask: 'at', run, lane, time });
export const span = (run: Run, vertex: number) => ask<Span | null>({ ask: 'span', run, vertex });
export const criticalPath = (run: Run) => ask<Lanes>({ ask: 'path', run });

// How long a recorded wait lasts with one switch alone, -1 for none: < 0 it is not there, NaN the run can't end.
export const waitAlone = (index: number, vertex: number) => ask<{ ns: number; ms: number }>({ ask: 'wait', index, vertex });
