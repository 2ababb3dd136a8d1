// Lines of thousands of trials, drawn faster than a canvas can.
//
// Between two axes lines are drawn into a tile of one byte a pixel, which fits a
// processor's nearest cache, and the tile is then copied as colours. Front to back: the
// trial that lies on top comes first and takes its pixels, and what comes later fills
// what is still empty. So a line that was drawn between these axes already (by all
// trials of the same two values, say) is skipped whole.

// xs: each axis' column of pixels, ascending. ys: for each axis an Int16Array, a row for
// a trial. trials: front first. ink: for each trial a place in `palette`, from 1 on.
function rasterLines(raster, xs, ys, trials, count, ink, palette) {
  const { pixels, height } = raster;
  pixels.fill(0);
  if (raster.stamps.length < height * height) raster.stamps = new Int32Array(height * height);
  for (let a = 0; a + 1 < xs.length; ++a) {
    const width = xs[a + 1] - xs[a] + 1;
    if (width < 2) continue;
    if (raster.tile.length < width * height) raster.tile = new Uint8Array(width * height);
    raster.tile.fill(0, 0, width * height);
    ++raster.stamp;
    rasterTile(raster, width, ys[a], ys[a + 1], trials, count, ink);
    copyTile(raster, xs[a], width, palette);
  }
}

// In fixed point, 16 bits behind the point.
function rasterTile(raster, width, from, to, trials, count, ink) {
  const { tile, stamps, stamp, height } = raster;
  const dx = width - 1;
  for (let k = 0; k < count; ++k) {
    const trial = trials[k];
    const y0 = from[trial], y1 = to[trial];
    const seen = y0 * height + y1;
    if (stamps[seen] === stamp) continue;
    stamps[seen] = stamp;
    const colour = ink[trial];
    const dy = y1 - y0;
    if (dy <= dx && dy >= -dx) {
      const slope = (dy * 65536 / dx) | 0;
      for (let x = 0, y = (y0 << 16) + 32768; x <= dx; ++x, y += slope) {
        const p = (y >> 16) * width + x;
        if (tile[p] === 0) tile[p] = colour;
      }
    } else {
      const down = dy > 0 ? 1 : -1, last = y1 * width, stride = down * width;
      const slope = (dx * 65536 / (dy * down)) | 0;
      for (let row = y0 * width, x = 32768; ; row += stride, x += slope) {
        const p = row + (x >> 16);
        if (tile[p] === 0) tile[p] = colour;
        if (row === last) break;
      }
    }
  }
}

function copyTile(raster, left, width, palette) {
  const { pixels, tile, height } = raster;
  for (let y = 0, from = 0; y < height; ++y) {
    for (let x = 0, to = y * raster.width + left; x < width; ++x, ++from, ++to) {
      const colour = tile[from];
      if (colour !== 0) pixels[to] = palette[colour];
    }
  }
}

function makeRaster(width, height) {
  const image = new ImageData(width, height);
  return { image, pixels: new Uint32Array(image.data.buffer), width, height,
    stamps: new Int32Array(0), stamp: 0, tile: new Uint8Array(0) };
}
