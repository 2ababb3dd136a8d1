// Which parameters decided.

function makeImportance(model, columns) {
  const root = document.getElementById('importance');
  return { root, draw: () => drawImportance(root, model, columns) };
}

function drawImportance(root, model, columns) {
  const { importance } = model.raw;
  const note = document.getElementById('importance-note');
  if (!importance || !importance.shares) {
    note.textContent = '';
    return nothing(root, importance ? importance.why : 'There are too few finished trials.');
  }
  note.textContent = `What tells the best ${importance.top} from all ${importance.used} trials with a value (PED-ANOVA). `
    + 'It shows what mattered among the settings tried, not causes.' + prunedWords(model) + fewWords(model);
  const order = d3.range(columns.params.length).sort((a, b) => importance.shares[b] - importance.shares[a]);
  const most = importance.shares[order[0]] || 1;
  root.style.height = '';
  root.replaceChildren(make('ol', { class: 'bars' }, ...order.slice(0, 20).map((p) => {
    const bar = make('span', { class: 'bar' });
    bar.style.width = 100 * importance.shares[p] / most + '%';
    return make('li', {}, make('span', { class: 'bar-name', title: columns.params[p].title }, columns.params[p].short),
      make('span', { class: 'bar-room' }, bar), make('span', { class: 'bar-value' }, percentText(importance.shares[p])));
  })));
  if (order.length > 20) root.append(make('p', { class: 'faint' }, `and ${order.length - 20} more, each less important`));
}
