// Moving, flipping and hiding axes, by mouse and by keyboard.

function makeMovable(view) {
  const drag = d3.drag()
    .container(() => view.svg.node())  // not the axis, which moves itself
    .subject((axis) => ({ x: axis.x, y: 0 }))
    .clickDistance(4)
    .on('start', (axis) => { axis.from = axis.x; })
    .on('drag', (axis) => dragged(view, axis, d3.event.x))
    .on('end', (axis) => dropped(view, axis));
  return (text) => text.call(drag)
    .on('click', (axis) => openPanel(view, axis))
    .on('keydown', (axis) => pressed(view, axis, d3.event));
}

function dragged(view, axis, x) {
  axis.dragged = true;
  axis.x = Math.max(MARGIN.left - 20, Math.min(view.width - MARGIN.right + 20, x));
  if (Math.abs(axis.x - axis.from) < 4) return;
  const before = view.axes.slice();
  view.axes.sort((a, b) => (a.hidden ? Infinity : a.x) - (b.hidden ? Infinity : b.x));
  if (view.axes.some((other, k) => other !== before[k])) {
    view.visible().forEach((other, k) => {
      if (other !== axis) other.x = MARGIN.left + k * view.gap;
    });
  }
  view.svg.selectAll('g.axis').attr('transform', (other) => `translate(${other.x},0)`);
  repaint(view, 'front');
}

function dropped(view, axis) {
  if (!axis.dragged) return;
  axis.dragged = false;
  view.layout();
  say(`Axis ${axis.column.short} is number ${view.visible().indexOf(axis) + 1} of ${view.visible().length}.`);
}

function moveAxis(view, axis, by) {
  const shown = view.visible();
  const other = shown[shown.indexOf(axis) + by];
  if (!other) return;
  const a = view.axes.indexOf(axis), b = view.axes.indexOf(other);
  view.axes[a] = other;
  view.axes[b] = axis;
  view.layout();
  say(`Axis ${axis.column.short} is number ${view.visible().indexOf(axis) + 1} of ${shown.length}.`);
}

function flipAxis(view, axis) {
  axis.flip = !axis.flip;
  view.layout();
  view.choice.settle();
}

function hideAxis(view, axis, hidden = true) {
  if (hidden && view.visible().length < 2) return;
  axis.hidden = hidden;
  if (hidden) {
    axis.brush = null;
    view.choice.brushes.delete(axis.column.key);
  } else {
    axis.brushTool = null;
  }
  view.layout();
  view.choice.settle();
  if (view.listAxes) view.listAxes();
}

function scaleAxis(view, axis, scale) {
  keepBrush(view, axis, () => { axis.scale = scale; axis.chosen = true; axis.brushTool = null; });
  view.layout();
  view.choice.settle();
}

function pressed(view, axis, event) {
  const acts = {
    ArrowLeft: () => moveAxis(view, axis, -1), ArrowRight: () => moveAxis(view, axis, 1),
    f: () => flipAxis(view, axis), Delete: () => hideAxis(view, axis),
    Enter: () => openPanel(view, axis), ' ': () => openPanel(view, axis),
  };
  const act = acts[event.key];
  if (!act) return;
  event.preventDefault();
  act();
  view.svg.selectAll('g.axis').filter((other) => other === axis).select('text.name')
    .each(function () { if (event.key.startsWith('Arrow') || event.key === 'f') this.focus(); });
}

// Axes by importance: the most important beside the metric.
function sortAxes(view, shares) {
  const weight = (axis) => axis.column === view.columns.metric ? Infinity
    : axis.column.param === undefined ? -1 : shares ? shares[axis.column.param] || 0 : 0;
  view.axes.sort((a, b) => weight(a) - weight(b));
  view.layout();
}
