// How good the sweep was after so many trials, after so much time.

function makeHistory(model, columns, choice) {
  const root = document.getElementById('history');
  const view = { against: 'trials', log: columns.metric.log };
  const head = document.querySelector('#history-section .tools');
  const draw = () => {
    const positive = model.valued > 0 && extentOf(model.y)[0] > 0;
    if (positive && !view.scaled) {
      view.log = columns.metric.log;
      makeSwitch(head, 'Scale', ['linear', 'log'], view.log ? 'log' : 'linear', (scale) => { view.log = scale === 'log'; draw(); });
    }
    view.scaled = view.scaled || positive;
    drawHistory(root, model, choice, { ...view, log: view.log && positive });
    document.getElementById('history-legend').replaceChildren(stateLegend(model));
  };
  makeSwitch(head, 'Against', ['trials', 'time', 'steps'], view.against, (against) => { view.against = against; draw(); });
  return { root, draw, rest: true };
}

// Trials in the order in which `at` puts them, with what was best then.
function bestSoFar(model, at) {
  const order = [];
  for (let i = 0; i < model.n; ++i) if (!Number.isNaN(model.y[i]) && !Number.isNaN(at[i])) order.push(i);
  order.sort((a, b) => at[a] - at[b] || a - b);
  const steps = [];
  let best = null;
  for (const i of order) {
    if (best !== null && !model.better(model.y[i], model.y[best])) continue;
    best = i;
    steps.push({ trial: i, at: at[i], y: model.y[i] });
  }
  return { order, steps };
}

// What a trial is drawn at: its number, the time of its end, or the steps spent by then.
function historyPlaces(model, against) {
  if (against === 'trials') return Float64Array.from(model.y, (_, i) => i + 1);
  const ended = Float64Array.from(model.ended, (e, i) => Number.isNaN(e) ? model.started[i] : e);
  if (against === 'time') return ended;
  const places = new Float64Array(model.n).fill(NaN);
  let sum = 0;
  const order = Array.from(model.byRank).filter((i) => !Number.isNaN(ended[i])).sort((a, b) => ended[a] - ended[b]);
  for (const i of order) places[i] = (sum += asNumber(model.raw.trials.last_step[i]) || 0);
  return places;
}

function drawHistory(root, model, choice, view) {
  if (model.valued === 0) return nothing(root, 'No trial has reported a finite value yet.');
  const at = historyPlaces(model, view.against);
  const { order, steps } = bestSoFar(model, at);
  if (order.length === 0) return nothing(root, 'No trial has ended yet.');
  const ends = extentOf(at);
  const frame = makeFrame(root, {
    height: 280, x: fittingScale(at, false, ends[0] === ends[1] ? null : ends),
    y: fittingScale(model.y, view.log), yLabel: model.sweep.metric,
    xLabel: { trials: 'trials', time: 'time since the start', steps: 'steps of all trials together' }[view.against],
    xFormat: view.against === 'time' ? durationText : undefined,
    xTicks: view.against === 'time' ? timeTicks(ends, 5) : undefined });
  const byColour = new Map();
  for (const i of order) {
    const colour = choice.selected[i] ? GROUP_COLOUR[GROUPS[model.group[i]]] : cssColour('ghost');
    if (!byColour.has(colour)) byColour.set(colour, []);
    byColour.get(colour).push([frame.x(at[i]), frame.y(model.y[i])]);
  }
  const sorted = [...byColour].sort(([a]) => a === cssColour('ghost') ? -1 : 1);
  dots(frame.context, sorted, order.length > 1500 ? 1.5 : 3, order.length > 300 ? 0.55 : 0.8);
  const line = d3.line().x((s) => frame.x(s.at)).y((s) => frame.y(s.y)).curve(d3.curveStepAfter);
  frame.svg.append('path').attr('class', 'best-line')
    .attr('d', line([...steps, { at: ends[1], y: steps[steps.length - 1].y }]));
  frame.svg.selectAll('circle').data(steps).enter().append('circle').attr('class', 'best-dot').attr('r', 3.5)
    .attr('cx', (s) => frame.x(s.at)).attr('cy', (s) => frame.y(s.y))
    .on('click', (s) => choice.togglePin(s.trial))
    .append('title').text((s) => `trial ${s.trial}: ${numberText(s.y)}`);
  root.setAttribute('aria-label', `Best so far: ${plural(steps.length, 'improvement')}, the last at trial `
    + `${steps[steps.length - 1].trial}: ${numberText(steps[steps.length - 1].y)}`);
}
