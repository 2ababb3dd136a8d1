// The frame of a chart: a canvas for many points, SVG above it for axes and words.

const FRAME = { top: 10, right: 14, bottom: 34, left: 58 };

// x, y: d3 scales without a range. Returns them with ranges, and where to draw.
function makeFrame(root, { height, x, y, xLabel, yLabel, xFormat, yFormat, left = FRAME.left, xTicks }) {
  const width = Math.max(200, root.clientWidth || 320);
  root.replaceChildren();
  root.style.height = height + 'px';
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  const canvas = make('canvas', { 'aria-hidden': 'true' });
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  canvas.style.width = width + 'px';
  canvas.style.height = height + 'px';
  root.append(canvas);
  const context = canvas.getContext('2d');
  context.scale(ratio, ratio);
  const svg = d3.select(root).append('svg').attr('width', width).attr('height', height);
  x.range([left, width - FRAME.right]);
  y.range([height - FRAME.bottom, FRAME.top]);
  const frame = { root, svg, context, width, height, x, y, left };
  drawGrid(frame, xFormat || ((v) => numberText(v)), yFormat || ((v) => numberText(v)), xTicks);
  drawLabels(frame, xLabel, yLabel);
  return frame;
}

const chartTicks = (scale, n) => {
  if (!scale.ticks) return scale.domain();
  const ticks = scale.ticks(n);
  return ticks.length > 2 * n ? everySo(ticks.filter((v) => Math.abs(Math.log10(v) % 1) < 1e-9), n) : ticks;
};

function drawGrid(frame, xFormat, yFormat, xTicks) {
  const { svg, x, y, width, height, left } = frame;
  const grid = svg.append('g').attr('class', 'grid');
  const across = Math.max(2, Math.floor((width - left) / 90));
  for (const value of chartTicks(y, Math.max(2, Math.floor(height / 50)))) {
    const at = y(value) + (y.bandwidth ? y.bandwidth() / 2 : 0);
    grid.append('line').attr('x1', left).attr('x2', width - FRAME.right).attr('y1', at).attr('y2', at);
    grid.append('text').attr('x', left - 6).attr('y', at).attr('dy', '0.32em').attr('text-anchor', 'end')
      .text(cut(String(yFormat(value)), Math.floor(left / 6.2)));
  }
  for (const value of xTicks || chartTicks(x, across)) {
    const at = x(value) + (x.bandwidth ? x.bandwidth() / 2 : 0);
    grid.append('line').attr('class', 'down').attr('x1', at).attr('x2', at)
      .attr('y1', height - FRAME.bottom).attr('y2', height - FRAME.bottom + 4);
    grid.append('text').attr('x', at).attr('y', height - FRAME.bottom + 15).attr('text-anchor', at > width - 28 ? 'end' : 'middle')
      .text(cut(String(xFormat(value)), 14));
  }
}

function drawLabels(frame, xLabel, yLabel) {
  const { svg, width, height, left } = frame;
  const label = (x, y, anchor, text) => svg.append('text').attr('class', 'label').attr('x', x).attr('y', y)
    .attr('text-anchor', anchor).text(text);
  if (xLabel) label(width - FRAME.right, height - 4, 'end', cut(xLabel, 40));
  if (yLabel) label(left + 5, FRAME.top + 10, 'start', cut(yLabel, 40));
}

// Times at which a clock's hand would stand.
function timeTicks([low, high], n) {
  const step = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10800, 21600, 43200, 86400]
    .find((s) => (high - low) / s <= n) || 86400 * Math.ceil((high - low) / 86400 / n);
  return high - low < n ? undefined : d3.range(Math.ceil(low / step) * step, high + 1e-9, step);
}

// A scale that fits what there is, a little wider; log where asked and possible.
function fittingScale(values, log, domain) {
  let [low, high] = domain || extentOf(values);
  if (log && low > 0) {
    if (low === high) [low, high] = [low / 2, high * 2];
    return d3.scaleLog().domain([low, high]);
  }
  if (low === high) [low, high] = [low - Math.max(1, Math.abs(low)) * 0.1, high + Math.max(1, Math.abs(high)) * 0.1];
  const more = domain ? 0 : (high - low) * 0.04;
  return d3.scaleLinear().domain([low - more, high + more]);
}

// A little more above, where the label stands.
function withRoom(scale) {
  const [low] = scale.domain();
  return scale.copy().domain([low, scale.copy().range([0, 1]).invert(1.09)]);
}

function dot(context, x, y, radius, colour, alpha) {
  context.globalAlpha = alpha;
  context.fillStyle = colour;
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
}

// Many dots of a few colours; squares are as good where they are small.
function dots(context, points, radius, alpha) {
  const size = 2 * radius;
  context.globalAlpha = alpha;
  for (const [colour, list] of points) {
    context.fillStyle = colour;
    if (list.length > 4000) {
      for (const [x, y] of list) context.fillRect(x - radius, y - radius, size, size);
    } else {
      context.beginPath();
      for (const [x, y] of list) { context.moveTo(x + radius, y); context.arc(x, y, radius, 0, 2 * Math.PI); }
      context.fill();
    }
  }
  context.globalAlpha = 1;
}

// Which colour is which state.
function stateLegend(model) {
  return make('div', { class: 'row faint' }, ...GROUPS.map((group, g) => model.counts[g]
    ? make('span', { class: 'row' }, swatch(GROUP_COLOUR[group]), group) : null));
}

const nothing = (root, text) => {
  root.style.height = '';
  root.replaceChildren(make('p', { class: 'empty' }, text));
};

// Two or more ways to draw the same; calls back with the one chosen.
function makeSwitch(root, name, options, chosen, act) {
  root.append(make('span', { class: 'switch', role: 'group', 'aria-label': name }, ...options.map((option) =>
    make('button', { 'aria-pressed': String(option === chosen), click: (event) => {
      for (const button of event.target.parentElement.children) {
        button.setAttribute('aria-pressed', String(button === event.target));
      }
      act(option);
    } }, option))));
}
