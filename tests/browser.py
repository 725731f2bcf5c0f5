"""A browser without network but for a server of the test, which hands out a site and hears what the page found."""

import json
import shutil
import subprocess
import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage")
RULES = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
# What a driver may use: wait for a condition, type into a field, choose a file.
HELPERS = """
const until = async condition => {
  while (!condition()) await new Promise(done => setTimeout(done, 50));
};
const type = (id, text) => { document.getElementById(id).value = text; };
const choose = (name, text) => {
  const files = new DataTransfer();
  files.items.add(new File([text], name));
  const input = document.getElementById("file");
  input.files = files.files;
  input.dispatchEvent(new Event("change", {bubbles: true}));
};
const shown = id => { const one = document.getElementById(id); return one.hidden ? "" : one.textContent; };
const press = id => document.getElementById(id).click();
const state = () => document.body.dataset.state;
"""
DRIVER = """
(async () => {
  %s
  try { return await (async () => {%s})(); } catch (error) { return {error: String(error)}; }
})().then(found => fetch("/", {method: "POST", body: JSON.stringify(found)}));
"""


def browser_here():
    """Path of a browser; the test is skipped where there is none."""
    found = next((found for found in map(shutil.which, BROWSERS) if found), None)
    if found is None:
        pytest.skip("chromium is not here: apt-get install chromium")
    return found


class _Site(SimpleHTTPRequestHandler):
    """Files of a folder; what is posted ends the visit. All requests are kept in `server.asked`."""

    def do_GET(self):
        self.server.asked.append(self.path)
        super().do_GET()

    def do_POST(self):
        self.server.result = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()
        self.server.ended.set()

    def log_message(self, *words):
        """Print nothing."""


@contextmanager
def served(folder):
    """Serve a folder on a free port of this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Site, directory=str(folder)))
    server.asked, server.result, server.ended = [], None, threading.Event()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def visit(site, page, driver, seconds=600):
    """Open a page of a site, let `driver` (the body of an async function of JavaScript) work it, and return what it returns.

    Also returns the paths that were asked of the server. Every other host is out of reach.
    """
    browser = browser_here()
    text = (site / page).read_text(encoding="utf-8")
    (site / page).with_name("driver.js").write_text(DRIVER % (HELPERS, driver))
    (site / page).with_name("driven.html").write_text(text.replace("</body>", '<script src="driver.js"></script></body>'))
    with served(site) as server:
        address = f"http://127.0.0.1:{server.server_port}/{page.rpartition('/')[0]}/driven.html"
        command = [browser, *OPTIONS, f"--user-data-dir={site / 'profile'}", RULES, address]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            assert server.ended.wait(seconds), f"the page did not come to its end; it asked for {server.asked}"
        finally:
            process.terminate()
            process.wait(30)
        assert "error" not in (server.result or {}), server.result
        return server.result, server.asked
