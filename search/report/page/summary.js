// The top of the page: the answers in words, and what to try next.

function drawSummary(model, columns, cost) {
  const { sweep } = model;
  document.title = `${sweep.name}: hyperopt report`;
  document.getElementById('title').textContent = sweep.name;
  swap(document.getElementById('answer'), ...answer(model, columns));
  swap(document.getElementById('facts'), ...facts(model, cost));
  drawBest(model, columns);
}

function drawAdvice(model, columns) {
  const hints = advice(model, columns);
  swap(document.getElementById('next'), ...hints.map((hint) =>
    make('li', {}, hint.text, hint.command ? make('code', {}, hint.command) : null)));
  document.getElementById('next-section').hidden = hints.length === 0;
}

function answer(model, columns) {
  const { sweep } = model;
  const goal = model.minimize ? 'lowest' : 'highest';
  if (model.n === 0) return ['No trial was proposed yet.'];
  if (model.best === null) {
    const failed = model.count('failed');
    return [failed === model.n ? `All ${plural(failed, 'trial')} failed: no value of ${sweep.metric} to compare. `
      : `No trial has a finite value of ${sweep.metric} yet. `, whatHappened(model)];
  }
  if (model.objectives) return [...tradeOffs(model), whatHappened(model)];
  const parts = [`The ${goal} `, make('strong', {}, sweep.metric), ' is ',
    make('strong', { class: 'value' }, numberText(model.y[model.best], 6)),
    ` (trial ${model.best}, step ${numberText(model.step[model.best])}). `];
  const [low, high] = extentOf(model.y);
  if (model.valued > 1 && low === high) parts.push(`All ${plural(model.valued, 'trial')} with a value have this one. `);
  else if (model.valued >= 10) parts.push(...comparison(model));
  parts.push(whatHappened(model));
  return parts;
}

// Several objectives have no best trial, but a front, and a best of each.
function tradeOffs(model) {
  const { objectives } = model;
  const wanted = objectives.map((each) => `${each.minimize ? 'minimize' : 'maximize'} ${each.title}`).join(', ');
  const front = d3.range(model.n).filter((i) => model.front[i]);
  if (front.length === 0) return [`To ${wanted}: no trial has a finite value of each yet. `];
  const parts = [make('strong', {}, plural(front.length, 'trial')), ` of ${model.n.toLocaleString('en')} `,
    front.length === 1 ? `is as good as any other in all of: ${wanted}. `
      : `trade off ${wanted}: no other is as good in all and better in one. `];
  objectives.forEach((each, k) => {
    const best = front.reduce((a, b) => (each.values[b] < each.values[a]) === each.minimize && each.values[a] !== each.values[b] ? b : a);
    parts.push(k === 0 ? 'Among them the ' : k === objectives.length - 1 ? ' and the ' : ', the ',
      `${each.minimize ? 'lowest' : 'highest'} `, make('strong', {}, each.title), ' is ',
      make('strong', { class: 'value' }, numberText(each.values[best], 6)), ` (trial ${best})`);
  });
  return [...parts, '. '];
}

function comparison(model) {
  const middle = model.y[model.byRank[model.valued >> 1]];
  const tenth = model.y[model.byRank[Math.floor(model.valued / 10)]];
  return [`Half of the trials are at ${numberText(middle)} or worse, the best tenth at ${numberText(tenth)} or better. `];
}

function whatHappened(model) {
  const words = GROUPS.map((group, g) => model.counts[g] ? `${model.counts[g].toLocaleString('en')} ${group}` : '').filter(Boolean);
  return `${plural(model.n, 'trial')}: ${words.join(', ')}.`;
}

function facts(model, cost) {
  const { sweep, raw } = model;
  const list = [
    ['state', sweep.state], ['started', dateText(sweep.created)], ['alive', durationText(sweep.alive_s)],
    ['trial hours', hoursText(cost.busy)], cost.gpu > 0 ? ['GPU hours', hoursText(cost.gpu)] : null,
    sweep.sampler ? ['sampler', sweep.sampler] : null, model.asha ? ['early stopping', `ASHA to ${model.asha.max_t} ${model.asha.time_attr}`] : null,
    ['seed', String(sweep.seed)], sweep.host ? ['host', sweep.host] : null,
    sweep.commit ? ['commit', sweep.commit.slice(0, 10)] : null, ['folder', raw.dir],
    ['written', dateText(raw.written)],
  ].filter(Boolean);
  return list.map(([name, text]) => make('div', {}, make('dt', {}, name), make('dd', {}, text)));
}

function drawBest(model, columns) {
  const root = document.getElementById('best');
  root.hidden = model.best === null;
  if (root.hidden) return;
  const exact = model.raw.best_params || {};
  const lines = Object.entries(exact).map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  swap(root, make('h2', {}, model.objectives ? `The best settings by ${model.sweep.metric} alone` : 'The best settings'), make('pre', { id: 'best-settings' }, lines.join('\n')),
    make('p', { class: 'faint' }, `hyperopt best ${shellWord(model.raw.dir)} writes them to best.json; `
      + `hyperopt final ${shellWord(model.raw.dir)} runs them once more with several seeds.`));
}
