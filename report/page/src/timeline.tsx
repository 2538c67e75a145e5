// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline: boards of lanes over the same time, what is selected in them, and the same as tables.
import { useEffect, useRef } from 'preact/hooks';
import { effect, useSignal } from '@preact/signals';
import * as core from './core';
import { Table } from './chart';
import { digits, duration, report } from './data';
import { draw, namesWidth, placeAt } from './lanes_draw';
import {
    boards,
    countOf,
    critical,
    keys,
    lanes,
    overview,
    pan,
    range,
    select,
    show,
    span,
    startOf,
    STATE_COLOURS,
    step,
    used,
    zoom,
    type Board,
} from './lanes_state';
import { Removal } from './removal';
import { broken, estimated, estimates, on, opened, progress, run, selected, turn, view } from './state';

async function choose(canvas: HTMLCanvasElement, board: Board, event: MouseEvent) {
    const place = placeAt(canvas, board, event);
    if (place && opened.value) select(await core.at(run.value, place[0], place[1]), board);
}

// ---- what is selected

function factsOf(of: core.Span): [string, string][] {
    const facts: [string, string][] = [
        ['thread', of.thread],
        ['from', duration(of.from_ns)],
        ['for', duration(of.to_ns - of.from_ns)],
    ];
    if (of.also && lanes.value && of.kind === 'task') facts.unshift(['actor', lanes.value.names[of.also.lane] ?? '-']);
    if (of.site) facts.push([of.kind === 'task' || of.kind === 'spawn' ? 'spawned at' : 'at', of.site]);
    if (of.pool) facts.push(['pool', of.pool]);
    if (of.resource) facts.push(['resource', of.resource]);
    if (of.queued_ns != null) facts.push(['queued', duration(of.queued_ns)]);
    if (of.computed_ns != null) facts.push(['computed', duration(of.computed_ns)]);
    return facts;
}

const isWait = (of: core.Span) => of.kind === 'waiting' || of.kind === 'blocked';

