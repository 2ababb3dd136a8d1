// The selected trials as a table, a page at a time, in any order.

const PAGE_ROWS = 25;

function makeTable(model, columns, choice) {
  const table = { model, columns, choice, page: 0, key: 'rank', down: false,
    root: document.getElementById('table') };
  table.fields = tableFields(model, columns);
  choice.listen((what) => {
    if (what === 'rest') { table.page = 0; drawTable(table); }
    if (what === 'pin') drawTable(table);
    if (what === 'hover') markRow(table);
  });
  document.getElementById('save').addEventListener('click', () => saveRows(table));
  return table;
}

function tableFields(model, columns) {
  return [
    { key: 'trial', title: 'trial', of: (i) => i, text: (i) => String(i) },
    { key: 'state', title: 'state', of: (i) => model.group[i], text: (i) => stateText(model, i), word: true },
    { key: 'rank', title: model.sweep.metric, of: (i) => model.rank[i], text: (i) => columns.metric.text(i), metric: true },
    ...columns.others.map((column) => ({ key: column.key, title: column.short, full: column.title,
      of: (i) => column.values[i], text: column.text })),
    model.objectives ? { key: 'front', title: 'front', full: 'No other trial is as good in all objectives and better in one',
      of: (i) => 1 - model.front[i], text: (i) => model.front[i] ? '★' : '' } : null,
    { key: 'step', title: 'step', of: (i) => model.step[i], text: (i) => Number.isFinite(model.y[i]) ? numberText(model.step[i]) : '' },
    ...columns.params.map((column) => ({ key: column.key, title: column.short, full: column.title,
      of: (i) => column.values[i], text: column.text, word: Boolean(column.labels) })),
    model.resumed.size + model.copied.size > 0 ? { key: 'pieces', title: 'in pieces', of: (i) => pieceText(model, i) || NaN,
      text: (i) => pieceText(model, i), word: true } : null,
    { key: 'duration', title: 'time', of: (i) => model.busy[i], text: (i) => durationText(model.busy[i]) },
    { key: 'why', title: 'why', of: (i) => reasonText(model, i) + detailText(model, i),
      text: (i) => cut(detailText(model, i) || (reasonText(model, i) === 'none' ? '' : reasonText(model, i)), 60), word: true },
  ].filter(Boolean);
}

// NaN last, whichever way.
function sortedTrials(table) {
  const { choice, model, key, down } = table;
  const field = table.fields.find((f) => f.key === key);
  const list = choice.trials();
  if (key === 'rank' && !down) return list;
  const value = Array.from({ length: model.n }, (_, i) => field.of(i));
  const none = (v) => v !== v;
  return list.sort((a, b) => {
    const x = value[a], y = value[b];
    if (none(x) || none(y)) return none(x) - none(y) || a - b;
    return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1) || a - b;
  });
}

function drawTable(table) {
  const list = sortedTrials(table);
  table.list = list;
  const pages = Math.max(1, Math.ceil(list.length / PAGE_ROWS));
  table.page = Math.min(table.page, pages - 1);
  const rows = list.slice(table.page * PAGE_ROWS, (table.page + 1) * PAGE_ROWS);
  table.root.replaceChildren(
    make('caption', { class: 'unseen' }, 'Selected trials'),
    make('thead', {}, make('tr', {}, ...table.fields.map((field) => headCell(table, field)))),
    make('tbody', {}, ...rows.map((trial) => tableRow(table, trial))));
  table.root.setAttribute('aria-rowcount', list.length + 1);
  const first = table.page * PAGE_ROWS;
  const where = list.length === 0 ? 'no trial is selected'
    : `${first + 1} to ${first + rows.length} of ${list.length.toLocaleString('en')}`;
  const turn = (by) => () => { table.page += by; drawTable(table); };
  document.getElementById('pages').replaceChildren(
    make('button', { click: turn(-1), disabled: table.page === 0, 'aria-label': 'Page before' }, '‹'),
    make('span', {}, where),
    make('button', { click: turn(1), disabled: table.page >= pages - 1, 'aria-label': 'Next page' }, '›'));
}

function headCell(table, field) {
  const sorted = field.key === table.key;
  const act = () => {
    table.down = sorted ? !table.down : false;
    table.key = field.key;
    table.page = 0;
    drawTable(table);
    table.root.querySelector(`button[data-key="${CSS.escape(field.key)}"]`).focus();
  };
  return make('th', { scope: 'col', class: field.word ? 'word' : '',
    'aria-sort': sorted ? (table.down ? 'descending' : 'ascending') : 'none' },
  make('button', { click: act, 'data-key': field.key, title: field.full || field.title },
    cut(field.title, 24) + (sorted ? (table.down ? ' ▾' : ' ▴') : '')));
}

function tableRow(table, trial) {
  const { choice, model } = table;
  const pin = choice.pinned.indexOf(trial);
  const cells = table.fields.map((field) => {
    const text = field.text(trial);
    const cell = make('td', { class: field.word ? 'word' : '' }, text);
    if (LANES.includes(text) && text) cell.classList.add('faint');
    return cell;
  });
  const button = make('button', { class: 'pin', 'aria-pressed': String(pin >= 0), 'aria-label': `Pin trial ${trial}`,
    click: (event) => { event.stopPropagation(); choice.togglePin(trial); } }, String(trial));
  if (pin >= 0) button.style.borderColor = pinColour(pin);
  cells[0].replaceChildren(button);
  return make('tr', { 'data-trial': String(trial), class: trial === model.best ? 'best' : '',
    click: () => choice.togglePin(trial),
    pointerenter: () => choice.hover(trial), pointerleave: () => choice.hover(null) }, ...cells);
}

function markRow(table) {
  for (const row of table.root.tBodies[0].rows) {
    row.classList.toggle('hovered', Number(row.dataset.trial) === table.choice.hovered);
  }
}

function saveRows(table) {
  const quote = (text) => /[",\n\r]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  const exact = (field) => (i) => field.key === 'rank' && !table.model.lane[i] ? String(table.model.y[i])
    : !field.word && field.key.startsWith('param ') && field.of(i) === field.of(i) ? String(field.of(i)) : field.text(i);
  const lines = [table.fields.map((f) => quote(f.full || f.title)).join(',')];
  for (const trial of table.list) lines.push(table.fields.map((f) => quote(exact(f)(trial))).join(','));
  const link = make('a', { download: table.model.sweep.name + '-selected.csv',
    href: URL.createObjectURL(new Blob([lines.join('\n') + '\n'], { type: 'text/csv' })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
