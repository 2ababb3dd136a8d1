// Charts whose points are trials: the nearest under the pointer, the tip beside it, a
// click that pins it, and rings around those that are pinned or hovered elsewhere.

const POINT_NEAR_PX = 12;

// Beside the pointer, inside the window.
function showTip(event, ...parts) {
  const tip = document.getElementById('tip');
  tip.replaceChildren(...parts);
  tip.hidden = false;
  const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
  tip.style.left = Math.max(4, left) + 'px';
  tip.style.top = Math.max(4, Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 8)) + 'px';
}

const hideTip = () => { document.getElementById('tip').hidden = true; };

// `points`: [x, y, trial] each. `parts(trial)`: what the tip says; `elsewhere(x, y)`: what
// it says where no trial is near, or null.
function pickPoints(frame, points, choice, parts, elsewhere = () => null) {
  const tree = d3.quadtree(points);
  const { root } = frame;
  const at = (event) => {
    const box = root.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const trialAt = (event) => {
    const found = tree.find(...at(event), POINT_NEAR_PX);
    return found ? found[2] : null;
  };
  root.onpointermove = (event) => {
    const trial = trialAt(event);
    choice.hover(trial);
    root.style.cursor = trial === null ? '' : 'pointer';
    const words = trial === null ? elsewhere(...at(event)) : parts(trial);
    if (words === null) hideTip();
    else showTip(event, ...words);
  };
  root.onpointerleave = () => { hideTip(); choice.hover(null); };
  root.onclick = (event) => {
    const trial = trialAt(event);
    if (trial !== null) choice.togglePin(trial);
  };
  const placeOf = new Map(points.map(([x, y, trial]) => [trial, [x, y]]));
  const rings = frame.svg.append('g').attr('class', 'rings');
  frame.mark = () => {
    const marked = choice.pinned.map((trial, k) => ({ trial, colour: pinColour(k) }));
    if (choice.hovered !== null) marked.push({ trial: choice.hovered, colour: cssColour('ink') });
    const seen = rings.selectAll('circle').data(marked.filter(({ trial }) => placeOf.has(trial)));
    seen.exit().remove();
    seen.enter().append('circle').attr('r', 7).merge(seen).attr('stroke', ({ colour }) => colour)
      .attr('cx', ({ trial }) => placeOf.get(trial)[0]).attr('cy', ({ trial }) => placeOf.get(trial)[1]);
  };
  frame.mark();
}

// What a tip says of a trial: the metric, and the columns that the chart is about.
function pointTip(model, columns, trial, rows) {
  return [make('strong', {}, `trial ${trial}`), ` ${stateText(model, trial)}`,
    make('div', { class: 'big' }, `${model.sweep.metric} ${columns.metric.text(trial)}`),
    make('dl', {}, ...rows.flatMap(([name, text]) => [make('dt', {}, name), make('dd', {}, cut(text, 30))])),
    make('small', { class: 'faint' }, 'click to pin')];
}
