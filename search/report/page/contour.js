// The metric over two parameters as the model sees it, with the trials on top.

const CONTOUR_LEVELS = 24;  // colours; every fourth edge is a line
const FINER = 4;
const CONTOUR_POINTS = 1500;

function makeContour(model, columns, choice) {
  const root = document.getElementById('contour');
  const view = { x: null, y: null, root, rest: true, frame: null };
  view.mark = () => { if (view.frame && view.frame.mark) view.frame.mark(); };
  view.draw = () => drawContour(view, model, columns, choice);
  return view;
}

function drawContour(view, model, columns, choice) {
  const { root } = view;
  const { landscape } = model.raw;
  const legend = document.getElementById('contour-legend');
  const note = document.getElementById('contour-note');
  const tools = document.querySelector('#contour-section .tools');
  view.frame = null;
  if (!landscape.maps || landscape.maps.length === 0) {
    for (const part of [legend, note, tools]) part.replaceChildren();
    return nothing(root, landscape.why || 'There is only one parameter to draw.');
  }
  const keys = landscape.axes.map((axis) => columns.params[axis.param].key);
  if (!keys.includes(view.x)) view.x = keys[landscape.maps[0].x];
  if (!keys.includes(view.y) || view.y === view.x) view.y = keys.find((key) => key !== view.x);
  offerAxes(tools, view, landscape, columns);
  const map = mapOf(landscape, keys.indexOf(view.x), keys.indexOf(view.y));
  if (!map) {
    for (const part of [legend, note]) part.replaceChildren();
    return nothing(root, 'No trial has both of them.');
  }
  const shown = makeMap(root, model, columns, map);
  view.frame = shown.frame;
  drawField(shown);
  drawMapTrials(shown, model, columns, choice);
  legend.replaceChildren(...mapLegend(shown, model));  // a canvas does not tell its colours
  note.textContent = `What a Gaussian process expects ${landscapeWords(landscape)}; all other settings as in trial ${map.base}`
    + (map.base === model.best ? ', the best.' : ', the best that has both.') + fewWords(model);
  root.setAttribute('aria-label', `${model.sweep.metric} over ${shown.x.column.title} and ${shown.y.column.title}, `
    + `from ${numberText(shown.low)} to ${numberText(shown.high)}`);
}

const landscapeWords = ({ used, of }) => used < of
  ? `that knows ${used.toLocaleString('en')} of ${of.toLocaleString('en')} ended trials, the best and a sample of the others`
  : `that knows the ${plural(of, 'ended trial')}`;

function offerAxes(tools, view, landscape, columns) {
  const pick = (name, label) => make('label', {}, label, make('select', { name: 'contour-' + name,
    change: (event) => {
      const other = name === 'x' ? 'y' : 'x';
      if (view[other] === event.target.value) view[other] = view[name];
      view[name] = event.target.value;
      view.draw();
    } }, ...landscape.axes.map(({ param }) => make('option', { value: columns.params[param].key,
    selected: columns.params[param].key === view[name] }, columns.params[param].short))));
  const before = tools.querySelector('select:focus');
  tools.replaceChildren(pick('x', 'across '), pick('y', 'up '));
  if (before) tools.querySelector(`select[name="${before.name}"]`).focus();
}

// The map of two axes of the landscape, with x across, as it is or turned.
function mapOf({ axes, maps }, x, y) {
  const straight = maps.find((map) => map.x === x && map.y === y);
  if (straight) return { ...straight, xs: axes[x], ys: axes[y] };
  const turned = maps.find((map) => map.x === y && map.y === x);
  if (!turned) return null;
  const nx = axes[x].at.length, ny = axes[y].at.length;
  const middles = d3.range(nx * ny).map((k) => turned.middles[(k % nx) * ny + Math.floor(k / nx)]);
  return { base: turned.base, middles, xs: axes[x], ys: axes[y] };
}

function mapAxis(columns, { param, at }) {
  const column = columns.params[param];
  if (column.labels) return { column, at, scale: d3.scaleBand().domain(at).padding(0.04) };
  const log = column.log && at[0] > 0;
  return { column, at, scale: (log ? d3.scaleLog() : d3.scaleLinear()).domain([at[0], at[at.length - 1]]),
    ticks: log ? ticksOf(d3.scaleLog().domain([at[0], at[at.length - 1]]), 4, 'log', column) : undefined };
}

