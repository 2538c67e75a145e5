// SPDX-License-Identifier: GPL-3.0-or-later
// The page's parts, but for the timeline: what to change, figures, concurrency, switches, the front, and what the run
// tells of tasks, machine, resources and actors.
import { computed, effect, signal } from '@preact/signals';
import * as core from './core';
import { Chart, Table, type Line } from './chart';
import { change, digits, duration, figuresOf, percent, place, plural, report, STATES, type Figures, type Improvement, type LatencyPath } from './data';
import { Timeline } from './timeline';
import {
    broken,
    busy,
    commandSays,
    estimated,
    estimates,
    figures,
    hindrance,
    isFirstPlan,
    ofVirtual,
    on,
    opened,
    profileState,
    progress,
    switchOf,
    turn,
    turnAll,
} from './state';

export const Empty = (props: { why: string }) => <p class="empty">{props.why}</p>;

const base = figuresOf(report.suggestions.base);
const improvementOf = (index: number): Improvement | undefined =>
    report.suggestions.improvements.find((i) => i.id === report.switches[index]!.improvement);

// ---- what to change

// Its wall time is how long it was recorded.
const isService = base.get('requests.throughput')! > 0;

function serves(estimate: Figures, base: Figures): string {
    const before = base.get('requests.throughput')!;
    const after = estimate.get('requests.throughput')!;
    const latency = (of: string) => `${duration(base.get(`requests.latency.${of}`)!)} to ${duration(estimate.get(`requests.latency.${of}`)!)}`;
    return (
        `${digits(before)} to ${digits(after)} requests a second (${change(before, after)}), ` +
        `latency ${latency('p50')} in the median and ${latency('p99')} at the 99th percentile, ` +
        `occupied threads on average ${digits(base.get('occupied.mean')!)} to ${digits(estimate.get('occupied.mean')!)}`
    );
}

function brings(estimate: Figures, base: Figures): string {
    if (isService) return serves(estimate, base);
    const wall = estimate.get('wall')!;
    const peak = estimate.get('occupied.peak')!;
    return (
        `wall ${duration(base.get('wall')!)} to ${duration(wall)} (${change(base.get('wall')!, wall)}), ` +
        `occupied threads at peak ${digits(base.get('occupied.peak')!)} to ${digits(peak)}, ` +
        `on average ${digits(base.get('occupied.mean')!)} to ${digits(estimate.get('occupied.mean')!)}`
    );
}

// What the page is of, where the trace did not fit, and what the command found of the whole.
function Part() {
    const part = report.part;
    if (!part) return null;
    return (
        <div class="note">
            <p>
                <strong>This page is of a part of the run:</strong> {duration(part.from_ns)} to {duration(part.to_ns)} of{' '}
                {duration(part.of_ns)}, about as much around the middle as fits. All figures below are of that part. What was
                queued or held as it begins is not known.
            </p>
            <p>
                Changes were searched for in that part.{' '}
                {part.changes.length > 0 && <strong>Of the whole run, of {plural(part.events, 'event')}, the command says: </strong>}
                {part.changes.length === 0
                    ? 'Nothing that was tried pays there; the whole run was not searched.'
                    : part.estimate
                      ? `${part.changes.join('; ')} brings ${brings(figuresOf(part.estimate), figuresOf(part.base!))}.`
                      : part.why
                        ? `what ${part.changes.join('; ')} brings it can't tell: ${part.why}.`
                        : `with ${part.changes.join('; ')} it could not end.`}
            </p>
            {part.actual && (
                <p>
                    <strong>The whole run of the changed program</strong> really brought{' '}
                    {brings(figuresOf(part.actual), figuresOf(part.base!))}. It is not drawn below, where all is of the part.
                </p>
            )}
        </div>
    );
}

