// SPDX-License-Identifier: GPL-3.0-or-later
// What the reader has chosen, kept in the page's address so that a link leads to it; and what the estimator says of it.
import { computed, effect, signal } from '@preact/signals';
import * as core from './core';
import { figuresOf, report, STATES, type Figures, type State } from './data';

// ---- the address: #on=0,2&state=active&run=1&from=..&to=..&vertex=..

const address = new URLSearchParams(location.hash.slice(1));
const numbersOf = (text: string | null) =>
    text === null ? null : text === '' ? [] : text.split(',').map(Number).filter(Number.isInteger);

export const on = signal<ReadonlySet<number>>(
    new Set((numbersOf(address.get('on')) ?? report.plan.switches).filter((s) => s >= 0 && s < report.switches.length)),
);
export const profileState = signal<State>(STATES.find((s) => s === address.get('state')) ?? 'occupied');
export const ofVirtual = signal(address.get('threads') === 'virtual'); // the profile is of virtual threads
export const run = signal<core.Run>(address.get('run') === '2' ? core.ESTIMATED : core.RECORDED);
export const view = signal<[number, number] | null>(
    address.has('from') ? [Number(address.get('from')), Number(address.get('to'))] : null,
);
export const selected = signal<number>(address.has('vertex') ? Number(address.get('vertex')) : -1);

effect(() => {
    const now = new URLSearchParams();
    now.set('on', [...on.value].sort((a, b) => a - b).join(','));
    if (profileState.value !== 'occupied') now.set('state', profileState.value);
    if (ofVirtual.value) now.set('threads', 'virtual');
    if (run.value !== core.RECORDED) now.set('run', String(run.value));
    if (view.value) {
        now.set('from', view.value[0].toFixed(0));
        now.set('to', view.value[1].toFixed(0));
    }
    if (selected.value >= 0) now.set('vertex', String(selected.value));
    history.replaceState(null, '', `#${now}`);
});

// ---- the estimator

export const progress = signal(core.missing ? '' : 'starting');
export const opened = signal<core.Opened | null>(null);
export const broken = signal(core.missing); // why the page can't compute; "" where it can
export const estimated = signal<core.Estimate | null>(null);
export const busy = signal(false);
export const estimates = signal(0); // how many were made: what is drawn of the estimate is drawn anew

// What the command itself said of these switches, be it of one alone or of a plan.
function precomputed(switches: ReadonlySet<number>): Figures | null {
    const ids = [...switches].map((s) => report.switches[s]!.improvement);
    if (ids.length === 0) return figuresOf(report.suggestions.replayed);
    const same = (other: number[]) => other.length === ids.length && other.every((id) => ids.includes(id));
    if (sameSet(report.plan.switches, switches) && report.plan.estimate) return figuresOf(report.plan.estimate);
    const one = report.suggestions.improvements.find((i) => same([i.id]));
    if (one?.estimate) return figuresOf(one.estimate);
    const plan = report.suggestions.plans.find((p) => same(p.improvements));
    return plan ? figuresOf(plan.estimate) : null;
}
const sameSet = (list: number[], set: ReadonlySet<number>) => list.length === set.size && list.every((s) => set.has(s));

export const commandSays = computed(() => precomputed(on.value));
export const isFirstPlan = computed(() => sameSet(report.plan.switches, on.value));

// What is shown: the page's own estimate, and until there is one what the command said.
export const figures = computed<Figures | null>(() =>
    estimated.value ? (estimated.value.outcome === 'done' ? estimated.value.figures : null) : commandSays.value,
);

// Why a switch can't be turned: it conflicts with one that is on, or the page's trace does not have it.
export function hindrance(index: number): string {
    const refused = opened.value?.refused[index];
    if (refused) return refused;
    const id = report.switches[index]!.improvement;
    for (const other of on.value) {
        if (other === index) continue;
        const otherId = report.switches[other]!.improvement;
        const told = report.suggestions.improvements.find((i) => i.id === id)?.conflicts ?? [];
        const found = opened.value?.conflicts.some(([a, b]) => (a === other && b === index) || (a === index && b === other));
        if (found ?? (otherId !== null && told.includes(otherId))) return `excludes ${report.switches[other]!.text}`;
    }
    return '';
}

export function turn(index: number, to: boolean) {
    const next = new Set(on.value);
    if (to) next.add(index);
    else next.delete(index);
    on.value = next;
}

export const turnAll = (switches: number[]) => {
    on.value = new Set(switches.filter((s) => s >= 0));
};

export const switchOf = (improvement: number) => report.switches.findIndex((s) => s.improvement === improvement);

let wanted = 0;
async function estimateNow(switches: ReadonlySet<number>) {
    const mine = ++wanted;
    busy.value = true;
    try {
        const made = await core.estimate([...switches].sort((a, b) => a - b));
        if (mine !== wanted) return;
        estimated.value = made;
        estimates.value++;
    } catch (error) {
        broken.value = `The estimate failed: ${(error as Error).message}`;
    } finally {
        if (mine === wanted) busy.value = false;
    }
}

export async function begin() {
    if (core.missing) return;
    try {
        opened.value = await core.open((what) => (progress.value = what));
        progress.value = '';
        effect(() => void estimateNow(on.value));
    } catch (error) {
        progress.value = '';
        broken.value = `This page could not read its trace: ${(error as Error).message}`;
    }
}
