// The settings of one axis, and the buttons above the picture.

// An element with attributes, listeners ({click: f}) and children or text.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (name in element && typeof value !== 'string') element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// What is drawn as it is already is left alone: a reader may have marked a part of it.
function swap(root, ...children) {
  const fresh = make(root.tagName, {}, ...children);
  if (fresh.innerHTML !== root.innerHTML) root.replaceChildren(...fresh.childNodes);
}

// Told to a screen reader.
function say(text) {
  document.getElementById('said').textContent = text;
}

function openPanel(view, axis) {
  const dialog = document.getElementById('axis-panel');
  dialog.replaceChildren(...panelParts(view, axis, dialog));
  dialog.setAttribute('aria-label', 'Axis ' + axis.column.title);
  dialog.hidden = false;
  const box = view.root.parentElement.getBoundingClientRect();
  const left = axis.x - view.root.parentElement.scrollLeft - dialog.offsetWidth / 2;
  dialog.style.left = Math.max(4, Math.min(box.width - dialog.offsetWidth - 4, left)) + 'px';
  dialog.onkeydown = (event) => { if (event.key === 'Escape') closePanel(view, axis); };
  dialog.querySelector('input, select, button').focus();
}

function closePanel(view, axis) {
  document.getElementById('axis-panel').hidden = true;
  view.svg.selectAll('g.axis').filter((other) => other === axis).select('text.name').node().focus();
}

function panelParts(view, axis, dialog) {
  const { column } = axis;
  const again = (act) => () => { act(); openPanel(view, axis); };
  const close = () => closePanel(view, axis);
  return [
    make('h3', {}, column.title),
    column.about ? make('p', { class: 'faint' }, column.about) : null,
    column.labels ? categoryChoice(view, axis) : rangeChoice(view, axis),
    column.scales.length > 1 ? scaleChoice(view, axis) : null,
    make('div', { class: 'row' },
      make('button', { click: again(() => moveAxis(view, axis, -1)), title: 'Move left' }, '← left'),
      make('button', { click: again(() => moveAxis(view, axis, 1)), title: 'Move right' }, 'right →'),
      make('button', { click: again(() => flipAxis(view, axis)) }, 'Flip'),
      make('button', { click: () => { dialog.hidden = true; hideAxis(view, axis); } }, 'Hide')),
    make('div', { class: 'row' },
      make('button', { click: () => { view.colour = { column, scale: column.metric ? 'rank' : axis.scale };
        view.recolour(); drawAxes(view); drawLegend(view); } }, 'Colour by this'),
      axis.brush ? make('button', { click: again(() => { setBrush(view, axis, null); view.choice.settle(); drawAxes(view); }) }, 'No filter') : null,
      make('button', { click: close }, 'Close')),
  ].filter(Boolean);
}

function scaleChoice(view, axis) {
  const select = make('select', { change: (event) => scaleAxis(view, axis, event.target.value) },
    ...axis.column.scales.map((scale) => make('option', { value: scale, selected: scale === axis.scale }, scale)));
  return make('label', {}, 'Scale ', select);
}

function rangeChoice(view, axis) {
  const now = axis.brush ? brushValues(view, axis) : null;
  const [low, high] = now || axis.column.domain;
  const input = (name, value) => make('input', { type: 'text', inputmode: 'decimal', size: 9,
    value: String(Number(value.toPrecision(8))), 'aria-label': name, name });
  const from = input('from', low), to = input('to', high);
  const apply = () => {
    const ends = [Number(from.value), Number(to.value)];
    if (ends.some(Number.isNaN) || from.value === '' || to.value === '') return say('Not a number.');
    setBrushValues(view, axis, Math.min(...ends), Math.max(...ends));
  };
  return make('form', { class: 'row', submit: (event) => { event.preventDefault(); apply(); } },
    from, ' to ', to, make('button', {}, 'Filter'));
}

function categoryChoice(view, axis) {
  const { labels } = axis.column;
  const ticked = labels.map((_, v) => {
    if (!axis.brush) return true;
    const { low, high, only } = axis.brush;
    return only ? only.has(v) : v / labels.length >= low - 1e-9 && (v + 1) / labels.length <= high + 1e-9;
  });
  const apply = () => {
    const only = new Set(labels.map((_, v) => v).filter((v) => ticked[v]));
    setBrush(view, axis, null);
    if (only.size < labels.length) {
      axis.brush = { low: 2, high: 1, lanes: new Set(), only };
      view.choice.brushes.set(axis.column.key, brushTest(axis));
    }
    view.choice.settle();
    drawAxes(view);
  };
  return make('fieldset', {}, make('legend', {}, 'Only'), ...labels.map((label, v) =>
    make('label', {}, make('input', { type: 'checkbox', checked: ticked[v],
      change: (event) => { ticked[v] = event.target.checked; apply(); } }), ' ' + label)));
}
