// SPDX-License-Identifier: GPL-3.0-or-later
// Threads over time, drawn on a canvas: the estimator says what each pixel of a lane was (report/page/lanes.h). Arrows
// are those of the selected span only; [ and ] step along them.
import { useEffect, useRef } from 'preact/hooks';
import { effect, signal, useSignal } from '@preact/signals';
import * as core from './core';
import { Table } from './chart';
import { digits, duration, report } from './data';
import { broken, estimated, estimates, opened, progress, run, selected, turn, on, view } from './state';

const LANE_PX = 22;
const BODY_PX = 18;
const NAMES_PX = 130;
const AXIS_PX = 22;
const MOST_LANES = 40; // at once; the rest is a scroll away

// enum lane_state, as lanes.h has it.
const LANE_STATES = ['running', 'waiting', 'blocked', 'handing over', 'idle'];
const STATE_COLOURS = ['--active', '--waiting', '--blocked', '--spawning', '--idle'];
const INWARD = new Set(['spawned by', 'handed over in', 'result of', 'unblocked by']); // arrows that lead here

const overview = report.overview; // of a trace that the page does not have
const lanes = signal<{ names: string[]; length: number } | null>(
    overview ? { names: overview.names, length: overview.length_ns } : null,
);
const drawn = signal<core.Lanes | null>(
    overview ? { records: Float64Array.from(overview.records), count: overview.records.length / core.LANE_FIELDS } : null,
);
const critical = signal<core.Lanes | null>(null);
const span = signal<core.Span | null>(null);
const first = signal(0); // lane on top
const trail: number[] = []; // spans that [ left, for ] to come back to

const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim() || '#888';
const range = (): [number, number] => view.value ?? [0, lanes.value?.length ?? 1];

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

// ---- drawing

function drawAxis(g: CanvasRenderingContext2D, width: number, x: (ns: number) => number) {
    const [from, to] = range();
    g.fillStyle = colour('--text');
    const step = niceStep((to - from) / Math.max(2, width / 140));
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
        g.fillRect(x(t), AXIS_PX - 5, 1, 5);
        if (x(t) < width - 50) g.fillText(duration(t), x(t) + 3, AXIS_PX - 7);
    }
}

function niceStep(least: number): number {
    const ten = 10 ** Math.floor(Math.log10(Math.max(1, least)));
    return [1, 2, 5, 10].map((f) => f * ten).find((s) => s >= least)!;
}

function drawLanes(g: CanvasRenderingContext2D, x: (ns: number) => number, made: core.Lanes) {
    const colours = STATE_COLOURS.map(colour);
    for (let i = 0; i < made.count; i++) {
        const at = i * core.LANE_FIELDS;
        const [lane, from, to, state, vertex, depth] = made.records.subarray(at, at + core.LANE_FIELDS) as unknown as number[];
        const row = lane! - first.value;
        if (row < 0 || row >= MOST_LANES) continue;
        const inset = Math.min(depth!, 4) * 3;
        const left = Math.max(NAMES_PX, x(from!));
        g.fillStyle = colours[state!]!;
        g.globalAlpha = vertex! < 0 ? 0.6 : 1;
        g.fillRect(left, AXIS_PX + row * LANE_PX + inset, Math.max(0.6, x(to!) - left), BODY_PX - inset);
    }
    g.globalAlpha = 1;
}

function drawCritical(g: CanvasRenderingContext2D, x: (ns: number) => number, made: core.Lanes) {
    g.fillStyle = colour('--critical');
    for (let i = 0; i < made.count; i++) {
        const at = i * core.LANE_FIELDS;
        const row = made.records[at]! - first.value;
        const left = Math.max(NAMES_PX, x(made.records[at + 1]!));
        if (row < 0 || row >= MOST_LANES) continue;
        g.fillRect(left, AXIS_PX + row * LANE_PX + BODY_PX - 3, Math.max(1, x(made.records[at + 2]!) - left), 4);
    }
}

// The tasks of a plan that could not end, each with an arrow to what it waits for.
function drawStuck(g: CanvasRenderingContext2D, x: (ns: number) => number, chain: core.Lanes) {
    g.strokeStyle = g.fillStyle = colour('--blocked');
    g.lineWidth = 2;
    const spots: [number, number][] = [];
    for (let i = 0; i < chain.count; i++) {
        const [lane, from, to] = chain.records.subarray(i * core.LANE_FIELDS) as unknown as number[];
        const row = AXIS_PX + (lane! - first.value) * LANE_PX;
        g.strokeRect(x(from!), row - 2, Math.max(4, x(to!) - x(from!)), BODY_PX + 4);
        spots.push([Math.max(NAMES_PX, (x(from!) + x(to!)) / 2), row + BODY_PX / 2]);
    }
    spots.forEach((spot, i) => {
        const next = spots[(i + 1) % spots.length]!;
        if (spots.length < 2 || (i + 1 === spots.length && estimated.peek()?.stuck?.starves)) return; // starving is no cycle
        g.beginPath();
        g.moveTo(...spot);
        g.lineTo(...next);
        g.stroke();
        g.beginPath();
        g.arc(...next, 4, 0, 7);
        g.fill();
    });
}

