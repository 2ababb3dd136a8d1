// The trial under the pointer, pinned trials, the legend and the count.

const NEAR_PX = 9;

function drawMarked(view) {
  const { choice } = view;
  const axes = view.visible().slice().sort((a, b) => a.x - b.x);
  const marks = choice.pinned.map((trial, k) => ({ trial, pin: k }));
  if (choice.hovered !== null) marks.push({ trial: choice.hovered, pin: -1 });
  const layer = view.marks || (view.marks = view.svg.insert('g', ':first-child').attr('class', 'marks'));
  const lines = layer.selectAll('path').data(marks.flatMap((mark) => [{ ...mark, halo: true }, mark]));
  lines.exit().remove();
  lines.enter().append('path').merge(lines)
    .attr('class', (mark) => mark.halo ? 'halo' : mark.pin < 0 ? 'hovered' : 'pinned')
    .attr('stroke', (mark) => mark.halo ? null : mark.pin < 0 ? null : pinColour(mark.pin))
    .attr('d', (mark) => { const path = d3.path(); traceTrial(path, axes, mark.trial); return path.toString(); });
}

const pinColour = (k) => ['#d55e00', '#cc79a7', '#009e73', '#56b4e9', '#e69f00', '#999999'][k];

// The selected trial whose line passes nearest; null where none is near.
function trialAt(view, x, y) {
  const axes = view.visible().slice().sort((a, b) => a.x - b.x);
  let k = 0;
  while (k + 2 < axes.length && axes[k + 1].x < x) ++k;
  const left = axes[k], right = axes[Math.min(k + 1, axes.length - 1)];
  const share = right.x > left.x ? Math.max(0, Math.min(1, (x - left.x) / (right.x - left.x))) : 0;
  let best = null, near = NEAR_PX;
  for (const trial of view.order) {
    if (!view.choice.selected[trial]) continue;
    const rise = right.rows[trial] - left.rows[trial];
    const off = Math.abs(left.rows[trial] + rise * share - y);
    // Across a steep line, not straight up.
    const distance = right.x > left.x ? off / Math.hypot(1, rise / (right.x - left.x)) : off;
    if (distance < near) [near, best] = [distance, trial];
  }
  return best;
}

function makeHover(view) {
  const tip = document.getElementById('tip');
  const place = (event) => {
    const box = view.root.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  view.root.addEventListener('pointermove', (event) => {
    if (event.buttons) return;
    const [x, y] = place(event);
    const trial = trialAt(view, x, y);
    view.choice.hover(trial);
    view.root.classList.toggle('near', trial !== null);
    if (trial === null) { tip.hidden = true; return; }
    tip.replaceChildren(...tipParts(view, trial));
    tip.hidden = false;
    const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    tip.style.left = Math.max(4, left) + 'px';
    tip.style.top = Math.max(4, Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 8)) + 'px';
  });
  view.root.addEventListener('pointerleave', () => { tip.hidden = true; view.choice.hover(null); });
  view.root.addEventListener('click', (event) => {
    if (event.target.closest('.name, .brush .selection, .brush .handle')) return;
    const trial = trialAt(view, ...place(event));
    if (trial !== null) view.choice.togglePin(trial);
  });
}

function tipParts(view, trial) {
  const { model, columns } = view;
  const rows = columns.params.slice(0, 14).map((column) => [column.short, column.text(trial)]);
  if (columns.params.length > 14) rows.push(['…', `${columns.params.length - 14} more`]);
  return [
    make('strong', {}, `trial ${trial}`), ` ${stateText(model, trial)}`,
    make('div', { class: 'big' }, `${model.sweep.metric} ${columns.metric.text(trial)}`),
    make('dl', {}, ...rows.flatMap(([name, text]) => [make('dt', {}, name), make('dd', {}, cut(text, 30))])),
    make('small', { class: 'faint' }, 'click to pin'),
  ];
}

// ---- legend and count ----

function drawLegend(view) {
  const { column, scale } = view.colour;
  const legend = document.getElementById('legend');
  const parts = [make('span', { class: 'faint' }, 'colour '), make('strong', {}, column.short)];
  if (column.labels) {
    column.labels.slice(0, 12).forEach((label, v) => parts.push(swatch(view.css[v]), cut(label, 16)));
  } else if (!column.values.every(Number.isNaN)) {
    const strip = make('canvas', { width: 120, height: 10, 'aria-hidden': 'true' });
    const context = strip.getContext('2d');
    const steps = view.css.length - 1;
    for (let k = 0; k < steps; ++k) {
      context.fillStyle = view.css[k];
      context.fillRect(k * 120 / steps, 0, 120 / steps + 1, 10);
    }
    const ends = extentOf(column.values);
    if (column.metric && !view.model.minimize) ends.reverse();
    const suffix = scale === 'rank' ? ' by rank' : scale === 'log' ? ' log' : '';
    parts.push(' ' + column.format(ends[0]) + (column.metric ? ' (best) ' : ' '), strip,
      ' ' + column.format(ends[1]) + suffix);
  }
  if (column.lane.some((lane) => lane)) parts.push(swatch(view.css[view.css.length - 1]), 'no value');
  legend.replaceChildren(...parts);
}

const swatch = (colour) => {
  const span = make('span', { class: 'swatch' });
  span.style.background = colour;
  return span;
};

function drawCount(view) {
  const { model, choice } = view;
  const shown = choice.shownCount;
  const text = choice.count === model.n ? `all ${plural(model.n, 'trial')}`
    : `${choice.count.toLocaleString('en')} of ${plural(model.n, 'trial')}`
      + (shown < model.n ? `, ${(model.n - shown).toLocaleString('en')} hidden` : '');
  document.getElementById('count').textContent = text;
}
