"""Style of the pages of the report, over that of tables."""

from __future__ import annotations

from foldshift.reporting.table_grid import STYLE

PAGE_STYLE = (
    STYLE
    + """
body { margin: 0 auto; padding: 1rem 1.25rem 3rem; max-width: 86rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: .6rem 0 .4rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .4rem; } a { color: #005f94; } p { max-width: 62rem; margin: .5rem 0; }
nav { font-size: 14px; } article { border: 1px solid #bbb; border-radius: 6px; padding: .2rem 1.1rem .8rem; margin: 1.2rem 0; }
article h2 { margin: .7rem 0 .2rem; }
.question { font-size: 1.1rem; font-weight: bold; } .answer { font-size: 1.05rem; } .answer.full { font-size: 1rem; }
.verdict { display: inline-block; border: 1.5px solid #555; border-radius: 4px; padding: 0 .45rem; margin-right: .3rem;
  font-weight: bold; font-size: 13px; background: #f2f2f2; white-space: nowrap; }
.verdict.holds { border-color: #00694b; background: #e2f4ec; } .verdict.in-part { border-color: #8a5a00; background: #fff3d9; }
.verdict.does-not-hold { border-color: #a63f00; background: #fde8dc; }
dl.facts { display: grid; grid-template-columns: max-content 1fr; gap: .15rem .9rem; margin: .7rem 0; font-size: 14px; }
dl.facts dt { color: #444; } dl.facts dd { margin: 0; }
.beside { display: flex; flex-wrap: wrap; gap: 1.5rem; } .beside > section { flex: 1 1 34rem; min-width: 0; }
.caption { font-size: 14px; } .hint { font-size: 13px; color: #444; font-style: italic; margin: .3rem 0; }
.scroll { overflow: auto; max-width: 100%; max-height: 40rem; }
.scroll.wide { border: 1px solid #bbb; border-left-width: 3px; padding: .2rem; }
.scroll thead th { position: sticky; top: 0; background: #fff; } .scroll:has(img) { max-height: none; }
.scroll:focus-visible { outline: 2px solid #005f94; }
.scroll img { display: block; max-width: 100%; min-width: 34rem; height: auto; }
.scroll td.long { min-width: 14rem; }
td.claim { white-space: normal; min-width: 16rem; max-width: 34rem; } td.free { white-space: normal; }
details { border-top: 1px solid #ddd; padding: .4rem 0; } summary { cursor: pointer; font-weight: bold; padding: .2rem 0; }
ul { padding-left: 1.2rem; } ul.items { list-style: none; padding: 0; } ul.items li { padding: .25rem 0; }
footer { margin-top: 2.5rem; border-top: 1px solid #bbb; font-size: 14px; }
@media (max-width: 600px) {
  table.claims, table.claims tbody, table.claims tr, table.claims td { display: block; }
  table.claims thead, table.claims td.empty { display: none; }
  table.claims tr { border-bottom: 1px solid #bbb; padding: .5rem 0; }
  table.claims td { border: 0; text-align: left; white-space: normal; min-width: 0; padding: .1rem 0; }
  table.claims td:nth-child(n+3)::before { content: attr(data-head) ": "; color: #444; }
  body { padding: .6rem .8rem 2rem; } dl.facts { grid-template-columns: 1fr; } dl.facts dd { margin-bottom: .35rem; }
}
@media print {
  body { max-width: none; padding: 0; font-size: 11px; } .scroll { overflow: visible; max-height: none; border: 0; }
  .hint, nav { display: none; }
  .scroll img { min-width: 0; } article, figure, tr { break-inside: avoid; } h2, h3 { break-after: avoid; } a { color: #111; }
}
"""
)
# A box that holds more than it shows says so; the line above it is hidden until then.
SCRIPT = """
const mark = () => {
  for (const box of document.querySelectorAll(".scroll")) {
    const wide = box.scrollWidth > box.clientWidth + 1, tall = box.scrollHeight > box.clientHeight + 1;
    box.classList.toggle("wide", wide || tall);
    box.previousElementSibling.hidden = !(wide || tall);
    box.previousElementSibling.textContent = (wide ? "Wider than the page" : "Longer than its box") + ": scroll the box.";
  }
};
addEventListener("load", mark);
addEventListener("resize", mark);
addEventListener("toggle", mark, true);
"""
