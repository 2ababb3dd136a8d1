// Stopping and adding trials from the page, where its server lets the bearer of a token.

function drawChanges(live) {
  const section = document.getElementById('changes');
  section.hidden = false;
  if (!live.token) {
    if (!section.dataset.asks) {
      section.dataset.asks = 'yes';
      section.replaceChildren(make('h2', {}, 'Change the sweep'),
        make('p', { class: 'faint' }, 'Stopping and adding trials wants the token that the dashboard printed.'),
        tokenField(live, () => { delete section.dataset.asks; drawChanges(live); }));
    }
    return;
  }
  if (!live.changes) makeChanges(live, section);
  drawStop(live);
}

function makeChanges(live, section) {
  const { choice } = live.report;
  const said = make('output', { id: 'change-said', 'aria-live': 'polite' });
  live.changes = { said, stop: make('div', { class: 'row' }), add: make('div') };
  section.replaceChildren(make('h2', {}, 'Change the sweep'), live.changes.stop, live.changes.add, said);
  makeAdd(live);
  choice.listen((what) => { if (what === 'pin') drawStop(live); });
}

const unfinished = (model, trial) => ['running', 'paused', 'pending'].includes(GROUPS[model.group[trial]]);

function drawStop(live) {
  const { model, choice } = live.report;
  const trials = choice.pinned.filter((trial) => unfinished(model, trial));
  const paused = live.raw.pauses.some(([, to]) => to >= live.raw.until - 0.01);
  const key = trials.join() + paused;
  if (live.changes.key === key) return;
  live.changes.key = key;
  const stop = make('button', { id: 'stop-trials', disabled: trials.length === 0, click: (event) => {
    if (!event.target.dataset.sure) {
      event.target.dataset.sure = 'yes';
      event.target.textContent = `Stop ${trials.join(', ')} for good?`;
      return;
    }
    live.changes.key = null;
    change(live, { op: 'stop trials', trials });
  } }, trials.length ? `Stop ${trials.length === 1 ? 'trial' : 'trials'} ${trials.join(', ')}` : 'Stop pinned trials');
  swap(live.changes.stop, stop,
    make('button', { click: () => change(live, { op: 'pause', paused: !paused }) }, paused ? 'Go on' : 'Pause'),
    trials.length ? null : make('span', { class: 'faint' }, 'Pin one that has not ended to stop it.'));
}

function makeAdd(live) {
  const { model, choice } = live.report;
  const fields = model.params.map((param) => paramField(param));
  const fill = (trial) => fields.forEach((field, p) => field.fill(model.raw.values[p][trial]));
  const send = (event) => {
    event.preventDefault();
    const params = {};
    for (const [p, field] of fields.entries()) {
      const value = field.value();
      if (value === undefined) continue;
      if (typeof value === 'number' && Number.isNaN(value)) return tellChange(live, `${model.params[p].name}: not a number`);
      params[model.params[p].name] = value;
    }
    change(live, { op: 'add', params: [params] });
  };
  const count = make('input', { type: 'text', inputmode: 'numeric', size: 4, value: '10', 'aria-label': 'How many' });
  live.changes.add.replaceChildren(
    make('form', { class: 'row', submit: (event) => {
      event.preventDefault();
      change(live, { op: 'add', samples: Number(count.value) });
    } }, make('button', { id: 'add-samples' }, 'Add'), count, ' more trials of the search'),
    make('details', {}, make('summary', {}, 'Add a trial of your own'),
      make('form', { id: 'add-trial', submit: send },
        make('div', { class: 'fields' }, ...fields.map((field) => field.row)),
        make('div', { class: 'row' }, make('button', {}, 'Add this trial'),
          make('button', { type: 'button', click: () => {
            const from = choice.pinned.length ? choice.pinned[choice.pinned.length - 1] : live.report.model.best;
            if (from !== null && from !== undefined) fill(from);
          } }, 'As the pinned or best one'),
          make('span', { class: 'faint' }, 'What is left empty is drawn.')))));
}

function paramField(param) {
  const list = param.kind === 'list';
  const input = list
    ? make('select', { name: 'param ' + param.name }, make('option', { value: '' }, ''),
      ...param.values.map((value, v) => make('option', { value: String(v) }, categoryText(value, param.values))))
    : make('input', { type: 'text', inputmode: 'decimal', size: 14, name: 'param ' + param.name, placeholder: param.text });
  return {
    row: make('label', { class: 'field' }, make('span', { title: param.name }, param.name), input),
    fill: (value) => { input.value = value === null || value === undefined ? '' : String(value); },
    value: () => input.value.trim() === '' ? undefined : list ? param.values[Number(input.value)] : Number(input.value),
  };
}

async function change(live, request) {
  tellChange(live, 'Asking the controller.');
  try {
    const response = await fetch('change', { method: 'POST', body: JSON.stringify(request),
      headers: { ...withToken(live.token), 'Content-Type': 'application/json' } });
    const answer = await response.json();
    tellChange(live, response.ok ? answer.lines.join('\n') : answer.error);
  } catch (error) {
    tellChange(live, 'No connection: ' + error.message);
  }
  if (live.changes.key === null) drawStop(live);
}

function tellChange(live, text) {
  live.changes.said.textContent = text;
}
