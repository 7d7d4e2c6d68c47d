import type { Context } from '../../context.ts';
import { diskFailure } from '../../disk/file/disk-failure.ts';
import { messageOf } from '../../errors.ts';
import type { View } from '../../output/view.ts';
import type { Comparison } from '../../sandbox/compare.ts';

/** The file is opened before the command runs: a place that cannot be written is told while nothing has happened. */
export async function openTelling(ctx: Context, { diffOut }: { readonly diffOut: string | undefined }) {
  const { openDraft } = await import('../../disk/draft/draft-file.ts');
  const draft = diffOut === undefined ? undefined : await openDraft(diffOut, ctx);
  let isOver = false;
  const drop = async () => {
    if (!isOver) await draft?.drop();
    isOver = true;
  };
  return {
    /** Leaves nothing behind where nothing was told. */
    drop,
    /** The comparison told; the command's own ending stays, except that a file which cannot be written is no success. */
    async tell(comparison: Comparison, ended: View) {
      const [{ comparisonLines }, { wrap }] = [
        await import('../../sandbox/compared-text.ts'),
        await import('../../text/width.ts'),
      ];
      const { isTTY, columns } = ctx.stderr;
      const width = isTTY ? columns || 80 : Number.POSITIVE_INFINITY;
      for (const line of comparisonLines(comparison, shownOf(draft !== undefined, isTTY === true))) {
        for (const part of wrap(line, width)) ctx.stderr.write(`${part}\n`);
      }
      if (!draft) return ended;
      try {
        const { pipeline } = process.getBuiltinModule('node:stream/promises');
        await pipeline(jsonOf(comparison), draft.stream, { end: false });
        await draft.keep();
        isOver = true;
        return ended;
      } catch (error) {
        await drop();
        ctx.stderr.write(`${messageOf(diskFailure(error, `${diffOut} could not be written`))}\n`);
        return { ...ended, exitCode: ended.exitCode || 1 };
      }
    },
  };
}

/** A screen shows the first ones; whoever reads standard error from a pipe or a log gets all. */
const shownOf = (isInFile: boolean, isTTY: boolean): number => {
  if (isInFile) return 0;
  return isTTY ? shownOnScreen : Number.POSITIVE_INFINITY;
};

const shownOnScreen = 20;

/** One JSON document, a change a line, in pieces: a whole account may have changed. */
function* jsonOf({ changes, ...rest }: Comparison): Generator<string> {
  const { webhooks, requests, minutes } = rest;
  yield `{"requests": ${requests}, "minutes": ${minutes},\n"changes": [`;
  yield* listed(changes);
  yield `],\n"webhooks": [`;
  yield* listed(webhooks);
  yield ']}\n';
}

function* listed(items: readonly object[]): Generator<string> {
  for (const [at, item] of items.entries()) yield `${at === 0 ? '' : ','}\n${JSON.stringify(item)}`;
}
