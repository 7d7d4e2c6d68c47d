// The most memory that `tickets create --from` takes for a million rows (target: at most 200 MiB): in a dry run, and in a
// run of which an earlier one has sent all rows but the last 2,000. Its journal is written here, as that run would have
// left it: to send a million rows takes minutes. Needs `npm run build`: node bench/bulk-memory.js [rows]
import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tell } from './tell.js';

const many = Number(process.argv.find((word) => /^\d+$/u.test(word)) ?? 1_000_000);
const left = 2000;
const most = 200;
const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'));
const file = join(folder, 'tickets.csv');
const svc = join(import.meta.dirname, '..', 'bin', 'svc.js');
const description = 'It stops at row 200.';

/** Knows the account, and makes every ticket that is asked for. */
const server = createServer(async (asked, answer) => {
  const pieces = await asked.toArray();
  const at = new Date().toISOString();
  const say = (status, body) =>
    answer.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  if (asked.url.startsWith('/platform/account'))
    return say(200, { account_id: 1, name: 'Acme', billing_active: true, setup_url: null });
  const ticketOf = (id, fields) => ({
    ...{ id, ticket_number: `T-${id}`, status: 'open', source: 'api', contact: null, due_at: null, created_at: at },
    ...{ first_response_at: null, resolved_at: null, updated_at: at, reply_channel: 'email', conversation_id: null },
    ...{ messages: [], ...fields },
  });
  if (asked.method === 'POST')
    return say(201, { ticket: ticketOf(++made, JSON.parse(Buffer.concat(pieces).toString())) });
  const [, id] = /^\/tickets\/(\d+)/u.exec(asked.url) ?? [];
  if (id) return say(200, { ticket: ticketOf(Number(id), { subject: 'Ticket', description, priority: 0 }) });
  return say(200, { tickets: [], meta: { current_page: 1, last_page: 1, total: 0 } });
});
let made = many + 1;

async function measure(...args) {
  const hook = join(import.meta.dirname, 'sync-usage.cjs');
  const { port } = server.address();
  const env = { SVC_BASE_URL: `http://127.0.0.1:${port}`, SVC_API_KEY: 'key_acme', SVC_CONFIG_DIR: folder };
  const child = spawn(
    process.execPath,
    ['--require', hook, svc, 'tickets', 'create', '--from', file, '--yes', '--json', ...args],
    { stdio: ['ignore', 'pipe', 'ignore', 'pipe'], env: { ...process.env, ...env, SVC_STATE_DIR: folder } },
  );
  let [printed, usage] = ['', ''];
  child.stdout.on('data', (bytes) => {
    printed += bytes;
  });
  child.stdio[3].on('data', (bytes) => {
    usage += bytes;
  });
  await once(child, 'close');
  return { report: JSON.parse(printed), ...JSON.parse(usage) };
}

async function writeRows(rows) {
  const out = createWriteStream(file);
  out.write('subject,description,priority\n');
  for (let i = 0; i < rows; i++) if (!out.write(`Ticket ${i},${description},${i % 5}\n`)) await once(out, 'drain');
  out.end();
  await once(out, 'close');
}

const digest = (value) => hash('sha256', JSON.stringify(value), 'base64url').slice(0, 22);

/** The lines of a run that has sent so many rows, behind the header of one that has sent the first. */
async function writeJournal(rows) {
  const [name = ''] = (await readdir(join(folder, 'bulk'))).filter((each) => each.endsWith('.jsonl'));
  const path = join(folder, 'bulk', name);
  const [mark, header, begun, run] = (await readFile(path, 'utf8')).split('\n');
  const journal = await open(path, 'w');
  let size = 0;
  const put = async (text) => {
    size += (await journal.write(text)).bytesWritten;
  };
  await put(`${mark}\n${header}\n${begun}\n${run}\n`);
  for (let i = 0; i < rows; ) {
    let lines = '';
    for (const end = Math.min(rows, i + 4096); i < end; i++) {
      const [subject, priority] = [`Ticket ${i}`, i % 5];
      const row = digest(['description', description, 'priority', String(priority), 'subject', subject]);
      const about = { row, line: i + 2, is: digest({ body: { description, priority, subject } }) };
      lines += `${JSON.stringify({ sent: { ...about, before: 0 } })}\n`;
      lines += `${JSON.stringify({ done: { ...about, id: i + 1, requests: 1, ms: i } })}\n`;
    }
    await put(lines);
  }
  await journal.write(mark.replace(/\d{12}/u, String(size).padStart(12, '0')), 0);
  await journal.close();
}

try {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  await writeRows(1);
  await measure();
  await writeRows(many);
  await writeJournal(many - left);
  const rest = await measure();
  if (rest.report.done !== many || rest.report.resumed_rows !== many - left) throw new Error(JSON.stringify(rest));
  await rm(join(folder, 'bulk'), { recursive: true });
  const dry = await measure('--dry-run');
  const row = (what, { peakMiB, cpuSeconds }) => ({
    ...{ what, value: peakMiB, unit: 'MiB', atMost: most },
    detail: `${Math.round(many / cpuSeconds).toLocaleString('en')} rows a second of CPU time`,
  });
  const rows = many.toLocaleString('en');
  tell([row(`--from ${rows} rows, --dry-run: memory`, dry), row(`--from ${rows} rows, resumed: memory`, rest)]);
} finally {
  server.close();
  server.closeAllConnections();
  await rm(folder, { recursive: true, force: true });
}
