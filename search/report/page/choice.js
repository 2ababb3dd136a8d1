// Which trials are shown and selected: one state that all views listen to.
//
// shown: its state is ticked. selected: shown, in every brush, among the best k percent.
// A view is told 'move' while a brush moves, and 'rest' once it lies still.

const REST_MS = 140;

function makeChoice(model) {
  const choice = {
    shown: new Uint8Array(model.n).fill(1),
    selected: new Uint8Array(model.n).fill(1),
    count: model.n, shownCount: model.n,
    groups: GROUPS.map(() => true),
    topPercent: 100,
    brushes: new Map(),  // column key: a test of a trial
    kept: null,          // Uint8Array of the trials kept, or null for all
    pinned: [],
    hovered: null,
  };
  const listeners = [];
  let timer = 0;
  const tell = (what) => listeners.forEach((listener) => listener(what));
  choice.listen = (listener) => listeners.push(listener);
  choice.moved = () => {
    select(model, choice);
    tell('move');
    clearTimeout(timer);
    timer = setTimeout(() => tell('rest'), REST_MS);
  };
  choice.settle = () => {
    clearTimeout(timer);
    select(model, choice);
    tell('move');
    tell('rest');
  };
  choice.togglePin = (trial) => {
    const at = choice.pinned.indexOf(trial);
    if (at >= 0) choice.pinned.splice(at, 1);
    else choice.pinned = [...choice.pinned.slice(-5), trial];
    tell('pin');
  };
  choice.again = () => tell('pin');
  choice.unpin = () => { choice.pinned = []; tell('pin'); };
  choice.hover = (trial) => {
    if (choice.hovered === trial) return;
    choice.hovered = trial;
    tell('hover');
  };
  choice.trials = () => Array.from(model.byRank).filter((i) => choice.selected[i]);
  return choice;
}

function select(model, choice) {
  const { shown, selected, kept, groups } = choice;
  const tests = [...choice.brushes.values()];
  const lastRank = Math.max(1, Math.ceil(model.valued * choice.topPercent / 100));
  let count = 0, shownCount = 0;
  for (let i = 0; i < model.n; ++i) {
    shown[i] = groups[model.group[i]] && (!kept || kept[i]) ? 1 : 0;
    let passes = shown[i];
    shownCount += passes;
    if (passes && choice.topPercent < 100) passes = model.rank[i] < lastRank ? 1 : 0;
    for (let k = 0; passes && k < tests.length; ++k) passes = tests[k](i) ? 1 : 0;
    selected[i] = passes;
    count += passes;
  }
  choice.count = count;
  choice.shownCount = shownCount;
}
