# SPDX-License-Identifier: GPL-3.0-or-later
"""speedscope's own importer, in its page over file://, as its command opens it: the title says what it has imported."""
import base64
import json

from common import browser, cache, check, export, refused, same, tables, traces, work

page_of = cache / "node/node_modules/speedscope/dist/release/index.html"


def title_of(chromium, data, name, patience_ms=60000):
    """What the importer makes of a file by that name; it tells nothing else outside of its canvas."""
    script = work / "profile.js"
    coded = base64.b64encode(data).decode()
    script.write_text(f"speedscope.loadFileFromBase64({json.dumps(name)}, {json.dumps(coded)})")
    page = chromium.new_page()
    page.goto(f"{page_of.as_uri()}#localProfilePath={script}")
    try:
        page.wait_for_function("() => document.title !== 'speedscope' && document.title !== ''", timeout=patience_ms)
        return page.title()
    finally:
        page.close()


with browser() as chrome:
    for trace in traces:
        command = tables(trace)["header"]["command"].split()[-1]
        with check(f"speedscope: {trace} by its importer"):
            title = title_of(chrome, export(trace, "speedscope"), "run.speedscope.json")
            assert command in title, title
        with check(f"collapsed: {trace} by speedscope's importer"):
            same("run.collapsed" in title_of(chrome, export(trace, "collapsed"), "run.collapsed.txt"), True)
    with refused("speedscope: rubbish by its importer"):
        title_of(chrome, export("before", "speedscope")[:-100], "run.speedscope.json", 6000)
    with refused("collapsed: rubbish by speedscope's importer"):
        title_of(chrome, b"\x00\x01\x02 rubbish; and no number\n" * 9, "run.bin", 6000)
