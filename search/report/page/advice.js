// What to try next: each hint has a reason in the record.

function advice(model, columns) {
  const dir = shellWord(model.raw.dir);
  const hints = [];
  if (model.n === 0) return hints;
  if (model.count('failed') > 0) hints.push(failureHint(model, columns, dir));
  if (model.sweep.state === 'interrupted') {
    hints.push({ text: 'It was interrupted and goes on where it was: ', command: `hyperopt resume ${dir}` });
  }
  if (model.best === null) return hints;
  hints.push(...edgeHints(model, columns));
  hints.push(...categoryHints(model, columns));
  hints.push(progressHint(model, dir));
  hints.push(unimportantHint(model, columns));
  if (model.valued >= 10) {
    hints.push({ text: 'Is the winner luck? Run it again with other seeds: ', command: `hyperopt final ${dir}` });
  }
  return hints.filter(Boolean);
}

function failureHint(model, columns, dir) {
  const [group] = failureGroups(model).filter((g) => GROUPS[model.group[g.trials[0]]] === 'failed');
  const trait = commonTrait(model, columns, group.trials);
  return { text: `${plural(group.trials.length, 'trial')} failed (${group.reason})${trait ? ': ' + trait : ''}. Look at one: `,
    command: `hyperopt logs ${dir} ${group.trials[0]}` };
}

// The best tenth, at least five, at most fifty.
function bestTrials(model) {
  const count = Math.min(model.valued, Math.max(5, Math.min(50, Math.round(model.valued / 10))));
  return Array.from(model.byRank.slice(0, count));
}

// Most of the best lie in the outermost tenth of a range: the range ends too early.
function edgeHints(model, columns) {
  if (model.valued < 20) return [];
  const best = bestTrials(model);
  const hints = [];
  for (const column of columns.params) {
    const { param } = column;
    const known = model.params[param];
    if (column.labels || known.lower === undefined || known.lower === null) continue;
    const { place } = scaleOf(model, column, column.log ? 'log' : 'linear');
    const t = best.filter((i) => !column.lane[i]).map((i) => place(column.values[i]));
    for (const [end, share] of [['lower', t.filter((x) => x < 0.1)], ['upper', t.filter((x) => x > 0.9)]]) {
      if (share.length < 0.6 * best.length) continue;
      hints.push({ text: `${column.title}: ${share.length} of the best ${best.length} lie at its ${end} end `
        + `(${numberText(known[end])}). Search beyond it if it can be.` });
    }
  }
  return hints.slice(0, 3);
}

function categoryHints(model, columns) {
  if (model.valued < 20) return [];
  const best = bestTrials(model);
  const hints = [];
  for (const column of columns.params) {
    if (!column.labels || column.labels.length < 2) continue;
    const count = column.labels.map((_, v) => best.filter((i) => !column.lane[i] && column.values[i] === v).length);
    const top = d3.maxIndex(count);
    const all = column.values.filter((v) => v === top).length;
    if (count[top] < 0.9 * best.length || all > 0.7 * model.n) continue;
    hints.push({ text: `${column.title}: ${count[top]} of the best ${best.length} have ${column.labels[top]}. Fix it, and search the rest.` });
  }
  return hints.slice(0, 3);
}

function progressHint(model, dir) {
  const { steps } = bestSoFar(model, Float64Array.from(model.y, (_, i) => i + 1));
  const last = steps[steps.length - 1];
  if (isUnderWay(model.sweep) || model.n < 10) return null;
  const share = last.at / model.n;
  if (share > 0.8) {
    return { text: `The best came late (trial ${last.trial} of ${model.n}): more trials may find better ones. `,
      command: `hyperopt resume ${dir} --trials +${Math.max(10, Math.round(model.n / 2))}` };
  }
  if (share < 0.3 && model.n >= 50) {
    return { text: `Nothing better came after trial ${last.trial} of ${model.n}: another search space helps more than more trials.` };
  }
  return null;
}

function unimportantHint(model, columns) {
  const { importance } = model.raw;
  if (!importance || !importance.shares || importance.used < 50 || columns.params.length < 4) return null;
  const idle = columns.params.filter((_, p) => importance.shares[p] < 0.02);
  if (idle.length === 0) return null;
  const names = idle.slice(0, 5).map((column) => column.short).join(', ');
  return { text: `${names}${idle.length > 5 ? ` and ${idle.length - 5} more` : ''} hardly told good trials from bad ones here: leave ${idle.length === 1 ? 'it' : 'them'} fixed.` };
}
