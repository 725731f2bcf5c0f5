"""The page *advice in the browser*, worked with a stand-in for Pyodide, and with Pyodide itself where it is at hand."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.datasets import load_iris

import browser_page
import foldshift
from browser import visit
from pages import ROOT, wheel_name, write_wheel

# A stand-in for Pyodide: what the worker calls, and answers by the words of the command. Python's state is the list of calls.
STAND_IN = """
self.loadPyodide = async options => {
  await fetch(options.lockFileURL);
  await fetch(options.indexURL + "pyodide.asm.wasm");
  const calls = [], files = {};
  let words, out, err;
  return {
    loadPackage: async names => { for (const name of names) await fetch(options.indexURL + `${name}-1.whl`); },
    unpackArchive: (bytes, kind, where) => calls.push([kind, bytes.byteLength, where.extractDir]),
    setStdout: ({batched}) => { out = batched; },
    setStderr: ({write}) => { err = text => write(new TextEncoder().encode(text)); },
    toPy: value => value,
    globals: {set: (name, value) => { words = value; }},
    FS: {
      mkdirTree() {},
      writeFile: (path, bytes) => { files[path] = new TextDecoder().decode(bytes); },
      readFile: () => `<!DOCTYPE html><title>Advice</title><p id="w">${words.join(" ")}</p><script>parent.ran = true</script>`,
    },
    runPython(code) {
      if (!code.includes("main(")) return;
      const target = words[words.indexOf("--target") + 1];
      if (target === "spin") { err("\\r\\x1b[KFirst verdict, 10 folds once\\n"); err("\\r\\x1b[Kfit 3 of 9"); for (;;); }
      if (target === "broken") throw new Error("Traceback\\nRuntimeError: out of memory");
      if (target === "no") { err("Note: read.\\nfoldshift: no column 'no'; did you mean 'on'?\\n"); return 1; }
      out(JSON.stringify({words, files, calls, fetch: typeof self.fetch, script: typeof self.importScripts}));
      return 0;
    },
  };
};
"""
ASM = "self._createPyodideModule = async () => ({});"
TABLE = '\ufeffa,"b, c",y\n1,2,3\n'


@pytest.fixture
def site(tmp_path, monkeypatch):
    """The page beside a stand-in for Pyodide, and a wheel."""
    held = tmp_path / "held"
    held.mkdir()
    names = {"pyodide.js": STAND_IN, "pyodide.asm.js": ASM, "pyodide.asm.wasm": "w", "numpy-1.whl": "n"}
    for name, text in names.items():
        (held / name).write_text(text)
    known = json.loads((browser_page.SOURCE / "pyodide.json").read_text())
    known |= {"files": {name: browser_page.described(held / name) for name in names}, "lock": {"packages": {"numpy": {}}}}
    source = tmp_path / "source"
    source.mkdir()
    for file in browser_page.SOURCE.iterdir():
        (source / file.name).write_bytes(file.read_bytes())
    (source / "pyodide.json").write_text(json.dumps(known))
    monkeypatch.setattr(browser_page, "SOURCE", source)
    monkeypatch.setenv(browser_page.SETTING, str(held))
    wheel = tmp_path / "site" / "download" / "foldshift.whl"
    wheel.parent.mkdir(parents=True)
    wheel.write_text("wheel")
    browser_page.write_browser_page(tmp_path / "site", wheel)
    return tmp_path / "site"


def test_a_table_and_choices_become_a_command_and_its_answer_is_shown_and_saved(site):
    found, asked = visit(
        site,
        "browser/index.html",
        f"""
        const before = document.getElementById("start").disabled;
        choose("my table.csv", {json.dumps(TABLE)});
        await until(() => state() === "chosen");
        const columns = [...document.querySelectorAll("#columns option")].map(one => one.value);
        type("target", "y"); type("learner", "GaussianNB"); type("groups", "b, c"); type("x", "lon"); type("y", "lat");
        type("more", "--sep ';' --drop=\\"two words\\"");
        press("start");
        const busy = [document.getElementById("start").disabled, document.getElementById("stop").disabled];
        await until(() => shown("result"));
        const frame = document.getElementById("page");
        return {{before, columns, busy, json: JSON.parse(shown("json")), command: shown("command"), page: frame.srcdoc,
                 sandbox: frame.getAttribute("sandbox"), ran: Boolean(window.ran), focus: document.activeElement.id,
                 names: ["save-page", "save-json"].map(id => document.getElementById(id).download),
                 saved: document.getElementById("save-json").href.slice(0, 5)}};
        """,
    )
    options = ["advise", "--target", "y", "--learner", "GaussianNB", "--groups", "b, c", "--effort", "quick"]
    options += ["--space-on", "lon", "lat", "--sep", ";", "--drop=two words"]
    assert found["json"]["words"] == [*options, "--json", "--html", "page.html", "--", "my table.csv"]
    assert found["json"]["files"] == {"/table/my table.csv": TABLE.removeprefix("\ufeff")}
    assert found["json"]["fetch"] == found["json"]["script"] == "undefined"  # nothing can be loaded once Python is there
    assert [call[0] for call in found["json"]["calls"]] == ["zip", "zip"]
    assert found["before"] and found["busy"] == [True, False]
    assert found["columns"] == ["a", "b, c", "y"]
    assert found["command"].startswith("foldshift advise 'my table.csv' --target y") and "'b, c'" in found["command"]
    assert found["sandbox"] == "" and not found["ran"]  # no script of the page of advice runs
    assert found["names"] == ["my table_advice.html", "my table_advice.json"] and found["saved"] == "blob:"
    assert found["focus"] == "result-title"
    assert sorted(path.rpartition("/")[2] for path in asked if "/pyodide/" in path) == [
        "numpy-1.whl",
        "pyodide.asm.js",
        "pyodide.asm.wasm",
        "pyodide.js",
    ]


def test_mistakes_are_one_line_and_the_next_try_works(site):
    found, _ = visit(
        site,
        "browser/index.html",
        f"""
        choose("t.csv", {json.dumps(TABLE)});
        await until(() => state() === "chosen");
        const tried = {{}};
        choose("book.xlsx", "PK");
        await until(() => state() === "empty");
        tried.book = [shown("mistake").split(";")[1], !document.getElementById("start").disabled];
        choose("t.csv", {json.dumps(TABLE)});
        await until(() => state() === "chosen");
        for (const target of ["no", "broken", "y"]) {{
          type("target", target);
          press("start");
          await until(() => state() !== "busy");
          tried[target] = [shown("mistake"), Boolean(shown("result"))];
        }}
        return tried;
        """,
    )
    assert found == {
        "book": [" save the table as CSV", False],
        "no": ["foldshift: no column 'no'; did you mean 'on'?", False],
        "broken": ["RuntimeError: out of memory", False],
        "y": ["", True],
    }


def test_a_run_that_is_stopped_keeps_what_was_known(site):
    found, _ = visit(
        site,
        "browser/index.html",
        f"""
        choose("t.csv", {json.dumps(TABLE)});
        await until(() => state() === "chosen");
        type("target", "spin");
        press("start");
        await until(() => shown("step") === "fit 3 of 9");
        press("stop");
        const stopped = [shown("mistake"), shown("lines"), state()];
        type("target", "y");
        press("start");
        await until(() => shown("result"));
        return {{stopped, after: shown("mistake")}};
        """,
    )
    assert found["stopped"] == [
        "Stopped; what was known by then is in the list of messages.",
        "First verdict, 10 folds once",
        "chosen",
    ]
    assert found["after"] == ""


def test_a_file_that_is_not_the_listed_one_is_not_run(site):
    (site / "browser" / "pyodide" / "pyodide.js").write_text(STAND_IN + " ")
    found, _ = visit(
        site,
        "browser/index.html",
        f"""
        choose("t.csv", {json.dumps(TABLE)});
        await until(() => state() === "chosen");
        press("start");
        await until(() => state() !== "busy");
        return {{mistake: shown("mistake")}};
        """,
    )
    assert "pyodide.js cannot be loaded, or is another file than this page was made for" in found["mistake"]


def test_the_page_may_connect_to_the_host_that_it_names_and_to_no_other(tmp_path, monkeypatch):
    monkeypatch.delenv(browser_page.SETTING, raising=False)
    wheel = tmp_path / "download" / "foldshift.whl"
    wheel.parent.mkdir()
    wheel.write_text("wheel")
    browser_page.write_browser_page(tmp_path, wheel)
    listed = json.loads((tmp_path / "browser" / "files.json").read_text())
    page = (tmp_path / "browser" / "index.html").read_text()
    hosts = {"/".join(one["address"].split("/")[:3]) for one in listed["files"].values() if "://" in one["address"]}
    assert len(hosts) == 1 and f"connect-src 'self' {hosts.pop()};" in page
    assert all(f"<td>{name}</td>" in page for name in listed["files"])
    assert all(one["integrity"].startswith("sha256-") and one["bytes"] > 0 for one in listed["files"].values())
    assert {package["file_name"] for package in listed["lock"]["packages"].values()} < set(listed["files"])
    assert "{" not in page.split("<main>")[1]


def leaves(value, path=()):
    """Every plain value of nested ones, by its path; times and what names versions is left out."""
    for key, one in value.items() if isinstance(value, dict) else enumerate(value):
        if key not in ("seconds", "seconds_per_fit", "versions", "methods"):
            yield from leaves(one, (*path, key)) if isinstance(one, dict | list) else [((*path, key), one)]


@pytest.mark.slow
def test_the_advice_in_the_browser_is_that_of_the_command(tmp_path, monkeypatch):
    held = Path(os.environ.get(browser_page.SETTING) or ROOT / ".venv" / "pyodide")
    known = json.loads((browser_page.SOURCE / "pyodide.json").read_text())
    if not all((held / name).is_file() for name in known["files"]):
        pytest.skip(f"Pyodide {known['version']} is not here: .ci/run fetches it, or {browser_page.SETTING} names its folder")
    monkeypatch.setenv(browser_page.SETTING, str(held))
    site, table = tmp_path / "site", tmp_path / "iris.csv"
    load_iris(as_frame=True).frame.to_csv(table, index=False)
    (site / "download").mkdir(parents=True)
    write_wheel(site / "download")
    browser_page.write_browser_page(site, site / "download" / wheel_name(foldshift.__version__))
    found, _ = visit(
        site,
        "browser/index.html",
        f"""
        choose("iris.csv", {json.dumps(table.read_text())});
        await until(() => state() === "chosen");
        type("target", "target"); type("learner", "GaussianNB");
        press("start");
        await until(() => state() !== "busy");
        return {{mistake: shown("mistake"), json: shown("json"), page: document.getElementById("page").srcdoc}};
        """,
    )
    assert found["mistake"] == ""
    command = [sys.executable, "-m", "foldshift", "advise", "iris.csv", "--target", "target", "--learner", "GaussianNB"]
    command += ["--effort", "quick", "--json", "--html", "page.html"]
    environment = os.environ | {"PYTHONPATH": str(Path(foldshift.__file__).parents[1])}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    ours, theirs = (dict(leaves(json.loads(text))) for text in (found["json"], done.stdout))
    assert ours.keys() == theirs.keys() and len(ours) > 300
    for path, value in ours.items():  # SciPy has another version there, and functions of mathematics that round otherwise
        assert value == (pytest.approx(theirs[path], rel=1e-6) if isinstance(value, float) else theirs[path]), path
    assert "<h1>" in found["page"]
