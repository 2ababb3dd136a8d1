// The axes of the parallel coordinates: ticks, names, lanes, brushes, and how they are
// moved. All of it can be done by keyboard (KEYS) as well.

const KEYS = 'Arrow keys move the axis, F flips it, Delete hides it, Enter opens its settings.';
const BRUSH_HALF = 11;

function drawAxes(view) {
  const axes = view.visible();
  const groups = view.svg.selectAll('g.axis').data(axes, (axis) => axis.column.key);
  groups.exit().remove();
  const fresh = groups.enter().append('g').attr('class', 'axis');
  fresh.append('line').attr('class', 'spine');
  fresh.append('g').attr('class', 'ticks');
  fresh.append('g').attr('class', 'lanes');
  fresh.append('g').attr('class', 'brush');
  fresh.append('text').attr('class', 'name').attr('tabindex', 0).attr('role', 'button')
    .each(function () { d3.select(this).append('tspan'); d3.select(this).append('title'); });
  const all = fresh.merge(groups).order();
  all.attr('transform', (axis) => `translate(${axis.x},0)`)
    .each(function (axis) { drawAxis(view, d3.select(this), axis); });
  all.select('text.name').call(makeMovable(view));
  drawLaneNames(view);
}

function drawAxis(view, group, axis) {
  const top = MARGIN.top, bottom = MARGIN.top + PLOT_HEIGHT;
  group.select('line.spine').attr('y1', top).attr('y2', bottom);
  const ticks = axis.column.labels ? bandTicks(axis) : numberTicks(view, axis);
  drawTicks(view, group.select('g.ticks'), axis, ticks);
  const lanes = group.select('g.lanes').selectAll('line')
    .data(view.lanes.filter((lane) => axis.column.lane.includes(lane)));
  lanes.exit().remove();
  lanes.enter().append('line').merge(lanes).attr('x1', -5).attr('x2', 5)
    .attr('y1', (lane) => laneY(view, lane)).attr('y2', (lane) => laneY(view, lane));
  drawName(view, group.select('text.name'), axis);
  drawBrush(view, group.select('g.brush'), axis);
}

function drawName(view, text, axis) {
  const slanted = view.gap < 118 && view.visible().length > 1;
  const shown = view.visible(), place = shown.indexOf(axis);
  const label = cut(axis.column.short, slanted ? 15 : Math.max(12, Math.floor(view.gap / 7))) + (axis.flip ? ' ↓' : '');
  const fits = shown.length === 1 || label.length <= 8;  // beside the axis, too
  const end = fits ? 'middle' : place === 0 ? 'start' : place === shown.length - 1 ? 'end' : 'middle';
  const shift = end === 'start' ? -28 : end === 'end' ? 28 : 0;
  text.attr('transform', slanted ? `translate(-4,${MARGIN.top - 12}) rotate(-28)` : `translate(${shift},${MARGIN.top - 14})`)
    .attr('text-anchor', slanted ? 'start' : end)
    .classed('coloured', axis.column === view.colour.column)
    .classed('brushed', axis.brush !== null)
    .attr('aria-label', `Axis ${axis.column.title}${axis.brush ? ', filtered: ' + brushText(view, axis) : ''}. ${KEYS}`);
  text.select('tspan').text(label);
  text.select('title').text(`${axis.column.title}${axis.column.about ? ': ' + axis.column.about : ''}`
    + `\n${axis.scale} scale. Drag to move, click for settings.`);
}

function numberTicks(view, axis) {
  if (axis.column.values.every(Number.isNaN) && axis.column.param === undefined) return [];
  const scale = scaleOf(view.model, axis.column, axis.scale);
  const format = axis.column.format;
  return scale.ticks(7).map((v) => ({ t: scale.place(v), text: format(v), title: String(v) }));
}

