/*
 * The inspector's page. Whatever a delivery holds is put in as text and never as markup; the page's policy
 * (Content-Security-Policy, Trusted Types) forbids the rest.
 */

/** @typedef {{kind: string, time: string, event: string?, id: string?, verdict: string, why: string?, data: unknown, summary: string, forward: any}} Line */

const most = 2000;
/** Everything is refused without the key that the page's address holds. */
const withKey = (/** @type {string} */ path) => path + location.search;
const $ = (/** @type {string} */ id) => document.getElementById(id);
const [list, detail, search, eventFilter, verdictFilter] = ['list', 'detail', 'search', 'event', 'verdict'].map($);

/** Newest first. Each entry: the line, its row, and the text that the search looks in. */
let entries = [];
let chosen;
let listening = '';
let shown;

function make(tag, { className, text, ...more } = {}, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  for (const [name, value] of Object.entries(more)) {
    if (typeof value === 'function') element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const two = (number) => String(number).padStart(2, '0');
const clock = (iso) => {
  const time = new Date(iso);
  return Number.isNaN(time.getTime())
    ? iso
    : `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
};
const day = (iso) => new Date(iso).toLocaleString();

const whys = {
  'no-signature': 'It has no X-SVC-Signature.',
  'wrong-length': 'The signature is not 64 characters long.',
  'not-hex': 'The signature is not hexadecimal.',
  'no-match': 'Signed with another secret, or the body was changed on the way.',
};

/** How it stands, in a word or two, and the colour for it. */
function standing({ verdict, forward }) {
  if (verdict === 'rejected') return ['rejected', 'bad'];
  if (verdict === 'repeat') return ['repeat', ''];
  if (forward?.state === 'waiting') return ['waiting', 'wait'];
  if (forward?.state === 'failed') return [forward.error ?? 'failed', 'bad'];
  if (forward) {
    const good = forward.status >= 200 && forward.status < 300;
    return [forward.ms === null ? `${forward.status}` : `${forward.status} · ${forward.ms} ms`, good ? 'good' : 'bad'];
  }
  return verdict === 'unreadable' ? ['unreadable', 'wait'] : ['stored', ''];
}

const pill = ([text, kind]) => make('span', { className: `pill ${kind}`, text });

function rowOf(entry) {
  const { line } = entry;
  const fields = line.verdict === 'rejected' ? whys[line.why] : line.why ? `Unreadable: ${line.why}` : line.summary;
  return make(
    'div',
    {
      className: 'row',
      role: 'option',
      id: `row-${entry.key}`,
      'aria-selected': String(entry === chosen),
      'data-event': line.event ?? '',
      'data-quiet': String(line.verdict === 'repeat'),
      onclick: () => choose(entry),
    },
    make('span', { className: 'time', text: clock(line.time), title: day(line.time) }),
    make('span', { className: 'name', text: line.event ?? 'unknown event' }),
    pill(standing(line)),
    make('span', { className: 'fields', text: fields ?? '' }),
  );
}

let keys = 0;
function entryOf(line) {
  const { id, event, summary, data } = line;
  return {
    key: ++keys,
    line,
    row: undefined,
    text: [id, event, summary, JSON.stringify(data)].join('\n').toLowerCase(),
  };
}

function passes({ line, text }) {
  if (eventFilter.value !== '' && line.event !== eventFilter.value) return false;
  const wanted = verdictFilter.value;
  if (wanted === 'trouble') {
    if (!['wait', 'bad'].includes(standing(line)[1])) return false;
  } else if (wanted !== '' && line.verdict !== wanted) return false;
  return search.value
    .toLowerCase()
    .split(/\s+/u)
    .every((word) => text.includes(word));
}

function redraw() {
  const visible = entries.filter(passes);
  list.replaceChildren(
    ...visible.map((entry) => {
      entry.row ??= rowOf(entry);
      return entry.row;
    }),
  );
  tell(visible.length);
}

function tell(visible) {
  const all = entries.length;
  const noun = all === 1 ? 'event' : 'events';
  $('count').textContent = visible === all ? `${all} ${noun}` : `${visible} of ${all} ${noun}`;
  document.title = all > 0 ? `(${all}) Webhooks – svc` : 'Webhooks – svc';
  const nothing = $('nothing');
  nothing.hidden = visible > 0;
  if (visible > 0) return;
  if (all > 0) nothing.replaceChildren(make('p', { text: 'Nothing matches.' }));
  else {
    nothing.replaceChildren(
      make('p', { text: 'Nothing has come yet. To try it out, in another terminal:' }),
      make('code', { text: `svc webhooks trigger ticket.created --to ${listening}` }),
    );
  }
}

function offerEvent(name) {
  if (!name || [...eventFilter.options].some((option) => option.value === name)) return;
  const option = make('option', { value: name, text: name });
  const after = [...eventFilter.options].slice(1).find((one) => one.value > name);
  eventFilter.insertBefore(option, after ?? null);
}

/** Lines that came within a moment are drawn together: a burst must not keep the page busy. */
let arriving = [];

function add(line) {
  if (arriving.push(line) === 1) setTimeout(draw, 40);
}

function draw() {
  if (arriving.length === 0) return;
  const fresh = arriving.map(entryOf).reverse();
  arriving = [];
  for (const { line } of fresh) offerEvent(line.event);
  entries.unshift(...fresh);
  for (const old of entries.splice(most)) old.row?.remove();
  const rows = fresh
    .slice(0, most)
    .filter(passes)
    .map((entry) => {
      entry.row = rowOf(entry);
      entry.row.classList.add('fresh');
      return entry.row;
    });
  const { scrollTop, scrollHeight } = list;
  list.prepend(...rows);
  // Somebody reads further down: what they read must not move.
  if (scrollTop > 0) list.scrollTop = scrollTop + list.scrollHeight - scrollHeight;
  tell(list.childElementCount);
}

/** A delivery that had to wait, or was sent again. */
function update(id, forward) {
  if (arriving.length > 0) draw();
  const entry = entries.find(({ line }) => line.id === id && line.verdict !== 'repeat');
  if (!entry) return;
  entry.line = { ...entry.line, forward };
  const row = rowOf(entry);
  entry.row?.replaceWith(row);
  entry.row = row;
  if (entry === chosen) void show(entry);
}

function choose(entry, { scroll = false } = {}) {
  chosen?.row?.setAttribute('aria-selected', 'false');
  chosen = entry;
  entry.row?.setAttribute('aria-selected', 'true');
  list.setAttribute('aria-activedescendant', `row-${entry.key}`);
  if (scroll) entry.row?.scrollIntoView({ block: 'nearest' });
  detail.scrollTop = 0;
  void show(entry);
}

async function show(entry) {
  const { line } = entry;
  const head = [
    make(
      'div',
      { className: 'title', 'data-event': line.event ?? '' },
      make('h2', { className: 'name', text: line.event ?? 'Unknown event' }),
      make('span', { className: 'id', text: line.id ?? '' }),
    ),
  ];
  const facts = make('div', { className: 'facts' }, pill([line.verdict, verdictKind(line.verdict)]));
  facts.append(`Received ${day(line.time)}`);
  head.push(facts);
  if (line.verdict === 'rejected') {
    shown = undefined;
    detail.replaceChildren(...head, make('p', { text: `${whys[line.why] ?? ''} Nothing of it was stored.` }));
    return;
  }
  const answer = await fetch(withKey(`/deliveries/${encodeURIComponent(line.id)}`)).catch(() => undefined);
  if (entry !== chosen) return;
  const found = answer ? await answer.json().catch(() => ({ error: 'svc has ended.' })) : { error: 'svc has ended.' };
  if (entry !== chosen) return;
  if (found.error) {
    shown = undefined;
    detail.replaceChildren(...head, make('p', { text: found.error }));
    return;
  }
  shown = found;
  facts.append(make('span', { text: `${found.size.toLocaleString()} bytes` }));
  if (line.verdict === 'repeat') facts.append(make('span', { text: 'Its first copy is shown; this one was dropped.' }));
  if (found.why) facts.append(make('span', { text: `No envelope: ${found.why}` }));
  const known = detail.querySelector('.replay input')?.value;
  const same = detail.dataset.id === found.id;
  detail.dataset.id = found.id;
  detail.replaceChildren(
    ...head,
    replayForm(entry, (same && known) || found.to || ''),
    ...forwards(found),
    ...payload(found),
    ...headers(found),
  );
}

const verdictKind = (verdict) => ({ accepted: 'good', unreadable: 'wait', rejected: 'bad' })[verdict] ?? '';

function replayForm(entry, to) {
  const input = make('input', {
    'aria-label': 'URL to replay to',
    placeholder: 'http://localhost:3000/hooks',
    value: to,
  });
  const form = make('form', { className: 'replay' }, input, make('button', { className: 'main', text: 'Replay' }));
  form.onsubmit = (submitted) => {
    submitted.preventDefault();
    void replay(entry, input.value);
  };
  return form;
}

async function replay(entry, to) {
  say('Replaying…');
  const answer = await fetch(withKey(`/deliveries/${encodeURIComponent(entry.line.id)}/replay`), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ to }),
  }).catch(() => undefined);
  const said = answer ? await answer.json().catch(() => ({})) : { error: 'svc has ended.' };
  if (said.error && said.to === undefined) return say(said.error);
  say(said.status === null ? `Replayed: ${said.error}` : `Replayed: ${said.status} in ${said.ms} ms`);
  if (entry === chosen) await show(entry);
}

function forwards({ forwards: outcomes }) {
  if (outcomes.length === 0) return [];
  const rows = outcomes.map(({ at, to, status, error, ms, tries, replay: again }) => {
    const good = status >= 200 && status < 300;
    const detailText = `${ms} ms${tries > 1 ? `, try ${tries}` : ''}`;
    return make(
      'tr',
      {},
      make('th', { text: `${again ? 'Replayed' : 'Forwarded'} ${clock(at)}`, title: day(at) }),
      make('td', { className: 'to', text: to }),
      make('td', {}, pill([`${status ?? error} · ${detailText}`, good ? 'good' : 'bad'])),
    );
  });
  return [make('h3', { text: 'Forwarding' }), make('div', { className: 'box' }, make('table', {}, ...rows))];
}

function headers({ headers: all }) {
  const rows = Object.entries(all).map(([name, value]) =>
    make('tr', {}, make('th', { text: name }), make('td', { text: value })),
  );
  return [make('h3', { text: 'Headers' }), make('div', { className: 'box headers' }, make('table', {}, ...rows))];
}

let asText = false;
function payload(found) {
  const title = make('h3', { text: 'Payload' });
  const box = make('div', { className: 'box' });
  const isTree = found.envelope !== null;
  const draw = () => {
    const text = found.body ?? found.base64 ?? '';
    box.replaceChildren(
      isTree && !asText
        ? make('div', { className: 'tree' }, tree(undefined, found.envelope, 0))
        : make('pre', { className: 'raw', text: text === '' ? '(empty)' : text }),
    );
  };
  if (isTree) {
    const toggle = make('button', { type: 'button', text: asText ? 'As a tree' : 'As sent' });
    toggle.onclick = () => {
      asText = !asText;
      toggle.textContent = asText ? 'As a tree' : 'As sent';
      draw();
    };
    title.append(toggle);
  } else if (found.base64 !== null) title.append(make('span', { text: 'not UTF-8: in base64' }));
  title.append(make('button', { type: 'button', text: 'Copy', onclick: copy }));
  draw();
  return [title, box];
}

const openTo = 3;
const atOnce = 200;

function tree(key, value, depth) {
  const name = key === undefined ? [] : [make('span', { className: 'key', text: key }), ': '];
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) {
    const kind = typeof value === 'string' ? 'string' : typeof value === 'number' ? 'number' : 'other';
    return make('div', { className: 'leaf' }, ...name, make('span', { className: kind, text: JSON.stringify(value) }));
  }
  const all = Object.entries(value);
  const isList = Array.isArray(value);
  const noun = `${isList ? 'item' : 'field'}${all.length === 1 ? '' : 's'}`;
  const size = isList ? `[ ${all.length} ${noun} ]` : `{ ${all.length} ${noun} }`;
  const inside = make('div');
  const node = make(
    'details',
    {},
    make('summary', {}, ...name, make('span', { className: 'much', text: depth === 0 ? 'envelope' : size })),
    inside,
  );
  // Drawn when first opened, and long lists piece by piece: a payload may be a mebibyte.
  let drawn = 0;
  const more = () => {
    const next = all.slice(drawn, drawn + atOnce);
    drawn += next.length;
    inside.append(...next.map(([name2, child]) => tree(name2, child, depth + 1)));
    if (drawn >= all.length) return;
    const rest = make('button', { type: 'button', text: `${all.length - drawn} more` });
    rest.onclick = () => {
      rest.remove();
      more();
    };
    inside.append(rest);
  };
  node.ontoggle = () => {
    if (node.open && drawn === 0) more();
  };
  if (depth < openTo && all.length <= atOnce) {
    more();
    node.open = true;
  }
  return node;
}

async function copy() {
  if (!shown) return;
  const text = shown.body ?? shown.base64 ?? '';
  try {
    await navigator.clipboard.writeText(text);
    say('Copied.');
  } catch {
    say('The browser does not allow copying.');
  }
}

let hush;
function say(text) {
  $('said').textContent = text;
  clearTimeout(hush);
  hush = setTimeout(() => {
    $('said').textContent = '';
  }, 6000);
}

function move(by) {
  const visible = entries.filter(passes);
  if (visible.length === 0) return;
  const at = visible.indexOf(chosen);
  const next = at < 0 ? 0 : Math.min(visible.length - 1, Math.max(0, at + by));
  choose(visible[next], { scroll: true });
}

const shortcuts = {
  j: () => move(1),
  ArrowDown: () => move(1),
  k: () => move(-1),
  ArrowUp: () => move(-1),
  PageDown: () => move(10),
  PageUp: () => move(-10),
  Home: () => move(-most),
  End: () => move(most),
  Enter: () => detail.focus(),
  '/': () => search.focus(),
  c: () => void copy(),
  r: () => {
    if (shown && chosen) void replay(chosen, detail.querySelector('.replay input')?.value ?? '');
  },
};

addEventListener('keydown', (pressed) => {
  const { key, target } = pressed;
  if (key === 'Escape') {
    search.value = '';
    redraw();
    list.focus();
    return;
  }
  if (pressed.ctrlKey || pressed.metaKey || pressed.altKey) return;
  const typing = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
  if (typing && !(target === search && (key === 'ArrowDown' || key === 'ArrowUp'))) return;
  const inDetail = detail.contains(target) && /^(Arrow|Page|Home|End|Enter)/u.test(key);
  if (inDetail || !Object.hasOwn(shortcuts, key)) return;
  if (key === 'Enter' && target !== list) return;
  pressed.preventDefault();
  shortcuts[key]();
});

for (const filter of [search, eventFilter, verdictFilter]) filter.addEventListener('input', redraw);

const stream = new EventSource(withKey('/stream'));
stream.addEventListener('hello', ({ data }) => {
  const hello = JSON.parse(data);
  listening = hello.listening;
  document.body.className = 'live';
  $('state').textContent = `Listening on ${listening}`;
  const before = chosen?.line.id;
  arriving = [];
  entries = hello.lines.map(entryOf).reverse();
  for (const { line } of entries) offerEvent(line.event);
  chosen = entries.find(({ line }) => before && line.id === before);
  redraw();
  if (chosen) void show(chosen);
  else {
    detail.replaceChildren(
      make('div', { className: 'hint' }, make('p', { text: 'Choose an event to see what is in it.' })),
    );
  }
});
stream.addEventListener('line', ({ data }) => {
  const line = JSON.parse(data);
  if (line.kind === 'event') add(line);
  else update(line.id, line.forward);
});
stream.addEventListener('error', () => {
  document.body.className = 'gone';
  $('state').textContent = 'svc webhooks listen has ended, or cannot be reached.';
});
list.focus();