function makeMap(root, model, columns, map) {
  const x = mapAxis(columns, map.xs), y = mapAxis(columns, map.ys);
  const text = ({ column }) => column.labels ? (v) => cut(column.labels[v], 12) : (v) => column.format(v);
  const height = Math.max(280, Math.min(440, Math.round(root.clientWidth * 0.6)));
  const frame = makeFrame(root, { height, x: x.scale, y: y.scale, xLabel: x.column.short, yLabel: '',
    xFormat: text(x), yFormat: text(y), xTicks: x.ticks });
  const [low, high] = extentOf(map.middles);
  const log = low > 0 && (columns.metric.log || high / low > 1000);
  const place = low === high ? () => 0.5
    : log ? (v) => Math.log(v / low) / Math.log(high / low) : (v) => (v - low) / (high - low);
  const back = (t) => log ? low * (high / low) ** t : low + t * (high - low);
  // 0 is the best; what lies beyond the map has the colour of its end.
  const colour = (v) => {
    const t = Math.max(0, Math.min(1, place(v)));
    return shade(model.minimize ? t : 1 - t);
  };
  return { frame, x, y, map, low, high, back, colour };
}

// ---- the field ----

// Where the middle of place `i` is; numbers between two places lie between them.
const between = (pixels) => (i) => {
  const k = Math.max(0, Math.min(pixels.length - 1, i));
  const left = Math.floor(k), right = Math.min(pixels.length - 1, left + 1);
  return pixels[left] + (k - left) * (pixels[right] - pixels[left]);
};

function drawField(shown) {
  if (!shown.x.column.labels && !shown.y.column.labels) drawSmooth(shown);
  else drawCells(shown);
}

function drawSmooth({ frame, x, y, map, low, high, back, colour }) {
  const { context } = frame;
  const toX = between(x.at.map((v) => x.scale(v))), toY = between(y.at.map((v) => y.scale(v)));
  const fine = finer(map.middles, x.at.length, y.at.length);
  const path = d3.geoPath(d3.geoTransform({ point(gx, gy) {
    this.stream.point(toX((gx - 0.5) / FINER), toY((gy - 0.5) / FINER));
  } }), context);
  const levels = d3.range(1, CONTOUR_LEVELS).map((k) => back(k / CONTOUR_LEVELS));
  context.fillStyle = colour(back(0.5 / CONTOUR_LEVELS));
  const [left, right] = x.scale.range(), [bottom, top] = y.scale.range();
  context.fillRect(left, top, right - left, bottom - top);
  if (low === high) return;
  const contours = d3.contours().size([fine.width, fine.height]).thresholds(levels)(fine.values);
  contours.forEach((contour, k) => {
    context.beginPath();
    path(contour);
    context.fillStyle = colour(back((k + 1.5) / CONTOUR_LEVELS));
    context.fill();
  });
  context.strokeStyle = cssColour('paper');
  context.globalAlpha = 0.55;
  context.lineWidth = 0.8;
  context.save();
  context.beginPath();  // the outline along the frame is no line of the map
  context.rect(left + 1, top + 1, right - left - 2, bottom - top - 2);
  context.clip();
  contours.filter((_, k) => k % 4 === 3).forEach((contour) => { context.beginPath(); path(contour); context.stroke(); });
  context.restore();
  context.globalAlpha = 1;
}

// FINER times as many places in each direction, on smooth curves through those there are.
function finer(values, width, height) {
  const along = (list) => {
    const at = (i) => list[Math.max(0, Math.min(list.length - 1, i))];
    return d3.range((list.length - 1) * FINER + 1).map((k) => {
      const i = Math.floor(k / FINER), t = k / FINER - i;
      const [a, b, c, d] = [at(i - 1), at(i), at(i + 1), at(i + 2)];
      const curve = b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
      return Math.max(Math.min(b, c), Math.min(Math.max(b, c), curve));  // no hill that the model does not have
    });
  };
  const rows = d3.range(height).map((j) => along(values.slice(j * width, (j + 1) * width)));
  const columns = rows[0].map((_, i) => along(rows.map((row) => row[i])));
  return { width: columns.length, height: columns[0].length, values: d3.merge(d3.transpose(columns)) };
}

