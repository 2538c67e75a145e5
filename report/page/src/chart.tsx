// SPDX-License-Identifier: GPL-3.0-or-later
// A chart of uPlot, with the same figures as a table below it.
import { useEffect, useRef } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import uPlot from 'uplot';

export interface Line {
    label: string;
    values: (number | null)[];
    stroke: string; // a CSS variable's name
    dash?: number[];
    fill?: string;
    points?: boolean;
    scale?: string;
}

export interface ChartProps {
    title: string;
    x: { label: string; values: number[]; log?: boolean; text: (value: number) => string };
    y: { label: string; text: (value: number) => string; max?: number };
    second?: { label: string; text: (value: number) => string }; // right axis, of lines with scale "second"
    lines: Line[];
    bands?: [number, number][]; // shaded from x to x
    height?: number;
    rows?: number; // of the table, at most
}

const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim() || '#888';

function shade(bands: [number, number][]) {
    return (plot: uPlot) => {
        plot.ctx.save();
        plot.ctx.fillStyle = colour('--band');
        for (const [from, to] of bands) {
            const left = plot.valToPos(from, 'x', true);
            const right = plot.valToPos(to, 'x', true);
            plot.ctx.fillRect(left, plot.bbox.top, Math.max(1, right - left), plot.bbox.height);
        }
        plot.ctx.restore();
    };
}

function options(props: ChartProps, width: number): uPlot.Options {
    const axis = { stroke: colour('--text'), grid: { stroke: colour('--grid') }, ticks: { stroke: colour('--grid') } };
    const axes: uPlot.Axis[] = [
        { ...axis, label: props.x.label, values: (_, ticks) => ticks.map((v) => (v === null ? '' : props.x.text(v))) },
        { ...axis, label: props.y.label, values: (_, ticks) => ticks.map((v) => props.y.text(v)), size: 64 },
    ];
    if (props.second)
        axes.push({
            ...axis,
            side: 1,
            scale: 'second',
            label: props.second.label,
            values: (_, ticks) => ticks.map((v) => props.second!.text(v)),
            grid: { show: false },
            size: 64,
        });
    const top = props.y.max;
    return {
        width,
        height: props.height ?? 260,
        scales: {
            x: { time: false, ...(props.x.log ? { distr: 3 as const } : {}) },
            y: { range: (_, __, max) => [0, top ?? Math.max(1, max * 1.05)] },
            ...(props.second ? { second: { range: (_: uPlot, __: number, max: number) => [0, Math.max(1, max * 1.05)] as [number, number] } } : {}),
        },
        axes,
        legend: { live: false },
        cursor: { drag: { x: true, y: false } },
        series: [
            { label: props.x.label },
            ...props.lines.map((line) => ({
                label: line.label,
                stroke: colour(line.stroke),
                width: 2,
                scale: line.scale ?? 'y',
                dash: line.dash,
                fill: line.fill ? colour(line.fill) : undefined,
                points: { show: line.points ?? false, size: 7, fill: colour(line.stroke) },
                paths: line.points ? () => null : undefined,
                spanGaps: true,
            })),
        ] as uPlot.Series[],
        hooks: props.bands?.length ? { drawClear: [shade(props.bands)] } : {},
    };
}

export function Table(props: { head: string[]; rows: (string | number)[][]; label: string; most?: number }) {
    const shown = props.most ? props.rows.slice(0, props.most) : props.rows;
    return (
        <div class="scroll" tabIndex={0} role="region" aria-label={props.label}>
            <table>
                <thead>
                    <tr>
                        {props.head.map((h) => (
                            <th scope="col">{h}</th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {shown.map((row) => (
                        <tr>
                            {row.map((cell, i) => (i === 0 ? <th scope="row">{cell}</th> : <td>{cell}</td>))}
                        </tr>
                    ))}
                </tbody>
            </table>
            {shown.length < props.rows.length && <p>{props.rows.length - shown.length} more rows are left out here.</p>}
        </div>
    );
}

// Every n-th point, so that a reader can take the table in.
function tableOf(props: ChartProps): (string | number)[][] {
    const step = Math.max(1, Math.ceil(props.x.values.length / (props.rows ?? 25)));
    const rows: (string | number)[][] = [];
    for (let i = 0; i < props.x.values.length; i += step) {
        rows.push([
            props.x.text(props.x.values[i]!),
            ...props.lines.map((line) => {
                const value = line.values[i];
                const text = line.scale === 'second' ? props.second!.text : props.y.text;
                return value === null || value === undefined || Number.isNaN(value) ? '-' : text(value);
            }),
        ]);
    }
    return rows;
}

export function Chart(props: ChartProps) {
    const holder = useRef<HTMLDivElement>(null);
    const open = useSignal(false);
    useEffect(() => {
        const at = holder.current!;
        const data = [props.x.values, ...props.lines.map((l) => l.values)] as uPlot.AlignedData;
        let plot: uPlot | null = null;
        const draw = () => {
            plot?.destroy();
            plot = new uPlot(options(props, Math.max(200, at.clientWidth)), data, at);
        };
        draw();
        let width = at.clientWidth;
        const resized = new ResizeObserver(() => {
            if (at.clientWidth !== width) plot?.setSize({ width: Math.max(200, (width = at.clientWidth)), height: plot.height });
        });
        resized.observe(at);
        document.addEventListener('theme', draw);
        return () => {
            resized.disconnect();
            document.removeEventListener('theme', draw);
            plot?.destroy();
        };
    }, [props.lines, props.x.values]);
    return (
        <figure>
            <figcaption>{props.title}</figcaption>
            <div ref={holder} class="chart" role="img" aria-label={`${props.title}. The table below has the same figures.`} />
            <details onToggle={(e) => (open.value = (e.target as HTMLDetailsElement).open)}>
                <summary>As a table</summary>
                {open.value && (
                    <Table label={props.title} head={[props.x.label, ...props.lines.map((l) => l.label)]} rows={tableOf(props)} />
                )}
            </details>
        </figure>
    );
}
