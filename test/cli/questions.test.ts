import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createSandbox } from '../../src/sandbox/app.ts';
import { type Server, serve } from '../../src/sandbox/server.ts';
import { type Built, buildSvc } from '../built.ts';

let built: Built;
let server: Server;
let env: Record<string, string>;

beforeAll(async () => {
  built = await buildSvc();
});
afterAll(() => built.remove());

beforeEach(async () => {
  server = await serve(createSandbox({ seed: 'demo', rateLimit: 'off' }), 0);
  const home = mkdtempSync(join(built.folder, 'home-'));
  env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    TERM: 'xterm-256color',
    NO_COLOR: '1',
    PAGER: '',
    SVC_CONFIG_DIR: join(home, 'config'),
    SVC_STATE_DIR: join(home, 'state'),
    SVC_TOKEN_STORE: 'file',
    SVC_BASE_URL: `http://127.0.0.1:${server.port}`,
    SVC_API_KEY: 'key_acme',
  };
  return () => server.close();
});

const escapes = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[A-Za-z]`, 'gu');

/** svc at a real pseudo-terminal; each answer is typed once its question is on the screen. */
async function at(columns: number, argv: readonly string[], answers: readonly (readonly [string, string])[] = []) {
  const pty = spawn(process.execPath, [built.script, ...argv], { cols: columns, rows: 40, env });
  const left = [...answers];
  let screen = '';
  let from = 0;
  pty.onData((text) => {
    screen += text;
    const [next] = left;
    if (!next || !screen.slice(from).replaceAll(escapes, '').includes(next[0])) return;
    left.shift();
    from = screen.length;
    pty.write(next[1]);
  });
  const exitCode = await new Promise<number>((resolve) => pty.onExit((end) => resolve(end.exitCode)));
  const text = screen.replaceAll(escapes, '').replaceAll('\r', '');
  return { exitCode, text, unasked: left };
}

test('Ctrl-D at a question ends as Ctrl-C does: nothing is sent, exit 130', { tags: ['long'] }, async () => {
  const one = await at(80, ['lists', 'delete', '1'], [['Delete contact', '\x04']]);
  expect(one).toMatchObject({ exitCode: 130, text: expect.stringContaining('Interrupted. Nothing was sent.') });
  const several = await at(80, ['conversations', 'resolve', '7', '10'], [['(y/N)', '\x04']]);
  expect(several.exitCode).toBe(130);
});

describe.each([60, 80])('at %i columns', (columns) => {
  test('a ticket is picked from a list whose lines fit', { tags: ['long'] }, async () => {
    const ran = await at(
      columns,
      ['tickets', 'resolve', '--json'],
      [
        ['❯ 44  T-1044', 'T-1042'],
        ['❯ 42  T-1042', '\r'],
      ],
    );
    expect(ran).toMatchObject({ exitCode: 0, unasked: [] });
    expect(ran.text).toContain('"ticket_number": "T-1042"');
    const choices = ran.text.split('\n').filter((line) => /^[❯ ] \d+ {2}T-/u.test(line));
    expect(choices.length).toBeGreaterThan(0);
    for (const line of choices) expect(line.length).toBeLessThanOrEqual(columns);
  });

  test('a number that is not among those loaded is the one that is meant', { tags: ['long'] }, async () => {
    // A hundred are loaded, the newest first, so number 1 is not among them.
    for (let more = 0; more < 60; more++) {
      await fetch(`${env.SVC_BASE_URL}/tickets`, {
        method: 'POST',
        headers: { authorization: 'Bearer key_acme', 'content-type': 'application/json' },
        body: JSON.stringify({ subject: `Ticket of ${more + 1} more` }),
      });
    }
    const ran = await at(
      columns,
      ['tickets', 'resolve', '--json'],
      [
        ['❯ ', 'T-1001'],
        ['❯ Another ticket', '\r'],
      ],
    );
    expect(ran).toMatchObject({ exitCode: 0, unasked: [] });
    expect(ran.text).toContain('"ticket_number": "T-1001"');
  });

  test('every missing flag of a new contact is asked for, between whole words', { tags: ['long'] }, async () => {
    const ran = await at(
      columns,
      ['contacts', 'create', '--json'],
      [
        ['(--name)', 'Ann\r'],
        ['(--last-name)', 'Bo\r'],
        ['(--email)', 'ann@b.co\r'],
        ['(--phone)', '+12025550123\r'],
      ],
    );
    expect(ran).toMatchObject({ exitCode: 0, unasked: [] });
  });

  test('a template is shown and asked before it is sent, and Return alone sends nothing', {
    tags: ['long'],
  }, async () => {
    mkdirSync(join(env.SVC_CONFIG_DIR ?? '', 'templates'), { recursive: true });
    writeFileSync(join(env.SVC_CONFIG_DIR ?? '', 'templates', 'refund.md'), 'Dear {{contact.name}}, it is paid back.');
    const reply = ['tickets', 'reply', 'T-1042', '--template', 'refund'];
    const declined = await at(columns, reply, [['Send this text?', '\r']]);
    expect(declined).toMatchObject({ exitCode: 1, unasked: [] });
    expect(declined.text).toMatch(/Dear \w+, it is paid back\./u);
    expect(declined.text).not.toContain('Sent on ticket');
    const sent = await at(columns, reply, [['Send this text?', 'y\r']]);
    expect(sent).toMatchObject({ exitCode: 0, unasked: [] });
    expect(sent.text).toContain('Sent on ticket T-1042');
  });

  test('a long question breaks between words', { tags: ['long'] }, async () => {
    const ran = await at(columns, ['webhooks', 'trigger'], [['navigate', '\u0003']]);
    expect(ran.exitCode).toBe(130);
    // The names of the events stand in the question.
    for (const name of ['conversation.message_received', 'changelog.published']) expect(ran.text).toContain(name);
  });

  test.each(['--help', 'help', 'help scripting', 'changelog release --help'])(
    'svc %s is broken between words',
    async (line) => {
      const argv = line.split(' ');
      const ran = await at(columns, argv);
      expect(ran.exitCode).toBe(0);
      for (const one of ran.text.split('\n')) {
        if (one.trim().includes(' ')) expect(one.length).toBeLessThanOrEqual(columns);
      }
    },
  );
});

describe('a real editor', () => {
  const editor = (script: string) => {
    const file = join(env.HOME ?? '', 'editor.sh');
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
    env.EDITOR = file;
  };

  test.each([
    ['tickets reply 8', 'true'],
    ['tickets create --subject x', 'true'],
    ['conversations reply 1', 'true'],
    ['changelog create --title News', ': > "$1"'],
    ['tickets note 8', 'printf "  \\n" > "$1"'],
  ])('svc %s, with the text left empty or unsaved, sends nothing: exit 2', { tags: ['long'] }, async (line, script) => {
    editor(script);
    const ran = await at(80, line.split(' '));
    expect(ran.exitCode).toBe(2);
    expect(ran.text).toContain('The text is empty. Nothing was sent.');
  });

  test('sends what was written above the scissors', { tags: ['long'] }, async () => {
    editor('{ printf "# Steps\\n\\nRestart it.\\n"; cat "$1"; } > "$1.new" && mv "$1.new" "$1"');
    const ran = await at(80, ['tickets', 'reply', '8', '--json']);
    expect(ran.exitCode).toBe(0);
    expect(ran.text).toContain('"body": "# Steps\\n\\nRestart it."');
  });
});
