import { bodyText, textFlags } from '../../command/body-text.ts';
import { defineCommand } from '../../command/command.ts';
import { canOpenEditor } from '../../command/editor.ts';
import { param } from '../../command/param.ts';
import { Failure } from '../../errors.ts';
import { noDraft } from '../../sends/approve.ts';
import { retold } from '../../sends/deliver.ts';
import { type Draft, digestOfDraft, hasBegun, shownDraft, textField, textOfStep } from '../../sends/draft.ts';
import { requireMeant } from '../../sends/meant.ts';
import { howToSendIt } from '../../sends/words.ts';
import { capital } from '../../text/capital.ts';
import { atWork, undecided } from './at-work.ts';

export const editDraft = defineCommand({
  name: 'edit',
  summary: 'Change the text of a draft; who changed it is kept',
  args: { id: { ...param.requiredId('Id of the draft', undefined, 'drafts list'), from: undecided } },
  flags: { body: param.text('The new text, instead of the editor', { prose: true }), ...textFlags },
  needs: 'a draft: svc tickets reply 8 --body Thanks --draft',
  examples: ['svc drafts edit 1 --body "Thank you, it is fixed."'],
  async run(ctx, { args: { id }, flags, settings }) {
    const { draft, isChanged } = await atWork(ctx, settings, async ({ store, service, by }) => {
      // Without a login every draft of the place can be read: a text is changed by its own login alone.
      await service();
      const present = await store.get(id);
      if (!present) throw noDraft(id);
      requireMeant(present);
      const step = editableStep(present);
      const before = textOfStep(present.steps[step]);
      const otherwise = `draft ${id} is as it was`;
      const isGiven = flags.body !== undefined || flags.bodyFile !== undefined;
      if (!isGiven && !flags.editor && !canOpenEditor(ctx, settings))
        throw new Failure('usage', `--body is required. ${capital(otherwise)}.`, {
          hint: 'Give --body TEXT or --body-file FILE, or name an editor in VISUAL or EDITOR.',
        });
      const given = {
        ...{ field: 'body', text: flags.body, bodyFile: flags.bodyFile, editor: !isGiven || flags.editor },
        ...(isGiven ? {} : { template: before ?? '' }),
        ...{ opensEditor: true, required: true, blank: 'refused' as const, otherwise },
      };
      const text = await bodyText(ctx, { ...settings, yes: true }, given);
      if (text === before) return { draft: present, isChanged: false };
      const digest = digestOfDraft(present);
      const at = ctx.clock.now().toISOString();
      const next = await store.change(id, (one) => {
        if (one.state !== present.state || digestOfDraft(one) !== digest) return undefined;
        const steps = one.steps.map((each, index) => (index === step ? retold(each, text ?? '') : each));
        const edit = { at, by, before, ...(step > 0 && { step }) };
        return { ...one, steps, state: 'waiting', error: null, edited_by: by, edits: [...one.edits, edit] };
      });
      if (next) return { draft: next, isChanged: true };
      throw new Failure('failed', `Draft ${id} was changed by somebody else just now, and is as they left it.`);
    });
    const done = `Draft ${id} is ${isChanged ? 'changed' : 'as it was'}. ${howToSendIt(id, digestOfDraft(draft), { ctx, settings })}`;
    return { data: { shape: 'record', record: shownDraft(draft) }, done, notes: [done] };
  },
});

/** The first of its steps that has a text and is not sent yet. */
function editableStep(draft: Draft): number {
  const { id, state, steps } = draft;
  if (state !== 'waiting' && state !== 'refused')
    throw new Failure('failed', `Draft ${id} is ${state}, so it is not changed any more.`);
  const step = steps.findIndex((one) => one.state !== 'done' && textField(one) !== undefined);
  if (step >= 0) return step;
  const why = hasBegun(draft) ? 'the text of it was sent already' : 'it has no text';
  throw new Failure('usage', `Draft ${id} cannot be changed: ${why}.`);
}
