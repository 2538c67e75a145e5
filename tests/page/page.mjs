// SPDX-License-Identifier: GPL-3.0-or-later
// The page of a small trace, of one with actors, of one with virtual threads and of a large one: it opens without a
// word on the console, passes axe-core's rules, fits 360 and 1920 pixels, works by keyboard, and its switches give what
// `rehype estimate --json` says of the plan that the page itself writes.
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const { BROWSER, REHYPE, MAKER, WORK, ROOT, CACHE, PICTURES } = process.env;
const require = createRequire(path.join(CACHE, '/'));
const { chromium } = require('playwright-core');
const { AxeBuilder } = require('@axe-core/playwright');

const LARGEST_PAGE = 5e6;
const PLANS_TRIED = 12;

async function check(what, test) {
    try {
        await test();
        console.log(`ok ${what}`);
    } catch (error) {
        console.log(`FAIL ${what}: ${String(error.message ?? error).split('\n').slice(0, 6).join(' | ')}`);
    }
}

function must(condition, why) {
    if (!condition) throw new Error(why);
}

const rehype = (...args) =>
    execFileSync(REHYPE, args, { cwd: WORK, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 28 });

// ---- figures of METRICS by the names that the page has

function figureOf(metrics, name) {
    const quantity = {
        wall: metrics.wall_ns,
        thread_time: metrics.thread_time_ns,
        composite: metrics.composite,
        balanced: metrics.balanced,
        'tasks.count': metrics.tasks.count,
        'tasks.overhead_share': metrics.tasks.overhead_share,
        'tasks.idle_share': metrics.tasks.idle_share,
        'requests.latency.p50': metrics.requests?.latency_ns.p50,
        'requests.latency.p95': metrics.requests?.latency_ns.p95,
        'requests.latency.p99': metrics.requests?.latency_ns.p99,
        'requests.throughput': metrics.requests?.throughput_per_s,
    };
    if (name in quantity) return quantity[name];
    const [state, part] = name.split('.');
    return metrics.threads[state][part];
}

// JSON has times in whole nanoseconds, and other numbers in as few digits as come back within an epsilon.
const same = (page, json) =>
    json === null || json === undefined
        ? Number.isNaN(page)
        : Math.abs(page - json) <= Number.EPSILON * Math.max(Math.abs(page), Math.abs(json)) || Math.round(page) === json;

async function openPage(browser, file, width) {
    const context = await browser.newContext({ viewport: { width, height: 1000 }, acceptDownloads: true });
    const page = await context.newPage();
    const said = [];
    page.on('console', (message) => said.push(message.text()));
    page.on('pageerror', (error) => said.push(error.message));
    page.on('request', (request) => {
        if (!/^(file|blob|data):/.test(request.url())) said.push(`asked the network for ${request.url()}`);
    });
    await page.goto(`file://${file}`);
    return { page, said, close: () => context.close() };
}

const ready = (page) => page.waitForSelector('#timeline canvas', { timeout: 120_000 });
const settled = (page) => page.waitForFunction(() => !document.querySelector('[aria-busy=true]') && !document.querySelector('p.wait'), null, { timeout: 120_000 });

async function shownFigures(page) {
    await settled(page);
    return page.$$eval('tr[data-figure]', (rows) => rows.map((row) => [row.dataset.figure, Number(row.dataset.value)]));
}

async function writtenPlan(page, file) {
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByText('Download plan.json').click()]);
    await download.saveAs(file);
}

