// The spread behind a value: folds of a cross-validation, trials that had the same
// settings, and the score on test data beside them. A row each, the best first.

const FOLD_ROWS = 20;
const FOLD_ROW_PX = 24;

function makeFolds(model, columns, choice) {
  const root = document.getElementById('folds');
  const view = { root, rest: true, of: null, made: false };
  view.draw = () => drawFolds(view, model, columns, choice);
  view.offer = () => { document.getElementById('folds-section').hidden = foldKinds(model).length === 0; };
  return view;
}

function foldKinds(model) {
  if (model.foldsOf !== model.raw) {
    model.foldsOf = model.raw;
    model.repeats = repeatGroups(model);
  }
  const { spreads } = model.raw;
  const kinds = [];
  if (spreads && spreads.error) kinds.push('folds');
  else if (spreads && spreads.test_field) kinds.push('test score');
  if (model.repeats.length > 0) kinds.push('same settings');
  return kinds;
}

// Trials with a value whose settings are equal, two or more of them.
function repeatGroups(model) {
  const { values } = model.raw;
  const groups = new Map();
  if (values.length === 0 || model.valued < 2) return [];
  for (let k = 0; k < model.valued; ++k) {
    const i = model.byRank[k];
    if (model.copied.has(i)) continue;  // it began with what another had learnt
    const key = values.map((column) => column[i]).join('|');
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(i);
  }
  return [...groups.values()].filter((trials) => trials.length > 1);
}

function standardError(list) {
  const mean = d3.mean(list);
  return [mean, Math.sqrt(d3.sum(list, (v) => (v - mean) ** 2) / (list.length - 1) / list.length)];
}

// {label, trials, mean, error, values, test}: null where there is none.
function foldRows(model, choice, kind) {
  if (kind === 'same settings') {
    const rows = model.repeats.filter((trials) => trials.some((i) => choice.selected[i])).map((trials) => {
      const values = trials.map((i) => model.y[i]);
      const [mean, error] = standardError(values);
      return { label: `${trials.length} × trial ${Math.min(...trials)}`, trials, mean, error, values, test: null };
    });
    return rows.sort((a, b) => model.minimize ? a.mean - b.mean : b.mean - a.mean);
  }
  const { spreads } = model.raw;
  const rows = spreads.trial.map((i, k) => ({ label: `trial ${i}`, trials: [i],
    mean: spreads.mean[k] === null ? (Number.isNaN(model.y[i]) ? null : model.y[i]) : spreads.mean[k],
    error: spreads.errors[k], values: spreads.folds[k], test: spreads.test[k] }))
    .filter(({ trials, mean }) => choice.selected[trials[0]] && mean !== null);
  return rows.sort((a, b) => (model.minimize ? a.mean - b.mean : b.mean - a.mean) || a.trials[0] - b.trials[0]);
}

function drawFolds(view, model, columns, choice) {
  const kinds = foldKinds(model);
  if (kinds.length === 0) return;
  if (!kinds.includes(view.of)) view.of = kinds[0];
  offerKinds(view, kinds);
  const rows = foldRows(model, choice, view.of);
  const note = document.getElementById('folds-note');
  if (rows.length === 0) {
    note.textContent = '';
    return nothing(view.root, 'No selected trial has them.');
  }
  const shown = rows.slice(0, FOLD_ROWS);
  const all = shown.flatMap(({ mean, error, values, test }) =>
    [mean, mean - (error || 0), mean + (error || 0), ...values, ...(test === null ? [] : [test])]).filter(Number.isFinite);
  const frame = makeFrame(view.root, { height: shown.length * FOLD_ROW_PX + FRAME.top + FRAME.bottom, left: 96,
    x: fittingScale(all, false), y: d3.scaleBand().domain(d3.range(shown.length).reverse()).padding(0.1),
    xLabel: model.sweep.metric, yFormat: (k) => shown[k].label });
  shown.forEach((row, k) => drawFoldRow(frame, model, row, frame.y(k) + frame.y.bandwidth() / 2));
  pickRows(frame, shown, model, choice, columns);
  note.replaceChildren(...foldWords(view.of, model, rows, shown));
  view.root.setAttribute('aria-label', `${view.of}: ` + shown.slice(0, 5).map(foldText).join('; '));
}

function offerKinds(view, kinds) {
  const tools = document.querySelector('#folds-section .tools');
  if (view.made === kinds.join()) return;
  view.made = kinds.join();
  tools.replaceChildren();
  if (kinds.length > 1) makeSwitch(tools, 'Spread of', kinds, view.of, (of) => { view.of = of; view.draw(); });
}

function drawFoldRow(frame, model, { mean, error, values, test, trials }, y) {
  const best = trials.includes(model.best);
  const row = frame.svg.append('g').attr('class', best ? 'fold best' : 'fold');
  dots(frame.context, [[GROUP_COLOUR.completed, values.filter(Number.isFinite).map((v) => [frame.x(v), y])]], 2.5, 0.45);
  if (error !== null && Number.isFinite(error)) {
    const [left, right] = [frame.x(mean - error), frame.x(mean + error)];
    row.append('path').attr('class', 'error').attr('d', `M${left},${y - 4}V${y + 4}M${left},${y}H${right}M${right},${y - 4}V${y + 4}`);
  }
  row.append('circle').attr('class', 'mean').attr('cx', frame.x(mean)).attr('cy', y).attr('r', 4.5);
  if (test !== null) {
    const x = frame.x(test);
    row.append('path').attr('class', 'test').attr('d', `M${x - 5},${y}L${x},${y - 5}L${x + 5},${y}L${x},${y + 5}Z`);
  }
}

const foldText = ({ label, mean, error, values, test }) => `${label}: ${numberText(mean)}`
  + (error === null || !Number.isFinite(error) ? '' : ` ± ${numberText(error, 2)}`)
  + (values.length ? ` of ${values.length}` : '') + (test === null ? '' : `, test ${numberText(test)}`);

function pickRows(frame, rows, model, choice) {
  const at = (event) => {
    const y = event.clientY - frame.root.getBoundingClientRect().top;
    const k = rows.findIndex((_, r) => y >= frame.y(r) && y <= frame.y(r) + frame.y.bandwidth());
    return k < 0 ? null : rows[k];
  };
  frame.root.onclick = (event) => { const row = at(event); if (row) choice.togglePin(row.trials[0]); };
  frame.root.onpointermove = (event) => {
    const row = at(event);
    choice.hover(row ? row.trials[0] : null);
    if (row) showTip(event, make('div', {}, foldText(row)), make('small', { class: 'faint' }, 'click to pin'));
    else hideTip();
  };
  frame.root.onpointerleave = () => { hideTip(); choice.hover(null); };
}

function foldWords(kind, model, rows, shown) {
  const { spreads } = model.raw;
  const mark = (name) => make('span', { class: 'mark-' + name, 'aria-hidden': 'true' });
  const words = [mark('mean'), kind === 'test score' ? ` ${model.sweep.metric}. ` : ' mean '];
  if (kind === 'same settings') words.push('and standard error of trials with the same settings; small dots are the trials. ');
  if (kind === 'folds') words.push(`and ${spreads.error} of ${spreads.of} over folds`
    + (shown.some((row) => row.values.length) ? '; small dots are the folds. ' : ', as the trial told it. '));
  if (kind !== 'same settings' && spreads.test_field) words.push(mark('test'), ` ${spreads.test_field}. `);
  if (rows.length > shown.length) words.push(`The best ${shown.length} of ${plural(rows.length, 'row')}.`);
  return words;
}
