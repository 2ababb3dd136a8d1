// What the record said, as columns: a trial is an index into each.

// Where a trial stands, as the page tells them apart. The order is that of legends.
const GROUPS = ['completed', 'pruned', 'stopped', 'failed', 'running', 'paused', 'pending'];

const asNumber = (value) => value === null ? NaN : Number(value);
// Loops here and where columns are made: `from` with a function is ten times slower.
function asFloats(list) {
  const floats = new Float64Array(list.length);
  for (let i = 0; i < list.length; ++i) floats[i] = list[i] === null ? NaN : Number(list[i]);
  return floats;
}

function readModel(raw) {
  const trials = raw.trials;
  const n = trials.state.length;
  const model = {
    raw, n, sweep: raw.sweep, asha: raw.asha, params: raw.params,
    minimize: raw.sweep.goal === 'minimize',
    group: new Uint8Array(n),
    y: new Float64Array(n),          // NaN: no finite value, or a failed trial
    lane: new Uint8Array(n),         // 0, or why there is no y
    step: asFloats(raw.sweep.value === 'last' ? trials.last_step : trials.best_step),
    reports: asFloats(trials.reports),
    started: asFloats(trials.started), ended: asFloats(trials.ended),  // since created
    busy: asFloats(trials.busy), gpu: asFloats(trials.gpu_s),          // seconds
    level: asFloats(trials.level),   // of the highest rung it came to
    attempt: asFloats(trials.attempt), lost: asFloats(trials.lost),
  };
  const said = raw.sweep.value === 'last' ? trials.last : trials.best;
  for (let i = 0; i < n; ++i) {
    model.group[i] = groupOf(raw.states[trials.state[i]], raw.reasons[trials.reason[i]]);
    const value = asNumber(said[i]);
    const failed = GROUPS[model.group[i]] === 'failed';
    model.y[i] = failed || !Number.isFinite(value) ? NaN : value;
    model.lane[i] = laneOf(failed, said[i], value);
  }
  rankTrials(model);
  readObjectives(model);
  readPieces(model);
  model.counts = GROUPS.map((_, g) => model.group.reduce((sum, x) => sum + (x === g), 0));
  model.count = (group) => model.counts[GROUPS.indexOf(group)];
  return model;
}

// Of several objectives each with its values, the metric first, and who is on the front.
function readObjectives(model) {
  const { objectives, sweep, trials } = model.raw;
  model.front = new Uint8Array(model.n);
  model.objectives = null;
  if (!objectives) return;
  const short = shortNames([sweep.metric, ...objectives.names]);
  const objective = (title, goal, values, k) =>
    ({ title, short: short[k], minimize: goal === 'minimize', values, log: wantsLog(values) });
  model.objectives = [objective(sweep.metric, sweep.goal, asFloats(trials.last), 0),
    ...objectives.names.map((name, k) => objective(name, objectives.goals[k], asFloats(objectives.values[k]), k + 1))];
  for (const trial of objectives.front) model.front[trial] = 1;
}

// Trials that waited and went on, and those that began as a copy of another.
function readPieces(model) {
  const { resumed, copies } = model.raw;
  model.resumed = new Map();
  resumed.trial.forEach((trial, k) => {
    if (!model.resumed.has(trial)) model.resumed.set(trial, []);
    model.resumed.get(trial).push(resumed.at[k]);
  });
  model.copied = new Map(copies.trial.map((trial, k) =>
    [trial, { parent: copies.parent[k], replaced: copies.replaced[k], step: copies.step[k], at: copies.at[k] }]));
}

const isUnderWay = (sweep) => ['running', 'paused'].includes(sweep.state);

// "copy of 3 at step 10, in the place of 5; paused 2 times"
function pieceText(model, i) {
  const copy = model.copied.get(i), waits = model.resumed.get(i);
  const waiting = GROUPS[model.group[i]] === 'paused';
  return [copy ? `copy of ${copy.parent} at step ${copy.step}, in the place of ${copy.replaced}` : '',
    waits ? `paused ${waits.length === 1 ? 'once' : `${waits.length} times`}` : waiting ? 'waits' : '',
  ].filter(Boolean).join('; ');
}

function groupOf(state, reason) {
  if (state === 'stopped' && reason === 'pruned') return GROUPS.indexOf('pruned');
  return GROUPS.indexOf(state);
}

const LANES = ['', 'inactive', 'not finite', 'failed', 'no value'];
const LANE = { inactive: 1, notFinite: 2, failed: 3, none: 4 };

function laneOf(failed, said, value) {
  if (failed) return LANE.failed;
  if (said === null) return LANE.none;
  return Number.isFinite(value) ? 0 : LANE.notFinite;
}

// `byRank`: trials from best to worst, then those without a value, by number. `rank`:
// place in it from 0, equal ones equal; NaN without a value.
function rankTrials(model) {
  const { n, y } = model;
  const sign = model.minimize ? 1 : -1;
  model.byRank = Int32Array.from({ length: n }, (_, i) => i);
  model.byRank.sort((a, b) => {
    if (y[a] !== y[a] || y[b] !== y[b]) return (y[a] !== y[a]) - (y[b] !== y[b]) || a - b;
    return sign * (y[a] - y[b]) || a - b;
  });
  model.rank = new Float64Array(n).fill(NaN);
  model.valued = 0;
  model.byRank.forEach((trial, place) => {
    if (Number.isNaN(y[trial])) return;
    const before = model.byRank[place - 1];
    model.rank[trial] = place > 0 && y[before] === y[trial] ? model.rank[before] : place;
    model.valued = place + 1;
  });
  const best = model.byRank[0];
  model.best = model.valued > 0 ? best : null;
  model.better = (a, b) => model.minimize ? a < b : a > b;
}

const stateText = (model, i) => {
  const group = GROUPS[model.group[i]];
  if (group !== 'pruned') return group;
  return Number.isFinite(model.level[i]) ? 'pruned at rung ' + model.level[i] : 'pruned';
};
const reasonText = (model, i) => model.raw.reasons[model.raw.trials.reason[i]];
const detailText = (model, i) => model.raw.details[model.raw.trials.detail[i]];
