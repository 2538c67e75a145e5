// SPDX-License-Identifier: GPL-3.0-or-later
// Opens a page of `rehype report` and prints when its first picture was there, its baseline, and what a switch takes
// (bench/report).
import { createRequire } from 'node:module';
import path from 'node:path';

const SWITCHES = 7;
const LONGEST_MS = 300_000;
const { chromium } = createRequire(path.join(process.env.CACHE, '/'))('playwright-core');
const browser = await chromium.launch({ executablePath: process.env.BROWSER, args: ['--no-sandbox'] });
const page = await browser.newPage({ viewport: { width: 1400, height: 1000 } });

const begin = performance.now();
await page.goto(`file://${process.argv[2]}`, { waitUntil: 'commit' });
await page.waitForSelector('#concurrency .uplot canvas, #concurrency .empty', { timeout: LONGEST_MS });
const picture = (performance.now() - begin) / 1000;

// From the click until the new figures are in the page.
const turn = () =>
    page.evaluate(
        () =>
            new Promise((resolve) => {
                const begin = performance.now();
                new MutationObserver(() => resolve(performance.now() - begin)).observe(document.querySelector('main'), {
                    attributeFilter: ['data-estimated-ms'],
                });
                document.querySelector('input[role=switch]:enabled').click();
            }),
    );

let baseline = '-';
let median = '-';
try {
    await page.waitForSelector('main[data-estimated-ms]', { timeout: LONGEST_MS });
    baseline = (Number(await page.locator('main').getAttribute('data-opened-ms')) / 1000).toFixed(2);
    const times = [];
    for (let i = 0; i < SWITCHES; i++) {
        times.push(await turn());
        await page.waitForTimeout(300);
    }
    times.sort((a, b) => a - b);
    median = times[(SWITCHES - 1) / 2].toFixed(0);
} catch (error) {
    if (!(await page.locator('.note').count())) throw error;
}
console.log(`${picture.toFixed(2)}\t${baseline}\t${median}`);
await browser.close();