// A category has no neighbours: a cell for each place, as high as half way to the next.
function drawCells({ frame, x, y, map, colour }) {
  const xs = cellEdges(x), ys = cellEdges(y);
  map.middles.forEach((value, k) => {
    const [left, right] = xs[k % xs.length], [low, high] = ys[Math.floor(k / xs.length)];
    frame.context.fillStyle = colour(value);
    frame.context.fillRect(left, Math.min(low, high), right - left + 0.5, Math.abs(high - low) + 0.5);
  });
}

function cellEdges({ column, at, scale }) {
  if (column.labels) return at.map((v) => [scale(v), scale(v) + scale.bandwidth()]);
  const pixels = at.map((v) => scale(v));
  const edge = (i) => i < 0 ? pixels[0] : i >= pixels.length - 1 ? pixels[pixels.length - 1] : (pixels[i] + pixels[i + 1]) / 2;
  return pixels.map((_, i) => [edge(i - 1), edge(i)]);
}

// ---- the trials ----

// Those of a category stand side by side.
function placeOn({ column, scale }, i) {
  const value = column.values[i];
  if (!column.labels) return scale(value);
  const at = scale(value);
  return at === undefined ? NaN : at + scale.bandwidth() * (0.12 + 0.76 * ((i * 0.618034 + 0.3) % 1));
}

function drawMapTrials(shown, model, columns, choice) {
  const { frame, x, y, colour } = shown;
  const { context } = frame;
  const points = [];
  for (let k = 0; k < model.valued && points.length < CONTOUR_POINTS; ++k) {
    const i = model.byRank[k];
    if (!choice.selected[i] || x.column.lane[i] || y.column.lane[i]) continue;
    const px = placeOn(x, i), py = placeOn(y, i);
    if (Number.isFinite(px) && Number.isFinite(py)) points.push([px, py, i]);
  }
  const radius = points.length > 600 ? 2 : 3.5;
  for (const [px, py, i] of points.slice().reverse()) {
    context.beginPath();
    context.arc(px, py, i === model.best ? 6 : radius, 0, 2 * Math.PI);
    context.fillStyle = colour(model.y[i]);
    context.strokeStyle = i === model.best ? cssColour('accent') : cssColour('paper');
    context.lineWidth = i === model.best ? 2.5 : 1;
    context.fill();
    context.stroke();
  }
  const rows = (i) => [[x.column.short, x.column.text(i)], [y.column.short, y.column.text(i)]];
  pickPoints(frame, points, choice, (i) => pointTip(model, columns, i, rows(i)),
    (px, py) => fieldTip(shown, model, px, py));
}

// What the model expects at the nearest place of its grid.
function fieldTip({ x, y, map }, model, px, py) {
  const nearest = (axis, pixel) => {
    const middles = axis.at.map((v) => axis.scale(v) + (axis.column.labels ? axis.scale.bandwidth() / 2 : 0));
    return d3.scan(middles, (a, b) => Math.abs(a - pixel) - Math.abs(b - pixel));
  };
  const inside = ([a, b], pixel) => pixel >= Math.min(a, b) && pixel <= Math.max(a, b);
  if (!inside(x.scale.range(), px) || !inside(y.scale.range(), py)) return null;
  const i = nearest(x, px), j = nearest(y, py);
  const text = ({ column, at }, k) => column.labels ? column.labels[at[k]] : column.format(at[k]);
  return [make('div', { class: 'big' }, `${model.sweep.metric} ${numberText(map.middles[j * x.at.length + i])} expected`),
    make('dl', {}, make('dt', {}, x.column.short), make('dd', {}, cut(text(x, i), 30)),
      make('dt', {}, y.column.short), make('dd', {}, cut(text(y, j), 30)))];
}

function mapLegend({ low, high, back, colour }, model) {
  const strip = make('canvas', { width: 140, height: 10, 'aria-hidden': 'true' });
  const context = strip.getContext('2d');
  const ends = model.minimize ? [0, 1] : [1, 0];
  for (let k = 0; k < 140; ++k) {
    context.fillStyle = colour(back(ends[0] + (ends[1] - ends[0]) * k / 139));
    context.fillRect(k, 0, 1, 10);
  }
  const [best, worst] = model.minimize ? [low, high] : [high, low];
  return [make('span', { class: 'row faint' }, `${model.sweep.metric} ${numberText(best)} (best expected) `, strip, numberText(worst))];
}
