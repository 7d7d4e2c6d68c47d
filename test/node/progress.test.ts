import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createProgress } from '../../src/node/progress.ts';
import { screenHush } from '../../src/node/screen-hush.ts';
import { terminalCells } from '../cli/terminal-cells.ts';
import { fakeTerminal } from '../screen/terminal.ts';

function terminal(columns: number | undefined) {
  const stream = Object.assign(new PassThrough(), {
    isTTY: columns !== undefined,
    columns,
    cursorTo() {
      stream.write('\r');
      return true;
    },
    clearLine() {
      stream.write('\x1b[2K');
      return true;
    },
    moveCursor: () => true,
  });
  let seen = '';
  let wake = () => {};
  stream.on('data', (chunk) => {
    seen += chunk;
    wake();
  });
  const sees = (text: string) =>
    new Promise<void>((resolve) => {
      wake = () => {
        if (seen.includes(text)) resolve();
      };
      wake();
    });
  return { stream, seen: () => seen, sees };
}

afterEach(() => vi.useRealTimers());

describe('on a terminal', () => {
  test('a full screen has it alone, also of what went on before and goes on behind', { tags: ['long'] }, async () => {
    vi.useFakeTimers();
    const { stream, seen } = terminal(80);
    let isTaken = false;
    const progress = createProgress({ stream, env: {}, isHidden: () => isTaken });
    const hush = screenHush(() => progress(undefined));
    const port = hush.over(fakeTerminal().port);
    progress('Waiting for service.test', 'request');
    await vi.advanceTimersByTimeAsync(1000);
    await vi.dynamicImportSettled();
    await vi.advanceTimersByTimeAsync(1000);
    expect(seen()).toContain('Waiting for service.test');
    port.takeInput();
    isTaken = hush.isTaken();
    const before = seen();
    progress('Waiting for other.test', 'request');
    progress('Reading', 'work');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(seen()).toBe(before);
    expect(before.lastIndexOf('\x1b[2K')).toBeGreaterThan(before.lastIndexOf('Waiting'));
    for (const doing of ['request', 'work'] as const) progress(undefined, doing);
    // What ends then, or makes room for what is written, moves no cursor: it is the full screen's.
    progress(undefined);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(seen()).toBe(before);
    port.giveInput();
    isTaken = hush.isTaken();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(seen().slice(before.length)).not.toContain('Waiting');
  });

  test('what is done soon shows nothing', async () => {
    vi.useFakeTimers();
    const { stream, seen } = terminal(80);
    const progress = createProgress({ stream, env: {} });
    progress('Reading…');
    await vi.advanceTimersByTimeAsync(200);
    progress(undefined);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(seen()).toBe('');
  });

  test('what takes longer is one harmless line, cut to the width, and cleared', async () => {
    const { stream, seen, sees } = terminal(40);
    const progress = createProgress({ stream, env: {} });
    progress(`Sending 日本 \x1b]0;owned\x07 ${'x'.repeat(100)}`);
    await sees('Sending 日本 ^[]0;owned^G');
    progress(undefined);
    expect(seen()).not.toContain('\x07');
    for (const line of stripVTControlCharacters(seen()).split(/[\r\n]/u)) expect(terminalCells(line)).toBeLessThan(40);
    expect(seen().lastIndexOf('\x1b[2K')).toBeGreaterThan(seen().lastIndexOf('Sending'));
  });

  test('requests that follow each other are one wait, and what tells more is shown first', async () => {
    const { stream, sees } = terminal(80);
    const progress = createProgress({ stream, env: {} });
    const requests = setInterval(() => {
      progress('Waiting for service.test', 'request');
      progress(undefined, 'request');
      progress('Waiting for service.test', 'request');
    }, 30);
    await sees('Waiting for service.test');
    progress('Read 100 of 2,400 contacts', 'work');
    await sees('Read 100 of 2,400 contacts');
    progress('Rate limit reached; continuing in 8 s');
    await sees('Rate limit reached');
    clearInterval(requests);
    for (const doing of ['request', 'work', 'wait'] as const) progress(undefined, doing);
  });

  test('what still goes on comes back after something was written', async () => {
    const { stream, seen, sees } = terminal(80);
    const progress = createProgress({ stream, env: {} });
    progress('Waiting for service.test', 'request');
    await sees('Waiting');
    progress(undefined);
    stream.write('A note.\n');
    const before = seen().length;
    await new Promise<void>((resolve) => {
      stream.on('data', () => {
        if (seen().slice(before).includes('Waiting')) resolve();
      });
    });
    progress(undefined, 'request');
    progress(undefined);
  });
});