// Where no plan makes the run better at no cost: the single change with the shortest run, and what it costs.
function Fastest() {
    const told = (1 - Math.max(0.01, report.suggestions.null_replay_error)) * base.get('wall')!;
    const trades = report.suggestions.improvements.filter((i) => i.estimate && figuresOf(i.estimate).get('wall')! < told);
    const wall = (i: Improvement) => figuresOf(i.estimate!).get('wall')!;
    const front = report.suggestions.front.filter((p) => p.improvements.length === 1).map((p) => p.improvements[0]!);
    const fastest = trades.filter((i) => front.includes(i.id)).sort((a, b) => wall(a) - wall(b))[0];
    if (!fastest) return null;
    return (
        <p>
            <strong>Fastest, at a cost:</strong> {report.switches[switchOf(fastest.id)]?.text} brings{' '}
            {brings(figuresOf(fastest.estimate!), base)}.
        </p>
    );
}

export function Headline() {
    const plan = report.plan;
    const chosen = plan.switches.map((s) => report.switches[s]!.text);
    return (
        <section id="answer" class="answer">
            <Part />
            {plan.stuck ? (
                <p class="bad">
                    Don't make this change: the run could not end. {plan.stuck}
                </p>
            ) : chosen.length === 0 ? (
                <>
                    <p>
                        <strong>Nothing that was tried pays.</strong> {plural(report.suggestions.search.evaluated, 'plan')} of{' '}
                        {plural(report.suggestions.improvements.length, 'change')} were estimated, and none makes the run better
                        without making it worse elsewhere. The changes below say why.
                    </p>
                    <Fastest />
                </>
            ) : (
                <>
                    <p>
                        <strong>Change:</strong> {chosen.join('; ')}.
                    </p>
                    <p>
                        <strong>It brings:</strong> {brings(figuresOf(plan.estimate!), base)}.
                    </p>
                </>
            )}
            <p class="worth">
                The model is off by {(report.suggestions.null_replay_error * 100).toFixed(2)} % when nothing is changed
                {plan.interval && !isService ? <Interval name="wall_ns" text={duration} /> : null}.
            </p>
        </section>
    );
}

function intervalOf(name: string): { low: number; high: number } | null {
    const found = report.plan.interval?.[name];
    if (!Array.isArray(found) || found[0] === null || found[1] === null) return null;
    return { low: found[0], high: found[1] };
}

function Interval(props: { name: string; text: (value: number) => string }) {
    const found = intervalOf(props.name);
    if (!found) return null;
    return (
        <>
            ; by the accident of this one recording the wall time lies between {props.text(found.low)} and{' '}
            {props.text(found.high)}
        </>
    );
}

// ---- figures before and after

const rows: { name: string; what: string; text: (value: number) => string; interval?: string }[] = [
    { name: 'requests.throughput', what: 'requests a second', text: digits },
    { name: 'wall', what: 'wall time', text: duration, interval: 'wall_ns' },
    { name: 'occupied.peak', what: 'occupied threads, peak', text: digits, interval: 'occupied_peak' },
    { name: 'occupied.mean', what: 'occupied threads, mean', text: digits, interval: 'occupied_mean' },
    { name: 'active.mean', what: 'active threads, mean', text: digits },
    { name: 'waiting.mean', what: 'waiting threads, mean', text: digits },
    { name: 'blocked.mean', what: 'blocked threads, mean', text: digits },
    { name: 'unoccupied.mean', what: 'unoccupied threads, mean', text: digits },
    { name: 'thread_time', what: 'thread-time', text: duration },
    { name: 'tasks.count', what: 'tasks', text: digits },
    { name: 'tasks.overhead_share', what: 'overhead share', text: (v) => percent(v).replace('+', '') },
    { name: 'tasks.idle_share', what: 'idle share', text: (v) => percent(v).replace('+', '') },
    { name: 'requests.latency.p50', what: 'request latency, median', text: duration },
    { name: 'requests.latency.p95', what: 'request latency, 95th percentile', text: duration },
    { name: 'requests.latency.p99', what: 'request latency, 99th percentile', text: duration },
    { name: 'composite', what: 'composite', text: digits, interval: 'composite' },
    { name: 'balanced', what: 'balanced', text: digits },
];