function drawNames(g: CanvasRenderingContext2D, names: string[]) {
    g.clearRect(0, 0, NAMES_PX, AXIS_PX + MOST_LANES * LANE_PX);
    g.fillStyle = colour('--text');
    names.slice(first.value, first.value + MOST_LANES).forEach((name, row) => {
        const short = name.length > 18 ? `${name.slice(0, 8)}…${name.slice(-9)}` : name;
        g.fillText(short, 2, AXIS_PX + row * LANE_PX + 13);
    });
}

function drawSelected(g: CanvasRenderingContext2D, x: (ns: number) => number, of: core.Span) {
    const row = of.lane - first.value;
    const middle = (lane: number) => AXIS_PX + (lane - first.value) * LANE_PX + BODY_PX / 2;
    g.strokeStyle = colour('--selected');
    g.lineWidth = 2;
    g.strokeRect(x(of.from_ns), AXIS_PX + row * LANE_PX - 1, Math.max(2, x(of.to_ns) - x(of.from_ns)), BODY_PX + 2);
    g.lineWidth = 1.2;
    for (const arrow of of.arrows) {
        const inward = INWARD.has(arrow.what);
        const there: [number, number] = [x(arrow.time_ns), middle(arrow.lane)];
        const here: [number, number] = [x(arrow.here_ns), middle(of.lane)];
        const [from, to] = inward ? [there, here] : [here, there];
        g.beginPath();
        g.moveTo(...from);
        g.lineTo(...to);
        g.stroke();
        g.beginPath();
        g.arc(...to, 3, 0, 7);
        g.fillStyle = colour('--selected');
        g.fill();
    }
}

function draw(canvas: HTMLCanvasElement) {
    const width = canvas.clientWidth;
    const rows = Math.min(MOST_LANES, Math.max(1, (lanes.value?.names.length ?? 1) - first.value));
    const height = AXIS_PX + rows * LANE_PX;
    const dots = devicePixelRatio || 1;
    canvas.width = width * dots;
    canvas.height = height * dots;
    canvas.style.height = `${height}px`;
    const g = canvas.getContext('2d')!;
    g.scale(dots, dots);
    g.font = '12px system-ui, sans-serif';
    const [from, to] = range();
    const x = (ns: number) => NAMES_PX + ((ns - from) / (to - from)) * (width - NAMES_PX);
    if (drawn.value) drawLanes(g, x, drawn.value);
    if (critical.value) drawCritical(g, x, critical.value);
    if (span.value) drawSelected(g, x, span.value);
    const chain = run.value === core.RECORDED ? estimated.value?.stuck : null;
    if (chain) drawStuck(g, x, chain);
    drawNames(g, lanes.value?.names ?? []);
    drawAxis(g, width, x);
}

// ---- moving about

function zoom(factor: number, around = 0.5) {
    const [from, to] = range();
    const whole = lanes.value?.length ?? 1;
    const middle = from + (to - from) * around;
    const length = Math.max(10, Math.min(whole, (to - from) * factor));
    const begin = Math.max(0, Math.min(whole - length, middle - length * around));
    view.value = length >= whole ? null : [begin, begin + length];
}

function pan(share: number) {
    const [from, to] = range();
    const whole = lanes.value?.length ?? 1;
    const begin = Math.max(0, Math.min(whole - (to - from), from + (to - from) * share));
    if (to - from < whole) view.value = [begin, begin + (to - from)];
}

// So that the span is seen, with as much around it.
function show(of: core.Span) {
    const length = Math.max(20, of.to_ns - of.from_ns);
    const whole = lanes.value?.length ?? 1;
    view.value = [Math.max(0, of.from_ns - length), Math.min(whole, of.to_ns + length)];
    if (of.lane < first.value || of.lane >= first.value + MOST_LANES) first.value = Math.max(0, of.lane - 5);
}

function step(back: boolean) {
    const of = span.value;
    if (!of) return;
    if (!back && trail.length) {
        selected.value = trail.pop()!;
        return;
    }
    const arrow = of.arrows.find((a) => INWARD.has(a.what) === back);
    if (!arrow) return;
    if (back) trail.push(of.vertex);
    selected.value = arrow.vertex;
}

