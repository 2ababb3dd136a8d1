// Numbers, times and names as a person reads them.

const plural = (count, one, many = one + 's') =>
  count.toLocaleString('en') + ' ' + (count === 1 ? one : many);

// Enough digits to tell neighbours apart, none that only fill space.
function numberText(value, digits = 4) {
  if (value === null || value === undefined) return '';
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e7) return String(value);
  if (size >= 1e6 || size < 1e-3) return tidyExponent(value.toExponential(digits - 1));
  return String(Number(value.toPrecision(digits)));
}

function tidyExponent(text) {
  const [mantissa, exponent] = text.split('e');
  return String(Number(mantissa)) + 'e' + exponent.replace('+', '');
}

function percentText(share) {
  if (!(share > 0)) return '0 %';
  if (share < 0.01) return '< 1 %';
  return Math.round(share * 100) + ' %';
}

function durationText(seconds) {
  if (!(seconds >= 0)) return '';
  if (seconds < 10) return numberText(seconds, 2) + ' s';
  if (seconds < 120) return Math.round(seconds) + ' s';
  if (seconds < 2 * 3600) return Math.round(seconds / 60) + ' min';
  if (seconds < 48 * 3600) return numberText(seconds / 3600, 3) + ' h';
  return numberText(seconds / 86400, 3) + ' days';
}

const hoursText = (seconds) => (seconds < 36 ? numberText(seconds / 3600, 1) : numberText(seconds / 3600, 2 + (seconds > 36000))) + ' h';

function dateText(seconds) {
  return new Date(seconds * 1000).toLocaleString('en-GB', {
    dateStyle: 'medium', timeStyle: 'short' });
}

// A category keeps its type: 1, 1.0, true and "1" are four values.
function categoryText(value, among) {
  if (typeof value !== 'string') return JSON.stringify(value);
  const twin = among.some((other) => other !== value && typeof other !== 'string' &&
    JSON.stringify(other) === value);
  return twin ? JSON.stringify(value) : value;
}

// The last part of a dotted name where that names one thing only.
function shortNames(names) {
  const last = names.map((name) => name.split('.').pop());
  return names.map((name, i) =>
    last.filter((other) => other === last[i]).length > 1 ? name : last[i]);
}

// A word of a shell's command line.
const shellWord = (text) =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : "'" + text.replace(/'/g, "'\\''") + "'";

function cut(text, length) {
  return text.length > length ? text.slice(0, length - 1) + '…' : text;
}
