// SPDX-License-Identifier: GPL-3.0-or-later
// core.wasm as a page has it: memory, and the three functions that it asks for and never needs.
import {readFileSync} from 'node:fs';

const nothing = () => 0;
const imports = {wasi_snapshot_preview1: {fd_close: nothing, fd_seek: nothing, fd_write: nothing}};

export const module = path => new WebAssembly.Module(readFileSync(path));

export class Core {
    constructor(compiled) {
        this.core = new WebAssembly.Instance(compiled, imports).exports;
    }
    text(at) {
        const bytes = new Uint8Array(this.core.memory.buffer);
        return new TextDecoder().decode(bytes.subarray(at, bytes.indexOf(0, at)));
    }
    doubles(at, count) {
        return new Float64Array(this.core.memory.buffer.slice(at, at + 8 * count));
    }
    // Calls `use` with the address of the bytes.
    with(bytes, use) {
        const at = this.core.page_alloc(bytes.length);
        new Uint8Array(this.core.memory.buffer).set(bytes, at);
        const result = use(at);
        this.core.page_free(at);
        return result;
    }
    message() {
        return this.text(this.core.page_message());
    }
    // The trace's bytes become the core's.
    open(bytes, model, from = 1, to = 0) {
        const at = this.core.page_alloc(bytes.length);
        new Uint8Array(this.core.memory.buffer).set(bytes, at);
        return this.core.page_open(at, bytes.length, model, from, to) !== 0;
    }
    addSwitch({words, of, types}) {
        const text = string => new TextEncoder().encode(string + '\0');
        return this.with(new Uint8Array(new Uint32Array(words).buffer), at =>
            this.with(text(of), ofAt =>
                this.with(text(types.map(type => type + '\n').join('')), typesAt =>
                    this.core.page_add_switch(at, ofAt, typesAt))));
    }
    estimate(switches) {
        return this.with(new Uint8Array(new Uint32Array(switches).buffer),
            at => this.core.page_estimate(at, switches.length));
    }
    figures(run) {
        const figures = {};
        for (let f = 0; f < this.core.page_figure_count(); f++) {
            const figure = this.core.page_figure(run, f);
            figures[this.text(this.core.page_figure_name(f))] = Number.isFinite(figure) ? figure : null;
        }
        return figures;
    }
    records(count) {
        return this.doubles(this.core.page_lanes_data(), 6 * count);
    }
}
