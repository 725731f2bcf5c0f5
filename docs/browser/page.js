// The page: a file and choices become the words of `foldshift advise`, the worker runs them, and the answer is shown.
"use strict";

const find = id => document.getElementById(id);
const UNREAD = /\.(xlsx?|xlsm|ods|parquet|feather|sav|dta|sas7bdat|rds|rdata|xz)$/i;  // their readers are not loaded
const OPTIONS = ["target", "learner", "groups", "time-on", "effort"];  // ids of the fields are names of the options
let worker = null, loading = null, file = null, saved = [];

// Columns that the first line names, for the fields to suggest; what is typed is foldshift's to judge.
function columnsOf(text) {
  const line = text.replace(/^\ufeff/, "").split(/\r?\n/, 1)[0];
  const separator = [",", ";", "\t", "|"].reduce((best, one) => (line.split(one).length > line.split(best).length ? one : best));
  const names = [];
  for (let rest = line + separator; rest; ) {
    const quoted = rest.match(/^\s*"((?:[^"]|"")*)"\s*/);
    const end = quoted ? quoted[0].length : rest.indexOf(separator);
    names.push(quoted ? quoted[1].replaceAll('""', '"') : rest.slice(0, end).trim());
    rest = rest.slice(end + 1);
  }
  return names.filter(Boolean);
}

// Words of a command line: quotes hold spaces together.
function wordsOf(text) {
  return [...text.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) => word.replace(/"([^"]*)"|'([^']*)'/g, "$1$2"));
}

const quote = word => (/^[\w./=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

function words() {
  const given = OPTIONS.flatMap(id => (find(id).value.trim() ? [`--${id}`, find(id).value.trim()] : []));
  const places = [find("x").value.trim(), find("y").value.trim()];
  if (places.some(Boolean)) given.push("--space-on", ...places);
  return [...given, ...wordsOf(find("more").value)];
}

function show(state) {
  document.body.dataset.state = state;
  find("start").disabled = !file || state === "busy";
  find("stop").disabled = state !== "busy";
  for (const field of document.querySelectorAll("fieldset")) field.disabled = state === "busy";
}

function step(text, share = null) {
  find("step").textContent = text;
  const bar = find("bar");
  bar.hidden = text === "";
  if (share === null) bar.removeAttribute("value");
  else bar.value = share;
}

function mistake(text) {
  find("mistake").textContent = text;
  find("mistake").hidden = text === "";
  step("");
  show(file ? "chosen" : "empty");
}

function forget() {
  find("lines").replaceChildren();
  find("result").hidden = true;
  saved.forEach(URL.revokeObjectURL);
  saved = [];
  mistake("");
}

function line(text) {
  const item = document.createElement("li");
  item.textContent = text;
  find("lines").append(item);
}

async function choose(chosen) {
  if (!chosen || document.body.dataset.state === "busy") return;
  if (UNREAD.test(chosen.name)) {
    file = null;
    forget();
    find("name").textContent = "";
    return mistake(`${chosen.name}: this page reads text (CSV, TSV, ARFF), plain or packed by gzip, bzip2 or zip; save the table as CSV`);
  }
  file = chosen;
  const names = columnsOf(await chosen.slice(0, 65536).text());
  if (file !== chosen) return;
  find("name").textContent = `${file.name}, ${Math.ceil(file.size / 1000).toLocaleString("en")} kB`;
  find("columns").replaceChildren(...names.map(name => new Option(name, name)));
  find("target").placeholder = names.length ? `${names.at(-1)} (the last column)` : "the last column";
  forget();
}

const bare = name => name.replaceAll(/[/\\\0]/g, "_");

async function begin(list) {
  const source = await (await fetch("worker.js")).text();
  // As a blob, because such a worker keeps this page's rule on what may be loaded.
  const address = URL.createObjectURL(new Blob([source], {type: "text/javascript"}));
  worker = new Worker(address);
  URL.revokeObjectURL(address);
  const files = Object.fromEntries(
    Object.entries(list.files).map(([name, one]) => [name, {...one, address: new URL(one.address, document.baseURI).href}]),
  );
  const total = Object.values(files).reduce((sum, one) => sum + one.bytes, 0);
  await new Promise((ready, failed) => {
    worker.onmessage = ({data}) => {
      if (data.kind === "loaded") {
        step(`Loading: ${(data.bytes / 1e6).toFixed(0)} of ${(total / 1e6).toFixed(0)} MB (${data.name})`, data.bytes / total);
      } else if (data.kind === "ready") ready();
      else failed(new Error(data.text));
    };
    worker.onerror = event => failed(new Error(event.message || "the worker cannot be started"));
    worker.postMessage({kind: "load", files, lock: list.lock, folder: new URL(list.folder, document.baseURI).href, own: list.own});
  });
}

function answered({data}) {
  if (data.kind === "step") step(data.text);
  else if (data.kind === "line") line(data.text);
  else if (data.kind === "failed") {
    end();
    mistake(data.text);
  } else if (data.code !== 0) {
    const lines = [...find("lines").children].map(item => item.textContent);
    mistake(lines.findLast(text => /^(foldshift|Error): /.test(text)) ?? `foldshift ended with code ${data.code}`);
  } else {
    const base = file.name.replace(/\.\w+$/, "");
    for (const [id, text, name, type] of [
      ["save-page", data.page, `${base}_advice.html`, "text/html"],
      ["save-json", data.json, `${base}_advice.json`, "application/json"],
    ]) {
      saved.push(URL.createObjectURL(new Blob([text], {type})));
      Object.assign(find(id), {href: saved.at(-1), download: name});
    }
    find("result").hidden = false;
    find("page").srcdoc = data.page;
    find("json").textContent = data.json;
    step("");
    find("step").textContent = "Done.";
    show("chosen");
    find("result-title").focus();
  }
}

function end() {
  worker?.terminate();
  worker = loading = null;
}

async function start(event) {
  event.preventDefault();
  if (find("start").disabled) return;
  forget();
  show("busy");
  step("Loading Python ...");
  const asked = ["advise", ...words(), "--json", "--html", "page.html", "--", bare(file.name)];
  const shown = ["foldshift", "advise", bare(file.name), ...words(), "--html", "page.html"];
  find("command").textContent = shown.map(quote).join(" ");
  try {
    loading ??= fetch("files.json").then(response => response.json()).then(begin);
    const mine = loading;
    await mine;
    if (mine !== loading) return;  // stopped meanwhile
    step("Starting foldshift ...");
    worker.onmessage = answered;
    worker.onerror = ({message}) => answered({data: {kind: "failed", text: message}});
    worker.postMessage({kind: "run", name: bare(file.name), bytes: await file.arrayBuffer(), words: asked});
  } catch (error) {
    if (document.body.dataset.state !== "busy") return;
    end();
    mistake(error.message);
  }
}

function stop() {
  end();
  const known = [...find("lines").children].some(item => /verdict/i.test(item.textContent));
  mistake(`Stopped${known ? "; what was known by then is in the list of messages" : " before there was an answer"}.`);
}

find("form").addEventListener("submit", start);
find("stop").addEventListener("click", stop);
find("file").addEventListener("change", event => choose(event.target.files[0]));
for (const kind of ["dragover", "drop"]) {
  document.addEventListener(kind, event => {
    event.preventDefault();
    if (kind === "drop") choose(event.dataTransfer.files[0]);
  });
}
show("empty");
