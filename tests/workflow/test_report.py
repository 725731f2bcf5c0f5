"""The report, as one page and as an archive, in a browser that has no network."""

import html
import json
import re
import subprocess
import zipfile

import pytest

from browser import OPTIONS, browser_here
from foldshift.engine.study.find import find_studies

pytestmark = pytest.mark.workflow

# Walks through the report as a reader does: every category and subcategory, the view button of every item.
WALK = """
<script>
(async () => {
  const seen = [], pause = () => new Promise(done => setTimeout(done, 50));
  const press = async label => {
    [...document.querySelectorAll("li a")].find(link => link.innerText.trim() === label).click();
    await pause();
  };
  await pause();
  const front = document.querySelector("#app").innerText;
  const top = document.querySelector("#app .prose").getBoundingClientRect().top;
  const names = Object.keys(categories);
  for (const category of names) {
    const subcategories = Object.keys(categories[category]);
    for (const subcategory of subcategories) {
      app.setView({navbarMode: "menu"});
      await pause();
      await press(names.length > 1 ? category : "Results");
      if (subcategories.length > 1) await press(subcategory);
      // Where every item is both a table and a figure, a switch stands above the list.
      const forms = [...document.querySelectorAll("#app input[type=radio]")];
      for (const form of forms.length ? forms : [null]) {
        if (form) form.click();
        await pause();
        for (const row of document.querySelectorAll("tbody tr")) {
          row.querySelector("a").click();
          await pause();
          const content = document.querySelector("#app > div").lastElementChild;  // beside the menu and its logo
          const source = content.querySelector("iframe").getAttribute("src");
          seen.push({category, subcategory, item: row.cells[0].innerText, source: source.slice(0, 200)});
        }
      }
    }
  }
  const result = document.createElement("pre");
  result.id = "walk";
  result.innerText = JSON.stringify({front, top, seen});
  document.body.append(result);
})();
</script>
"""


@pytest.fixture(scope="module")
def browse(tmp_path_factory):
    """Function that opens a page without network: its content in the end, and the addresses that it asked for."""
    browser = browser_here()
    folder = tmp_path_factory.mktemp("browser")

    def browse(page, *arguments):
        log = folder / "network.json"
        command = [browser, *OPTIONS]
        command += [f"--user-data-dir={folder / 'profile'}", "--host-resolver-rules=MAP * ~NOTFOUND", f"--log-net-log={log}"]
        command += ["--virtual-time-budget=60000", *arguments, "--dump-dom", page.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout, requests_of_pages(json.loads(log.read_text()))

    return browse


def requests_of_pages(log):
    """Addresses that pages asked for. The browser asks its maker for news, too; those requests have no page as their origin."""
    start = log["constants"]["logEventTypes"]["URL_REQUEST_START_JOB"]
    asked = [event["params"] for event in log["events"] if event["type"] == start and "url" in event.get("params", {})]
    return sorted({one["url"] for one in asked if one["initiator"] != "not an origin"})


def walk(browse, page):
    """Front page of a report and what a reader finds in it; it asks for no address."""
    text = page.read_text(encoding="utf-8")
    copy = page.with_name("walked.html")
    copy.write_text(re.sub("</body>\\s*</html>\\s*$", lambda match: WALK + match[0], text), encoding="utf-8")
    content, requests = browse(copy)
    assert requests == []
    found = re.search(r'<pre id="walk">(.*?)</pre>', content, re.DOTALL)
    assert found, "the walk through the report did not come to its end"
    found = json.loads(html.unescape(found[1]))
    assert found["top"] >= 0  # the front page begins within its frame, where a reader can get at it
    return found["front"], found["seen"]


def check(front, seen, finished):
    """All tables and figures of the run are there, under their study's heading, each with its caption on its page."""
    assert {"workflow", "statistics", "about", "results"} <= set(front.lower().split("\n"))
    study, folder = find_studies()[finished.study], finished.folder / "results" / finished.study
    items = {folder / item.files()[0]: item for some in study.declaration().items for item in some.items}
    made = [*folder.glob("tables/*.html"), *folder.glob("paper_vs_ours.html"), *folder.glob("figures/*.html")]
    assert len(made) > 10
    expected = [(study.title, item.category, f"{item.title} ({item.kind})") for item in map(items.get, made)]
    assert sorted((one["category"], one["subcategory"], one["item"]) for one in seen) == sorted(expected)
    for path, item in ((path, items[path]) for path in made):
        assert ("<figcaption>" if item.kind == "figure" else "<caption>") in path.read_text(encoding="utf-8")
    others = [one.title for name, one in find_studies().items() if name != finished.study]
    assert study.title in front and not any(title in front for title in others)


def test_the_browser_test_notices_a_page_that_asks_for_an_address(browse, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(
        "<html><body><img src='http://one.example/a.png'><script>fetch('https://two.example/b').catch(() => {})</script>"
        """<iframe src="data:text/html,<img src='http://three.example/c.png'>"></iframe></body></html>"""
    )
    content, requests = browse(page)
    assert requests == ["http://one.example/a.png", "http://three.example/c.png", "https://two.example/b"]
    assert "three.example" in content


def test_the_report_as_one_page_opens_without_network(browse, finished):
    finished("--report", "report.html", check=True)
    front, seen = walk(browse, finished.folder / "report.html")
    check(front, seen, finished)
    assert all(one["source"].startswith("data:") for one in seen)  # the page holds all of it


def test_the_report_as_an_archive_opens_without_network(browse, finished, tmp_path):
    finished("--report", str(tmp_path / "report.zip"), check=True)
    with zipfile.ZipFile(tmp_path / "report.zip") as archive:
        archive.extractall(tmp_path)
    (page,) = tmp_path.glob("**/report.html")
    front, seen = walk(browse, page)
    check(front, seen, finished)
    assert all((page.parent / one["source"]).is_file() for one in seen)
