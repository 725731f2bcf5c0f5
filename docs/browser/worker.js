// Runs the command `foldshift` in Python (Pyodide), beside the page. It loads the files of one list, each only with the digest that
// the list states, and nothing once they are there.
"use strict";

const openFetch = self.fetch.bind(self);
const RUN = `
import os
os.chdir("/table")
from foldshift.command.main import main
try:
    main(list(words), prog_name="foldshift")
    code = 0
except SystemExit as stop:
    code = stop.code or 0
code
`;
let python = null;

const tell = (kind, more = {}) => self.postMessage({kind, ...more});

// A fetch of listed files alone: the last part of an address is looked up, its place and digest are those of the list.
function listedFetch(files, lock) {
  const there = new Set();
  return async request => {
    const name = new URL(request.url ?? request, "https://page.invalid/").pathname.split("/").pop();
    if (name === "pyodide-lock.json") return new Response(JSON.stringify(lock));
    const file = files[name];
    if (!file) throw new Error(`${name} is not a file that this page loads`);
    let response;
    try {
      response = await openFetch(file.address, {integrity: file.integrity, credentials: "omit"});
    } catch {
      throw new Error(`${file.address} cannot be loaded, or is another file than this page was made for; check the network and try again`);
    }
    if (!response.ok) throw new Error(`${file.address} cannot be loaded (status ${response.status}); try again`);
    there.add(name);
    tell("loaded", {name, bytes: [...there].reduce((sum, one) => sum + files[one].bytes, 0)});
    return response;
  };
}

async function load({files, lock, folder, own}) {
  self.fetch = listedFetch(files, lock);
  for (const name of ["pyodide.js", "pyodide.asm.js"]) {
    const script = URL.createObjectURL(new Blob([await (await fetch(name)).arrayBuffer()], {type: "text/javascript"}));
    importScripts(script);
    URL.revokeObjectURL(script);
  }
  python = await loadPyodide({indexURL: folder, lockFileURL: `${folder}pyodide-lock.json`});
  await python.loadPackage(Object.keys(lock.packages), {messageCallback() {}});
  for (const name of own) python.unpackArchive(await (await fetch(name)).arrayBuffer(), "zip", {extractDir: "/own"});
  python.runPython("import sys; sys.path.append('/own')");
  python.FS.mkdirTree("/table");
  for (const name of ["fetch", "XMLHttpRequest", "WebSocket", "WebTransport", "EventSource", "importScripts"]) self[name] = undefined;
  tell("ready");
}

// Lines of standard error as they come: those that end with a line feed stay, those that a terminal overwrites are steps.
function errorLines() {
  const decoder = new TextDecoder();
  let rest = "";
  return bytes => {
    rest += decoder.decode(bytes, {stream: true}).replaceAll("\x1b[K", "");
    for (let end; (end = rest.search(/[\r\n]/)) >= 0; rest = rest.slice(end + 1)) {
      if (rest.slice(0, end).trim()) tell(rest[end] === "\n" ? "line" : "step", {text: rest.slice(0, end)});
    }
    if (rest.trim()) tell("step", {text: rest});
    return bytes.length;
  };
}

function run({name, bytes, words}) {
  const out = [];
  python.setStdout({batched: text => out.push(text)});
  python.setStderr({write: errorLines(), isatty: true});
  python.FS.writeFile(`/table/${name}`, new Uint8Array(bytes));
  python.globals.set("words", python.toPy(words));
  const code = python.runPython(RUN);
  const page = code === 0 ? python.FS.readFile("/table/page.html", {encoding: "utf8"}) : null;
  tell("done", {code, page, json: out.join("\n")});
}

self.onmessage = async ({data}) => {
  try {
    await (data.kind === "load" ? load(data) : run(data));
  } catch (error) {
    tell("failed", {text: String(error.message ?? `${error.name} ${error.errno ?? ""}`).trim().split("\n").pop()});
  }
};
