import { spawn } from 'node:child_process';
import { nodeContext } from '../../src/node/context.ts';
import { openScreen } from '../../src/screen/screen.ts';

/**
 * A program on the screen, for the tests of real terminals: `guest COMMAND`. Keys: q closes, x breaks down, e lends the
 * terminal to COMMAND by the shell, Ctrl-Z suspends, f draws a thousand frames, y copies, w closes
 * without a word. Everything else is shown.
 */
async function run(command: string): Promise<void> {
  const ctx = nodeContext();
  const terminal = await ctx.terminal?.();
  if (!terminal) throw new Error('This is no terminal.');
  const said: string[] = [];
  let last = '';
  const draw = () => {
    const { columns, rows } = screen.size();
    const lines = [`ready ${columns}×${rows}`, `日本語 👨‍👩‍👧 ${last}`, ...said];
    screen.draw({ lines, cursor: { row: 0, column: 5 } });
  };
  const say = (what: string) => {
    said.push(what);
    draw();
  };
  const keys: Readonly<Record<string, () => unknown>> = {
    q() {
      screen.close();
      process.stdout.write('closed\n');
    },
    x() {
      setTimeout(() => {
        throw new Error('broken down');
      });
    },
    e: () => screen.lend(() => edit(command)).then(say, () => say('failed')),
    f() {
      for (let at = 0; at < 1000; at += 1) {
        said[0] = `frame ${at} ${'─'.repeat(60)}`;
        draw();
      }
    },
    y: () => screen.copy('T-1008'),
    w: () => screen.close(),
  };
  const screen = openScreen(terminal, {
    key(key) {
      if (key.ctrl && key.name === 'z') return void screen.suspend();
      const act = keys[key.name];
      if (act) return void act();
      last = key.name === 'paste' ? `pasted ${key.text}` : key.name;
      draw();
    },
    resize: draw,
    resumed: () => say('resumed'),
    ended(reason) {
      process.stdout.write(`ended by ${reason}\n`);
      process.exitCode = 3;
    },
  });
  draw();
}

const edit = (command: string) =>
  new Promise<string>((resolve, reject) => {
    const child = spawn('sh', ['-c', command], { stdio: 'inherit' });
    child.on('exit', (code, signal) => (code === 0 ? resolve('edited') : reject(new Error(String(signal ?? code)))));
  });

await run(process.argv[2] ?? 'true');
