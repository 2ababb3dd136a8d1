// What ran where and when; what the machines waited for; what it cost.

const ROW_HEIGHT = { few: 28, many: 15 };
const ROWS_SHOWN = 40;

function makeTimeline(model, columns, choice) {
  const root = document.getElementById('timeline');
  let of = null, rows = [];
  const view = { root, rest: false, mark: null };
  view.draw = () => {
    if (of !== model.raw) [of, rows] = [model.raw, timelineRows(model)];
    view.mark = drawTimeline(root, model, choice, rows);
  };
  return view;
}

// A row is a device, or a slot where runs need none: the first that was free then.
function timelineRows(model) {
  const { runs, executors, devices } = model.raw;
  const order = d3.range(runs.trial.length).sort((a, b) => runs.start[a] - runs.start[b]);
  const rows = new Map();
  const rowOf = (key, name) => {
    if (!rows.has(key)) rows.set(key, { key, name, runs: [], free: -Infinity });
    return rows.get(key);
  };
  for (const r of order) {
    const host = executors[runs.executor[r]] ? executors[runs.executor[r]].name : '?';
    const gpus = devices[runs.devices[r]] || '';
    const end = runs.end[r] === null ? model.raw.until : runs.end[r];
    const names = gpus === '' ? [null] : gpus.split(',');
    for (const name of names) {
      let k = 0, row;
      do {
        const slot = k ? ` ${k + 1}` : '';
        const where = name === null ? `slot ${k + 1}` : `GPU ${name}${slot}`;
        row = rowOf([runs.executor[r], name === null ? 'slot' : name, String(k).padStart(4, '0')].join(' '), `${host} ${where}`);
        ++k;
      } while (row.free > runs.start[r] + 1e-6);
      row.free = end;
      row.runs.push({ r, start: runs.start[r], end });
    }
  }
  return [...rows.values()].sort((a, b) => a.key < b.key ? -1 : 1);
}

// Why nothing ran in [from, to]: the first that fits.
function gapCause(model, from, to) {
  const { absences, pauses, runs } = model.raw;
  const overlap = (list) => d3.sum(list, ([a, b]) => Math.max(0, Math.min(b, to) - Math.max(a, from)));
  const length = to - from;
  if (overlap(absences) > 0.5 * length) return 'hyperopt was not running';
  if (overlap(pauses) > 0.5 * length) return 'paused';
  if (from === 0) return 'before the first start';
  const lastStart = d3.max(runs.start);
  if (from >= lastStart - 1e-6 || to > lastStart) return 'no trial left to start';
  return 'between trials';
}

function timelineGaps(model, row, end) {
  const gaps = [];
  let at = 0;
  for (const run of [...row.runs, { start: end, end }]) {
    if (run.start - at > 0.01 * end) gaps.push({ from: at, to: run.start, cause: gapCause(model, at, run.start) });
    at = Math.max(at, run.end);
  }
  return gaps;
}

// Returns what marks pieces of trials, or null where there are none.
function drawTimeline(root, model, choice, rows) {
  const note = document.getElementById('timeline-note');
  if (rows.length === 0) {
    note.textContent = '';
    nothing(root, 'Nothing was started yet.');
    return null;
  }
  const end = model.raw.until;
  const shown = rows.slice(0, ROWS_SHOWN);
  const frame = makeFrame(root, {
    height: shown.length * (shown.length > 8 ? ROW_HEIGHT.many : ROW_HEIGHT.few) + FRAME.top + FRAME.bottom, left: 128,
    x: d3.scaleLinear().domain([0, end || 1]), y: d3.scaleBand().domain(shown.map((row) => row.key).reverse()).padding(0.12),
    xLabel: 'time since the start', xFormat: durationText, xTicks: timeTicks([0, end], Math.max(2, root.clientWidth / 130)),
    yFormat: (key) => shown.find((row) => row.key === key).name });
  const causes = new Map();
  for (const row of shown) {
    const y = frame.y(row.key), height = frame.y.bandwidth();
    for (const { r, start, end: stop } of row.runs) {
      const trial = model.raw.runs.trial[r];
      frame.context.fillStyle = GROUP_COLOUR[GROUPS[model.group[trial]]];
      const left = frame.x(start), width = frame.x(stop) - left;
      frame.context.fillRect(left, y, Math.max(0.7, width - (width > 4 ? 0.8 : 0)), height);
    }
    for (const gap of timelineGaps(model, row, end)) {
      causes.set(gap.cause, (causes.get(gap.cause) || 0) + gap.to - gap.from);
      frame.svg.append('rect').attr('class', 'gap').attr('x', frame.x(gap.from)).attr('y', y)
        .attr('width', frame.x(gap.to) - frame.x(gap.from)).attr('height', height)
        .append('title').text(`idle for ${durationText(gap.to - gap.from)}: ${gap.cause}`);
    }
  }
  noteTimeline(note, rows, shown, causes, end);
  note.textContent += pieceWords(model);
  pickRuns(frame, model, choice, shown);
  if (model.resumed.size + model.copied.size === 0) return null;
  const layer = frame.svg.append('g');
  const mark = () => drawLinks(layer, model, frame, choice, shown);
  mark();
  return mark;
}

