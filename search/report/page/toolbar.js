// The buttons above the parallel coordinates.

function makeToolbar(view) {
  const { model, choice } = view;
  const bar = document.getElementById('toolbar');
  bar.append(stateTicks(model, choice), topSlider(model, choice), colourChoice(view), axesChoice(view),
    make('div', { class: 'row' },
      make('button', { id: 'keep', click: () => keep(view), title: 'Drop the others from the picture; axes zoom in' }, 'Keep only these'),
      make('button', { id: 'by-importance', click: () => sortAxes(view, model.raw.importance && model.raw.importance.shares),
        title: 'The most important parameter beside the metric' }, 'Axes by importance'),
      make('button', { id: 'reset', click: () => reset(view) }, 'Reset')));
  choice.listen((what) => { if (what === 'move') drawCount(view); });
  choice.listen((what) => { if (what === 'rest') say(document.getElementById('count').textContent + ' selected'); });
}

function stateTicks(model, choice) {
  const ticks = GROUPS.map((group, g) => model.counts[g] === 0 ? null
    : make('label', { title: `show trials that are ${group}` },
      make('input', { type: 'checkbox', name: 'state-' + group, checked: choice.groups[g],
        change: (event) => { choice.groups[g] = event.target.checked; choice.settle(); } }),
      swatch(GROUP_COLOUR[group]), `${group} ${model.counts[g].toLocaleString('en')}`));
  return make('fieldset', { class: 'row', id: 'states' }, make('legend', { class: 'unseen' }, 'States'), ...ticks.filter(Boolean));
}

function drawStateTicks({ model, choice }) {
  const ticks = stateTicks(model, choice), old = document.getElementById('states');
  if (old.textContent !== ticks.textContent) old.replaceWith(ticks);
}

function topSlider(model, choice) {
  const text = make('output', {}, '100 %');
  const slider = make('input', { type: 'range', min: '0', max: '100', value: '100', id: 'top',
    'aria-label': 'Best so many percent',
    input: (event) => {
      // Fine steps where it matters: 50 is 10 %, 100 is all.
      const place = Number(event.target.value);
      choice.topPercent = place === 100 ? 100 : Math.max(0.1, Number((100 ** (place / 100)).toPrecision(2)));
      text.textContent = choice.topPercent + ' %';
      choice.moved();
    } });
  return make('label', { class: 'row' }, 'best ', slider, text);
}

function colourChoice(view) {
  const { columns } = view;
  const scales = make('select', { 'aria-label': 'Colour scale', change: apply });
  const column = make('select', { id: 'colour', 'aria-label': 'Colour by', change: () => { offer(); apply(); } },
    ...[columns.metric, ...columns.all.filter((c) => c !== columns.metric)].map((c) =>
      make('option', { value: c.key }, c.short)));
  const chosen = () => columns.all.find((c) => c.key === column.value);
  function offer() {
    const list = chosen().metric ? ['rank', ...chosen().scales.filter((s) => s !== 'rank')] : chosen().scales;
    scales.replaceChildren(...list.map((scale) => make('option', { value: scale }, scale)));
    scales.hidden = list.length < 2;
  }
  function apply() {
    view.colour = { column: chosen(), scale: scales.value };
    view.recolour();
    drawAxes(view);
    drawLegend(view);
  }
  offer();
  return make('label', { class: 'row' }, 'colour ', column, scales);
}

function axesChoice(view) {
  const list = make('div', { class: 'menu' });
  view.listAxes = () => list.replaceChildren(...view.axes.map((axis) =>
    make('label', { title: axis.column.title },
      make('input', { type: 'checkbox', checked: !axis.hidden,
        change: (event) => hideAxis(view, axis, !event.target.checked) }), ' ' + axis.column.title)));
  view.listAxes();
  return make('details', { class: 'drop' }, make('summary', {}, 'Axes'), list);
}

function keep(view) {
  const { model, choice } = view;
  if (choice.count === 0) return say('Nothing is selected.');
  choice.kept = Uint8Array.from(choice.selected);
  clearBrushes(view);
  for (const { column } of view.axes) {
    if (column.labels) continue;
    column.whole = column.whole || column.domain;
    const [low, high] = extentOf(column.values.filter((v, i) => choice.kept[i]));
    if (low < high) column.domain = [low, high];
  }
  choice.topPercent = 100;
  document.getElementById('top').value = 100;
  view.layout();
  choice.settle();
}

function reset(view) {
  const { choice, columns } = view;
  choice.kept = null;
  choice.topPercent = 100;
  choice.groups.fill(true);
  clearBrushes(view);
  for (const axis of view.axes) {
    if (axis.column.whole) axis.column.domain = axis.column.whole;
    axis.flip = false;
    axis.hidden = ['steps', 'duration', 'trial'].includes(axis.column.key);
  }
  view.axes.sort((a, b) => columns.all.indexOf(a.column) - columns.all.indexOf(b.column));
  document.querySelectorAll('#toolbar input[type=checkbox][name]').forEach((box) => { box.checked = true; });
  document.getElementById('top').value = 100;
  document.querySelector('#top + output').textContent = '100 %';
  view.listAxes();
  view.layout();
  choice.settle();
  choice.unpin();
}
