// @module-tag long
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { startOnTerminal } from '../pty.ts';
import { buildGuest } from './built-guest.ts';

// The screen on real terminals: whatever ends it, the terminal is as it was.

let folder: string;
let guest: string;
let running: ReturnType<typeof startOnTerminal>[] = [];

beforeAll(async () => {
  ({ folder, guest } = await buildGuest());
});

afterEach(() => {
  for (const one of running) one.kill();
  running = [];
});

const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;

/** A shell that starts the guest with that editor; `before` and `after` are what stty says of the terminal. */
async function shell(editor = 'true', first = '') {
  const pty = startOnTerminal(['bash', '--norc', '--noprofile', '-i'], {
    cwd: folder,
    columns: 90,
    env: { PS1: 'prompt> ', HISTFILE: '', HOME: folder, TMPDIR: tmpdir() },
  });
  running.push(pty);
  await pty.shows('prompt>');
  // Modes that nobody has by chance.
  pty.type(`stty -echok intr ^X -ixany; ${first}\r`);
  pty.type(`stty -a > before; ${quoted(process.execPath)} ${quoted(guest)} ${quoted(editor)}; echo code $?\r`);
  await pty.shows(/^ready 90×24/u);
  let looks = 0;
  return {
    ...pty,
    async isAsItWas() {
      await pty.shows('prompt>');
      // What an earlier look left on the screen is no answer to this one.
      looks++;
      pty.type(`stty -a > after; echo noted ${looks}\r`);
      await pty.shows(new RegExp(`^noted ${looks}`, 'mu'));
      const [before, after] = await Promise.all(
        ['before', 'after'].map((name) => readFile(join(folder, name), 'utf8')),
      );
      expect(before).toContain('intr = ^X');
      const modesOf = (said: string | undefined) => said?.replace(/columns \d+/u, '');
      expect(modesOf(after)).toBe(modesOf(before));
      expect(pty.modes()).toEqual(asAtFirst);
      // The cursor is shown, and nothing is left of a style.
      const bytes = pty.bytes();
      expect(bytes.lastIndexOf('\x1b[?25h')).toBeGreaterThan(bytes.lastIndexOf('\x1b[?25l'));
      pty.type(`echo plain ${looks}\r`);
      await pty.shows(new RegExp(`^plain ${looks}`, 'mu'));
      const row = pty.lines().lastIndexOf(`plain ${looks}`);
      expect(pty.cell(row, 0)).toMatchObject({ bold: false, inverse: false, foreground: undefined });
    },
  };
}

const asAtFirst = {
  applicationCursorKeysMode: false,
  applicationKeypadMode: false,
  bracketedPasteMode: expect.any(Boolean),
  insertMode: false,
  isOther: false,
  mouseTrackingMode: 'none',
  originMode: false,
  reverseWraparoundMode: false,
  sendFocusMode: false,
  synchronizedOutputMode: false,
  wraparoundMode: true,
};

/** The process of the guest, which runs alone in the foreground. */
const tellGuest = (pty: Awaited<ReturnType<typeof shell>>, signal: string) =>
  import('node:child_process').then(({ execFileSync }) =>
    execFileSync('sh', ['-c', `kill -${signal} $(ps -o pid= --ppid ${pty.pid} | head -1)`]),
  );

