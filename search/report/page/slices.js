// The metric against each parameter: the trials, and what a model expects along it.

const SLICES_FIRST = 8;

function makeSlices(model, columns, choice) {
  const root = document.getElementById('slices');
  const view = { all: false, root, rest: true, frames: [] };
  view.mark = () => view.frames.forEach((frame) => frame.mark());
  view.draw = () => drawSlices(view, model, columns, choice);
  return view;
}

function drawSlices(view, model, columns, choice) {
  const { root } = view;
  const note = document.getElementById('slices-note');
  view.frames = [];
  note.textContent = '';
  if (model.valued === 0) return nothing(root, 'No trial has a value to draw.');
  const shares = model.raw.importance && model.raw.importance.shares;
  const order = d3.range(columns.params.length).sort((a, b) => shares ? shares[b] - shares[a] : a - b);
  const drawn = view.all ? order : order.slice(0, SLICES_FIRST);
  root.replaceChildren(...drawn.map(() => make('div', { class: 'slice chart', role: 'img' })));
  const { landscape } = model.raw;
  const y = withRoom(sliceScale(model, columns.metric.log, landscape.slices.flatMap((slice) => slice.middle)));
  const sliceOf = (p) => landscape.slices.find((slice) => slice.param === p);
  drawn.forEach((p, k) => view.frames.push(
    drawSlice(root.children[k], model, columns, columns.params[p], y.copy(), choice, sliceOf(p))));
  if (drawn.length < order.length) {
    root.append(make('button', { click: () => { view.all = true; view.draw(); } }, `${order.length - drawn.length} more`));
  }
  note.textContent = landscape.slices.length > 0 ? sliceWords(model, landscape)
    : landscape.why ? `No model of them: ${landscape.why}` : '';
}

function sliceWords(model, landscape) {
  const others = landscape.slices.some((slice) => slice.base !== model.best);
  return `The line is what a Gaussian process expects ${landscapeWords(landscape)}, all other settings as in trial ${model.best}, the best`
    + `${others ? ', or in the best that has the parameter' : ''}; the true mean is thought to be in the band in two of three places.`
    + prunedWords(model) + fewWords(model);
}

const FEW_COMPLETED = 10;

// Values on the way, or of what was stopped, do not make up for trials that came to their end.
function fewWords(model) {
  const done = model.count('completed');
  return done >= FEW_COMPLETED ? '' : ` ${done === 0 ? 'No trial has' : done === 1 ? 'Only one trial has' : `Only ${done} trials have`} completed: `
    + 'too few to tell; take it as a first impression.';
}

// What was stopped early has a worse value than its settings would have come to.
function prunedWords(model) {
  const pruned = model.count('pruned');
  return pruned === 0 ? '' : ` ${plural(pruned, 'pruned trial')} ${pruned === 1 ? 'counts' : 'count'} with the value it was stopped at.`;
}

function drawSlice(root, model, columns, column, y, choice, slice) {
  const x = column.labels ? d3.scaleBand().domain(d3.range(column.labels.length)).padding(0.1)
    : fittingScale(column.values, column.log, column.domain);
  const frame = makeFrame(root, { height: 200, x, y, xLabel: '', yLabel: column.short,
    xFormat: column.labels ? (v) => cut(column.labels[v], 8) : column.format,
    xTicks: column.labels ? everySo(d3.range(column.labels.length), 6) : column.log ? ticksOf(x.copy(), 4, 'log', column) : undefined });
  root.setAttribute('aria-label', `${model.sweep.metric} against ${column.title}`);
  if (slice) drawBand(frame, column, slice);
  const points = drawSliceDots(frame, model, column, choice);
  if (slice) drawExpected(frame, column, slice);
  pickPoints(frame, points, choice, (i) => pointTip(model, columns, i, [[column.short, column.text(i)]]));
  return frame;
}

// As far as nine of ten trials, and as much again: one that diverged would leave the
// others a line. What lies beyond is drawn at the edge.
function sliceScale(model, log, middles) {
  const whole = fittingScale(model.y, log);
  const t = whole.copy().range([0, 1]);
  let best = t(model.y[model.byRank[0]]);
  const most = t(model.y[model.byRank[Math.floor(0.9 * (model.valued - 1))]]);
  const worst = t(model.y[model.byRank[model.valued - 1]]);
  const expected = middles.length ? t((model.minimize ? d3.min : d3.max)(middles)) : best;
  const far = Math.abs(worst - best) > 2.2 * Math.abs(most - best) && most !== best;
  const last = far ? best + 2 * (most - best) : worst;
  // What the model hopes for, within reason; a log scale has no place for zero.
  const hope = (expected - best) / (best - last);
  if (hope > 0) best += Math.min(hope, 0.4) * (best - last);
  else if (!far) return whole;
  const ends = [best, last].sort((a, b) => a - b);
  const more = 0.05 * (ends[1] - ends[0]);
  return whole.domain([t.invert(ends[0] - more), t.invert(ends[1] + more)]);
}

// Many dots of a category side by side. Returns those that can be picked.
function drawSliceDots(frame, model, column, choice) {
  const { x } = frame, y = insideY(frame);
  const lists = { off: [], on: [], best: [] }, points = [];
  for (let k = model.valued - 1; k >= 0; --k) {
    const i = model.byRank[k];
    if (column.lane[i]) continue;
    const at = column.labels
      ? x(column.values[i]) + x.bandwidth() * (0.15 + 0.7 * ((i * 0.618034) % 1)) : x(column.values[i]);
    const list = !choice.selected[i] ? lists.off : i === model.best ? lists.best : lists.on;
    list.push([at, y(model.y[i])]);
    if (choice.selected[i]) points.push([at, y(model.y[i]), i]);
  }
  const many = model.valued > 1500;
  dots(frame.context, [[cssColour('ghost'), lists.off]], many ? 1.2 : 2.5, 0.8);
  dots(frame.context, [[GROUP_COLOUR.completed, lists.on]], many ? 1.2 : 2.5, many ? 0.4 : 0.7);
  dots(frame.context, [[cssColour('accent'), lists.best]], 5, 1);
  return points;
}

// ---- the model ----

// Where a value is in the plot, no further out than its edge.
function insideY({ y }) {
  const [bottom, top] = y.range();
  return (v) => y.base && v <= 0 ? bottom : Math.max(top, Math.min(bottom, y(v)));  // base: of a log scale
}

function drawBand(frame, column, { at, low, high }) {
  const { context, x } = frame;
  const toY = insideY(frame);
  context.fillStyle = cssColour('ink');
  context.globalAlpha = 0.13;
  if (column.labels) {
    at.forEach((v, k) => context.fillRect(x(v), toY(high[k]), x.bandwidth(), toY(low[k]) - toY(high[k])));
  } else {
    context.beginPath();
    at.forEach((v, k) => context.lineTo(x(v), toY(high[k])));
    for (let k = at.length - 1; k >= 0; --k) context.lineTo(x(at[k]), toY(low[k]));
    context.fill();
  }
  context.globalAlpha = 1;
}

function drawExpected(frame, column, { at, middle }) {
  const toY = insideY(frame);
  const path = column.labels
    ? at.map((v, k) => `M${frame.x(v)},${toY(middle[k])}h${frame.x.bandwidth()}`).join('')
    : d3.line()(at.map((v, k) => [frame.x(v), toY(middle[k])]));
  frame.svg.append('path').attr('class', 'expected').attr('d', path);
}
