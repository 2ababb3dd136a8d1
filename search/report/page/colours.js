// Colours: cividis, which people with any colour vision read alike. The best trials
// stand out most against the background, whichever way the metric goes.

const dark = () => {
  const asked = document.documentElement.dataset.theme;
  if (asked) return asked === 'dark';
  return matchMedia('(prefers-color-scheme: dark)').matches;
};

// 0 is the best. The pale end is cut off on white paper, the dark end on black.
const shade = (t) => d3.interpolateCividis(dark() ? 1 - 0.8 * t : 0.86 * t);
const SHADES = 64;  // times three strengths fit a byte (raster.js)

// Eight that can be told apart, also without red or green (Okabe and Ito).
const DISTINCT = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#f0e442',
  '#999999'];

const GROUP_COLOUR = { get completed() { return dark() ? '#2f8fd8' : '#0072b2'; }, pruned: '#e69f00', stopped: '#cc79a7',
  failed: '#d55e00', running: '#009e73', paused: '#56b4e9', pending: '#999999' };

const noValueColour = () => dark() ? '#d98cb3' : '#b0447c';

const cssColour = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();

// For each trial a place in `palette`. The last entry is for those without a value.
function colourTrials(model, column, scale) {
  const index = new Uint8Array(model.n);
  if (column.labels) {
    const few = column.labels.length <= DISTINCT.length;
    const of = (v) => few ? DISTINCT[v] : shade(v / (column.labels.length - 1));
    const palette = column.labels.slice(0, 80).map((_, v) => of(v));
    palette.push(noValueColour());
    for (let i = 0; i < model.n; ++i) {
      index[i] = column.lane[i] ? palette.length - 1 : Math.min(column.values[i], palette.length - 2);
    }
    return { index, palette };
  }
  const palette = d3.range(SHADES).map((k) => shade(k / (SHADES - 1)));
  palette.push(noValueColour());
  const place = goodness(model, column, scale);
  for (let i = 0; i < model.n; ++i) {
    index[i] = column.lane[i] ? SHADES
      : Math.max(0, Math.min(SHADES - 1, Math.floor(place(column.values[i]) * SHADES)));
  }
  return { index, palette };
}

// 0 where the value is best; of a column that is no metric, 0 where it is lowest.
function goodness(model, column, scale) {
  const [low, high] = extentOf(column.values);
  if (low === high) return () => 0;
  const place = scaleOf(model, { ...column, domain: [low, high] },
    scale === 'log' && low <= 0 ? 'linear' : scale).place;
  return column.metric && !model.minimize ? (v) => 1 - place(v) : place;
}

// "#rrggbb" or "rgb(r, g, b)" as the four bytes of a canvas, mixed with `under` by alpha.
function packed(colour, alpha, under) {
  const c = d3.rgb(colour), u = d3.rgb(under);
  const mix = (a, b) => Math.round(a * alpha + b * (1 - alpha)) & 255;
  return (255 << 24 | mix(c.b, u.b) << 16 | mix(c.g, u.g) << 8 | mix(c.r, u.r)) >>> 0;
}
