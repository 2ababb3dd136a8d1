// Parallel coordinates: a line for each trial on canvases, axes above them in SVG.
//
// While something moves, all lines are drawn at once by raster.js. Once it lies still
// they are drawn again with smooth edges, a piece a frame (smoothly()).

const MARGIN = { top: 74, right: 40, bottom: 14, left: 48 };
const LANE_HEIGHT = 20;
const PLOT_HEIGHT = 330;
const MIN_GAP = { wide: 40, narrow: 56 };
const SMOOTH_AT_ONCE = 6000;  // pieces of line that a canvas draws fast enough
const FRAME_MS = 9;

function makeParallel(model, columns, choice) {
  const view = {
    model, columns, choice, root: document.getElementById('parallel'),
    axes: columns.all.map((column) => ({
      column, scale: column.scales[0], flip: false, brush: null,
      hidden: ['steps', 'duration', 'trial'].includes(column.key) })),
    colour: { column: columns.metric, scale: 'rank' },
    lanes: [], paints: 0, times: [], task: 0,
  };
  const metric = view.axes[view.axes.length - 1];
  if (columns.metric.log) metric.scale = 'log';
  view.context = addCanvas(view, 'context');
  view.front = addCanvas(view, 'front');
  view.svg = d3.select(view.root).append('svg').attr('role', 'group')
    .attr('aria-label', 'Parallel coordinates: an axis for each parameter, a line for each trial');
  view.layout = () => layout(view);
  view.repaint = (what) => repaint(view, what);
  view.recolour = () => { recolour(view); repaint(view, 'all'); };
  view.visible = () => view.axes.filter((axis) => !axis.hidden);
  recolour(view);
  choice.listen((what) => {
    if (what === 'move') repaint(view, 'front');
    if (what === 'rest') repaint(view, 'rest');
    if (what === 'pin' || what === 'hover') drawMarked(view);
  });
  return view;
}

function addCanvas(view, name) {
  const canvas = document.createElement('canvas');
  canvas.className = name;
  canvas.setAttribute('aria-hidden', 'true');
  view.root.append(canvas);
  return canvas;
}

// ---- where everything is ----

function layout(view) {
  const axes = view.visible();
  const room = view.root.parentElement.clientWidth;
  const least = room < 700 ? MIN_GAP.narrow : MIN_GAP.wide;
  view.width = Math.max(room, MARGIN.left + MARGIN.right + least * (axes.length - 1));
  view.overflows = view.width > room;
  view.lanes = lanesOf(axes);
  view.laneTop = MARGIN.top + PLOT_HEIGHT + 12;
  view.height = view.laneTop + view.lanes.length * LANE_HEIGHT + MARGIN.bottom;
  view.gap = axes.length > 1
    ? (view.width - MARGIN.left - MARGIN.right) / (axes.length - 1) : 0;
  axes.forEach((axis, k) => {
    if (!axis.dragged) axis.x = MARGIN.left + k * view.gap;
    placeAxis(view, axis);
  });
  sizeCanvases(view);
  drawAxes(view);
  repaint(view, 'all');
}

// The lanes that any axis needs, the same row for all axes.
function lanesOf(axes) {
  const needed = new Set();
  for (const { column } of axes) for (const lane of column.lane) if (lane) needed.add(lane);
  return [...needed].sort();
}

const laneY = (view, lane) => view.laneTop + (view.lanes.indexOf(lane) + 0.5) * LANE_HEIGHT;
const yOf = (axis, t) => MARGIN.top + PLOT_HEIGHT * (axis.flip ? t : 1 - t);
const tOf = (axis, y) => {
  const t = (y - MARGIN.top) / PLOT_HEIGHT;
  return axis.flip ? t : 1 - t;
};