function Detail() {
    const of = span.value;
    if (!of)
        return (
            <p class="hint">
                Click a span, or choose one from a table, to see what it is, what it waited for, and which changes concern it.
            </p>
        );
    return (
        <div class="detail" aria-live="polite">
            <h3>{!of.name || of.name.startsWith(of.kind) ? (of.name ?? of.kind) : `${of.kind}: ${of.name}`}</h3>
            {of.for && <p>{of.kind === 'idle' ? `Idle: ${of.for}.` : `It waited for ${of.for}.`}</p>}
            <dl>
                {factsOf(of).map(([name, value]) => (
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
            {isWait(of) && run.value === core.RECORDED ? <Removal key={of.vertex} vertex={of.vertex} /> : <Concerned of={of} />}
            {of.arrows.length > 0 && <Arrows of={of} />}
        </div>
    );
}

function Concerned(props: { of: core.Span }) {
    if (props.of.switches.length === 0) return null;
    return (
        <>
            <h4>Changes that concern it</h4>
            <ul>
                {props.of.switches.map((s) => (
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
    );
}

function Alone(props: { index: number }) {
    const id = report.switches[props.index]?.improvement;
    const estimate = report.suggestions.improvements.find((i) => i.id === id)?.estimate;
    return estimate ? <span class="gain"> alone: wall {duration(report.suggestions.base.wall_ns)} to {duration(estimate.wall_ns)}</span> : null;
}

function Arrows(props: { of: core.Span }) {
    return (
        <Table
            label="arrows of the selected span"
            head={['what', 'thread or row', 'at']}
            rows={props.of.arrows.map((a) => [a.what, lanes.value?.names[a.lane] ?? String(a.lane), duration(a.time_ns)])}
            most={30}
        />
    );
}

// ---- a board

interface Row {
    lane: number;
    from: number;
    to: number;
    state: number;
    vertex: number;
}

const ROWS = 200; // of a table

function spansOf(made: core.Lanes): Row[] {
    const spans: Row[] = [];
    for (let i = 0; i < made.count; i++) {
        const [lane, from, to, state, vertex] = made.records.subarray(i * core.LANE_FIELDS) as unknown as number[];
        if (vertex! >= 0) spans.push({ lane: lane!, from: from!, to: to!, state: state!, vertex: vertex! });
    }
    return spans;
}

function longest(spans: Row[]): Row[] {
    const least = spans.map((s) => s.to - s.from).sort((a, b) => b - a)[ROWS - 1]!;
    return spans.filter((s) => s.to - s.from >= least).slice(0, ROWS);
}

function VisibleTable(props: { board: Board }) {
    const { board } = props;
    const made = board.drawn.value;
    const named = lanes.value?.names ?? [];
    if (!made) return null;
    const states = new Map(board.states);
    const wide = spansOf(made);
    const spans = wide.length <= ROWS ? wide : longest(wide);
    return (
        <div class="scroll" tabIndex={0} role="region" aria-label={`${board.id}: spans that are wide enough to be seen`}>
            <table>
                <thead>
                    <tr>
                        <th scope="col">{board.id === 'threads' ? 'thread' : board.id === 'actors' ? 'actor' : 'resource'}</th>
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
                            <td>{states.get(s.state) ?? '-'}</td>
                            <td>{duration(s.from)}</td>
                            <td>{duration(s.to - s.from)}</td>
                            <td>
                                <button type="button" disabled={!opened.value} onClick={() => select(s.vertex, board)}>select</button>
                            </td>
                        </tr>
                    ))}
                </tbody>
            </table>
            {spans.length < wide.length && <p>The {spans.length} longest; {digits(wide.length - spans.length)} shorter ones are left out: zoom in to have them.</p>}
        </div>
    );
}

// Draws the board whenever what it shows changes, and asks for what it lacks. Returns how to end that.
function keepDrawn(at: HTMLCanvasElement, board: Board): () => void {
    const stopAsking = effect(() => {
        const [from, to] = range();
        const first = startOf(board) + board.first.value;
        const count = Math.min(board.most, countOf(board) - board.first.value);
        estimates.value;
        if (!lanes.value || !opened.value || count <= 0) return;
        const width = Math.max(200, at.clientWidth - namesWidth(at.clientWidth));
        void core.lanes(run.value, from, to, width, first, count).then((made) => (board.drawn.value = made));
    });
    const stopDrawing = effect(() => {
        board.drawn.value;
        span.value;
        critical.value;
        lanes.value;
        estimated.value;
        draw(at, board);
    });
    const redraw = () => draw(at, board);
    const wheel = (event: WheelEvent) => {
        if (!event.ctrlKey && !event.shiftKey) return;
        event.preventDefault();
        const box = at.getBoundingClientRect();
        const left = namesWidth(box.width);
        zoom(event.deltaY > 0 ? 1.25 : 0.8, Math.max(0, (event.clientX - box.left - left) / (box.width - left)));
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
}

const HINTS: Record<Board['id'], string> = {
    threads: 'Ctrl and the wheel zoom. A bar that is paler stands for several spans too narrow to be drawn.',
    resources:
        'Each resource has a row for each of its holders at one time, and below these one for each waiter, up to 8. Those that were waited for longest come first. Arrows show who freed it for whom.',
    actors: 'Those that were busy longest come first. Arrows show who sent what to whom.',
};

function BoardView(props: { board: Board }) {
    const { board } = props;
    const canvas = useRef<HTMLCanvasElement>(null);
    const tableOpen = useSignal(false);
    const count = countOf(board);
    useEffect(() => (canvas.current ? keepDrawn(canvas.current, board) : undefined), [opened.value !== null]);
    return (
        <div class="board">
            <h3>{board.title}</h3>
            <ul class="legend">
                {board.states.map(([state, name]) => (
                    <li>
                        <span style={{ background: `var(${STATE_COLOURS[state]})` }} /> {name}
                    </li>
                ))}
            </ul>
            <canvas
                ref={canvas}
                tabIndex={0}
                role="application"
                data-board={board.id}
                aria-label={`${board.title} over time. Keys: plus and minus zoom, arrows move, Enter zooms to what is selected, [ and ] step along its arrows, Escape lets go. The table below has the same spans.`}
                onClick={(e) => void choose(e.currentTarget as HTMLCanvasElement, board, e)}
                onKeyDown={(e) => {
                    const act = keys[e.key];
                    if (!act || e.ctrlKey || e.metaKey || e.altKey) return;
                    e.preventDefault();
                    act(board);
                }}
            />
            <p class="hint">
                {digits(count)} {board.id === 'resources' ? 'rows' : board.id}
                {count > board.most ? `, of which ${board.most} are shown from number ${board.first.value + 1} on (up and down keys)` : ''}. {HINTS[board.id]}
            </p>
            {opened.value && used.value === board && <Detail />}
            <details onToggle={(e) => (tableOpen.value = (e.target as HTMLDetailsElement).open)}>
                <summary>{board.title} as a table</summary>
                {tableOpen.value && <VisibleTable board={board} />}
            </details>
        </div>
    );
}

// ---- the part

function Controls() {
    const showsPath = useSignal(false);
    const turnPath = (to: boolean) => {
        showsPath.value = to;
        if (to) void core.criticalPath(run.value).then((made) => (critical.value = made));
        else critical.value = null;
    };
    const look = (at: core.Run) => {
        selected.value = -1;
        run.value = at;
    };
    return (
        <p class="buttons">
            <label><input type="radio" name="run" checked={run.value === core.RECORDED} onChange={() => look(core.RECORDED)} /> recorded</label>
            <label><input type="radio" name="run" disabled={!opened.value} checked={run.value === core.ESTIMATED} onChange={() => look(core.ESTIMATED)} /> estimated</label>
            <label>
                <input
                    type="checkbox"
                    disabled={!opened.value}
                    checked={showsPath.value}
                    onChange={(e) => turnPath((e.target as HTMLInputElement).checked)}
                />{' '}
                critical path
            </label>
            <button type="button" aria-label="zoom in" onClick={() => zoom(0.5)}>+</button>
            <button type="button" aria-label="zoom out" onClick={() => zoom(2)}>-</button>
            <button type="button" aria-label="earlier" onClick={() => pan(-0.5)}>←</button>
            <button type="button" aria-label="later" onClick={() => pan(0.5)}>→</button>
            <button type="button" onClick={() => (view.value = null)}>All</button>
        </p>
    );
}

export function Timeline() {
    const [threads, resources, actors] = boards as [Board, Board, Board];
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
                    <Controls />
                    <BoardView board={threads} />
                    {countOf(resources) > 0 && <BoardView board={resources} />}
                    {opened.value && lanes.value && countOf(resources) === 0 && (
                        <p class="empty">No resources: the trace tells of no lock, permit, connection or queue that a thread held or waited for.</p>
                    )}
                    {countOf(actors) > 0 && <BoardView board={actors} />}
                </>
            )}
        </section>
    );
}