function bandTicks(axis) {
  const { labels } = axis.column;
  const every = Math.max(1, Math.ceil(labels.length / 24));
  return labels.map((text, v) => ({ t: (v + 0.5) / labels.length, text, title: text,
    band: 1 / labels.length })).filter((_, v) => v % every === 0);
}

function drawTicks(view, group, axis, ticks) {
  const last = axis === view.visible()[view.visible().length - 1];
  const room = Math.max(6, Math.floor(view.gap / 6.6) - 1);
  const marks = group.selectAll('g').data(ticks);
  marks.exit().remove();
  const fresh = marks.enter().append('g');
  fresh.append('line');
  fresh.append('text').attr('dy', '0.32em').append('tspan');
  fresh.select('text').append('title');
  const all = fresh.merge(marks).attr('transform', (tick) => `translate(0,${yOf(axis, tick.t)})`);
  all.select('line')
    .attr('x1', (tick) => tick.band ? 0 : -4)
    .attr('y1', (tick) => tick.band ? -PLOT_HEIGHT * tick.band * 0.32 : 0)
    .attr('y2', (tick) => tick.band ? PLOT_HEIGHT * tick.band * 0.32 : 0)
    .classed('band', (tick) => tick.band > 0);
  all.select('text').attr('x', last && axis.column.labels ? -7 : 7)
    .attr('text-anchor', last ? 'end' : 'start').attr('x', last ? -7 : 7);
  all.select('tspan').text((tick) => cut(tick.text, room));
  all.select('title').text((tick) => tick.title);
}

function drawLaneNames(view) {
  const ends = view.overflows ? [2, view.width - MARGIN.right - 8] : [2];
  const names = view.svg.selectAll('text.lane').data(ends.flatMap((x) => view.lanes.map((lane) => ({ x, lane }))));
  names.exit().remove();
  names.enter().append('text').attr('class', 'lane').merge(names)
    .attr('x', (d) => d.x).attr('text-anchor', (d) => d.x > 2 ? 'end' : 'start').attr('dy', '-0.25em')
    .text((d) => LANES[d.lane]).attr('y', (d) => laneY(view, d.lane) + 1);
  const lines = view.svg.selectAll('line.lane').data(view.lanes);
  lines.exit().remove();
  lines.enter().insert('line', ':first-child').attr('class', 'lane').merge(lines)
    .attr('x1', 2).attr('x2', view.width - MARGIN.right)
    .attr('y1', (lane) => laneY(view, lane) + 0.5).attr('y2', (lane) => laneY(view, lane) + 0.5);
}

// ---- brushes ----

function drawBrush(view, group, axis) {
  const bottom = view.lanes.length ? view.height - MARGIN.bottom : MARGIN.top + PLOT_HEIGHT;
  const state = bottom + axis.scale;
  if (axis.brushFor !== state || !axis.brushTool) {
    axis.brushFor = state;
    axis.brushTool = d3.brushY().extent([[-BRUSH_HALF, MARGIN.top - 4], [BRUSH_HALF, bottom + 4]])
      .handleSize(8)
      .on('brush end', () => brushed(view, axis, d3.event));
    group.call(axis.brushTool);
  }
  view.setting = true;
  group.call(axis.brushTool.move, axis.brush && pixelsOf(view, axis));
  view.setting = false;
}

function brushed(view, axis, event) {
  if (view.setting || !event.sourceEvent) return;
  setBrush(view, axis, event.selection);
  if (event.type === 'end') drawAxes(view);  // whole categories
}

// Where the brush is drawn; null where it is no single piece of the axis.
function pixelsOf(view, axis) {
  const { low, high, lanes } = axis.brush;
  const ends = [...lanes].flatMap((lane) => [laneY(view, lane) - 8, laneY(view, lane) + 8]);
  if (low <= high) ends.push(yOf(axis, Math.max(0, low)), yOf(axis, Math.min(1, high)));
  return ends.length ? [Math.min(...ends), Math.max(...ends)] : null;
}