export function FigureTable() {
    const now = figures.value;
    const actual = report.actual && figuresOf(report.actual.metrics);
    const command = commandSays.value;
    const quantised = report.carried.quantum_ns > 1;
    const shown = rows.filter((row) => Number.isFinite(base.get(row.name) ?? NaN));
    return (
        <div aria-live="polite" aria-busy={busy.value}>
            <div class="scroll" tabIndex={0} role="region" aria-label="figures before and after">
            <table>
                <thead>
                    <tr>
                        <th scope="col">figure</th>
                        <th scope="col">recorded</th>
                        <th scope="col">estimated</th>
                        <th scope="col">change</th>
                        <th scope="col">interval</th>
                        {quantised && <th scope="col">the command's estimate</th>}
                        {actual && <th scope="col">actual</th>}
                        {actual && <th scope="col">error</th>}
                    </tr>
                </thead>
                <tbody>
                    {shown.map((row) => {
                        const before = base.get(row.name)!;
                        const after = now?.get(row.name) ?? NaN;
                        const interval = isFirstPlan.value && row.interval ? intervalOf(row.interval) : null;
                        const really = actual?.get(row.name) ?? NaN;
                        return (
                            <tr data-figure={row.name} data-value={after}>
                                <th scope="row">{row.what}</th>
                                <td>{row.text(before)}</td>
                                <td>{row.text(after)}</td>
                                <td>{change(before, after)}</td>
                                <td>{interval ? `${row.text(interval.low)} to ${row.text(interval.high)}` : '-'}</td>
                                {quantised && <td>{row.text(command?.get(row.name) ?? NaN)}</td>}
                                {actual && <td>{row.text(really)}</td>}
                                {actual && <td>{change(really, after)}</td>}
                            </tr>
                        );
                    })}
                </tbody>
            </table>
            </div>
            <Worth />
        </div>
    );
}

function Worth() {
    return (
        <p class="worth">
            Model {report.model}: off by {(report.suggestions.null_replay_error * 100).toFixed(2)} % when nothing is changed.{' '}
            {isFirstPlan.value && report.plan.interval
                ? `The interval has 90 of 100 variations of this recording, by ${report.plan.interval.replicates} of them, in which tasks take what tasks like them took; what all tasks of a run share is not in it, so runs may differ by more.`
                : 'The page gives no interval for this combination: `rehype estimate` does.'}
            {report.carried.quantum_ns > 1 &&
                ` Times in this page are rounded to ${duration(report.carried.quantum_ns)}, so that the trace fits.`}
            {estimated.value && ` Estimated here in ${duration(estimated.value.ms * 1e6)}.`}
        </p>
    );
}

// ---- a plan that halts, as its cycle

function Chain(props: { text: string }) {
    const steps = props.text.split(/ waits for /);
    if (steps.length < 2) return <p>{props.text}</p>;
    return (
        <ol class="cycle" aria-label="who waits for whom">
            {steps.map((step, i) => (
                <li>
                    {step}
                    {i + 1 < steps.length && <span class="waits"> waits for</span>}
                </li>
            ))}
        </ol>
    );
}

export function Outcome() {
    const now = estimated.value;
    if (progress.value) return <p class="wait" role="status">The page reads its trace: {progress.value} ...</p>;
    if (broken.value)
        return (
            <p class="note" role="status">
                {broken.value}{' '}
                {figures.value
                    ? 'What the command estimated is shown.'
                    : 'The command did not estimate this combination: turn one switch on alone, or a plan of the list.'}
            </p>
        );
    if (!now || now.outcome === 'done') return null;
    return (
        <div class="bad" role="alert">
            <p>
                {now.outcome !== 'stuck'
                    ? 'These changes are refused:'
                    : `Under these changes the run could not end, by ${now.stuck?.starves ? 'starvation' : 'deadlock'}:`}
            </p>
            <Chain text={now.message} />
            {now.stuck && now.stuck.count > 0 && <p>The timeline marks these tasks where they ran as recorded, with arrows to what each waits for.</p>}
        </div>
    );
}

// ---- concurrency over time

interface ProfileLine {
    wall: number;
    values: ArrayLike<number | null>;
}
const drawn = signal<ProfileLine | null>(null);
const drawnRecorded = signal<ProfileLine | null>(null); // of virtual threads, which the page has to work out
effect(() => {
    const state = STATES.indexOf(profileState.value);
    const virtual = ofVirtual.value;
    estimates.value;
    if (!opened.value) return;
    const ask = (run: core.Run) => core.profile(run, state, virtual, report.profile.bins);
    if (virtual) void ask(core.RECORDED).then((made) => (drawnRecorded.value = made));
    if (estimated.value?.outcome === 'done') void ask(core.ESTIMATED).then((made) => (drawn.value = made));
});

// The first plan's was drawn by the command, which the page shows until it has its own.
const estimatedProfile = computed<ProfileLine | null>(() => {
    if (estimated.value && estimated.value.outcome !== 'done') return null;
    if (drawn.value) return drawn.value;
    const told = isFirstPlan.value && !ofVirtual.value ? report.plan.profile : undefined;
    return told ? { wall: told.wall_ns, values: told.states[profileState.value] } : null;
});
const recordedProfile = computed<ProfileLine>(() =>
    ofVirtual.value
        ? (drawnRecorded.value ?? { wall: report.profile.wall_ns, values: [] })
        : { wall: report.profile.wall_ns, values: report.profile.states[profileState.value] },
);
const hasVirtual = (report.metrics.virtual_threads.occupied?.max ?? 0) > 0;

// One axis of time for all: a run that ends earlier has no threads after its end.
function onAxis(line: ProfileLine, axis: number[]): (number | null)[] {
    const bins = line.values.length;
    return axis.map((time) => {
        const bin = Math.floor((time / line.wall) * bins);
        return bin < bins ? (line.values[bin] ?? null) : null;
    });
}

export function Concurrency() {
    const state = profileState.value;
    const recorded = recordedProfile.value;
    const after = estimatedProfile.value;
    const told = ofVirtual.value ? undefined : report.actual?.profile;
    const actual = told && { wall: told.wall_ns, values: told.states[state] };
    const longest = Math.max(recorded.wall, after?.wall ?? 0, actual?.wall ?? 0);
    const bins = report.profile.bins;
    const axis = Array.from({ length: bins }, (_, i) => ((i + 0.5) / bins) * longest);
    const lines: Line[] = [
        { label: 'recorded', values: onAxis(recorded, axis), stroke: '--ghost', fill: '--ghost-fill', dash: [5, 4] },
    ];
    if (after) lines.push({ label: 'estimated', values: onAxis(after, axis), stroke: '--after' });
    if (actual) lines.push({ label: 'actual', values: onAxis(actual, axis), stroke: '--actual' });
    const none = recorded.values.length === 0 || Array.from(recorded.values).every((v) => v === null);
    return (
        <section id="concurrency">
            <h2>Concurrency</h2>
            <fieldset class="choice">
                <legend>threads that are</legend>
                {STATES.map((s) => (
                    <label>
                        <input type="radio" name="state" checked={s === state} onChange={() => (profileState.value = s)} /> {s}
                    </label>
                ))}
            </fieldset>
            {hasVirtual && (
                <label>
                    <input
                        type="checkbox"
                        checked={ofVirtual.value}
                        disabled={!opened.value}
                        onChange={(e) => (ofVirtual.value = (e.target as HTMLInputElement).checked)}
                    />{' '}
                    of virtual threads
                </label>
            )}
            {none ? (
                <Empty why={`This trace does not tell which threads are ${state}.`} />
            ) : (
                <Chart
                    title={`${ofVirtual.value ? 'Virtual threads' : 'Threads'} that are ${state}, over time`}
                    x={{ label: 'time', values: axis, text: duration }}
                    y={{ label: 'threads', text: digits }}
                    lines={lines}
                />
            )}
        </section>
    );
}

// ---- switches

function downloadPlan() {
    const plan = {
        schema: 'rehype.plan/1',
        trace: report.trace.split('/').pop(),
        improvements: [...on.value].sort((a, b) => a - b).map((s) => report.switches[s]!.item),
    };
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([JSON.stringify(plan, null, 4), '\n'], { type: 'application/json' }));
    link.download = 'plan.json';
    link.click();
    URL.revokeObjectURL(link.href);
}

