// SPDX-License-Identifier: GPL-3.0-or-later
// Usage: core_test.mjs BUILD_DIR ROOT WORK
// core.wasm against the commands and the native core: figures to the last bit, lanes, paths, profiles and spans to the
// last byte. Plans are those of the golden tests, and of each trace what `suggest` finds.
import {spawnSync} from 'node:child_process';
import {readFileSync, readdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {gzipSync} from 'node:zlib';
import {Core, module} from './core.mjs';

const [build, root, work] = process.argv.slice(2);
const wasm = join(build, 'report/page/core.wasm');
const compiled = module(wasm);
const MODELS = ['dag', 'pool', 'cpu'], DONE = 0, STUCK = 1, REFUSED = 2;
const MOST_PLANS = 6; // of a trace
let checks = 0, failures = 0;

function check(what, found, wanted) {
    checks++;
    if (Object.is(found, wanted)) return;
    failures++;
    if (failures <= 20) console.error(`FAILED: ${what}: ${found}, not ${wanted}`);
}

function run(program, ...operands) {
    const done = spawnSync(program, operands, {encoding: 'utf8', maxBuffer: 1 << 28, cwd: work});
    return {status: done.status, json: done.status === 0 ? JSON.parse(done.stdout) : null, stderr: done.stderr};
}
const WHOLE = ['--window', '..']; // of services a part is the default, which a page is told
const rehype = (...operands) => run(join(build, 'rehype'), ...operands);

// ---- figures as the commands write them

// cJSON writes 15 digits where these are within an epsilon of the number, which may be its neighbour.
function printed(value) {
    if (value === null) return null;
    const short = Number(value.toPrecision(15));
    return Math.abs(short - value) <= Math.max(Math.abs(short), Math.abs(value)) * Number.EPSILON ? short : value;
}
const rounded = value => value === null ? null : Math.round(value);
const quantiles = (name, of, keys) => keys.map(key => [`${name}.${key}`, of[key], key === 'mean' ? printed : rounded]);
const usage = (name, of) => ['peak', 'max', 'mean'].map(key => [`${name}.${key}`, of[key]]);

// Name, value, and how the page's is rounded.
function figuresOf(json) {
    const {tasks, requests, threads} = json, keys = ['mean', 'p20', 'p50', 'p80', 'p95', 'max'];
    return [
        ['wall', json.wall_ns], ['thread_time', json.thread_time_ns, rounded],
        ...Object.keys(threads).flatMap(state => usage(state, threads[state])),
        ['tasks.count', tasks.count], ['tasks.overhead_share', tasks.overhead_share],
        ['tasks.idle_share', tasks.idle_share], ['tasks.work', tasks.work_ns, rounded],
        ['tasks.span', tasks.span_ns, rounded],
        ...quantiles('tasks.granularity', tasks.granularity, keys),
        ...quantiles('tasks.queue_wait', tasks.queue_wait_ns, keys),
        ['requests.count', requests.count, rounded],
        ...quantiles('requests.latency', requests.latency_ns, ['p50', 'p95', 'p99']),
        ['requests.peak_threads', requests.peak_threads, rounded],
        ['requests.concurrent', requests.concurrent, rounded],
        ['requests.sustainable', requests.sustainable_per_s], ['cpu.utilisation', json.cpu.utilisation],
    ];
}

function compare(where, core, run, json) {
    const figures = core.figures(run);
    for (const [name, wanted, round] of figuresOf(json)) {
        if (!(name in figures)) throw new Error(`no figure ${name}`);
        check(`${where}: ${name}`, (round ?? printed)(figures[name]), wanted);
    }
    return figures;
}

// ---- what lanes, paths, profiles and spans are, as page_words sums them up

const view = new DataView(new ArrayBuffer(8));
function hash(sum, bytes) {
    for (const byte of bytes) sum = Math.imul(sum ^ byte, 16777619) >>> 0;
    return sum;
}
const hashDoubles = (sum, doubles) => hash(sum, new Uint8Array(doubles.buffer, doubles.byteOffset, doubles.byteLength));
const hashText = (sum, text) => hash(sum, new TextEncoder().encode(text));

function hashRun(core, run) {
    const {core: c} = core, length = c.page_run_ns(run), ALL = 0xffffffff, SPANS = 40;
    const lanes = c.page_lane_count(run) + c.page_resource_lane_count(run) + c.page_actor_lane_count(run);
    view.setFloat64(0, length, true);
    let sum = hash(2166136261, new Uint8Array(view.buffer));
    for (let lane = 0; lane < lanes; lane++) sum = hashText(sum, core.text(c.page_lane_name(run, lane)));
    sum = hashDoubles(sum, core.records(c.page_lanes(run, 0, length, 0, 0, ALL)));
    sum = hashDoubles(sum, core.records(c.page_lanes(run, length / 3, length / 2, 50, 0, ALL)));
    sum = hashDoubles(sum, core.records(c.page_critical_path(run)));
    for (let state = 0; state < 5; state++)
        sum = hashDoubles(sum, core.doubles(c.page_profile(run, state, 0, 0, length, 100), 100));
    for (let i = 0; i < SPANS; i++) {
        const span = c.page_at(run, i % (lanes + 1), length * (i + 0.5) / SPANS);
        sum = hashText(sum, core.text(c.page_span(run, span)));
    }
    return sum;
}

// ---- plans

function sitePlanned(site) {
    return `${site.class}.${site.method}:${site.line}` + (site.bci >= 0 ? `@${site.bci}` : '');
}

function suggestedPlans(trace) {
    const {json} = rehype('suggest', trace, '--json');
    return (json?.improvements ?? []).filter(i => i.context === null).slice(0, MOST_PLANS).map(({kind, site, params}) =>
        ({schema: 'rehype.plan/1', improvements: [{kind, ...(site ? {site: sitePlanned(site)} : {}), params}]}));
}

function goldenPlans(trace) {
    const folder = join(root, 'tests/golden/plans');
    return readdirSync(folder).map(name => {
        try {
            return JSON.parse(readFileSync(join(folder, name), 'utf8'));
        } catch {
            return {}; // one that is no JSON
        }
    }).filter(plan => plan.trace && trace.endsWith('/' + plan.trace));
}

// A plan by switches, natively, and by the command.
function tryPlan(where, trace, bytes, plan) {
    const file = join(work, 'plan.json');
    writeFileSync(file, JSON.stringify({...plan, trace}));
    const command = rehype('estimate', trace, ...WHOLE, '--apply', file, '--json', '-o', join(work, 'estimated.msgpack'));
    let model = 2, native;
    while (model >= 0 && !(native = run(join(build, 'page_words'), trace, file, String(model))).json) model--;
    if (model < 0) return 0; // the plan is none of this trace's
    const core = new Core(compiled);
    check(`${where}: opens`, core.open(bytes, model), true);
    const numbers = native.json.switches.map(one => core.addSwitch(one));
    const outcome = core.estimate(numbers);
    check(`${where}: outcome`, outcome, native.json.outcome);
    check(`${where}: message`, core.message(), native.json.message);
    if (outcome === STUCK || outcome === REFUSED)
        check(`${where}: the command says so, too`, command.status !== 0 && command.stderr.includes(core.message()), true);
    for (let r = 0; r < 3; r++) {
        const figures = Object.values(core.figures(r));
        figures.forEach((figure, f) => check(`${where}: run ${r}, figure ${f}`, figure, native.json.runs[r].figures[f]));
        check(`${where}: run ${r}, lanes`, hashRun(core, r), native.json.runs[r].hash);
    }
    if (outcome === DONE && command.json) {
        check(`${where}: model`, MODELS[model], command.json.model);
        compare(`${where}: base`, core, 0, command.json.base);
        const figures = compare(`${where}: estimated`, core, 2, command.json.estimated);
        check(`${where}: composite`, printed(figures.composite), command.json.composite);
        check(`${where}: balanced`, printed(figures.balanced), command.json.balanced);
        check(`${where}: replay error`, printed(core.core.page_replay_error()), command.json.null_replay_error);
    }
    core.core.page_close();
    return 1;
}

// Every byte of it may be wrong: nothing traps, and what is refused says why.
function damage(bytes) {
    const core = new Core(compiled);
    for (let at = 0; at < bytes.length; at += 1 + Math.floor(bytes.length / 300)) {
        const damaged = Uint8Array.from(bytes);
        damaged[at] ^= 0x55;
        if (!core.open(damaged, 1)) check('damage is refused with a message', core.message().length > 0, true);
        if (!core.open(bytes.subarray(0, at), 1)) check('a cut is refused with a message', core.message().length > 0, true);
    }
    check('opens after damage', core.open(bytes, 1), true);
}

// ---- all of it

const folder = name => readdirSync(join(root, name)).filter(file => file.endsWith('.msgpack')).map(file => join(root, name, file));
const traces = [...folder('tests/golden/traces'), ...folder('fixtures/traces').filter(file => /good-/.test(file)),
    ...['JoinInSupply', 'VirtualCrunch', 'LedgerLock', 'PermitGate'].map(name => join(root, `fixtures/traces/cases/${name}.msgpack`))];
let plans = 0;
for (const trace of traces) {
    const bytes = new Uint8Array(readFileSync(trace)), name = trace.split('/').pop();
    const core = new Core(compiled), metrics = rehype('metrics', trace, ...WHOLE, '--json');
    if (core.open(bytes, 2) || core.open(bytes, 1) || core.open(bytes, 0)) compare(name, core, 0, metrics.json);
    for (const plan of [{schema: 'rehype.plan/1', improvements: []}, ...goldenPlans(trace), ...suggestedPlans(trace)])
        plans += tryPlan(`${name}, ${JSON.stringify(plan.improvements)}`, trace, bytes, plan);
}
damage(new Uint8Array(readFileSync(join(root, 'tests/golden/traces/before.msgpack'))));
damage(new Uint8Array(readFileSync(join(root, 'fixtures/traces/good-v6.msgpack'))));
const bytes = readFileSync(wasm);
console.log(`core.wasm: ${bytes.length} bytes, ${gzipSync(bytes, {level: 9}).length} gzipped; asks for ` +
    WebAssembly.Module.imports(compiled).map(one => one.name).join(', '));
console.log(`core: ${traces.length} traces, ${plans} plans, ${checks - failures} passed, ${failures} failed`);
process.exit(failures ? 1 : 0);