// What the page says of the switches that are on, against what the command says of the plan that the page writes.
async function compareWithCommand(page, trace, exact) {
    const plan = path.join(WORK, 'page-plan.json');
    await page.waitForTimeout(50);
    const stuck = (await settled(page), await page.$('#figures [role=alert]'));
    await writtenPlan(page, plan);
    let said;
    try {
        said = JSON.parse(rehype('estimate', trace, '--apply', plan, '-o', path.join(WORK, 'estimated.msgpack'), '--json'));
    } catch {
        must(stuck, 'the command refuses or cannot end what the page estimates');
        return;
    }
    must(!stuck, `the page says of a plan that the command estimates: ${stuck && (await stuck.textContent())}`);
    for (const [name, value] of await shownFigures(page)) {
        const expected = figureOf(said.estimated, name);
        if (exact) must(same(value, expected), `${name} is ${value}, the command says ${expected} of ${readFileSync(plan, 'utf8')}`);
        else if (name === 'wall') must(Math.abs(value / expected - 1) <= 0.01, `${name} is ${value}, the command says ${expected}`);
    }
}

async function trySwitches(page, trace, exact) {
    await page.getByText('All off').click();
    await compareWithCommand(page, trace, exact);
    const switches = page.locator('input[role=switch]');
    const count = Math.min(await switches.count(), PLANS_TRIED);
    for (let i = 0; i < count; i++) {
        const one = switches.nth(i);
        if (await one.isDisabled()) continue;
        await one.check();
        await compareWithCommand(page, trace, exact);
        if (i % 2 === 0) await one.uncheck(); // every other one stays: combinations
    }
}

async function tryTimeline(page) {
    const canvas = page.locator('#timeline canvas[data-board=threads]');
    await canvas.scrollIntoViewIfNeeded();
    await page.waitForFunction(() => !/^0 threads/.test(document.querySelector('#timeline .hint').textContent));
    await canvas.focus();
    await page.keyboard.press('+');
    await page.waitForFunction(() => location.hash.includes('from='));
    await page.keyboard.press('Home');
    await page.waitForFunction(() => !location.hash.includes('from='));
    await page.getByText('Threads as a table').click();
    const select = page.locator('#timeline table button').first();
    await select.click();
    await page.waitForSelector('#timeline .detail h3');
    must((await page.locator('#timeline .detail dt').count()) > 1, 'what is selected tells nothing');
    await canvas.focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('[');
    await page.keyboard.press(']');
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => !document.querySelector('#timeline .detail'));
    await page.getByLabel('estimated', { exact: true }).check();
    await page.getByLabel('critical path').check();
    await page.waitForTimeout(200);
    await page.getByLabel('recorded', { exact: true }).check();
}

// A board of resources or actors: by keyboard and table like that of threads; arrows lead from span to span.
async function tryBoard(browser, file, board, state, arrow) {
    const { page, said, close } = await openPage(browser, file, 1400);
    await ready(page);
    await settled(page);
    const canvas = page.locator(`#timeline canvas[data-board=${board}]`);
    await page.getByText(`${board[0].toUpperCase()}${board.slice(1)} as a table`).click();
    const rows = page.locator('#timeline table tbody tr').filter({ hasText: state });
    const arrows = page.getByRole('region', { name: 'arrows of the selected span' }).getByText(arrow);
    await rows.first().waitFor(); // the table comes after the click
    for (const timeout of [2000, 20_000]) { // a busy machine needs more
        for (let i = 0; i < (await rows.count()) && (await arrows.count()) === 0; i++) {
            await rows.nth(i).locator('button').click();
            await arrows.first().waitFor({ timeout }).catch(() => {}); // that one may have no such arrow
        }
    }
    must((await arrows.count()) > 0, `no arrow "${arrow}"`);
    await canvas.focus();
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => location.hash.includes('from='));
    const before = await page.evaluate(() => location.hash);
    await page.keyboard.press('[');
    await page.waitForFunction((was) => location.hash !== was, before);
    await page.keyboard.press(']');
    await page.waitForFunction((was) => location.hash === was, before);
    await findFaults(page);
    must(said.length === 0, said.join('; '));
    await close();
}

