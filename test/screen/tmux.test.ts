// @module-tag long
import { execFileSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildGuest } from './built-guest.ts';

// The screen inside tmux: keys, clipboard, sizes, and the shell's screen afterwards.

let folder: string;
let guest: string;
let hasTmux = true;

beforeAll(async () => {
  ({ folder, guest } = await buildGuest());
  try {
    execFileSync('tmux', ['-V']);
  } catch {
    hasTmux = false;
  }
});
afterAll(async () => {
  if (hasTmux) tmux('kill-server');
  await rm(folder, { recursive: true, force: true });
});

const tmux = (...args: string[]) =>
  execFileSync('tmux', ['-S', join(folder, 'socket'), '-f', '/dev/null', ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: folder, TERM: 'xterm-256color', LANG: 'C.UTF-8' },
  });

const shows = (what: RegExp) => expect.poll(() => tmux('capture-pane', '-p'), { interval: 20 }).toMatch(what);

test('it works inside tmux as outside', async (context) => {
  if (!hasTmux) context.skip('there is no tmux here');
  tmux('-u', 'new-session', '-d', '-x', '80', '-y', '20', 'sh');
  tmux('set', '-g', 'set-clipboard', 'on');
  tmux('send-keys', `${process.execPath} ${guest}`, 'Enter');
  await shows(/^ready 80×20\n日本語/u);
  tmux('send-keys', 'Up');
  await shows(/日本語.* up$/mu);
  tmux('send-keys', 'Escape');
  await shows(/日本語.* escape$/mu);
  tmux('send-keys', 'y');
  await expect.poll(() => tmux('list-buffers')).toContain('T-1008');
  tmux('resize-window', '-x', '70', '-y', '12');
  await shows(/^ready 70×12/u);
  tmux('set-buffer', 'q\rq');
  tmux('paste-buffer', '-p');
  await shows(/pasted q q/u);
  tmux('send-keys', 'q');
  await shows(/closed$/mu);
  expect(tmux('capture-pane', '-p')).not.toContain('ready');
  expect(tmux('display', '-p', '#{alternate_on} #{cursor_flag} #{wrap_flag} #{keypad_cursor_flag}').trim()).toBe(
    '0 1 1 0',
  );
});
