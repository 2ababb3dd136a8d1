// Pinned trials side by side: what differs stands out.

function makePins(model, columns, choice) {
  const root = document.getElementById('pins');
  const draw = () => {
    root.hidden = choice.pinned.length === 0;
    if (!root.hidden) root.replaceChildren(...pinParts(model, columns, choice));
  };
  choice.listen((what) => { if (what === 'pin') draw(); });
}

function pinParts(model, columns, choice) {
  const { pinned } = choice;
  const dir = shellWord(model.raw.dir);
  const rows = [
    [model.sweep.metric, (i) => columns.metric.text(i)],
    ...columns.others.map((column) => [column.title, column.text]),
    ['state', (i) => stateText(model, i)],
    ['in pieces', (i) => pieceText(model, i)],
    ['why', (i) => detailText(model, i) || (reasonText(model, i) === 'none' ? '' : reasonText(model, i))],
    ['last step', (i) => numberText(model.raw.trials.last_step[i])],
    ['time', (i) => durationText(model.busy[i])],
    ['attempts', (i) => numberText(model.attempt[i])],
    ...columns.params.map((column) => [column.title, column.text]),
  ].filter(([, text]) => pinned.some((i) => text(i) !== ''));
  const head = pinned.map((trial, k) => {
    const cell = make('th', { scope: 'col' }, `trial ${trial} `,
      make('button', { 'aria-label': `Unpin trial ${trial}`, click: () => choice.togglePin(trial) }, '×'));
    cell.style.borderTop = '3px solid ' + pinColour(k);
    return cell;
  });
  const body = rows.map(([name, text]) => {
    const texts = pinned.map(text);
    const differ = new Set(texts).size > 1;
    return make('tr', { class: differ ? 'differ' : '' }, make('th', { scope: 'row' }, name),
      ...texts.map((t) => make('td', {}, t)));
  });
  const commands = pinned.map((trial) => `hyperopt show ${dir} ${trial}`).join('\n');
  return [
    make('h3', {}, 'Pinned'),
    make('div', { class: 'scroll' }, make('table', {}, make('thead', {}, make('tr', {}, make('td'), ...head)),
      make('tbody', {}, ...body))),
    make('pre', {}, commands),
  ];
}
