import { type Context, withContext } from '../context.ts';
import { inertInLog } from '../text/workflow-commands.ts';
import type { Sink } from './write.ts';

/**
 * The context of a job whose log a runner reads for commands: nothing that svc writes there is one, whoever wrote the
 * text. `runner` alone speaks to it.
 */
export function inJob(ctx: Context): Context {
  return withContext(ctx, {
    get stderr() {
      return inertStream(ctx.stderr);
    },
    notice: (text) => ctx.notice(inertInLog(text)),
    progress: (text, doing) => ctx.progress(text && inertInLog(text), doing),
    runner: (command) => void ctx.stderr.write(`${command}\n`),
  });
}

/** Each write there is of whole lines. */
const inertStream = (stream: Context['stderr']): Context['stderr'] =>
  Object.create(stream, {
    write: { value: (text: unknown, done?: () => void) => stream.write(inertInLog(String(text)), done) },
  });

/** Standard output as a log. A line is looked at once all of it is there. */
export function inertSink(sink: Sink): Sink {
  let rest = '';
  return {
    async write(text) {
      const lines = rest + text;
      const end = Math.max(lines.lastIndexOf('\n'), lines.lastIndexOf('\r')) + 1;
      rest = lines.slice(end);
      return sink.write(inertInLog(lines.slice(0, end)));
    },
    async flush() {
      const last = rest;
      rest = '';
      await sink.write(inertInLog(last));
      return sink.flush();
    },
  };
}