// Of a wait it is told which changes remove it, and such a change can be turned on there.
async function tryRemoval(browser, file) {
    const { page, close } = await openPage(browser, file, 1400);
    await ready(page);
    await page.getByText('All off').click();
    await settled(page);
    await page.getByText('Resources as a table').click();
    await page.locator('#timeline table tbody tr').filter({ hasText: 'waited for' }).first().locator('button').click();
    const unlock = page.locator('.removal .removes li').filter({ hasText: 'removes it' }).filter({ hasText: 'unlock LedgerLock.locks' });
    await unlock.locator('input').check();
    must(await page.locator('#changes li').filter({ hasText: 'unlock LedgerLock.locks' }).locator('input').first().isChecked(), 'the switch is not on');
    await close();
}

async function findFaults(page) {
    const found = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']).analyze();
    must(found.violations.length === 0, found.violations.map((v) => `${v.id} at ${v.nodes[0].target}: ${v.help}`).join('; '));
}

async function fits(page, width) {
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    must(wide <= width, `the page is ${wide} pixels wide`);
}

async function tryPage(browser, name, trace, { exact = true, picture, large = false, report = [] } = {}) {
    const file = path.join(WORK, `${name}.html`);
    await check(`${name}: is written`, () => {
        rehype('report', trace, '-o', file, ...report);
        must(statSync(file).size < LARGEST_PAGE, `it has ${statSync(file).size} bytes`);
    });
    for (const width of [1920, 360]) {
        const { page, said, close } = await openPage(browser, file, width);
        await check(`${name}: opens at ${width} pixels`, async () => {
            await ready(page);
            await settled(page);
            await fits(page, width);
        });
        await check(`${name}: axe-core at ${width} pixels`, () => findFaults(page));
        if (PICTURES && picture && width === 1920) await takePicture(page, picture);
        if (width === 1920) {
            await check(`${name}: the timeline by keyboard`, () => tryTimeline(page));
            await check(`${name}: switches`, () => (large ? compareWithCommand(page, trace, exact) : trySwitches(page, trace, exact)));
            await check(`${name}: dark`, async () => {
                await page.getByText('Light or dark').click();
                await findFaults(page);
            });
        }
        await check(`${name}: says nothing on the console at ${width} pixels`, () => must(said.length === 0, said.join('; ')));
        await close();
    }
    return file;
}

// As a reader would see it first, with something selected in the timeline.
async function takePicture(page, picture) {
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.locator('#timeline canvas[data-board=threads]').click({ position: { x: 500, y: 70 } });
    await page.waitForTimeout(500);
    await page.screenshot({ path: path.join(PICTURES, picture), fullPage: true });
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 1920, height: 1000 });
}

// The profile of virtual threads is worked out in the page.
async function tryVirtual(browser, file) {
    const { page, close } = await openPage(browser, file, 1400);
    await ready(page);
    await settled(page);
    await page.getByLabel('of virtual threads').check();
    await page.waitForFunction(() => /Virtual threads/.test(document.querySelector('#concurrency figcaption')?.textContent ?? ''));
    await page.locator('#concurrency details summary').click();
    await page.waitForFunction(() => [...document.querySelectorAll('#concurrency td')].some((cell) => Number(cell.textContent) > 0));
    await close();
}

// Of a trace that does not fit: the page says which part it is of and what is known of the whole, and estimates the part
// itself, each change as the command did.
async function tryPart(browser) {
    const trace = path.join(cases, 'Checkouts.msgpack');
    const file = path.join(WORK, 'part.html');
    const told = rehype('report', trace, '-o', file, '--size', '1.21', '--actual', trace);
    must(/does not fit/.test(told), `the command does not say so: ${told}`);
    const { page, said, close } = await openPage(browser, file, 1400);
    await ready(page);
    await settled(page);
    const note = await page.locator('#answer .note').textContent();
    must(/is of a part of the run: .* to .* of .*, about as much/.test(note), `it does not say which part: ${note}`);
    must(/Of the whole run, of 4,973 events, the command says: .* brings wall/.test(note), `it tells nothing of the whole: ${note}`);
    must(/changed program really brought wall/.test(note), `it tells nothing of the actual run: ${note}`);
    const document = JSON.parse(await page.locator('#document').textContent());
    must(document.carried.fits && document.events < 4000, 'its trace is no part');
    for (const [i, { improvement }] of document.switches.slice(0, PLANS_TRIED).entries()) {
        const expected = document.suggestions.improvements.find((one) => one.id === improvement)?.estimate?.wall_ns;
        const one = page.locator(`li[data-switch="${i}"] input`);
        if (!expected || (await one.isDisabled())) continue;
        await page.getByText('All off').click();
        await one.check();
        await page.waitForTimeout(50);
        const wall = new Map(await shownFigures(page)).get('wall');
        must(Math.abs(wall / expected - 1) <= 0.01, `switch ${i}: wall is ${wall}, the command said ${expected}`);
    }
    await findFaults(page);
    must(said.length === 0, said.join('; '));
    await close();
}

