// Which parameters decided, and the metric against each of them.

function makeImportance(model, columns) {
  const root = document.getElementById('importance');
  return { root, draw: () => drawImportance(root, model, columns) };
}

function drawImportance(root, model, columns) {
  const { importance } = model.raw;
  const note = document.getElementById('importance-note');
  if (!importance || !importance.shares) {
    note.textContent = '';
    return nothing(root, importance ? importance.why : 'There are too few finished trials.');
  }
  note.textContent = `What tells the best ${importance.top} from all ${importance.used} trials with a value (PED-ANOVA). `
    + 'It shows what mattered among the settings tried, not causes.';
  const order = d3.range(columns.params.length).sort((a, b) => importance.shares[b] - importance.shares[a]);
  const most = importance.shares[order[0]] || 1;
  root.style.height = '';
  root.replaceChildren(make('ol', { class: 'bars' }, ...order.slice(0, 20).map((p) => {
    const bar = make('span', { class: 'bar' });
    bar.style.width = 100 * importance.shares[p] / most + '%';
    return make('li', {}, make('span', { class: 'bar-name', title: columns.params[p].title }, columns.params[p].short),
      make('span', { class: 'bar-room' }, bar), make('span', { class: 'bar-value' }, percentText(importance.shares[p])));
  })));
  if (order.length > 20) root.append(make('p', { class: 'faint' }, `and ${order.length - 20} more, each less important`));
}

// ---- slices ----

const SLICES_FIRST = 8;

function makeSlices(model, columns, choice) {
  const root = document.getElementById('slices');
  const view = { all: false };
  const draw = () => drawSlices(root, model, columns, choice, view, draw);
  return { root, draw, rest: true };
}

function drawSlices(root, model, columns, choice, view, again) {
  if (model.valued === 0) return nothing(root, 'No trial has a value to draw.');
  const shares = model.raw.importance && model.raw.importance.shares;
  const order = d3.range(columns.params.length).sort((a, b) => shares ? shares[b] - shares[a] : a - b);
  const drawn = view.all ? order : order.slice(0, SLICES_FIRST);
  root.replaceChildren(...drawn.map(() => make('div', { class: 'slice chart', role: 'img' })));
  drawn.forEach((p, k) => drawSlice(root.children[k], model, columns.params[p], choice, columns.metric.log));
  if (drawn.length < order.length) {
    root.append(make('button', { click: () => { view.all = true; again(); } }, `${order.length - drawn.length} more`));
  }
}

function drawSlice(root, model, column, choice, log) {
  const x = column.labels ? d3.scaleBand().domain(d3.range(column.labels.length)).padding(0.1)
    : fittingScale(column.values, column.log, column.domain);
  const frame = makeFrame(root, { height: 190, x, y: fittingScale(model.y, log), xLabel: '', yLabel: column.short,
    xFormat: column.labels ? (v) => cut(column.labels[v], 8) : column.format,
    xTicks: column.labels ? everySo(d3.range(column.labels.length), 6) : column.log ? ticksOf(x.copy(), 4, 'log', column) : undefined });
  root.setAttribute('aria-label', `${model.sweep.metric} against ${column.title}`);
  const lists = { off: [], on: [], best: [] };
  for (let k = model.valued - 1; k >= 0; --k) {
    const i = model.byRank[k];
    if (column.lane[i]) continue;
    const at = column.labels
      ? x(column.values[i]) + x.bandwidth() * (0.15 + 0.7 * ((i * 0.618034) % 1)) : x(column.values[i]);
    const list = !choice.selected[i] ? lists.off : i === model.best ? lists.best : lists.on;
    list.push([at, frame.y(model.y[i])]);
  }
  const many = model.valued > 1500;
  dots(frame.context, [[cssColour('ghost'), lists.off]], many ? 1.2 : 2.5, 0.8);
  dots(frame.context, [[GROUP_COLOUR.completed, lists.on]], many ? 1.2 : 2.5, many ? 0.4 : 0.7);
  dots(frame.context, [[cssColour('accent'), lists.best]], 5, 1);
}
