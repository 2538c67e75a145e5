// SPDX-License-Identifier: GPL-3.0-or-later
// The worker of the page: the estimator as WebAssembly (report/page/core.h), one question at a time.

export type Question =
    | {
          ask: 'open';
          core: string;
          trace: string;
          model: number;
          window: [number, number];
          functions: boolean; // the trace has all that were entered
          switches: { words: number[]; of: string; types: string }[];
      }
    | { ask: 'estimate'; switches: number[] }
    | { ask: 'profile'; run: number; state: number; virtual: boolean; bins: number }
    | { ask: 'lanes'; run: number; from: number; to: number; width: number; first: number; count: number }
    | { ask: 'names'; run: number }
    | { ask: 'at'; run: number; lane: number; time: number }
    | { ask: 'span'; run: number; vertex: number }
    | { ask: 'wait'; index: number; vertex: number }
    | { ask: 'path'; run: number };

export type Answer = { progress: string } | { number: number; value: unknown } | { number: number; failed: string };

const LANE_FIELDS = 6;
const HOIST_BRANCH = 1; // enum improvement_kind
const OUTCOMES = ['done', 'stuck', 'refused', 'failed'] as const;
const RECORDED = 0;
const REPLAYED = 1;
const ESTIMATED = 2;

type Exports = Record<string, (...values: number[]) => number> & { memory: WebAssembly.Memory };
let core: Exports;

// ---- bytes and texts of the core

