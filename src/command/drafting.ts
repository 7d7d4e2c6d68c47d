import { hearersOf } from '../api/hearers.ts';
import { holdMs } from '../config/given-texts.ts';
import { withContext } from '../context.ts';
import { Failure } from '../errors.ts';
import { type AnyCommand, type Command, type Given, type Group, operationOf, type Param } from './command.ts';
import { param } from './param.ts';

/** The heading in help. */
const group = 'Before it reaches anybody:';

const draft = { ...param.toggle('Send nothing: keep it as a draft that a person approves (svc help sends)'), group };

const ofPublic = {
  ...param.toggle('What would be published becomes a draft that a person approves (svc help sends)'),
  group,
};

const hold: Param<number | undefined> = {
  description: 'Wait so long before it is sent; Ctrl-C keeps the text as a draft, and leaves rows of a file unsent',
  placeholder: 'SECONDS',
  group,
  parse: (texts, flag) => holdMs(texts.at(-1) ?? '', flag),
};

/** Of a command that takes no file of rows. */
const holdOfOne = { ...hold, description: 'Wait so long before it is sent; Ctrl-C keeps the text as a draft' };

/** The group or command, with `--draft` and `--hold` for each command that may reach a customer or the public. */
export function takingDrafts(node: Group | AnyCommand): Group | AnyCommand {
  if ('commands' in node) return { ...node, commands: node.commands.map((child) => takingDrafts(child)) };
  const operation = operationOf(node);
  const hearers = operation && hearersOf(operation);
  return node.sends === true || hearers !== undefined ? takingDraft(node, hearers === 'public') : node;
}

function takingDraft(command: AnyCommand, isPublic: boolean): AnyCommand {
  // The changelog's own means an entry that the portal does not show.
  const isOwn = 'draft' in command.flags;
  return {
    ...command,
    flags: {
      ...command.flags,
      ...(!isOwn && { draft: isPublic ? ofPublic : draft }),
      hold: command.row ? hold : holdOfOne,
    },
    async run(ctx, { flags: { hold: holdFor, ...flags }, ...given }: Given) {
      const { draft: isDraft, ...rest } = flags;
      const { run }: Command = command;
      const wish = {
        ...(!isOwn && isDraft === true && { draft: true }),
        ...(typeof holdFor === 'number' && { holdMs: holdFor }),
        ...(command.name === 'api' && { face: 'api' as const }),
      };
      if (wish.draft && wish.holdMs !== undefined)
        throw new Failure('usage', '--draft and --hold cannot be used together.', { hint: 'Give one of them.' });
      const { sends } = ctx;
      const own = sends && Object.keys(wish).length > 0 ? sends.with(wish) : sends;
      const inner = own === sends ? ctx : withContext(ctx, { sends: own });
      return run(inner, { ...given, flags: isOwn ? flags : rest });
    },
  };
}