const keys: Record<string, () => void> = {
    '+': () => zoom(0.5),
    '=': () => zoom(0.5),
    '-': () => zoom(2),
    ArrowLeft: () => pan(-0.2),
    ArrowRight: () => pan(0.2),
    ArrowUp: () => (first.value = Math.max(0, first.value - 1)),
    ArrowDown: () => (first.value = Math.min(Math.max(0, (lanes.value?.names.length ?? 1) - 1), first.value + 1)),
    Home: () => (view.value = null),
    Enter: () => span.value && show(span.value),
    Escape: () => (selected.value = -1),
    '[': () => step(true),
    ']': () => step(false),
};

async function choose(canvas: HTMLCanvasElement, event: MouseEvent) {
    const box = canvas.getBoundingClientRect();
    const lane = first.value + Math.floor((event.clientY - box.top - AXIS_PX) / LANE_PX);
    const [from, to] = range();
    const time = from + ((event.clientX - box.left - NAMES_PX) / (box.width - NAMES_PX)) * (to - from);
    if (!opened.value || lane < 0 || lane >= (lanes.value?.names.length ?? 0) || time < from) return;
    trail.length = 0;
    selected.value = await core.at(run.value, lane, time);
}

// ---- what is selected

function Detail() {
    const of = span.value;
    if (!of) return <p class="hint">Click a span, or choose one from the table, to see what it is, what it waited for, and which changes concern it.</p>;
    const facts: [string, string][] = [
        ['thread', of.thread],
        ['from', duration(of.from_ns)],
        ['for', duration(of.to_ns - of.from_ns)],
    ];
    if (of.site) facts.push(['spawned at', of.site]);
    if (of.pool) facts.push(['pool', of.pool]);
    if (of.resource) facts.push(['resource', of.resource]);
    if (of.queued_ns != null) facts.push(['queued', duration(of.queued_ns)]);
    if (of.computed_ns != null) facts.push(['computed', duration(of.computed_ns)]);
    return (
        <div class="detail" aria-live="polite">
            <h3>{of.name && of.name !== of.kind ? `${of.kind}: ${of.name}` : of.kind}</h3>
            {of.for && <p>{of.for}</p>}
            <dl>
                {facts.map(([name, value]) => (
                    <div>
                        <dt>{name}</dt>
                        <dd>{value}</dd>
                    </div>
                ))}
            </dl>
            <p class="buttons">
                <button type="button" onClick={() => show(of)}>Zoom to it</button>
                <button type="button" onClick={() => step(true)}>[ what led to it</button>
                <button type="button" onClick={() => step(false)}>] what it led to</button>
            </p>
            {of.switches.length > 0 && (
                <>
                    <h4>Changes that concern it</h4>
                    <ul>
                        {of.switches.map((s) => (
                            <li>
                                <label>
                                    <input type="checkbox" checked={on.value.has(s)} onChange={(e) => turn(s, (e.target as HTMLInputElement).checked)} />{' '}
                                    {report.switches[s]?.text}
                                </label>
                                <Alone index={s} />
                            </li>
                        ))}
                    </ul>
                </>
            )}
            {of.arrows.length > 0 && (
                <Table
                    label="arrows of the selected span"
                    head={['what', 'thread', 'at']}
                    rows={of.arrows.map((a) => [a.what, lanes.value?.names[a.lane] ?? String(a.lane), duration(a.time_ns)])}
                    most={30}
                />
            )}
        </div>
    );
}

function Alone(props: { index: number }) {
    const id = report.switches[props.index]?.improvement;
    const estimate = report.suggestions.improvements.find((i) => i.id === id)?.estimate;
    return estimate ? <span class="gain"> alone: wall {duration(report.suggestions.base.wall_ns)} to {duration(estimate.wall_ns)}</span> : null;
}

