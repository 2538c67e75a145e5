// SPDX-License-Identifier: GPL-3.0-or-later
// What `rehype report` says of a run (rehype.report/1, docs/json.md), and how figures are written.

export interface Usage {
    peak: number | null;
    max: number | null;
    mean: number | null;
}

export const STATES = ['occupied', 'active', 'waiting', 'blocked', 'unoccupied'] as const;
export type State = (typeof STATES)[number];

export interface Quantiles {
    mean?: number | null;
    std?: number | null;
    min?: number | null;
    p20?: number | null;
    p50: number | null;
    p80?: number | null;
    p95: number | null;
    p99?: number | null;
    max?: number | null;
}

export interface Metrics {
    wall_ns: number;
    thread_time_ns: number;
    threads: Record<State, Usage>;
    virtual_threads: Record<string, Usage>;
    composite: number | null;
    balanced: number | null;
    tasks: {
        count: number;
        overhead_share: number | null;
        idle_share: number | null;
        work_ns: number | null;
        span_ns: number | null;
        granularity: Quantiles & { unit: string };
        queue_wait_ns: Quantiles;
    };
    requests: {
        site: string | null;
        count: number | null;
        latency_ns: Quantiles;
        throughput_per_s: number | null; // of a service; else null
        sustainable_per_s: number | null;
        bottleneck: string | null;
    } | null;
    cpu: { utilisation: number | null };
    gc: { pauses: number; ns: number };
    lost_events: number;
}

export interface Place {
    class: string;
    method: string;
    file: string | null;
    line: number | null;
}

export interface Segment {
    span: number;
    step: number;
    total_ns: number;
    share: number;
    ns: Quantiles;
}

export interface LatencyPath {
    path: string;
    chains: number;
    incomplete: number;
    latency_ns: Quantiles;
    segments: Segment[];
    slices: { values: (number | null)[] } | null; // mean latency, of equal parts of the run
}

export interface Told extends Metrics {
    trace: string;
    waits: { site: Place | null; waits: number; total_ns: number; longest_ns: number }[];
    blockers: { resource: string | null; class: string | null; site: Place | null; times: number; total_ns: number }[];
    resources: ResourceUse[];
    actors: { types?: Record<string, unknown>[] } & Record<string, unknown>;
    messages: ({ types: Record<string, unknown>[] } & Record<string, unknown>) | null;
    latency: { paths: LatencyPath[] } | null;
}

export interface ResourceUse {
    name: string;
    capacity: number | null;
    [key: string]: unknown;
}

export interface Improvement {
    id: number;
    kind: string;
    site: (Place & { task_class: string | null }) | null;
    tasks: number;
    of_messages: boolean;
    conflicts: number[];
    passes: boolean;
    shown: boolean;
    estimate: Metrics | null;
    why: string;
    warnings: string[];
    sketch?: { before: string; after: string; watch: string[] };
}

export interface Switch {
    improvement: number | null;
    text: string;
    item: object;
    words: number[];
    of: string;
    types: string;
}

export interface Profile {
    wall_ns: number;
    bins: number;
    states: Record<State, (number | null)[]>;
}

export interface Intervals {
    replicates: number;
    [key: string]: [number | null, number | null] | number;
}

export interface Report {
    version: string;
    trace: string;
    events: number;
    lost_events: number;
    cores: number;
    model: string;
    model_number: number;
    window: { whole: boolean; from_ns: number; to_ns: number; why: string; text: string };
    metrics: Told;
    profile: Profile;
    machine: { samples: [number, number, number, number, number, number | null][]; pauses: number[][] };
    sizes: { name: string; tasks: number; grain: 'fine' | 'coarse' | null; sorted_ns: number[] }[];
    suggestions: {
        base: Metrics;
        replayed: Metrics;
        null_replay_error: number;
        improvements: Improvement[];
        plans: { rank: number; improvements: number[]; composite: number; balanced: number; estimate: Metrics }[];
        front: {
            improvements: number[];
            wall: number;
            occupied_mean: number;
            occupied_peak: number;
            edits: number;
        }[];
        search: { evaluated: number; untried: number };
    };
    switches: Switch[];
    plan: { switches: number[]; stuck: string | null; estimate?: Metrics; profile?: Profile; interval?: Intervals };
    actual?: { metrics: Told; profile: Profile };
    carried: { bytes: number; fits: boolean; quantum_ns: number; functions: boolean; why?: string };
    part?: {
        from_ns: number;
        to_ns: number;
        of_ns: number;
        events: number;
        changes: string[];
        base?: Metrics;
        estimate?: Metrics;
        why?: string;
        actual?: Metrics;
    };
    overview?: { length_ns: number; names: string[]; records: number[] };
    warnings: string[];
}

const element = (id: string) => document.getElementById(id)?.textContent ?? '';

export const report: Report = JSON.parse(element('document'));
export const carried = { trace: element('trace'), core: element('core'), worker: element('worker') };

// ---- figures: the names that objectives have, of METRICS

export type Figures = Map<string, number>;

const known = (value: number | null | undefined) => value ?? NaN;

export function figuresOf(m: Metrics): Figures {
    const figures: Figures = new Map();
    figures.set('wall', m.wall_ns);
    figures.set('thread_time', m.thread_time_ns);
    for (const state of STATES) {
        for (const part of ['peak', 'max', 'mean'] as const)
            figures.set(`${state}.${part}`, known(m.threads[state][part]));
    }
    figures.set('composite', known(m.composite));
    figures.set('balanced', known(m.balanced));
    figures.set('tasks.count', m.tasks.count);
    figures.set('tasks.overhead_share', known(m.tasks.overhead_share));
    figures.set('tasks.idle_share', known(m.tasks.idle_share));
    figures.set('tasks.queue_wait.p95', known(m.tasks.queue_wait_ns.p95));
    figures.set('requests.latency.p50', known(m.requests?.latency_ns.p50));
    figures.set('requests.latency.p95', known(m.requests?.latency_ns.p95));
    figures.set('requests.latency.p99', known(m.requests?.latency_ns.p99));
    figures.set('requests.throughput', known(m.requests?.throughput_per_s));
    figures.set('requests.sustainable', known(m.requests?.sustainable_per_s));
    figures.set('cpu.utilisation', known(m.cpu.utilisation));
    return figures;
}

// ---- text

export function duration(ns: number): string {
    if (!Number.isFinite(ns)) return '-';
    const size = Math.abs(ns);
    if (size >= 1e9) return `${digits(ns / 1e9)} s`;
    if (size >= 1e6) return `${digits(ns / 1e6)} ms`;
    if (size >= 1e3) return `${digits(ns / 1e3)} us`;
    return `${digits(ns)} ns`;
}

export function digits(value: number): string {
    if (!Number.isFinite(value)) return '-';
    const size = Math.abs(value);
    if (size >= 1000) return Math.round(value).toLocaleString('en');
    if (size >= 100 || Number.isInteger(value)) return value.toFixed(0);
    return value.toFixed(size >= 10 ? 1 : 2);
}

export const percent = (share: number) =>
    Number.isFinite(share) ? `${share > 0 ? '+' : ''}${(share * 100).toFixed(1)} %` : '-';

export const change = (before: number, after: number) => (before === after ? '0.0 %' : percent(after / before - 1));

export const place = (site: Place | null | undefined) =>
    site?.class ? `${site.class}.${site.method}${site.line ? `:${site.line}` : ''}` : 'a place that is not known';

export const plural = (count: number, word: string) => `${digits(count)} ${word}${count === 1 ? '' : 's'}`;