// A link leads back to what was seen.
async function tryLink(browser, file) {
    const first = await openPage(browser, file, 1400);
    await ready(first.page);
    await first.page.getByText('All off').click();
    await first.page.getByLabel('waiting', { exact: true }).first().check();
    await settled(first.page);
    const link = first.page.url();
    await first.close();
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(link);
    await ready(page);
    must((await page.locator('input[role=switch]:checked').count()) === 0, 'switches are not as in the link');
    must(await page.getByLabel('waiting', { exact: true }).first().isChecked(), 'the state is not as in the link');
    await context.close();
}

// Rubbish in place of the trace is said, and the rest of the page stands.
async function tryDamage(browser, file) {
    const damaged = path.join(WORK, 'damaged.html');
    const text = readFileSync(file, 'utf8');
    writeFileSync(damaged, text.replace(/(id="trace">).{200}/, '$1' + 'QUJD'.repeat(50)));
    const { page, close } = await openPage(browser, damaged, 1400);
    await page.waitForSelector('#timeline .empty');
    must(/could not read its trace/.test(await page.locator('#timeline .empty').textContent()), 'it does not say what is wrong');
    must((await page.locator('tr[data-figure]').count()) > 3, 'figures are gone');
    await close();
}

const browser = await chromium.launch({ executablePath: BROWSER, args: ['--no-sandbox'] });
const golden = path.join(ROOT, 'tests/golden/traces');
const cases = path.join(ROOT, 'fixtures/traces/cases');
const small = await tryPage(browser, 'small', path.join(golden, 'before.msgpack'), { picture: 'report.png' });
const actors = await tryPage(browser, 'actors', path.join(golden, 'actors.msgpack'), { picture: 'report-actors.png' });
const virtual = await tryPage(browser, 'virtual', path.join(cases, 'VirtualPermits.msgpack'));
await tryPage(browser, 'hang', path.join(cases, 'NestedReports-hang.msgpack'));
await tryPage(browser, 'actual', path.join(golden, 'before.msgpack'), { report: ['--actual', path.join(golden, 'after.msgpack')] });
const lock = path.join(WORK, 'lock.html');
rehype('report', path.join(cases, 'LedgerLock.msgpack'), '-o', lock);
await check('resources have rows', () => tryBoard(browser, lock, 'resources', 'waited for', 'then held in'));
await check('actors have lanes', () => tryBoard(browser, actors, 'actors', 'handling a message', 'sends'));
await check('a wait says what removes it', () => tryRemoval(browser, lock));
await check('virtual threads have a profile', () => tryVirtual(browser, virtual));
await check('a trace that is too large has a part shown', () => tryPart(browser));
await check('a link leads to the view', () => tryLink(browser, small));
await check('damage is said', () => tryDamage(browser, small));
const large = path.join(WORK, 'large.msgpack');
const [kind, events] = (process.env.LARGE ?? 'tasks:1000000').split(':'); // functions:10000000 by hand
execFileSync(MAKER, ['make', kind, events, large], { stdio: 'ignore' });
await tryPage(browser, 'large', large, { exact: false, large: true });
await browser.close();