function VisibleTable() {
    const made = drawn.value;
    const named = lanes.value?.names ?? [];
    if (!made) return null;
    const spans: { lane: number; from: number; to: number; state: number; vertex: number }[] = [];
    for (let i = 0; i < made.count && spans.length < 200; i++) {
        const at = i * core.LANE_FIELDS;
        const r = made.records;
        if (r[at + 4]! >= 0) spans.push({ lane: r[at]!, from: r[at + 1]!, to: r[at + 2]!, state: r[at + 3]!, vertex: r[at + 4]! });
    }
    return (
        <div class="scroll" tabIndex={0} role="region" aria-label="spans that are wide enough to be seen">
            <table>
                <thead>
                    <tr>
                        <th scope="col">thread</th>
                        <th scope="col">state</th>
                        <th scope="col">from</th>
                        <th scope="col">for</th>
                        <th scope="col">select</th>
                    </tr>
                </thead>
                <tbody>
                    {spans.map((s) => (
                        <tr>
                            <th scope="row">{named[s.lane]}</th>
                            <td>{LANE_STATES[s.state]}</td>
                            <td>{duration(s.from)}</td>
                            <td>{duration(s.to - s.from)}</td>
                            <td>
                                <button type="button" disabled={!opened.value} onClick={() => (selected.value = s.vertex)}>select</button>
                            </td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}

// ---- the part

export function Timeline() {
    const canvas = useRef<HTMLCanvasElement>(null);
    const tableOpen = useSignal(false);
    const showsPath = useSignal(false);

    useEffect(() => {
        const at = canvas.current;
        if (!at) return;
        const stopAsking = effect(() => {
            const [from, to] = range();
            const top = first.value;
            estimates.value;
            if (!lanes.value || !opened.value) return;
            const width = Math.max(200, at.clientWidth - NAMES_PX);
            void core.lanes(run.value, from, to, width, top, MOST_LANES).then((made) => (drawn.value = made));
        });
        const stopDrawing = effect(() => {
            drawn.value;
            span.value;
            critical.value;
            lanes.value;
            estimated.value;
            draw(at);
        });
        const redraw = () => draw(at);
        const wheel = (event: WheelEvent) => {
            if (!event.ctrlKey && !event.shiftKey) return;
            event.preventDefault();
            const box = at.getBoundingClientRect();
            zoom(event.deltaY > 0 ? 1.25 : 0.8, Math.max(0, (event.clientX - box.left - NAMES_PX) / (box.width - NAMES_PX)));
        };
        const resized = new ResizeObserver(redraw);
        resized.observe(at);
        at.addEventListener('wheel', wheel, { passive: false });
        document.addEventListener('theme', redraw);
        return () => {
            stopAsking();
            stopDrawing();
            resized.disconnect();
            at.removeEventListener('wheel', wheel);
            document.removeEventListener('theme', redraw);
        };
    }, [opened.value !== null]);

    const count = lanes.value?.names.length ?? 0;
    return (
        <section id="timeline">
            <h2>Timeline</h2>
            {broken.value && (
                <p class="empty">
                    {broken.value} {overview && 'Below is the recorded run as a whole, its first threads, coarsely. '}
                    `rehype export --to perfetto` draws all of it in Perfetto.
                </p>
            )}
            {broken.value && !overview ? null : !opened.value && !overview ? (
                <p class="wait">The page reads its trace: {progress.value} ...</p>
            ) : (
                <>
                    <p class="buttons">
                        <label><input type="radio" name="run" checked={run.value === core.RECORDED} onChange={() => { selected.value = -1; run.value = core.RECORDED; }} /> recorded</label>
                        <label><input type="radio" name="run" disabled={!opened.value} checked={run.value === core.ESTIMATED} onChange={() => { selected.value = -1; run.value = core.ESTIMATED; }} /> estimated</label>
                        <label>
                            <input
                                type="checkbox"
                                disabled={!opened.value}
                                checked={showsPath.value}
                                onChange={(e) => {
                                    showsPath.value = (e.target as HTMLInputElement).checked;
                                    if (showsPath.value) void core.criticalPath(run.value).then((made) => (critical.value = made));
                                    else critical.value = null;
                                }}
                            />{' '}
                            critical path
                        </label>
                        <button type="button" aria-label="zoom in" onClick={() => zoom(0.5)}>+</button>
                        <button type="button" aria-label="zoom out" onClick={() => zoom(2)}>-</button>
                        <button type="button" aria-label="earlier" onClick={() => pan(-0.5)}>←</button>
                        <button type="button" aria-label="later" onClick={() => pan(0.5)}>→</button>
                        <button type="button" onClick={() => (view.value = null)}>All</button>
                    </p>
                    <ul class="legend">
                        {LANE_STATES.map((name, i) => (
                            <li>
                                <span style={{ background: `var(${STATE_COLOURS[i]})` }} /> {name}
                            </li>
                        ))}
                    </ul>
                    <canvas
                        ref={canvas}
                        tabIndex={0}
                        role="application"
                        aria-label="Threads over time. Keys: plus and minus zoom, arrows move, Enter zooms to what is selected, [ and ] step along its arrows, Escape lets go. The table below has the same spans."
                        onClick={(e) => void choose(e.currentTarget as HTMLCanvasElement, e)}
                        onKeyDown={(e) => {
                            const act = keys[e.key];
                            if (!act || e.ctrlKey || e.metaKey || e.altKey) return;
                            e.preventDefault();
                            act();
                        }}
                    />
                    <p class="hint">
                        {digits(count)} threads{count > MOST_LANES ? `, of which ${MOST_LANES} are shown from number ${first.value + 1} on (up and down keys)` : ''}.
                        Ctrl and the wheel zoom. A bar that is paler stands for several spans too narrow to be drawn.
                    </p>
                    {opened.value && <Detail />}
                    <details onToggle={(e) => (tableOpen.value = (e.target as HTMLDetailsElement).open)}>
                        <summary>As a table</summary>
                        {tableOpen.value && <VisibleTable />}
                    </details>
                </>
            )}
        </section>
    );
}