describe.each<[string, number | undefined, Record<string, string>]>([
  ['a pipe', undefined, {}],
  ['a simple terminal', 80, { TERM: 'dumb' }],
  ['a log of CI', 80, { CI: 'true' }],
])('in %s', (_, columns, env) => {
  const started = () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'hrtime'] });
    const { stream, seen } = terminal(columns);
    return { progress: createProgress({ stream, env, said: new Set(['Said before.']) }), seen };
  };

  test('a wait of more than five seconds is said once, a shorter one never', async () => {
    const { progress, seen } = started();
    progress('Waiting for the tunnel');
    await vi.advanceTimersByTimeAsync(4_900);
    progress(undefined);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(seen()).toBe('');
    for (let left = 30; left > 0; left--) {
      progress(`Rate limit reached; continuing in ${left} s`);
      await vi.advanceTimersByTimeAsync(1_000);
    }
    progress(undefined);
    expect(seen()).toBe('Rate limit reached; continuing in 26 s\n');
  });

  test('the same slow service is told of once, and what a note said is not said again', async () => {
    const { progress, seen } = started();
    progress('Said before');
    for (let at = 0; at < 4; at++) {
      progress('Waiting for \x1bservice.test', 'request');
      await vi.advanceTimersByTimeAsync(9_000);
      progress(undefined, 'request');
    }
    expect(seen()).toBe('Waiting for ^[service.test\n');
  });

  test('long work says how far it is every ten seconds, also when other things are written between', async () => {
    const { progress, seen } = started();
    for (let at = 1; at <= 35; at++) {
      progress(`Read ${at} of 35`, 'work');
      progress(undefined);
      await vi.advanceTimersByTimeAsync(1_000);
    }
    progress(undefined, 'work');
    expect(seen()).toBe('Read 10 of 35\nRead 20 of 35\nRead 30 of 35\n');
  });

  test('long work that does not get on says since when, and no line is there twice', async () => {
    vi.useFakeTimers();
    const { stream, seen } = terminal(columns);
    const progress = createProgress({ stream, env });
    progress('Rows 5 of 100', 'work');
    await vi.advanceTimersByTimeAsync(30_500);
    progress('Rows 6 of 100', 'work');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(seen().replaceAll('\r', '')).toBe(
      [
        'Rows 5 of 100',
        'Rows 5 of 100 · unchanged for 10 s',
        'Rows 5 of 100 · unchanged for 20 s',
        'Rows 6 of 100',
        '',
      ].join('\n'),
    );
  });

  test('short works that come again and again say nothing, and a wait between them once', async () => {
    const { progress, seen } = started();
    for (let round = 1; round <= 8; round++) {
      progress(`${round} of about ${round} requests`, 'work');
      await vi.advanceTimersByTimeAsync(200);
      progress(undefined, 'work');
      progress('Watching');
      await vi.advanceTimersByTimeAsync(15_000);
      progress(undefined);
    }
    expect(seen()).toBe('Watching\n');
  });

  test('pages that take long do not delay the line of every ten seconds', async () => {
    const { progress, seen } = started();
    for (let page = 1; page <= 5; page++) {
      await vi.advanceTimersByTimeAsync(4_500);
      progress(`Read ${page * 100} of 500`, 'work');
    }
    progress(undefined, 'work');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(seen()).toBe('Read 200 of 500\nRead 400 of 500\n');
  });
});
