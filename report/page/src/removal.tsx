// SPDX-License-Identifier: GPL-3.0-or-later
// Which changes remove a wait: each is estimated alone, and the same wait looked for in that run.
import { useEffect } from 'preact/hooks';
import { signal, useSignal } from '@preact/signals';
import * as core from './core';
import { duration, plural, report } from './data';
import { hindrance, on, opened, turn } from './state';

const SOON_MS = 3000; // what takes longer in all is done when asked for
const ALIKE = 0.02; // a wait that differs by less is left as it is

interface Alone {
    index: number;
    ns: number; // < 0: the wait is not there any more; NaN: the run could not end
}

interface Tried {
    replayed: number;
    ms: number; // of one estimate
    alone: Alone[];
}

// By the vertex of the wait.
const known = signal(new Map<number, Tried>());
const keep = (vertex: number, tried: Tried) => (known.value = new Map(known.value).set(vertex, tried));

const isGone = (ns: number) => ns <= 0;
const had = () => report.switches.map((_, i) => i).filter((i) => !opened.value?.refused[i]);

async function tryReplay(vertex: number) {
    const replay = await core.waitAlone(-1, vertex);
    keep(vertex, { replayed: replay.ns, ms: replay.ms, alone: [] });
}

// One after the other, so that the page's other questions get their turn.
async function tryAll(vertex: number, goesOn: () => boolean) {
    for (const index of had()) {
        const tried = known.value.get(vertex)!;
        if (tried.alone.some((one) => one.index === index)) continue;
        if (!goesOn()) return;
        const { ns } = await core.waitAlone(index, vertex);
        keep(vertex, { ...known.value.get(vertex)!, alone: [...known.value.get(vertex)!.alone, { index, ns }] });
    }
}

function effectOf(one: Alone, replayed: number): string {
    if (isGone(one.ns)) return 'removes it';
    const share = one.ns / replayed - 1;
    return `${share < 0 ? 'shortens' : 'lengthens'} it to ${duration(one.ns)} (${share > 0 ? '+' : ''}${(share * 100).toFixed(0)} %)`;
}

const isAlike = (one: Alone, replayed: number) => !isGone(one.ns) && Math.abs(one.ns / replayed - 1) < ALIKE;

function Row(props: { one: Alone; replayed: number }) {
    const { one } = props;
    const why = on.value.has(one.index) ? '' : hindrance(one.index);
    return (
        <li>
            <label>
                <input
                    type="checkbox"
                    checked={on.value.has(one.index)}
                    disabled={why !== ''}
                    onChange={(e) => turn(one.index, (e.target as HTMLInputElement).checked)}
                />{' '}
                <strong>{effectOf(one, props.replayed)}:</strong> {report.switches[one.index]!.text}
            </label>
            {why && <span class="gain"> can't be turned on now: {why}</span>}
        </li>
    );
}

function Found(props: { tried: Tried; wanted: number }) {
    const { replayed, alone } = props.tried;
    const ended = alone.filter((one) => !Number.isNaN(one.ns));
    const listed = ended.filter((one) => !isAlike(one, replayed)).sort((a, b) => Math.max(0, a.ns) - Math.max(0, b.ns));
    const shorter = listed.filter((one) => isGone(one.ns) || one.ns < replayed);
    const longer = listed.filter((one) => !shorter.includes(one));
    const left = ended.length - listed.length;
    const stuck = alone.length - ended.length;
    return (
        <>
            {shorter.length > 0 && <ul class="removes">{shorter.map((one) => <Row one={one} replayed={replayed} />)}</ul>}
            {shorter.length === 0 && alone.length === props.wanted && <p>None of the changes removes or shortens it.</p>}
            {longer.length > 0 && (
                <details>
                    <summary>{plural(longer.length, 'change')} that {longer.length === 1 ? 'lengthens' : 'lengthen'} it</summary>
                    <ul>{longer.map((one) => <Row one={one} replayed={replayed} />)}</ul>
                </details>
            )}
            {left > 0 && <p class="hint">{plural(left, 'change')} {left === 1 ? 'leaves' : 'leave'} it as long as it is, within 2 %.</p>}
            {stuck > 0 && <p class="hint">With {plural(stuck, 'change')} alone the run could not end.</p>}
        </>
    );
}

export function Removal(props: { vertex: number }) {
    const { vertex } = props;
    const wanted = had().length;
    const tried = known.value.get(vertex);
    const asked = useSignal(false);
    const soon = tried !== undefined && tried.ms * wanted <= SOON_MS;
    useEffect(() => {
        let shown = true;
        if (!known.value.has(vertex)) void tryReplay(vertex);
        else if (soon || asked.value) void tryAll(vertex, () => shown);
        return () => {
            shown = false;
        };
    }, [vertex, tried === undefined, asked.value]);
    if (wanted === 0) return <p class="hint">The page has no change that could remove this wait.</p>;
    if (!tried) return <p class="wait" role="status">The run is estimated with nothing changed ...</p>;
    if (Number.isNaN(tried.replayed)) return null; // it outlasts the run, or nothing tells what ended it
    if (isGone(tried.replayed)) return <p class="hint">The model does not have this wait, with nothing changed: what it is off by is told above.</p>;
    const done = tried.alone.length;
    return (
        <div class="removal">
            <h4>Which changes remove this wait</h4>
            <p class="hint">
                Each change is estimated alone, and this same wait looked for in that run; with nothing changed the model gives{' '}
                {duration(tried.replayed)}. Threads may then wait elsewhere: the figures above count all waits.
            </p>
            {done < wanted && (soon || asked.value) && <p class="wait" role="status">{done} of {plural(wanted, 'change')} estimated ...</p>}
            {done < wanted && !soon && !asked.value && (
                <p>
                    <button type="button" onClick={() => (asked.value = true)}>
                        Estimate {plural(wanted, 'change')}, {duration(tried.ms * wanted * 1e6)}
                    </button>
                </p>
            )}
            {done > 0 && <Found tried={tried} wanted={wanted} />}
        </div>
    );
}
