// Tables of results: a click on a heading sorts by it, another one the other way round. Numbers sort as numbers.
document.addEventListener("click", (event) => {
  const head = event.target.closest("table.sortable th");
  if (!head) return;
  const table = head.closest("table"), column = head.cellIndex, down = head.dataset.order === "up";
  for (const other of table.querySelectorAll("th")) delete other.dataset.order;
  head.dataset.order = down ? "down" : "up";
  const value = (row) => row.cells[column].textContent.trim();
  const body = table.tBodies[0];
  const rows = [...body.rows].sort((a, b) => {
    const [x, y] = [value(a), value(b)], [p, q] = [parseFloat(x), parseFloat(y)];
    const order = Number.isNaN(p) || Number.isNaN(q) ? x.localeCompare(y) : p - q;
    return down ? -order : order;
  });
  body.append(...rows);
});
