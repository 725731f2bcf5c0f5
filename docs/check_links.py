"""Links of a built site that lead nowhere: files and places in them; those to other hosts are counted, not followed."""

import argparse
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """Places of a page that can be linked to, and where its links lead."""

    def __init__(self, path):
        super().__init__()
        self.places, self.links = {"", "top"}, []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.places |= {found[name] for name in ("id", "name") if found.get(name)}
        self.links += [found[name] for name in ("href", "src") if found.get(name)]


def broken_links(site):
    """Links of all pages below a folder that lead nowhere.

    Parameters
    ----------
    site : Path

    Returns
    -------
    broken : list of (str, str)
        Page and link.
    n_links, n_elsewhere : int
        Links looked at, and those to other hosts, which were not.
    """
    files = [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]  # templates of a theme are no pages
    pages = {path.resolve(): _Page(path) for path in files}
    broken, n_links, n_elsewhere = [], 0, 0
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                n_elsewhere += parts.scheme in ("http", "https")
                continue
            n_links += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            lost = not target.is_file() or (target in pages and unquote(parts.fragment) not in pages[target].places)
            if lost:
                broken.append((path.relative_to(site.resolve()).as_posix(), link))
    return broken, n_links, n_elsewhere


def main(argv=None):
    """Print what is broken; exit with 1 if anything is."""
    parser = argparse.ArgumentParser(description="Links of a built site that lead nowhere.")
    parser.add_argument("site", type=Path)
    site = parser.parse_args(argv).site
    if not (site / "index.html").is_file():
        parser.error(f"{site} holds no index.html; build the site first: make docs")
    broken, n_links, n_elsewhere = broken_links(site)
    for page, link in broken:
        print(f"{page}: {link} leads nowhere")
    print(f"{n_links} links within the site, {len(broken)} broken; {n_elsewhere} to other hosts, not followed")
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
