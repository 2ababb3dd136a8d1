// Trials that run in pieces, on the timeline: a dotted line where one waited and went on,
// an arrow where one began with another's checkpoint.

const LINKS_AT_ONCE = 60;

// {trial, from, to, copy}: times and rows. Of many only those of `chosen` trials.
function timelineLinks(model, frame, rows, chosen) {
  const pieces = new Map();
  for (const row of rows) {
    const y = frame.y(row.key) + frame.y.bandwidth() / 2;
    for (const { r, start, end } of row.runs) {
      const trial = model.raw.runs.trial[r];
      if (!pieces.has(trial)) pieces.set(trial, []);
      const known = pieces.get(trial);
      if (!known.some((piece) => piece.r === r)) known.push({ r, start, end, y });  // one line for all its devices
    }
  }
  for (const known of pieces.values()) known.sort((a, b) => a.start - b.start);
  const links = [];
  for (const trial of model.resumed.keys()) {
    (pieces.get(trial) || []).forEach((piece, k, all) => {
      const before = all[k - 1];
      if (before && model.resumed.get(trial).some((at) => at >= before.end - 0.02 && at <= piece.start + 0.02)) {
        links.push({ trial, copy: false, from: [before.end, before.y], to: [piece.start, piece.y] });
      }
    });
  }
  for (const [trial, { parent, at }] of model.copied) {
    const first = (pieces.get(trial) || [])[0];
    const source = (pieces.get(parent) || []).filter((piece) => piece.start <= at).pop();
    if (first && source) links.push({ trial, parent, copy: true, from: [Math.min(source.end, at), source.y], to: [first.start, first.y] });
  }
  const isChosen = ({ trial, parent }) => chosen.includes(trial) || chosen.includes(parent);
  return [false, true].flatMap((copy) => {
    const kind = links.filter((link) => link.copy === copy);
    return kind.length <= LINKS_AT_ONCE ? kind : kind.filter(isChosen);
  });
}

function drawLinks(layer, model, frame, choice, rows) {
  const chosen = [...choice.pinned, choice.hovered];
  const links = timelineLinks(model, frame, rows, chosen);
  const paths = layer.selectAll('path').data(links);
  paths.exit().remove();
  paths.enter().append('path').merge(paths)
    .attr('class', ({ copy, trial, parent }) => `link ${copy ? 'copy' : 'wait'}`
      + (chosen.includes(trial) || chosen.includes(parent) ? ' chosen' : ''))
    .attr('d', ({ copy, from, to }) => {
      const [x1, y1, x2, y2] = [frame.x(from[0]), from[1], frame.x(to[0]), to[1]];
      const bend = Math.max(6, Math.min(40, Math.abs(x2 - x1) / 2));
      const head = copy ? `M${x2 - 5},${y2 - 3.5}L${x2},${y2}L${x2 - 5},${y2 + 3.5}` : '';
      return `M${x1},${y1}C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}${head}`;
    });
}

// For the words below the timeline.
function pieceWords(model) {
  const waited = d3.sum([...model.resumed.values()], (times) => times.length);
  const which = (count) => count > LINKS_AT_ONCE ? ', drawn for pinned ones' : '';
  return (waited ? ` Dotted: paused trials went on ${plural(waited, 'time')}${which(waited)}.` : '')
    + (model.copied.size ? ` Arrows: ${plural(model.copied.size, 'trial')} began with another's checkpoint${which(model.copied.size)}.` : '');
}
