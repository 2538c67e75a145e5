// SPDX-License-Identifier: GPL-3.0-or-later
import { render } from 'preact';
import { signal } from '@preact/signals';
import { report } from './data';
import { About, Actors, Concurrency, FigureTable, Front, Headline, Machine, Outcome, Sizes, Switches, Timeline, Waits, Warnings } from './panels';
import { begin, estimated, opened } from './state';

const dark = matchMedia('(prefers-color-scheme: dark)');
const theme = signal(storedTheme()); // "light" or "dark"; "": as the system has it

// Pages that are opened from a file may have no storage.
function storedTheme(): string {
    try {
        return localStorage.getItem('rehype-theme') ?? '';
    } catch {
        return '';
    }
}

function wear(now: string) {
    document.documentElement.dataset.theme = now;
    document.dispatchEvent(new Event('theme'));
}
const wearTheme = () => wear(theme.value || (dark.matches ? 'dark' : 'light'));

function turnTheme() {
    theme.value = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
    wearTheme();
    try {
        localStorage.setItem('rehype-theme', theme.value);
    } catch {
        // then this page alone has it
    }
}

const parts: [string, string][] = [
    ['answer', 'Answer'],
    ['changes', 'Changes'],
    ['concurrency', 'Concurrency'],
    ['timeline', 'Timeline'],
    ['front', 'What can be had'],
    ['waits', 'Waits'],
    ...(report.metrics.messages ? [['actors', 'Actors'] as [string, string]] : []),
    ['sizes', 'Task sizes'],
    ['machine', 'Machine'],
    ['warnings', 'Warnings'],
];

function Page() {
    return (
        <>
            <a class="skip" href="#answer">To the answer</a>
            <header>
                <h1>{report.trace.split('/').pop()}</h1>
                <nav aria-label="parts of the page">
                    {parts.map(([id, name]) => (
                        <button type="button" onClick={() => document.getElementById(id)?.scrollIntoView()}>
                            {name}
                        </button>
                    ))}
                    <button type="button" onClick={turnTheme}>Light or dark</button>
                </nav>
            </header>
            <main data-opened-ms={opened.value?.ms} data-estimated-ms={estimated.value?.ms}>
                {report.window.text && <p>{report.window.text}</p>}
                <Headline />
                <section id="figures">
                    <h2>Before and after</h2>
                    <Outcome />
                    <FigureTable />
                </section>
                <Concurrency />
                <Switches />
                <Timeline />
                <Front />
                <Waits />
                <Actors />
                <Sizes />
                <Machine />
                <Warnings />
            </main>
            <About />
        </>
    );
}

wearTheme();
dark.addEventListener('change', wearTheme);
addEventListener('beforeprint', () => wear('light')); // paper is
addEventListener('afterprint', wearTheme);
const page = document.getElementById('page')!;
page.textContent = '';
render(<Page />, page);
void begin();