// `t`: places of all trials; `rows`: their rows of pixels.
function placeAxis(view, axis) {
  const { model } = view;
  const state = axis.scale + axis.flip + view.lanes.join() + axis.column.domain;
  if (axis.placed === state) return;
  axis.placed = state;
  axis.t = placeColumn(model, axis.column, axis.scale);
  axis.rows = new Int16Array(model.n);
  for (let i = 0; i < model.n; ++i) {
    const lane = axis.column.lane[i];
    axis.rows[i] = lane ? laneY(view, lane) : yOf(axis, Math.max(0, Math.min(1, axis.t[i])));
  }
}

function sizeCanvases(view) {
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  view.ratio = ratio;
  for (const canvas of [view.context, view.front]) {
    const width = Math.round(view.width * ratio), height = Math.round(view.height * ratio);
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    canvas.style.width = view.width + 'px';
    canvas.style.height = view.height + 'px';
  }
  view.root.style.height = view.height + 'px';
  view.svg.attr('width', view.width).attr('height', view.height);
  const width = Math.ceil(view.width), height = Math.ceil(view.height);
  if (!view.raster || view.raster.width !== width || view.raster.height !== height) {
    view.raster = makeRaster(width, height);
    view.stage = document.createElement('canvas');
    view.stage.width = width;
    view.stage.height = height;
  }
}

// ---- colour and order ----

// Completed ones in front, the best first; then those that run; the stopped behind.
const DEPTH = { completed: 0, running: 1, paused: 1, pending: 1, stopped: 2, pruned: 2, failed: 3 };
// How strong their lines are. The best tenth (at most MOST_STRONG) stands out, pruned
// ones are dimmed.
const STRENGTHS = [1, 0.62, 0.36];
const STRENGTH = { completed: 1, running: 1, paused: 1, pending: 1, stopped: 2, pruned: 2, failed: 1 };
const FEW = 400;
const MOST_STRONG = 150;

function strengthsOf(model) {
  const strengths = Uint8Array.from(model.group, (g) => STRENGTH[GROUPS[g]]);
  for (let i = 0; i < model.n; ++i) {
    const best = model.n <= FEW || model.rank[i] < Math.min(model.valued / 10, MOST_STRONG);
    if (strengths[i] === 1 && best) strengths[i] = 0;
  }
  return strengths;
}

// By strength, where so many lines are drawn with smooth edges over each other.
function alphasFor(count) {
  const room = Math.min(1, FEW / count);
  return [Math.max(0.6, 0.95 * room), Math.max(0.08, 0.9 * room), Math.max(0.05, 0.42 * room)];
}

function recolour(view) {
  const { model, colour } = view;
  const { index, palette } = colourTrials(model, colour.column, colour.scale);
  const paper = cssColour('paper');
  view.css = palette;
  view.shadeOf = index;
  view.palette = new Uint32Array(256);
  palette.forEach((c, k) => STRENGTHS.forEach((alpha, s) => {
    view.palette[1 + k * STRENGTHS.length + s] = packed(c, alpha, paper);
  }));
  view.strength = strengthsOf(model);
  view.ink = Uint8Array.from(index, (k, i) => 1 + k * STRENGTHS.length + view.strength[i]);
  view.greyPalette = new Uint32Array(256).fill(packed(cssColour('ghost'), 1, paper));
  orderTrials(view);
}

function orderTrials(view) {
  const { model } = view;
  const depth = GROUPS.map((group) => DEPTH[group]);
  const layers = [[], [], [], []];
  for (const trial of model.byRank) layers[depth[model.group[trial]]].push(trial);
  view.order = Int32Array.from(layers.flat());
  view.list = new Int32Array(model.n);
}

// ---- painting ----

function listed(view, wanted) {
  let count = 0;
  for (const trial of view.order) if (wanted(trial)) view.list[count++] = trial;
  return count;
}

