// Puts the page together. Views below the fold are drawn when they come into sight.

function start(raw) {
  const model = readModel(raw);
  const columns = makeColumns(model);
  model.metricColumn = columns.metric;
  const choice = makeChoice(model);
  const view = makeParallel(model, columns, choice);
  makeToolbar(view);
  makeHover(view);
  makePins(model, columns, choice);
  const table = makeTable(model, columns, choice);
  drawSummary(model, columns, drawCost(model));
  const views = [makeHistory, makeImportance, makeCurves, makeFailures, makeSlices, makeContour,
    makePareto, makeFolds, makeTimeline]
    .map((makeView) => makeView(model, columns, choice));
  view.layout();
  if (view.overflows) view.root.parentElement.scrollLeft = view.width;  // the metric is at the right
  drawLegend(view);
  drawCount(view);
  drawTable(table);
  const lazy = drawWhenSeen(views, choice);
  const redraw = () => { view.ghost = null; view.recolour(); view.layout(); drawLegend(view); lazy.again(); };
  followTheme(redraw);
  followWidth(() => { view.layout(); lazy.again(); });
  followPrint(redraw, lazy);
  setTimeout(() => drawAdvice(model, columns), 0);
  document.documentElement.dataset.ready = 'yes';
  return { model, columns, choice, view, views, table, lazy,
    brush: (axis, pixels) => setBrush(view, axis, pixels),
    brushed: (axis) => brushValues(view, axis) };
}

function drawWhenSeen(views, choice) {
  const seen = new Set(), stale = new Set(views);
  const draw = (one) => { stale.delete(one); one.draw(); };
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const one = views.find((v) => v.root === entry.target);
      if (entry.isIntersecting) seen.add(one);
      else seen.delete(one);
      if (entry.isIntersecting && stale.has(one)) draw(one);
    }
  }, { rootMargin: '300px' });
  views.forEach((one) => watcher.observe(one.root));
  const refresh = (which) => which.forEach((one) => seen.has(one) ? draw(one) : stale.add(one));
  choice.listen((what) => {
    if (what === 'rest') refresh(views.filter((one) => one.rest));
    if (what === 'pin') refresh(views.filter((one) => one.redrawPins));
    const marks = what === 'pin' || what === 'hover' ? views.filter((one) => one.mark) : [];
    marks.forEach((one) => { if (what === 'pin' || seen.has(one)) one.mark(); });
  });
  const offer = () => views.forEach((one) => { if (one.offer) one.offer(); });  // sections that few sweeps have
  offer();
  return { again: () => { offer(); refresh(views); }, all: () => views.forEach(draw) };
}

function followTheme(redraw) {
  const button = document.getElementById('theme');
  const root = document.documentElement;
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  button.addEventListener('click', () => {
    root.dataset.theme = dark() ? 'light' : 'dark';
    redraw();
  });
}

function followWidth(act) {
  let width = innerWidth, timer = 0;
  addEventListener('resize', () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(timer);
    timer = setTimeout(act, 100);
  });
}

// On paper everything is drawn, on white.
function followPrint(redraw, lazy) {
  const root = document.documentElement;
  let before;
  addEventListener('beforeprint', () => {
    before = root.dataset.theme;
    root.dataset.theme = 'light';
    redraw();
    lazy.all();
  });
  addEventListener('afterprint', () => {
    if (before) root.dataset.theme = before;
    else delete root.dataset.theme;
    redraw();
  });
}

// A file has its data in it; a page that a dashboard serves asks for them.
const dataIn = (id) => JSON.parse(document.getElementById(id).textContent);
const served = dataIn('live');
if (served === null) window.report = start(dataIn('data'));
else if (served.page === 'index') startSweeps(served);
else startLive(served);
