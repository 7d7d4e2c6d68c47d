import { bodyText, textFlags } from '../../command/body-text.ts';
import { defineCommand } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import { Failure } from '../../errors.ts';
import { wireOf } from '../../http/request.ts';
import { noDraft } from '../../sends/approve.ts';
import { requestOf } from '../../sends/deliver.ts';
import { type Draft, digestOfDraft, type Step, shownDraft, textField, textOf } from '../../sends/draft.ts';
import { atWork } from './at-work.ts';

export const editDraft = defineCommand({
  name: 'edit',
  summary: 'Change the text of a draft; who changed it is kept',
  args: { id: param.requiredId('Id of the draft') },
  flags: { body: param.text('The new text, instead of the editor'), ...textFlags },
  needs: 'a draft: svc tickets reply 8 --body Thanks --draft',
  examples: ['svc drafts edit 1 --body "Thank you, it is fixed."'],
  async run(ctx, { args: { id }, flags, settings }) {
    const draft = await atWork(ctx, settings, async ({ store, by }) => {
      const present = await store.get(id);
      if (!present) throw noDraft(id);
      const name = refuseUneditable(present);
      const before = textOf(present);
      const isGiven = flags.body !== undefined || flags.bodyFile !== undefined;
      const given = {
        ...{ field: 'body', text: flags.body, bodyFile: flags.bodyFile, editor: !isGiven || flags.editor },
        ...(isGiven ? {} : { template: before ?? '' }),
        ...{ opensEditor: true, required: true, blank: 'refused' as const },
      };
      const text = await bodyText(ctx, { ...settings, yes: true }, given);
      const digest = digestOfDraft(present);
      const at = ctx.clock.now().toISOString();
      const next = await store.change(id, (one) => {
        if (one.state !== present.state || digestOfDraft(one) !== digest) return undefined;
        const steps = withText(one, name, text ?? '');
        return {
          ...one,
          steps,
          state: 'waiting',
          error: null,
          edited_by: by,
          edits: [...one.edits, { at, by, before }],
        };
      });
      if (next) return next;
      throw new Failure('failed', `Draft ${id} was changed by somebody else just now. Your text was not kept.`);
    });
    const done = `Draft ${id} is changed. To send it: svc drafts approve ${id}`;
    return { data: { shape: 'record', record: shownDraft(draft) }, done, notes: [done] };
  },
});

function refuseUneditable(draft: Draft): string {
  const { id, state, steps } = draft;
  if (state !== 'waiting' && state !== 'refused')
    throw new Failure('failed', `Draft ${id} is ${state}, so it is not changed any more.`);
  const name = textField(steps[0]?.body);
  if (name === undefined) throw new Failure('usage', `Draft ${id} has no text to change.`);
  return name;
}

/** Throws the usage Failure of a text that the service would refuse. */
function withText({ steps }: Draft, name: string, text: string): readonly Step[] {
  const [first, ...others] = steps;
  if (!first) return steps;
  const step: Step = { ...first, body: { ...Object(first.body), [name]: text } };
  const { operation, input } = requestOf(step);
  wireOf(operation, input);
  return [step, ...others];
}