function SwitchRow(props: { index: number }) {
    const { index } = props;
    const improvement = improvementOf(index);
    const why = hindrance(index);
    const isOn = on.value.has(index);
    const alone = improvement?.estimate;
    return (
        <li class={isOn ? 'switch on' : 'switch'} data-switch={index}>
            <label>
                <input
                    type="checkbox"
                    role="switch"
                    checked={isOn}
                    disabled={!isOn && why !== ''}
                    onChange={(e) => turn(index, (e.target as HTMLInputElement).checked)}
                />
                <span class="name">{report.switches[index]!.text}</span>
            </label>
            <p class="gain">
                {alone
                    ? `alone: wall ${change(base.get('wall')!, alone.wall_ns)}, threads at peak ${change(base.get('occupied.peak')!, alone.threads.occupied.peak ?? NaN)}, on average ${change(base.get('occupied.mean')!, alone.threads.occupied.mean ?? NaN)}`
                    : improvement
                      ? 'alone: no estimate'
                      : 'of the plan that was given'}
                {improvement && `; ${plural(improvement.tasks, improvement.of_messages ? 'message' : 'task')}`}
                {improvement?.site?.file && `; ${improvement.site.file}:${improvement.site.line}`}
            </p>
            {improvement && <p class="why">{improvement.why}</p>}
            {!isOn && why && <p class="why">Can't be turned on now: {why}.</p>}
            {improvement?.warnings.map((w) => <p class="check">Check: {w}</p>)}
            {improvement?.sketch && <Sketch sketch={improvement.sketch} />}
        </li>
    );
}

function Sketch(props: { sketch: { before: string; after: string; watch: string[] } }) {
    return (
        <details>
            <summary>How to make the change</summary>
            <div class="sketch">
                <div>
                    <h4>Before</h4>
                    <pre tabIndex={0}>{props.sketch.before}</pre>
                </div>
                <div>
                    <h4>After</h4>
                    <pre tabIndex={0}>{props.sketch.after}</pre>
                </div>
            </div>
            {props.sketch.watch.map((w) => (
                <p class="check">{w}</p>
            ))}
        </details>
    );
}

export function Switches() {
    const count = report.switches.length;
    return (
        <section id="changes">
            <h2>Changes</h2>
            {count === 0 ? (
                <Empty why="The run has no task that could be changed: each spawn was unseen, or its tasks are periodic or delayed." />
            ) : (
                <>
                    <p>
                        Turn changes on and off: the figures, the chart and the timeline follow. Those that gain most come first.
                    </p>
                    <p class="buttons">
                        <button type="button" onClick={() => turnAll([])}>All off</button>
                        <button type="button" onClick={() => turnAll(report.plan.switches)}>The first plan</button>
                        <button type="button" onClick={downloadPlan}>Download plan.json</button>
                    </p>
                    <ul class="switches">
                        {report.switches.map((_, i) => (
                            <SwitchRow index={i} />
                        ))}
                    </ul>
                </>
            )}
        </section>
    );
}

// ---- the front

export function Front() {
    const front = report.suggestions.front;
    const bySize = [...front].sort((a, b) => a.wall - b.wall);
    const points: Line[] = [
        { label: 'mean of occupied threads', values: bySize.map((p) => p.occupied_mean), stroke: '--after', points: true },
    ];
    const names = (ids: number[]) =>
        ids.map((id) => report.switches[switchOf(id)]?.text ?? `change ${id}`).join('; ') || 'no change';
    return (
        <section id="front">
            <h2>What can be had</h2>
            {front.length === 0 ? (
                <Empty why="No change that was tried is better than the run in wall time, threads or number of changes." />
            ) : (
                <>
                    <p>Nothing that was tried beats one of these in wall time, threads and number of changes at once.</p>
                    {front.length > 1 && (
                        <Chart
                            title="Wall time against occupied threads"
                            x={{ label: 'wall time', values: bySize.map((p) => p.wall), text: duration }}
                            y={{ label: 'threads', text: digits }}
                            lines={points}
                            height={200}
                        />
                    )}
                    <ul class="front">
                        {front.map((p) => (
                            <li>
                                <button type="button" onClick={() => turnAll(p.improvements.map(switchOf))}>
                                    {duration(p.wall)} with {digits(p.occupied_mean)} threads
                                </button>{' '}
                                {names(p.improvements)}
                            </li>
                        ))}
                    </ul>
                </>
            )}
        </section>
    );
}

// ---- sizes of tasks

const palette = ['--c0', '--c1', '--c2', '--c3', '--c4', '--c5', '--c6', '--c7'];

export function Sizes() {
    const largest = [...report.sizes].sort((a, b) => b.tasks - a.tasks).slice(0, palette.length);
    const all = [...new Set(largest.flatMap((s) => s.sorted_ns.map((v) => Math.max(1, v))))].sort((a, b) => a - b);
    const lines: Line[] = largest.map((s, i) => ({
        label: `${s.name}${s.grain ? ` (${s.grain})` : ''}`,
        stroke: palette[i]!,
        values: all.map((v) => {
            const below = s.sorted_ns.filter((size) => Math.max(1, size) <= v).length;
            return below === 0 ? 0 : ((below - 1) / (s.sorted_ns.length - 1)) * 100;
        }),
    }));
    return (
        <section id="sizes">
            <h2>How large tasks are</h2>
            {largest.length === 0 ? (
                <Empty why="The run has no task with a start and an end." />
            ) : (
                <>
                    <Chart
                        title="Share of tasks that compute no longer than this, by spawn site"
                        x={{ label: 'computing', values: all, log: true, text: duration }}
                        y={{ label: '% of tasks', text: digits, max: 100 }}
                        lines={lines}
                    />
                    <Table
                        label="sizes of tasks by site"
                        head={['site', 'tasks', 'least', 'median', 'largest', 'grain']}
                        rows={report.sizes.map((s) => [
                            s.name,
                            digits(s.tasks),
                            duration(s.sorted_ns[0]!),
                            duration(s.sorted_ns[(s.sorted_ns.length - 1) / 2]!),
                            duration(s.sorted_ns[s.sorted_ns.length - 1]!),
                            s.grain ?? 'fits',
                        ])}
                        most={40}
                    />
                </>
            )}
        </section>
    );
}

// ---- the machine

export function Machine() {
    const { samples, pauses } = report.machine;
    const times = samples.map((s) => (s[0]! + s[1]!) / 2);
    const compiled = samples.reduce((sum, s) => sum + (s[5] ?? 0) * (s[1]! - s[0]!), 0);
    const tellsCompilers = samples.some((s) => typeof s[5] === 'number');
    return (
        <section id="machine">
            <h2>The machine</h2>
            {samples.length < 2 ? (
                <Empty why="The trace has fewer than two samples of the machine: the run was shorter than a tenth of a second, or the trace is an estimate." />
            ) : (
                <Chart
                    title={`Cores that were busy, and context switches; of ${plural(report.cores, 'core')}. GC pauses are shaded.`}
                    x={{ label: 'time', values: times, text: duration }}
                    y={{ label: 'cores', text: digits }}
                    second={{ label: 'switches/s', text: digits }}
                    lines={[
                        { label: 'the machine', values: samples.map((s) => s[3] ?? null), stroke: '--ghost', fill: '--ghost-fill' },
                        { label: 'the program, with GC and compilers', values: samples.map((s) => s[2] ?? null), stroke: '--after' },
                        ...(tellsCompilers ? [{ label: "the JVM's compilers", values: samples.map((s) => s[5] ?? null), stroke: '--c2' }] : []),
                        { label: 'context switches a second', values: samples.map((s) => s[4] ?? null), stroke: '--c1', scale: 'second' },
                    ]}
                    bands={pauses.map((p) => [p[0]!, p[1]!])}
                />
            )}
            <p>
                {pauses.length === 0
                    ? 'No GC pause.'
                    : `${plural(pauses.length, 'GC pause')}, ${duration(pauses.reduce((sum, p) => sum + p[1]! - p[0]!, 0))} in all.`}
                {tellsCompilers && ` The JVM's compilers computed for ${duration(compiled)} in all.`}
                {samples.length > 1 && !tellsCompilers && ' What its compilers computed this trace does not tell.'}
            </p>
        </section>
    );
}

// ---- waits and resources

const number = (value: unknown) => (typeof value === 'number' ? value : NaN);
const places = (list: unknown) =>
    Array.isArray(list) && list.length ? place((list[0] as { site: never }).site ?? (list[0] as never)) : '-';

export function Waits() {
    const { waits, blockers, resources } = report.metrics;
    return (
        <section id="waits">
            <h2>What threads wait for</h2>
            {resources.length === 0 && waits.length === 0 && blockers.length === 0 && <Empty why="No thread waited for anything that was seen." />}
            {resources.length > 0 && (
                <>
                    <h3>Resources</h3>
                    <Table
                        label="resources, with holders and waiters"
                        head={['resource', 'capacity', 'held, mean', 'waits', 'waited', 'gave up', 'waited for at', 'held from']}
                        rows={resources.map((r) => [
                            r.name,
                            r.capacity === null ? '-' : digits(r.capacity),
                            digits(number(r.holders_mean)),
                            digits(number(r.waits)),
                            duration(number(r.wait_ns)),
                            digits(number(r.timed_out)),
                            places(r.waits_at),
                            places(r.held_at),
                        ])}
                        most={40}
                    />
                </>
            )}
            {waits.length > 0 && (
                <>
                    <h3>Results</h3>
                    <Table
                        label="where threads wait for results"
                        head={['where', 'waits', 'in all', 'longest']}
                        rows={waits.map((w) => [place(w.site), digits(w.waits), duration(w.total_ns), duration(w.longest_ns)])}
                        most={40}
                    />
                </>
            )}
            {blockers.length > 0 && (
                <>
                    <h3>What blocks threads</h3>
                    <Table
                        label="what blocks threads"
                        head={['for', 'where', 'times', 'in all']}
                        rows={blockers.map((b) => [
                            b.resource ?? b.class ?? 'not known',
                            place(b.site),
                            digits(b.times),
                            duration(b.total_ns),
                        ])}
                        most={40}
                    />
                </>
            )}
        </section>
    );
}

// ---- actors

const median = (of: unknown) => number((of as { p50?: number } | null)?.p50);

function Latency() {
    const paths = report.metrics.latency?.paths ?? [];
    if (paths.length === 0) return <Empty why="No message led to another: there is no path along which to follow latency." />;
    return (
        <>
            <h3>Latency along paths of messages</h3>
            {paths.slice(0, 8).map((p) => (
                <figure>
                    <figcaption>
                        {p.path}: {duration(number(p.latency_ns.mean))} on average over {plural(p.chains, 'chain')}
                    </figcaption>
                    <div class="segments" role="img" aria-label={p.segments.map((s) => `segment ${s.span} of step ${s.step}: ${(s.share * 100).toFixed(0)} %`).join(', ')}>
                        {p.segments.map((s) => (
                            <span
                                style={{ flexGrow: Math.max(0.001, s.share), background: `var(${palette[s.span % palette.length]})` }}
                                title={`segment ${s.span} of step ${s.step}: ${duration(number(s.ns.mean))}, ${(s.share * 100).toFixed(1)} %`}
                            >
                                {s.share > 0.08 ? `${s.span}: ${(s.share * 100).toFixed(0)} %` : ''}
                            </span>
                        ))}
                    </div>
                    <Slices path={p} />
                </figure>
            ))}
        </>
    );
}

function Slices(props: { path: LatencyPath }) {
    const means = props.path.slices?.values ?? [];
    if (means.filter((m) => m !== null).length < 2) return null;
    const step = report.profile.wall_ns / means.length;
    return (
        <Chart
            title={`Latency of ${props.path.path} over time`}
            x={{ label: 'time', values: means.map((_, i) => (i + 0.5) * step), text: duration }}
            y={{ label: 'latency', text: duration }}
            lines={[{ label: 'mean', values: means, stroke: '--after' }]}
            height={160}
        />
    );
}

export function Actors() {
    const { actors, messages } = report.metrics;
    const types = (actors?.types ?? []) as Record<string, unknown>[];
    if (types.length === 0 && !messages) return null;
    return (
        <section id="actors">
            <h2>Actors and messages</h2>
            <h3>Actors by type</h3>
            <Table
                label="actors by type"
                head={['type', 'actors', 'stopped', 'received', 'sent', 'utilisation']}
                rows={types.map((t) => [
                    String(t.type),
                    digits(number(t.count)),
                    digits(number(t.stopped)),
                    digits(number(t.received)),
                    digits(number(t.sent)),
                    digits(typeof t.utilisation === 'number' ? t.utilisation : median(t.utilisation)),
                ])}
                most={40}
            />
            {messages && <h3>Messages by type</h3>}
            {messages && (
                <Table
                    label="messages by type"
                    head={['message', 'sent', 'received', 'median processing', 'median wait in the mailbox']}
                    rows={messages.types.map((t) => [
                        String(t.type),
                        digits(number(t.sent)),
                        digits(number(t.received)),
                        duration(median(t.processing_ns)),
                        duration(median(t.queue_wait_ns)),
                    ])}
                    most={40}
                />
            )}
            <Latency />
        </section>
    );
}

// ---- warnings, and what the page is

export function Warnings() {
    return (
        <section id="warnings">
            <h2>What to know of this recording</h2>
            {report.lost_events > 0 && <p class="bad">{plural(report.lost_events, 'event')} were lost: figures and estimates lack them.</p>}
            {report.warnings.length === 0 && report.lost_events === 0 && <p>Nothing was lost, and there are no warnings.</p>}
            <ul>
                {report.warnings.map((w) => (
                    <li>{w}</li>
                ))}
            </ul>
        </section>
    );
}

export function About() {
    return (
        <footer>
            <p>
                Made by rehype {report.version} from {report.trace.split('/').pop()} ({plural(report.events, 'event')}). This page holds the
                estimator as WebAssembly, which is free software under the GNU General Public License, version 3 or later, and
                comes without any warranty; its source is rehype's. It also holds preact and @preact/signals (MIT licence,
                Copyright (c) 2015-present Jason Miller, 2022-present Preact Team) and uPlot (MIT licence, Copyright (c) 2022
                Leon Sorokin).
            </p>
        </footer>
    );
}

export { Timeline };