// 'front': the selection has moved. 'rest': it lies still. 'all': so has all else.
function repaint(view, what) {
  const began = performance.now();
  const { choice } = view;
  cancelAnimationFrame(view.task);
  const pieces = Math.max(1, view.visible().length - 1);
  if (what !== 'front') paintContext(view, pieces);
  const count = listed(view, (i) => choice.selected[i]);
  if (count * pieces <= SMOOTH_AT_ONCE) {
    smoothNow(view, view.front, view.list.slice(0, count), false);
  } else {
    rasterInto(view, view.front, count, view.palette);
    if (what !== 'front') smoothly(view, view.front, view.list.slice(0, count));
  }
  drawMarked(view);
  if (what === 'front') view.times.push(performance.now() - began);
  ++view.paints;
}

// What is shown and not selected, in grey.
function paintContext(view, pieces) {
  const { choice } = view;
  const count = listed(view, (i) => choice.shown[i] && !choice.selected[i]);
  if (count * pieces <= SMOOTH_AT_ONCE) {
    smoothNow(view, view.context, view.list.slice(0, count), true);
  } else {
    rasterInto(view, view.context, count, view.greyPalette);
  }
}

// During moves the context stays that of all shown trials: the selected lie over it.
function rasterInto(view, canvas, count, palette) {
  const axes = view.visible();
  const xs = axes.map((axis) => Math.round(axis.x));
  const inOrder = axes.map((_, k) => k).sort((a, b) => xs[a] - xs[b]);
  rasterLines(view.raster, inOrder.map((k) => xs[k]), inOrder.map((k) => axes[k].rows),
    view.list, count, view.ink, palette);
  const context = canvas.getContext('2d');
  if (view.ratio === 1) return context.putImageData(view.raster.image, 0, 0);
  view.stage.getContext('2d').putImageData(view.raster.image, 0, 0);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.drawImage(view.stage, 0, 0, canvas.width, canvas.height);
}

function smoothNow(view, canvas, trials, grey) {
  const context = canvas.getContext('2d');
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  strokeTrials(view, context, trials, 0, trials.length, grey);
}

// From the back to the front, a piece a frame, beside what is seen; then put in place.
function smoothly(view, canvas, trials) {
  const hidden = document.createElement('canvas');
  hidden.width = canvas.width;
  hidden.height = canvas.height;
  const context = hidden.getContext('2d');
  let done = 0;
  const step = () => {
    const until = performance.now() + FRAME_MS;
    while (done < trials.length && performance.now() < until) {
      const next = Math.min(trials.length, done + 50);
      strokeTrials(view, context, trials, done, next, false);
      done = next;
    }
    if (done < trials.length) {
      view.task = requestAnimationFrame(step);
      return;
    }
    const front = canvas.getContext('2d');
    front.setTransform(1, 0, 0, 1, 0, 0);
    front.clearRect(0, 0, canvas.width, canvas.height);
    front.drawImage(hidden, 0, 0);
  };
  view.task = requestAnimationFrame(step);
}

// trials[from, to) counted from the back.
function strokeTrials(view, context, trials, from, to, grey) {
  const axes = view.visible().slice().sort((a, b) => a.x - b.x);
  const alphas = alphasFor(trials.length);
  context.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
  context.lineWidth = trials.length > 1000 ? 0.8 : 1.3;
  context.lineJoin = 'round';
  for (let k = from; k < to; ++k) {
    const trial = trials[trials.length - 1 - k];
    context.strokeStyle = grey ? cssGhost(view) : view.css[view.shadeOf[trial]];
    context.globalAlpha = grey ? 0.8 : alphas[view.strength[trial]];
    context.beginPath();
    traceTrial(context, axes, trial);
    context.stroke();
  }
  context.globalAlpha = 1;
}

const cssGhost = (view) => view.ghost || (view.ghost = cssColour('ghost'));

function traceTrial(path, axes, trial) {
  axes.forEach((axis, k) => {
    if (k === 0) path.moveTo(axis.x, axis.rows[trial] + 0.5);
    else path.lineTo(axis.x, axis.rows[trial] + 0.5);
    if (axes.length === 1) path.lineTo(axis.x + 30, axis.rows[trial] + 0.5);
  });
}