async function unpack(text: string): Promise<Uint8Array<ArrayBuffer>> {
    const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

function textAt(at: number): string {
    const bytes = new Uint8Array(core.memory.buffer);
    let end = at;
    while (bytes[end] !== 0) end++;
    return new TextDecoder().decode(bytes.subarray(at, end));
}

function put(bytes: Uint8Array): number {
    const at = core.page_alloc!(bytes.length);
    if (at === 0) throw new Error('not enough memory in this browser');
    new Uint8Array(core.memory.buffer).set(bytes, at);
    return at;
}

const putText = (text: string) => put(new TextEncoder().encode(`${text}\0`));
const putWords = (words: number[]) => put(new Uint8Array(Uint32Array.from(words).buffer));
const message = () => textAt(core.page_message!());

// What the core asks of a system: it has none, so that files are not there and what it writes is dropped.
function imports(module: WebAssembly.Module): WebAssembly.Imports {
    const given: Record<string, Record<string, () => number>> = {};
    for (const wanted of WebAssembly.Module.imports(module)) {
        const BAD_FILE = 8;
        (given[wanted.module] ??= {})[wanted.name] = () => BAD_FILE;
    }
    return given;
}

// ---- questions

function figuresOf(run: number): Map<string, number> {
    const figures = new Map<string, number>();
    for (let i = 0; i < core.page_figure_count!(); i++)
        figures.set(textAt(core.page_figure_name!(i)), core.page_figure!(run, i));
    return figures;
}

function addSwitches(switches: { words: number[]; of: string; types: string }[], functions: boolean) {
    const refused: string[] = [];
    const conflicts: [number, number][] = [];
    numbers.length = 0;
    for (const one of switches) {
        if (!functions && one.words[0] === HOIST_BRANCH) {
            refused.push('this page has no functions, and so no paths: `rehype estimate` has');
            numbers.push(-1);
            continue;
        }
        const words = putWords(one.words);
        const of = putText(one.of);
        const types = putText(one.types);
        const number = core.page_add_switch!(words, of, types);
        for (const at of [words, of, types]) core.page_free!(at);
        refused.push(number < 0 ? message() : '');
        numbers.push(number);
    }
    for (let a = 0; a < numbers.length; a++) {
        for (let b = 0; b < a; b++) {
            if (numbers[a]! >= 0 && numbers[b]! >= 0 && core.page_switches_conflict!(numbers[a]!, numbers[b]!))
                conflicts.push([b, a]);
        }
    }
    return { refused, conflicts };
}
const numbers: number[] = []; // of the page's switches, in the core; -1: refused

async function open(q: Extract<Question, { ask: 'open' }>) {
    const begin = performance.now();
    postMessage({ progress: 'unpacking the trace' });
    const [program, trace] = await Promise.all([unpack(q.core), unpack(q.trace)]);
    const module = await WebAssembly.compile(program);
    const instance = await WebAssembly.instantiate(module, imports(module));
    core = instance.exports as unknown as Exports;
    core._initialize?.();
    postMessage({ progress: 'building the graph, and measuring the run' });
    if (!core.page_open!(put(trace), trace.length, q.model, q.window[0], q.window[1])) throw new Error(message());
    const added = addSwitches(q.switches, q.functions);
    return {
        recorded: figuresOf(RECORDED),
        replayed: figuresOf(REPLAYED),
        replayError: core.page_replay_error!(),
        ...added,
        ms: performance.now() - begin,
    };
}

function estimate(switches: number[]) {
    const begin = performance.now();
    const words = putWords(switches.map((s) => numbers[s]!));
    const outcome = OUTCOMES[core.page_estimate!(words, switches.length)]!;
    core.page_free!(words);
    const ms = performance.now() - begin;
    const said = message();
    const stuck = outcome === 'stuck' ? { ...records(core.page_stuck!()), starves: core.page_starves!() !== 0 } : null;
    return { outcome, message: said, stuck, figures: figuresOf(ESTIMATED), ms };
}

function profile(run: number, state: number, virtual: boolean, bins: number) {
    const wall = core.page_run_ns!(run);
    const at = core.page_profile!(run, state, virtual ? 1 : 0, 0, wall, bins);
    return { wall, values: new Float64Array(core.memory.buffer, at, bins).slice() };
}

function records(count: number) {
    const at = core.page_lanes_data!();
    return { records: new Float64Array(core.memory.buffer, at, count * LANE_FIELDS).slice(), count };
}

function namesOf(run: number) {
    const counts = [core.page_lane_count!(run), core.page_resource_lane_count!(run), core.page_actor_lane_count!(run)];
    const all = counts.reduce((sum, count) => sum + count, 0);
    const names = Array.from({ length: all }, (_, lane) => textAt(core.page_lane_name!(run, lane)));
    return { names, counts, length: core.page_run_ns!(run) };
}

function waitAlone(index: number, vertex: number) {
    const begin = performance.now();
    const ns = core.page_wait_alone!(index < 0 ? -1 : numbers[index]!, vertex);
    return { ns, ms: performance.now() - begin };
}

// Switches that the core refused have no number there.
function spanOf(run: number, vertex: number) {
    const span = JSON.parse(textAt(core.page_span!(run, vertex))) as { switches: number[] } | null;
    if (span) span.switches = span.switches.map((number) => numbers.indexOf(number));
    return span;
}

async function answer(q: Question): Promise<unknown> {
    switch (q.ask) {
        case 'open':
            return open(q);
        case 'estimate':
            return estimate(q.switches);
        case 'profile':
            return profile(q.run, q.state, q.virtual, q.bins);
        case 'lanes':
            return records(core.page_lanes!(q.run, q.from, q.to, q.width, q.first, q.count));
        case 'names':
            return namesOf(q.run);
        case 'at':
            return core.page_at!(q.run, q.lane, q.time);
        case 'span':
            return spanOf(q.run, q.vertex);
        case 'wait':
            return waitAlone(q.index, q.vertex);
        case 'path':
            return records(core.page_critical_path!(q.run));
    }
}

onmessage = async (event: MessageEvent<Question & { number: number }>) => {
    const { number } = event.data;
    try {
        postMessage({ number, value: await answer(event.data) });
    } catch (error) {
        postMessage({ number, failed: error instanceof Error ? error.message : String(error) });
    }
};
