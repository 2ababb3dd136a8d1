// The page of a sweep that runs: new data into the views that are there, without taking
// anything out of the reader's hands: brushes, filters, pins, order and scrolling stay.

function startLive(settings) {
  const live = { settings, token: takeToken(), raw: null, report: null, state: 'open', held: false, stale: false };
  document.getElementById('live-bar').hidden = false;
  const show = () => {
    if (live.held || document.hidden) { live.stale = true; return; }
    live.stale = false;
    if (live.report) renew(live.report, live.raw);
    else window.report = live.report = start(live.raw);
    live.report.live = live;
    if (settings.changes) drawChanges(live);
  };
  follow('events', () => live.token, (kind, data) => {
    live.state = kind === 'whole' || kind === 'delta' ? 'open' : kind;
    live.why = typeof data === 'string' ? data : '';
    if (kind === 'whole') live.raw = data;
    if (kind === 'delta') live.raw = applied(live.raw, data);
    if (kind === 'whole' || kind === 'delta') { live.at = new Date(); show(); }
    drawLiveBar(live);
  });
  holdWhilePressed(live, () => { if (live.stale && live.raw) show(); });
  drawLiveBar(live);
}

// Nothing moves under a pressed button or a finger.
function holdWhilePressed(live, release) {
  addEventListener('pointerdown', () => { live.held = true; }, true);
  for (const name of ['pointerup', 'pointercancel', 'blur']) {
    addEventListener(name, () => { live.held = false; setTimeout(release, 0); }, true);
  }
  document.addEventListener('visibilitychange', release);
}

function liveWords(live) {
  if (live.state === 'refused') return ['bad', live.why + ': open the address that it printed, or type the token here.'];
  if (live.state === 'lost') return ['bad', 'No connection. What is shown is as of ' + clockText(live.at) + '; trying again.'];
  if (live.state === 'trouble') return ['bad', live.why];
  if (!live.raw) return ['', 'Waiting for the sweep.'];
  const { state } = live.raw.sweep;
  if (isUnderWay(live.raw.sweep) && !live.raw.controlled) return ['bad', 'No controller runs this sweep any more: it was killed. hyperopt resume goes on with it.'];
  if (state === 'paused') return ['good', 'Paused: nothing new starts until it is told to go on. Live, as of ' + clockText(live.at)];
  return state === 'running' ? ['good', 'Live, as of ' + clockText(live.at)] : ['', 'The sweep is over (' + state + '). More trials would be shown.'];
}

const clockText = (date) => date ? date.toLocaleTimeString('en-GB') : 'no time';

function drawLiveBar(live) {
  const bar = document.getElementById('live-bar');
  const [mood, words] = liveWords(live);
  swap(bar, make('span', { class: 'light ' + mood, 'aria-hidden': 'true' }), make('span', {}, words),
    live.settings.sweeps > 1 ? make('a', { href: '../../' }, 'all sweeps') : null,
    live.state === 'refused' ? tokenField(live, () => location.reload()) : null);
  if (live.told !== live.state) say(live.state === 'open' ? 'Connected.' : words);
  live.told = live.state;
}

function tokenField(live, then) {
  const field = make('input', { type: 'password', 'aria-label': 'Token', autocomplete: 'off', size: 24 });
  return make('form', { class: 'row', submit: (event) => {
    event.preventDefault();
    sessionStorage.setItem(TOKEN_KEY, field.value);
    live.token = field.value;
    then();
  } }, field, make('button', {}, 'Use'));
}

// ---- new data into old views ----

function renew(report, raw) {
  const { model, columns, choice, view, table } = report;
  const names = (params) => params.map((param) => param.name + param.kind).join('\n');
  if (names(raw.params) !== names(model.params)) return location.reload();
  const brushed = view.axes.filter((axis) => axis.brush)
    .map((axis) => ({ axis, bands: bandsOf(axis), values: axis.column.labels ? null
      : axis.brush.values || brushValues(view, axis) }));
  Object.assign(model, readModel(raw));
  renewColumns(model, columns);
  renewChoice(model, choice);
  renewAxes(view, brushed);
  table.fields = tableFields(model, columns);
  keepFocus(() => {
    select(model, choice);
    recolour(view);
    view.layout();
    drawLegend(view);
    drawCount(view);
    drawStateTicks(view);
    choice.again();
    drawSummary(model, columns, drawCost(model));
    drawAdvice(model, columns);
    report.lazy.again();
  });
}

const bandsOf = (axis) => axis.column.labels ? axis.column.labels.length : 0;

function renewColumns(model, columns) {
  const fresh = makeColumns(model);
  for (const column of fresh.all) {
    const old = columns.all.find((c) => c.key === column.key);
    if (old && old.whole) Object.assign(column, { whole: column.domain, domain: old.domain });  // zoomed in
  }
  Object.assign(columns, fresh);
  model.metricColumn = columns.metric;
}

// What was kept stays kept; what is new is not among it.
function renewChoice(model, choice) {
  if (choice.kept) {
    const kept = new Uint8Array(model.n);
    kept.set(choice.kept.subarray(0, model.n));
    choice.kept = kept;
  }
  choice.shown = new Uint8Array(model.n);
  choice.selected = new Uint8Array(model.n);
  choice.pinned = choice.pinned.filter((trial) => trial < model.n);
  if (choice.hovered >= model.n) choice.hovered = null;
}

// A brush keeps its values, wherever they are on the axis now.
function renewAxes(view, brushed) {
  const { columns, choice } = view;
  const byKey = (key) => columns.all.find((column) => column.key === key);
  view.colour.column = byKey(view.colour.column.key);
  if (view.colour.scale !== 'rank' && !view.colour.column.scales.includes(view.colour.scale)) {
    view.colour.scale = view.colour.column.scales[0];
  }
  for (const axis of view.axes) {
    axis.column = byKey(axis.column.key);
    axis.placed = null;
    if (axis.column.metric && !axis.chosen) axis.scale = axis.column.log ? 'log' : 'linear';
    if (!axis.column.scales.includes(axis.scale)) axis.scale = axis.column.scales[0];
  }
  view.lanes = lanesOf(view.visible());
  view.laneTop = MARGIN.top + PLOT_HEIGHT + 12;
  for (const axis of view.axes) placeAxis(view, axis);
  choice.brushes.clear();
  for (const { axis, values, bands } of brushed) {
    const { brush } = axis;
    if (values) {
      const { place } = scaleOf(view.model, axis.column, axis.scale);
      const [low, high] = values.map(place).sort((a, b) => a - b);
      Object.assign(brush, { low: low - 1e-9, high: high + 1e-9, values });  // not what was rounded twice
    } else if (bands !== bandsOf(axis)) {
      brush.low *= bands / bandsOf(axis);
      brush.high *= bands / bandsOf(axis);
    }
    choice.brushes.set(axis.column.key, brushTest(axis));
  }
}

// What is drawn anew takes the focus with it.
function keepFocus(act) {
  const at = document.activeElement;
  const found = ['data-key', 'name', 'aria-label'].find((name) => at && at.getAttribute && at.getAttribute(name));
  const words = found && [found, at.getAttribute(found)];
  act();
  if (!words || at.isConnected) return;
  const again = document.querySelector(`[${words[0]}="${CSS.escape(words[1])}"]`);
  if (again) again.focus({ preventScroll: true });
}