// pixels: [from, to] of the axis, lanes included; null takes the brush away.
function setBrush(view, axis, pixels) {
  axis.brush = pixels ? brushOf(view, axis, pixels) : null;
  if (axis.brush) view.choice.brushes.set(axis.column.key, brushTest(axis));
  else view.choice.brushes.delete(axis.column.key);
  view.choice.moved();
  markBrushed(view, axis);
}

function markBrushed(view, axis) {
  view.svg.selectAll('g.axis').filter((other) => other === axis)
    .each(function () { drawName(view, d3.select(this).select('text.name'), axis); });
}

// {low, high}: places in t, low > high where only lanes are in it; lanes: a set.
function brushOf(view, axis, pixels) {
  const [from, to] = pixels;
  const ends = [tOf(axis, from), tOf(axis, to)].sort((a, b) => a - b);
  let [low, high] = [Math.max(ends[0], -1e-9), Math.min(ends[1], 1 + 1e-9)];
  if (from > MARGIN.top + PLOT_HEIGHT + 4) [low, high] = [2, 1];
  const bands = axis.column.labels ? axis.column.labels.length : 0;
  if (bands && low <= high) {  // whole categories: those whose middle is in it, else the one it is in
    const first = Math.ceil(low * bands - 0.5), last = Math.floor(high * bands - 0.5);
    const one = Math.min(bands - 1, Math.max(0, Math.floor((low + high) / 2 * bands)));
    [low, high] = first <= last ? [first / bands, (last + 1) / bands] : [one / bands, (one + 1) / bands];
  }
  const lanes = new Set(view.lanes.filter((lane) => laneY(view, lane) >= from && laneY(view, lane) <= to));
  return { low, high, lanes };
}

function brushTest(axis) {
  const { t, column: { lane } } = axis;
  const { low, high, lanes, only } = axis.brush;
  if (only) return (i) => !lane[i] && only.has(axis.column.values[i]);
  return (i) => lane[i] ? lanes.has(lane[i]) : t[i] >= low && t[i] <= high;
}

// From the axis' settings: values instead of pixels. Lanes stay as they are.
function setBrushValues(view, axis, low, high) {
  const { place } = scaleOf(view.model, axis.column, axis.scale);
  const ends = [place(low), place(high)].sort((a, b) => a - b);
  axis.brush = { low: ends[0], high: ends[1], lanes: axis.brush ? axis.brush.lanes : new Set() };
  view.choice.brushes.set(axis.column.key, brushTest(axis));
  view.choice.settle();
  drawAxes(view);
}

// [low, high] in values, or null where only lanes are brushed.
function brushValues(view, axis) {
  const { low, high } = axis.brush;
  if (low > high) return null;
  const { back } = scaleOf(view.model, axis.column, axis.scale);
  return [back(Math.max(0, low)), back(Math.min(1, high))];
}

function brushText(view, axis) {
  const { low, high, lanes, only } = axis.brush;
  const words = [...lanes].map((lane) => LANES[lane]);
  const { labels, format } = axis.column;
  if (only) {
    words.unshift(...labels.filter((_, v) => only.has(v)));
  } else if (labels && low <= high) {
    words.unshift(...labels.filter((_, v) => v / labels.length >= low - 1e-9 && (v + 1) / labels.length <= high + 1e-9));
  } else if (low <= high) {
    words.unshift(brushValues(view, axis).map((v) => format(v)).join(' to '));
  }
  return words.join(', ') || 'nothing';
}

// The brush keeps its values where the axis is drawn in another scale.
function keepBrush(view, axis, change) {
  const values = axis.brush && !axis.column.labels ? brushValues(view, axis) : null;
  change();
  if (!values) return;
  placeAxis(view, axis);
  setBrushValues(view, axis, values[0], values[1]);
}

function clearBrushes(view) {
  for (const axis of view.axes) axis.brush = null;
  view.choice.brushes.clear();
}