function noteTimeline(note, rows, shown, causes, end) {
  const busy = d3.sum(shown, (row) => d3.sum(row.runs, (run) => run.end - run.start));
  const words = [...causes].sort((a, b) => b[1] - a[1]).map(([cause, s]) => `${durationText(s)} ${cause}`);
  note.textContent = `Busy ${percentText(busy / Math.max(1e-9, end * shown.length))} of the time`
    + (words.length ? `; longer idle gaps, all rows together: ${words.join(', ')}.` : '.')
    + (rows.length > shown.length ? ` ${rows.length - shown.length} more rows are not drawn.` : '');
}

function pickRuns(frame, model, choice, rows) {
  const at = (event) => {
    const box = frame.root.getBoundingClientRect();
    const y = event.clientY - box.top, time = frame.x.invert(event.clientX - box.left);
    const row = rows.find((r) => y >= frame.y(r.key) && y <= frame.y(r.key) + frame.y.bandwidth());
    const run = row && row.runs.find((r) => time >= r.start && time <= r.end);
    return run ? model.raw.runs.trial[run.r] : null;
  };
  frame.root.onclick = (event) => { const trial = at(event); if (trial !== null) choice.togglePin(trial); };
  frame.root.onpointermove = (event) => {
    const trial = at(event);
    const pieces = trial === null ? '' : pieceText(model, trial);
    frame.root.title = trial === null ? '' : `trial ${trial}: ${stateText(model, trial)}` + (pieces ? `, ${pieces}` : '');
    choice.hover(trial);
  };
  frame.root.onpointerleave = () => choice.hover(null);
}

// ---- cost ----

function drawCost(model) {
  const root = document.getElementById('cost');
  const byGroup = GROUPS.map((group, g) => ({ group, count: model.counts[g], busy: 0, gpu: 0 }));
  for (let i = 0; i < model.n; ++i) {
    byGroup[model.group[i]].busy += model.busy[i] || 0;
    byGroup[model.group[i]].gpu += model.gpu[i] || 0;
  }
  const all = { group: 'together', count: model.n, busy: d3.sum(byGroup, (g) => g.busy), gpu: d3.sum(byGroup, (g) => g.gpu) };
  const rows = [...byGroup.filter((g) => g.count > 0), all];
  const gpus = all.gpu > 0;
  root.replaceChildren(make('table', {},
    make('thead', {}, make('tr', {}, ...['', 'trials', 'hours', gpus ? 'GPU hours' : null, 'share'].filter((t) => t !== null)
      .map((t) => make('th', { scope: 'col' }, t)))),
    make('tbody', {}, ...rows.map((row) => make('tr', { class: row === all ? 'sum' : '' },
      make('th', { scope: 'row' }, row.group), make('td', {}, row.count.toLocaleString('en')),
      make('td', {}, hoursText(row.busy)), gpus ? make('td', {}, hoursText(row.gpu)) : null,
      make('td', {}, all.busy ? percentText(row.busy / all.busy) : ''))))));
  return all;
}
