// Server-sent events over fetch, which can carry a token; and the token itself.

const TOKEN_KEY = 'hyperopt token';

// Taken out of the address (#token=...), so that it is in no history and no screenshot.
function takeToken() {
  const found = /[#&]token=([^&]+)/.exec(location.hash);
  if (found) {
    sessionStorage.setItem(TOKEN_KEY, decodeURIComponent(found[1]));
    history.replaceState(null, '', location.pathname + location.search);
  }
  return sessionStorage.getItem(TOKEN_KEY) || '';
}

const withToken = (token) => token ? { Authorization: 'Bearer ' + token } : {};

// Calls tell(kind, data) for each event, and tell('open'), tell('lost'), tell('refused',
// why). Comes back after a loss and goes on where it was.
async function follow(url, token, tell) {
  let last = '', pause = 500;
  const take = (event) => {
    if (!event.kind) return;
    last = event.id || last;
    pause = 500;
    tell(event.kind, JSON.parse(event.data));
  };
  for (;;) {
    try {
      const headers = { ...withToken(token()), ...(last ? { 'Last-Event-ID': last } : {}) };
      const response = await fetch(url, { headers, cache: 'no-store' });
      if (response.status === 403) return tell('refused', (await response.json()).error);
      if (response.ok) {
        tell('open');
        await readEvents(response.body.getReader(), take);
      }
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;  // fetch says so of a lost connection
    }
    tell('lost');
    await new Promise((done) => setTimeout(done, pause));
    pause = Math.min(10000, pause * 2);
  }
}

async function readEvents(reader, take) {
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    let from = Math.max(0, text.length - 1);
    text += decoder.decode(value, { stream: true });
    for (let end; (end = text.indexOf('\n\n', from)) >= 0; from = 0) {
      const event = eventOf(text.slice(0, end));
      text = text.slice(end + 2);
      take(event);
    }
  }
}

function eventOf(block) {
  const event = { id: '', kind: '', data: '' };
  for (const line of block.split('\n')) {
    if (line.startsWith('id: ')) event.id = line.slice(4);
    if (line.startsWith('event: ')) event.kind = line.slice(7);
    if (line.startsWith('data: ')) event.data = line.slice(6);
  }
  return event;
}

// What live/json_delta.h says has changed, done to `old`.
function applied(old, delta) {
  if ('=' in delta) return delta['='];
  if ('n' in delta) {
    const list = old.slice(0, delta.n);
    (delta.at || []).forEach((k, i) => { list[k] = delta.to[i]; });
    (delta.in || []).forEach((k, i) => { list[k] = applied(list[k], delta.by[i]); });
    return list;
  }
  const object = { ...old };
  for (const name of delta['-'] || []) delete object[name];
  for (const name of Object.keys(delta.o || {})) object[name] = applied(object[name], delta.o[name]);
  return object;
}
