// The index of several sweeps.

const SWEEPS_EVERY_MS = 3000;

function startSweeps(settings) {
  const token = takeToken();
  document.title = 'hyperopt dashboard';
  document.getElementById('title').textContent = 'Sweeps';
  const main = document.querySelector('main');
  const section = make('section', { 'aria-label': 'Sweeps', class: 'scroll', id: 'sweeps' });
  main.replaceChildren(section);
  followTheme(() => {});
  const draw = async () => {
    try {
      const response = await fetch('sweeps', { headers: withToken(token), cache: 'no-store' });
      const answer = await response.json();
      if (response.ok) swap(section, sweepTable(answer));
      else swap(section, make('p', {}, answer.error), tokenField({}, () => location.reload()));
      if (!response.ok) return;
    } catch (error) {
      section.prepend(...section.querySelector('.lost') ? [] : [make('p', { class: 'lost' }, 'No connection; trying again.')]);
    }
    setTimeout(() => document.hidden ? addEventListener('visibilitychange', draw, { once: true }) : draw(), SWEEPS_EVERY_MS);
  };
  draw();
  document.documentElement.dataset.ready = 'yes';
}

function sweepTable(sweeps) {
  const titles = ['sweep', 'state', 'finished', 'best', 'metric', 'running', 'failed', 'folder'];
  return make('table', {},
    make('thead', {}, make('tr', {}, ...titles.map((title) =>
      make('th', { scope: 'col', class: ['sweep', 'state', 'metric', 'folder'].includes(title) ? 'word' : '' }, title)))),
    make('tbody', {}, ...sweeps.map((sweep, k) => make('tr', {}, ...sweepCells(sweep, k)))));
}

function sweepCells(sweep, k) {
  const word = (text) => make('td', { class: 'word' }, text);
  const number = (text) => make('td', {}, text);
  const name = make('td', { class: 'word' }, make('a', { href: `sweep/${k}/` }, sweep.name || 'sweep ' + k));
  if (sweep.error) return [name, make('td', { class: 'word', colspan: '6' }, sweep.error), word(sweep.dir)];
  const { counts, best } = sweep;
  const finished = counts.completed + counts.stopped + counts.failed;
  return [name, word(sweep.state),
    number(counts.planned === null ? String(finished) : `${finished} of ${counts.planned}`),
    number(best ? numberText(Number(best.value)) : ''), word(sweep.metric),
    number(String(counts.running)), number(String(counts.failed)), word(sweep.dir)];
}
