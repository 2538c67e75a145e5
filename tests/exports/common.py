# SPDX-License-Identifier: GPL-3.0-or-later
"""What the checks of exports share: the program, the traces that are tried, and how a check is told."""
import contextlib
import functools
import http.server
import json
import os
import pathlib
import subprocess
import threading

rehype = os.environ["REHYPE"]
work = pathlib.Path(os.environ["WORK"])
cache = pathlib.Path(os.environ["CACHE"])
traces = {name: work / f"{name}.msgpack" for name in ("before", "actors", "kinds", "names", "good-v6", "estimated")}


def run(*arguments):
    return subprocess.run([rehype, *map(str, arguments)], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout


def export(trace, to, *options):
    return run("export", traces[trace], "--to", to, *options)


@functools.cache
def metrics(trace, *options):
    return json.loads(run("metrics", traces[trace], "--json", *options))


def thread_ns(trace, state):
    """Time of platform and of virtual threads in a state; 0 where the trace does not tell."""
    figures = metrics(trace)
    kinds = [figures["threads"], figures.get("virtual_threads") or {}]
    return sum((kind.get(state, {}).get("mean") or 0) * figures["wall_ns"] for kind in kinds)


@functools.cache
def tables(trace):
    """The JSON export: what the others are compared with."""
    return json.loads(export(trace, "json"))


@contextlib.contextmanager
def check(what):
    """Tells how a check went: that what stands in it raised nothing."""
    try:
        yield
        print("ok", what, flush=True)
    except Exception as why:  # whatever a reader throws is its word against the file
        print(f"FAIL {what}: {type(why).__name__}: {str(why)[:400]}".replace("\n", " "), flush=True)


@contextlib.contextmanager
def refused(what):
    """A check that what stands in it raises: the reader does look."""
    try:
        yield
    except Exception:
        print("ok", what, flush=True)
        return
    print(f"FAIL {what}: it was taken", flush=True)


def same(found, wanted, what=""):
    assert found == wanted, f"{what} {found!r}, not {wanted!r}"


def near(found, wanted, what=""):
    assert abs(found - wanted) <= 1e-6 * max(1, abs(wanted)), f"{what} {found!r}, not {wanted!r}"


def serve(folder):
    """Serves a folder on the loopback interface as long as this process lives; returns the address."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    class Server(http.server.ThreadingHTTPServer):
        def handle_error(self, *_):
            pass  # a page was closed before it had all that it asked for

    server = Server(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


@contextlib.contextmanager
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=os.environ["BROWSER"], args=["--no-sandbox"])
        try:
            yield chromium
        finally:
            chromium.close()
