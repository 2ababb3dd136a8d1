// Several objectives: two of them against each other, and the front that no trial beats.

function makePareto(model, columns, choice) {
  const root = document.getElementById('pareto');
  const view = { x: 0, y: 1, root, rest: true, frame: null };
  view.mark = () => { if (view.frame) view.frame.mark(); };
  view.draw = () => drawPareto(view, model, columns, choice);
  view.offer = () => { document.getElementById('pareto-section').hidden = !model.objectives; };
  return view;
}

// Trials with a finite value of both that did not fail.
function paretoTrials(model, x, y) {
  const trials = [];
  for (let i = 0; i < model.n; ++i) {
    if (GROUPS[model.group[i]] !== 'failed' && Number.isFinite(x.values[i]) && Number.isFinite(y.values[i])) trials.push(i);
  }
  return trials;
}

// Of these two alone, from the best of x to the best of y.
function frontOf(trials, x, y) {
  const sign = (objective) => objective.minimize ? 1 : -1;
  const sorted = trials.slice().sort((a, b) => sign(x) * (x.values[a] - x.values[b])
    || sign(y) * (y.values[a] - y.values[b]) || a - b);
  const front = [];
  for (const i of sorted) {
    const last = front[front.length - 1];
    if (last === undefined || sign(y) * y.values[i] < sign(y) * y.values[last]) front.push(i);
  }
  return front;
}

function drawPareto(view, model, columns, choice) {
  const { root } = view;
  if (!model.objectives) return;
  view.frame = null;
  offerObjectives(view, model);
  const x = model.objectives[view.x], y = model.objectives[view.y];
  const note = document.getElementById('pareto-note');
  const trials = paretoTrials(model, x, y);
  if (trials.length === 0) {
    note.textContent = '';
    return nothing(root, `No trial has both ${x.title} and ${y.title}.`);
  }
  const front = frontOf(trials, x, y);
  const frame = makeFrame(root, { height: 340, x: fittingScale(trials.map((i) => x.values[i]), x.log),
    y: withRoom(fittingScale(trials.map((i) => y.values[i]), y.log)), xLabel: bestWay(x, '←', '→'), yLabel: bestWay(y, '↓', '↑') });
  view.frame = frame;
  const place = (i) => [frame.x(x.values[i]), frame.y(y.values[i])];
  drawFront(frame, front.map(place), x, y);
  drawParetoDots(frame, model, choice, trials, place);
  const rows = (i) => [...model.objectives.slice(1).map((each) => [each.short, numberText(each.values[i], 6)]),
    ...columns.params.slice(0, 8).map((column) => [column.short, column.text(i)])];
  pickPoints(frame, trials.filter((i) => choice.selected[i]).map((i) => [...place(i), i]), choice,
    (i) => pointTip(model, columns, i, rows(i)));
  const whole = d3.sum(model.front);
  note.textContent = model.objectives.length === 2
    ? `${plural(front.length, 'trial')} of ${trials.length.toLocaleString('en')} on the front: no other is as good in both and better in one.`
    : `The line is the front of these two; the ${plural(whole, 'large dot')} are on the front of all ${model.objectives.length}.`;
  root.setAttribute('aria-label', `${x.title} against ${y.title}: ${note.textContent}`);
}

const bestWay = (objective, less, more) =>
  objective.minimize ? `${less} ${objective.title} (lower is better)` : `${more} ${objective.title} (higher is better)`;

function offerObjectives(view, model) {
  const tools = document.querySelector('#pareto-section .tools');
  if (view.x >= model.objectives.length || view.y >= model.objectives.length) [view.x, view.y] = [0, 1];
  if (model.objectives.length < 3) return tools.replaceChildren();
  const pick = (name, label) => make('label', {}, label, make('select', { name: 'pareto-' + name, change: (event) => {
    const other = name === 'x' ? 'y' : 'x', chosen = Number(event.target.value);
    if (view[other] === chosen) view[other] = view[name];
    view[name] = chosen;
    view.draw();
  } }, ...model.objectives.map((each, k) => make('option', { value: String(k), selected: k === view[name] }, each.short))));
  const before = tools.querySelector('select:focus');
  tools.replaceChildren(pick('x', 'across '), pick('y', 'up '));
  if (before) tools.querySelector(`select[name="${before.name}"]`).focus();
}

// Steps: all that one point of the front beats lies on one side of it. Beyond its ends
// it goes on straight.
function drawFront(frame, places, x, y) {
  const [left, right] = frame.x.range(), [bottom, top] = frame.y.range();
  const worstX = x.minimize ? right : left, worstY = y.minimize ? top : bottom;
  const corners = [[places[0][0], worstY], ...places];
  let path = `M${corners[0]}`;
  for (const [px, py] of places) path += `H${px}V${py}`;
  path += `H${worstX}`;
  frame.svg.append('path').attr('class', 'beaten').attr('d', `${path}V${worstY}Z`);
  frame.svg.append('path').attr('class', 'front-line').attr('d', path);
}

function drawParetoDots(frame, model, choice, trials, place) {
  const ghost = [], beaten = [], front = [];
  for (const i of trials) {
    (!choice.selected[i] ? ghost : model.front[i] ? front : beaten).push(place(i));
  }
  const many = trials.length > 1500;
  dots(frame.context, [[cssColour('ghost'), ghost]], many ? 1.5 : 3, 0.8);
  dots(frame.context, [[GROUP_COLOUR.completed, beaten]], many ? 1.5 : 3, many ? 0.3 : 0.45);
  for (const [px, py] of front) {
    dot(frame.context, px, py, 5.5, cssColour('paper'), 1);
    dot(frame.context, px, py, 4.5, cssColour('accent'), 1);
  }
  frame.context.globalAlpha = 1;
}