test('keys, pastes and other sizes arrive, and wide characters stand in their cells', async () => {
  const pty = await shell();
  expect(pty.modes()).toMatchObject({ isOther: true, wraparoundMode: false, bracketedPasteMode: true });
  expect(pty.cell(1, 0)).toMatchObject({ text: '日', width: 2 });
  await pty.press('\x1b[A', /日本語.* up$/mu);
  await pty.press('\x1b', /日本語.* escape$/mu);
  await pty.press('\x1b[200~q\x1b[31m\x03\x1b[201~', /日本語.* pasted q\[31m$/mu);
  pty.resize(60, 10);
  await pty.shows(/^ready 60×10/u);
  expect(pty.cursor()).toEqual({ row: 0, column: 5 });
  await pty.press('f', 'frame 999');
  const heard = new Promise((resolve) => pty.onClipboard(resolve));
  pty.type('y');
  expect(await heard).toBe('T-1008');
});

test('after q', async () => {
  const pty = await shell();
  await pty.press('q', 'code 0');
  expect(pty.lines().join('\n')).not.toContain('ready');
  await pty.isAsItWas();
});

test('after Ctrl-C, which is the key whatever stty calls it', async () => {
  const pty = await shell();
  await pty.press('\x03', 'code 3');
  expect(pty.lines()).toContain('ended by SIGINT');
  await pty.isAsItWas();
});

test.each(['TERM', 'HUP'])('after SIG%s', async (signal) => {
  const pty = await shell();
  await tellGuest(pty, signal);
  await pty.shows('code 3');
  expect(pty.lines()).toContain(`ended by SIG${signal}`);
  await pty.isAsItWas();
});

test('after a breakdown, which can be read', async () => {
  const pty = await shell();
  await pty.press('x', 'code 1');
  expect(pty.lines().join('\n')).toContain('Error: broken down');
  await pty.isAsItWas();
});

test('while it is stopped by Ctrl-Z, and after fg, and after both again', async () => {
  const pty = await shell();
  for (const times of [1, 2]) {
    await pty.press('\x1a', /Stopped[\s\S]*prompt>/u);
    await pty.isAsItWas();
    pty.resize(90 + times, 24);
    pty.type('clear; fg\r');
    await pty.shows(new RegExp(`^ready ${90 + times}×24\\n.*\\n${'resumed\\n'.repeat(times)}`, 'u'));
    const key = 'jk'.charAt(times - 1);
    await pty.press(key, new RegExp(`日本語.* ${key}$`, 'mu'));
  }
  await pty.press('q', /^closed/mu);
  await pty.isAsItWas();
});

test('in the background it waits for the terminal, which stays the shell’s until fg', async () => {
  const pty = await shell();
  await pty.press('\x1a', /Stopped[\s\S]*prompt>/u);
  pty.type('clear; bg\r');
  await pty.shows(/'true'\s+&/u);
  // What stops there is said before a prompt, and it may stop only after the first.
  await expect
    .poll(
      () => {
        pty.type('\r');
        return pty.lines().join('\n');
      },
      { interval: 250 },
    )
    .toMatch(/Stopped/u);
  await pty.isAsItWas();
  pty.type('fg\r');
  await pty.shows(/^ready[\s\S]*resumed/u);
  await pty.press('j', /日本語.* j$/mu);
  await pty.press('q', /^closed/mu);
  await pty.isAsItWas();
});

test.each(['TSTP', 'STOP'])('after SIG%s of another process, and fg', async (signal) => {
  const pty = await shell();
  await tellGuest(pty, signal);
  await pty.shows(/Stopped/u);
  pty.type('fg\r');
  await pty.shows(/^ready[\s\S]*resumed/u);
  await pty.press('j', /日本語.* j$/mu);
  await pty.press('q', /^closed/mu);
  await pty.isAsItWas();
});

test('an editor has the terminal as the shell left it, and its keys are its own', async () => {
  const pty = await shell('stty -a > lent; read line; echo "$line" > typed');
  pty.type('e');
  await expect.poll(() => readFile(join(folder, 'lent'), 'utf8').catch(() => '')).toContain('columns 90');
  expect(await readFile(join(folder, 'lent'), 'utf8')).toBe(await readFile(join(folder, 'before'), 'utf8'));
  pty.type('q and more\r');
  await pty.shows(/^ready[\s\S]*edited/u);
  expect(await readFile(join(folder, 'typed'), 'utf8')).toBe('q and more\n');
  await pty.press('q', /^closed/mu);
  await pty.isAsItWas();
});

test('after an editor that was killed in the middle, with every mode changed', async () => {
  const leaves =
    "if [ -e messed ]; then stty -a > second; exit; fi; touch messed; stty raw -echo -isig intr ^Y; printf '\\033[?1049h\\033[?1000h\\033[?1h\\033[3;5r\\033[?6h\\033[4h\\033[7;31m\\033[?25lmess'; kill -9 $$";
  const pty = await shell(leaves);
  pty.type('e');
  await pty.shows(/^ready[\s\S]*failed/u);
  expect(pty.lines().join('\n')).not.toContain('mess');
  expect(pty.modes()).toMatchObject({ originMode: false, insertMode: false, mouseTrackingMode: 'none' });
  await pty.press('\x1b[A', /日本語.* up$/mu);
  // The next editor has the modes that the shell left.
  await pty.press('e', /^ready[\s\S]*edited/u);
  expect(await readFile(join(folder, 'second'), 'utf8')).toBe(await readFile(join(folder, 'before'), 'utf8'));
  await pty.press('q', /^closed/mu);
  await pty.isAsItWas();
});

test('Ctrl-C in an editor is the editor’s', async () => {
  const pty = await shell(
    `trap 'n=$n.; echo caught >> caught' INT; stty intr ^C; echo edi""ting; until [ "$n" = .. ]; do sleep 0.05; done; true`,
  );
  const caught = () => readFile(join(folder, 'caught'), 'utf8').catch(() => '');
  // The command line that is shown as well does not hold the word.
  await pty.press('e', 'editing');
  // Twice: a second one would end svc at once.
  pty.type('\x03');
  await expect.poll(caught).toBe('caught\n');
  pty.type('\x03');
  await pty.shows(/^ready[\s\S]*edited/u);
  expect(await caught()).toBe('caught\ncaught\n');
  await pty.press('q', /closed$/mu);
  await pty.isAsItWas();
});

test('a terminal that takes nothing does not keep it from ending', async () => {
  const pty = startOnTerminal([process.execPath, guest], { columns: 90, cwd: folder, env: { HOME: folder } });
  running.push(pty);
  await pty.shows(/^ready/u);
  pty.pause();
  pty.type('ffffw');
  // Read again only after it is gone: whoever waits for the terminal never is.
  await expect.poll(() => isRunning(pty.pid)).toBe(false);
  pty.resume();
  expect(await pty.ended).toMatchObject({ exitCode: 0 });
});

test('a terminal that goes away ends it quietly', async () => {
  const command = `trap '' HUP; ${quoted(process.execPath)} ${quoted(guest)} 2> said; echo code $? >> said`;
  const pty = startOnTerminal(['sh', '-c', command], { columns: 90, cwd: folder, env: { HOME: folder } });
  await pty.shows(/^ready/u);
  pty.close();
  await expect.poll(() => readFile(join(folder, 'said'), 'utf8')).toBe('code 3\n');
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
