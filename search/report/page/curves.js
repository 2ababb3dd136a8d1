// Learning curves: the metric step by step, with the rungs of early stopping.

const CURVES_AT_ONCE = 500;

function makeCurves(model, columns, choice) {
  const root = document.getElementById('curves');
  const view = { log: false, logX: false, values: null, raw: null, made: new Set() };
  const draw = () => {
    if (view.raw !== model.raw) {
      view.raw = model.raw;
      view.values = asFloats(model.raw.curves.value.flat()).filter(Number.isFinite);
      makeSwitches();
    }
    drawCurves(root, model, choice, { ...view, log: view.log && d3.min(view.values) > 0 }, view.values);
  };
  const once = (name, possible) => possible && !view.made.has(name) && view.made.add(name);
  const head = document.querySelector('#curves-section .tools');
  const makeSwitches = () => {
    if (once('scale', view.values.length && d3.min(view.values) > 0)) {
      view.log = wantsLog(view.values);
      makeSwitch(head, 'Scale', ['linear', 'log'], view.log ? 'log' : 'linear', (scale) => { view.log = scale === 'log'; draw(); });
    }
    if (once('steps', model.asha && view.values.length)) {
      makeSwitch(head, 'Steps', ['steps', 'log steps'], 'steps', (scale) => { view.logX = scale !== 'steps'; draw(); });
    }
  };
  return { root, draw, rest: true, redrawPins: true };
}

const stepsOf = (curve) => typeof curve === 'number' ? d3.range(1, curve + 1) : curve;

// Which are drawn: pinned ones, the best, then every so-manieth of the others selected.
function chosenCurves(model, choice) {
  const { curves } = model.raw;
  const at = new Map(curves.trial.map((trial, k) => [trial, k]));
  const wanted = Array.from(model.byRank).filter((i) => at.has(i) && choice.selected[i]);
  const pinned = choice.pinned.filter((i) => at.has(i) && !choice.selected[i]);
  const best = wanted.slice(0, CURVES_AT_ONCE / 2);
  const others = wanted.slice(CURVES_AT_ONCE / 2);
  const step = Math.max(1, others.length / (CURVES_AT_ONCE / 2));
  const sample = d3.range(0, Math.min(others.length, CURVES_AT_ONCE / 2)).map((k) => others[Math.floor(k * step)]);
  return { trials: [...pinned, ...best, ...sample].reverse(), at, of: wanted.length };
}

function drawCurves(root, model, choice, view, values) {
  const { curves } = model.raw;
  const note = document.getElementById('curves-note');
  if (values.length === 0) {
    note.textContent = '';
    return nothing(root, 'No trial has reported more than once.');
  }
  const chosen = chosenCurves(model, choice);
  note.textContent = `${chosen.trials.length} of ${plural(chosen.of, 'curve')} drawn`
    + (chosen.of > chosen.trials.length ? ': the best, and a sample of the others.' : '.')
    + (curves.value.some((values) => values.length === 1) ? ' A dot is a trial with one report.' : '')
    + (curves.thinned ? ' Long ones are thinned.' : '');
  const [first, last] = curves.steps;
  const frame = makeFrame(root, { height: 300, x: fittingScale([], view.logX, [first, last]),
    y: fittingScale(values, view.log), xLabel: 'step', yLabel: model.sweep.metric });
  drawRungs(frame, model, first, last);
  const { index, palette } = colourTrials(model, model.metricColumn, 'rank');
  for (const trial of chosen.trials) {
    const k = chosen.at.get(trial);
    const group = GROUPS[model.group[trial]];
    const pin = choice.pinned.indexOf(trial);
    strokeCurve(frame, stepsOf(curves.step[k]), curves.value[k],
      pin >= 0 ? pinColour(pin) : palette[index[trial]],
      pin >= 0 || trial === model.best ? 1 : group === 'pruned' ? 0.3 : 0.65,
      pin >= 0 || trial === model.best ? 2.5 : 1);
  }
  frame.context.globalAlpha = 1;
}

function strokeCurve(frame, steps, values, colour, alpha, width) {
  const { context, x, y } = frame;
  context.strokeStyle = colour;
  context.fillStyle = colour;
  context.globalAlpha = alpha;
  context.lineWidth = width;
  context.beginPath();
  let open = false, end = null;
  values.forEach((value, k) => {
    const v = asNumber(value);
    if (!Number.isFinite(v)) { open = false; return; }
    end = [x(steps[k]), y(v)];
    if (open) context.lineTo(...end);
    else context.moveTo(...end);
    open = true;
  });
  context.stroke();
  // One that is alone is seen as a point, not as the end of a line.
  const alone = values.length === 1;
  if (end) dot(context, end[0], end[1], width > 1 ? 3 : alone ? 2.5 : 1.6, colour, alone ? Math.max(alpha, 0.65) : alpha);
}

function drawRungs(frame, model, first, last) {
  if (!model.asha) return;
  for (const rung of model.raw.rungs) {
    if (rung.level < first || rung.level > last) continue;
    const x = frame.x(rung.level);
    const group = frame.svg.append('g').attr('class', 'rung');
    group.append('line').attr('x1', x).attr('x2', x).attr('y1', FRAME.top).attr('y2', frame.height - FRAME.bottom);
    group.append('title').text(`rung ${rung.level}: ${plural(rung.entered, 'trial')} came, ${rung.stopped} stopped`);
  }
}
