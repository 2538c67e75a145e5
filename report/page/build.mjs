// SPDX-License-Identifier: GPL-3.0-or-later
// Usage: node build.mjs SOURCE_DIR MODULES_DIR CORE_WASM|- OUT
// Bundles the page's program and style into one HTML file, in which `rehype report` puts the data (page.c). CORE_WASM is
// the estimator for its switches; "-": this build has none.
import { createRequire } from 'node:module';
import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import path from 'node:path';

const [source, modules, core, out] = process.argv.slice(2);
const esbuild = createRequire(path.join(modules, '/'))('esbuild');

async function bundle(entry) {
    const result = await esbuild.build({
        entryPoints: [path.join(source, 'src', entry)],
        bundle: true,
        minify: true,
        write: false,
        format: 'iife',
        target: 'es2022',
        charset: 'utf8',
        jsx: 'automatic',
        jsxImportSource: 'preact',
        nodePaths: [path.join(modules, 'node_modules')],
        loader: { '.css': 'text' },
        legalComments: 'none',
        logLevel: 'warning',
    });
    return result.outputFiles[0].text;
}

// What would end a script element, in a program's texts.
const inScript = (text) => text.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');

const style =
    readFileSync(path.join(modules, 'node_modules/uplot/dist/uPlot.min.css'), 'utf8') +
    readFileSync(path.join(source, 'src/style.css'), 'utf8');
const parts = {
    STYLE: style,
    CORE: core === '-' ? '' : gzipSync(readFileSync(core), { level: 9 }).toString('base64'),
    WORKER: inScript(await bundle('worker.ts')),
    PROGRAM: inScript(await bundle('main.tsx')),
};
let page = readFileSync(path.join(source, 'page.html'), 'utf8');
for (const [name, text] of Object.entries(parts)) page = page.replace(`@${name}@`, () => text);
writeFileSync(out, page);
