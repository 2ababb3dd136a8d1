// What went wrong, grouped by reason, and what the failed ones have in common.

function makeFailures(model, columns, choice) {
  const root = document.getElementById('failures');
  return { root, draw: () => drawFailures(root, model, columns, choice) };
}

// Digits that differ between trials of the same fault ("line 17", an address) are one.
const faultText = (detail) => detail.replace(/0x[0-9a-f]+/gi, 'N').replace(/\d+/g, 'N');

function failureGroups(model) {
  const groups = new Map();
  for (let i = 0; i < model.n; ++i) {
    const notFinite = model.lane[i] === LANE.notFinite;
    if (GROUPS[model.group[i]] !== 'failed' && !notFinite) continue;
    const reason = notFinite && GROUPS[model.group[i]] !== 'failed' ? 'the metric is not finite' : reasonText(model, i);
    const key = reason + '\n' + faultText(detailText(model, i));
    if (!groups.has(key)) groups.set(key, { reason, detail: detailText(model, i), trials: [] });
    groups.get(key).trials.push(i);
  }
  return [...groups.values()].sort((a, b) => b.trials.length - a.trials.length);
}

// "batch_size 512: 9 of 10, else 1 of 90": the category or half of a range in which most
// of them lie, where that is no accident.
function commonTrait(model, columns, trials) {
  if (trials.length < 3) return '';
  const among = new Uint8Array(model.n);
  for (const i of trials) among[i] = 1;
  let found = null;
  for (const column of columns.params) {
    for (const { text, test } of traitsOf(column)) {
      let inside = 0, hits = 0;
      for (let i = 0; i < model.n; ++i) {
        if (column.lane[i] || !test(column.values[i])) continue;
        ++inside;
        hits += among[i];
      }
      const outside = model.n - inside;
      if (inside < 3 || outside < 3) continue;
      const rate = hits / inside, other = (trials.length - hits) / outside;
      if (rate < 2 * other + 0.1 || hits < 0.7 * trials.length) continue;
      const score = rate - other;
      if (!found || score > found.score) found = { score, text: `${hits} of the ${inside} with ${text}, `
        + `${trials.length - hits} of the ${outside} others` };
    }
  }
  return found ? found.text : '';
}

function traitsOf(column) {
  if (column.labels) {
    return column.labels.map((label, v) => ({ text: `${column.short} ${label}`, test: (x) => x === v }));
  }
  const sorted = column.values.filter((v) => !Number.isNaN(v)).sort();
  if (sorted.length < 8) return [];
  const cuts = [0.25, 0.5, 0.75, 0.9].map((q) => sorted[Math.floor(q * sorted.length)]);
  return cuts.flatMap((c) => [
    { text: `${column.short} from ${column.format(c)} on`, test: (x) => x >= c },
    { text: `${column.short} under ${column.format(c)}`, test: (x) => x < c }]);
}

function drawFailures(root, model, columns, choice) {
  const groups = failureGroups(model);
  root.style.height = '';
  if (groups.length === 0) return nothing(root, model.n ? 'Nothing failed.' : 'No trial yet.');
  const lost = model.lost.reduce((sum, x) => sum + x, 0);
  root.replaceChildren(
    make('ul', { class: 'failures' }, ...groups.slice(0, 12).map((group) => failureItem(model, columns, choice, group))),
    groups.length > 12 ? make('p', { class: 'faint' }, `and ${groups.length - 12} more kinds`) : '',
    lost ? make('p', {}, `${plural(lost, 'attempt')} lost with a machine or an executor and run again.`) : '');
}

function failureItem(model, columns, choice, group) {
  const { trials } = group;
  const trait = commonTrait(model, columns, trials);
  const shown = trials.slice(0, 6);
  return make('li', {},
    make('strong', {}, plural(trials.length, 'trial')), `: ${group.reason}`,
    group.detail && group.detail !== group.reason ? make('div', { class: 'words' }, cut(group.detail, 300)) : null,
    trait ? make('div', {}, trait) : null,
    make('div', { class: 'row' }, ...shown.map((i) =>
      make('button', { class: 'pin', click: () => choice.togglePin(i), title: `Pin trial ${i}` }, String(i))),
    trials.length > shown.length ? make('span', { class: 'faint' }, `and ${trials.length - shown.length} more`) : null,
    make('code', {}, `hyperopt logs ${shellWord(model.raw.dir)} ${trials[0]}`)));
}
