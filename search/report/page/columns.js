// What an axis can show, and where each trial is on it.

// A column: `values` are numbers, or places in `labels`; where a trial has none, `lane`
// says why. `scales` are those that it can be drawn with, its own first.
function makeColumns(model) {
  const shorts = shortNames(model.params.map((param) => param.name));
  const columns = model.params.map((param, p) =>
    param.kind === 'list' ? listColumn(model, param, p, shorts[p])
      : numberColumn(model, param, p, shorts[p]));
  const metric = extraColumn(model, 'metric', model.sweep.metric, model.y, {
    lane: model.lane, metric: true, log: wantsLog(model.y) });
  const extras = [
    extraColumn(model, 'steps', 'last step', asFloats(model.raw.trials.last_step), { integer: true }),
    extraColumn(model, 'duration', 'duration', model.busy, { format: durationText }),
    extraColumn(model, 'trial', 'trial', Float64Array.from(model.y, (_, i) => i), { integer: true }),
  ];
  if (model.asha) extras.unshift(rungColumn(model));
  const others = (model.objectives || []).slice(1).map((each) =>
    extraColumn(model, 'objective ' + each.title, each.title, each.values, { short: each.short, log: each.log }));
  return { params: columns, metric, others, all: [...columns, ...extras, ...others, metric],
    rung: model.asha ? extras[0] : null };
}

function extentOf(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}

// A few outliers would leave the rest in one pixel.
function wantsLog(values) {
  const found = values.filter(Number.isFinite).sort();
  if (found.length < 5 || found[0] <= 0) return false;
  const middle = found[found.length >> 1];
  return found[found.length - 1] / found[0] > 100 && middle / found[0] < 1e9;
}

function finishColumn(column) {
  if (!column.lane) {
    column.lane = new Uint8Array(column.values.length);
    column.values.forEach((v, i) => { if (v !== v) column.lane[i] = LANE.inactive; });
  }
  const positive = column.domain && column.domain[0] > 0;
  column.scales = column.labels ? ['list']
    : positive ? (column.log ? ['log', 'linear', 'rank'] : ['linear', 'log', 'rank'])
      : ['linear', 'rank'];
  column.format = column.format || ((v) => numberText(v));
  column.text = (i) => column.lane[i] ? LANES[column.lane[i]]
    : column.labels ? column.labels[column.values[i]] : column.format(column.values[i]);
  return column;
}

function numberColumn(model, param, p, short) {
  const values = asFloats(model.raw.values[p]);
  const seen = extentOf(values);
  const inside = (bound, own) => bound === undefined || bound === null ? own : bound;
  return finishColumn({
    key: 'param ' + param.name, title: param.name, short, values, param: p,
    domain: [inside(param.lower, seen[0]), inside(param.upper, seen[1])],
    log: param.log, integer: param.kind === 'int', about: param.text });
}

function listColumn(model, param, p, short) {
  return finishColumn({
    key: 'param ' + param.name, title: param.name, short, param: p, about: param.text,
    values: asFloats(model.raw.values[p]),
    labels: param.values.map((value) => categoryText(value, param.values)) });
}

function extraColumn(model, key, title, values, more) {
  return finishColumn({ key, title, short: more.metric ? title.split('.').pop() : title, values,
    domain: extentOf(values), ...more });
}

function rungColumn(model) {
  const levels = model.asha.levels;
  const labels = ['before', ...levels.map(String)];
  const values = Float64Array.from(model.level, (level) => levels.indexOf(level) + 1);
  return finishColumn({ key: 'rung', title: 'highest rung', short: 'rung', values, labels,
    about: 'the highest rung of early stopping that the trial came to' });
}

// Places from 0 (bottom) to 1 (top); what is in a lane has none. Lines of a category are
// spread over its band by rank, so that their number and their worth can be seen.
function placeColumn(model, column, scale) {
  const t = new Float64Array(column.values.length).fill(NaN);
  if (column.labels) {
    const bands = column.labels.length;
    const last = Math.max(1, model.valued);
    for (let i = 0; i < t.length; ++i) {
      if (column.lane[i]) continue;
      const rank = Number.isNaN(model.rank[i]) ? last : model.rank[i];
      t[i] = (column.values[i] + 0.8 - 0.6 * rank / last) / bands;
    }
    return t;
  }
  const place = scaleOf(model, column, scale).place;
  for (let i = 0; i < t.length; ++i) if (!column.lane[i]) t[i] = place(column.values[i]);
  return t;
}

// place: value to 0..1; back: the other way; ticks(n): values.
function scaleOf(model, column, scale) {
  if (scale === 'rank') return rankScale(column);
  let [low, high] = column.domain;
  if (low === high) [low, high] = scale === 'log' ? [low / 2, high * 2] : [low - 1, high + 1];
  const d3scale = (scale === 'log' ? d3.scaleLog() : d3.scaleLinear())
    .domain([low, high]).range([0, 1]);
  const from = Math.log(low), room = Math.log(high) - from;
  const place = scale === 'log' ? (v) => (Math.log(v) - from) / room : (v) => (v - low) / (high - low);
  return { place, back: d3scale.invert, ticks: (n) => ticksOf(d3scale, n, scale, column) };
}

function ticksOf(d3scale, n, scale, column) {
  const [low, high] = d3scale.domain();
  if (scale === 'log') {
    const all = d3scale.ticks(n);
    const powers = all.filter((v) => Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9);
    if (powers.length >= 2) return everySo(powers, n);
    return everySo(all, n);
  }
  const ticks = d3.ticks(low, high, n);
  return column.integer ? ticks.filter(Number.isInteger) : ticks;
}

const everySo = (list, n) => {
  const step = Math.max(1, Math.ceil(list.length / n));
  return list.filter((_, i) => i % step === 0);
};

function rankScale(column) {
  const sorted = column.values.filter((v) => !Number.isNaN(v)).sort();
  const last = Math.max(1, sorted.length - 1);
  const place = (v) => {
    const low = d3.bisectLeft(sorted, v), high = Math.max(low, d3.bisectRight(sorted, v) - 1);
    return (low + high) / 2 / last;
  };
  const back = (t) => sorted[Math.max(0, Math.min(sorted.length - 1, Math.round(t * last)))];
  const ticks = (n) => sorted.length === 0 ? []
    : [...new Set(d3.range(n).map((k) => back(k / Math.max(1, n - 1))))];
  return { place, back, ticks };
}
