import type { Output, Settings } from '../config/settings.ts';
import { Failure } from '../errors.ts';
import { listed } from '../text/listed.ts';
import type { Invocation } from './invocation.ts';

/**
 * Of a command that has not every form. One that was typed and is not there is refused before anything begins; the
 * setting and SVC_OUTPUT hold for the commands that have it.
 */
export function inItsForms({ command, globals, path }: Invocation, settings: Settings): Settings {
  const { forms } = command;
  if (!forms || !settings.output || forms.includes(settings.output)) return settings;
  const typed = typedForm(globals);
  if (typed === undefined) return { ...settings, output: undefined };
  if (command.passThrough)
    throw new Failure('usage', `${typed} before the command that svc is to run means nothing; nothing was begun.`, {
      hint: ofTheirs(typed),
    });
  throw new Failure('usage', `svc ${path} has no ${typed}; nothing was begun.`, { hint: ofOwn(forms) });
}

function typedForm({ json, jq, output }: Invocation['globals']): string | undefined {
  if (json) return '--json';
  return jq === undefined ? output && `-o ${output}` : '--jq';
}

const ofOwn = (forms: readonly Output[]): string =>
  forms.length > 1 ? `It has ${listed(forms)}.` : 'It is for people to read: leave it out.';

/** What another command prints is its own; svc itself tells what that changed. */
const ofTheirs = (typed: string): string =>
  `For what the command prints, put ${typed} behind the command. For what it changed, as JSON: --diff-out FILE`;
