import { fieldsOf } from '../../api/shape.ts';
import type { Account } from '../../batch/account.ts';
import type { EarlierSecrets } from '../../batch/earlier-secrets.ts';
import type { Telling } from '../../batch/pace.ts';
import { cellReader } from '../../batch/places.ts';
import { cleared } from '../../command/clear.ts';
import type { Given } from '../../command/command.ts';
import { argName, flagName } from '../../command/param.ts';
import { idNameOf, type RowOf, bodyOf as schemaOf } from '../../command/row.ts';
import { bracedNames, loneSet, readTemplate, refuseUnusedSet, setFlags } from '../../command/template-file.ts';
import { listedFor } from '../../command/template-names.ts';
import { typedName } from '../../command/typed-name.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { readUserText } from '../../disk/place/user-file.ts';
import { Failure } from '../../errors.ts';
import type { Service } from '../../http/call/call.ts';
import { columnName } from '../../tabular/columns.ts';
import { likeField } from '../../tabular/header-names.ts';
import { sanitize } from '../../text/sanitize.ts';
import type { Template } from '../../text/template.ts';
import type { Reading } from '../rows/cells.ts';
import type { Columns } from '../rows/columns.ts';
import type { FileFlags } from '../rows/flags.ts';
import type { Commanded } from '../rows/given.ts';
import type { IdsInCopy } from '../rows/ids.ts';
import { givenBody } from '../rows/inputs.ts';

/** What one run needs at every step. */
export type Run = {
  readonly ctx: Context;
  readonly settings: Settings;
  readonly words: string;
  readonly row: RowOf;
  readonly flags: FileFlags;
  readonly service: () => Promise<Service>;
  /** Asked for once. */
  readonly account: () => Promise<Account>;
  readonly idsInCopy: IdsInCopy;
  readonly onProgress: Telling['onProgress'];
  /** What the file of results holds already. */
  readonly earlier: EarlierSecrets;
};

/** What the command line says for every row. */
export async function givenByCommandLine(
  { ctx, row, flags }: Pick<Run, 'ctx' | 'row' | 'flags'>,
  args: Given['args'],
  values: Given['flags'],
): Promise<Pick<Commanded, 'body' | 'labels'>> {
  if (values.editor === true) throw new Failure('usage', '--editor and --from cannot be used together.');
  const body = givenBody(row, { ...args, ...values });
  const labels = new Map<string, string>();
  for (const key of Object.keys(args)) labels.set(row.places?.[key] ?? key, argName(key, {}));
  for (const key of Object.keys(values)) {
    const path = row.places?.[key];
    labels.set(path ?? key, `--${path === undefined ? typedName(key) : flagName(key, {})}`);
  }
  const file = values.bodyFile ?? values.contentFile;
  if (row.text !== undefined && typeof file === 'string') {
    if (file === '-' && flags.from === '-') throw new Failure('usage', 'Standard input cannot be both rows and text.');
    const label = values.bodyFile === undefined ? '--content-file' : '--body-file';
    labels.set(row.text, label);
    body[row.text] = (await readUserText(ctx, file, label)).replace(/\r?\n$/u, '');
  }
  const clear = values.clear as readonly string[] | undefined;
  for (const field of clear ?? []) labels.set(field, `--clear ${field}`);
  return { body: clear ? cleared(body, clear, fieldsOf(schemaOf(row))) : body, labels };
}

/** Beside the ids of a file an id of the command line, as it was typed, would be passed over, or hold for every row. */
export function refuseIds(row: RowOf, named: readonly string[] = []): void {
  if (idNameOf(row) === undefined || named.length === 0) return;
  throw new Failure('usage', `${named.join(' ')} and --from cannot be used together: the ids come from the file.`, {
    hint: `Leave ${named.length === 1 ? 'it' : 'them'} out, or leave out --from.`,
  });
}

export async function templateOf(
  { ctx, row, flags }: Pick<Run, 'ctx' | 'row' | 'flags'>,
  { body }: { readonly body: object },
): Promise<Template | undefined> {
  const set = flags.set ?? {};
  if (Object.keys(set).length > 0 && flags.template === undefined) throw loneSet();
  if (flags.template === undefined || row.text === undefined) return undefined;
  if (row.text in body) throw new Failure('usage', `Give only one of --${row.text} and --template.`);
  const template = await readTemplate(ctx, flags.template);
  refuseUnusedSet(template, set);
  return template;
}

/** What every row would lack is said once, before any is read. */
export function refuseUseless(
  { row, flags }: Run,
  { targets, names, isJson }: Columns & Pick<Reading, 'isJson'>,
  template: Template | undefined,
): void {
  const hint = `Columns: ${sanitize(names.join(', '))}. Name one with --map "COLUMN=${flags.match ?? 'id'}"`;
  if (flags.match === 'email' && !targets.some((target) => target?.kind === 'email')) {
    const at = likeField(names, 'email');
    const way =
      at === undefined ? hint : `${hint.replace(/ Name one .*/u, '')} Add --map "${columnName(names, at)}=email"`;
    throw new Failure('usage', '--match email: the file has no column email.', { hint: way });
  }
  if (flags.match && flags.id_map?.length) throw new Failure('usage', '--match and --id-map cannot be used together.');
  const hasId = targets.some((target) => target?.kind === 'id' || target?.kind === 'email');
  if (idNameOf(row) !== undefined && !hasId) {
    const isRow = /^\d+$/u.test(names[0] ?? '');
    throw new Failure('usage', 'The file has no column id.', { hint: isRow ? rowsOfSvc : hint });
  }
  const set = flags.set ?? {};
  const strange = (template?.placeholders ?? []).filter(
    (name) => !Object.hasOwn(set, name) && cellReader({ names, isJson }, name) === undefined,
  );
  if (strange.length > 0) {
    const columns = strange.length === 1 ? 'column' : 'columns';
    throw new Failure('usage', `The template has ${bracedNames(strange)}, and the file has no such ${columns}.`, {
      hint: `${listedFor(row.operation, strange)}Give each row its own in a ${columns.replace('columns', 'column each')} of that name. For the same in every row: ${setFlags(strange)}\nColumns: ${sanitize(names.join(', '))}.`,
    });
  }
}

/** A pipe from svc itself has no header. */
const rowsOfSvc =
  'Its first line looks like a row. If svc wrote it, add -o jsonl there. Else say what the columns are: --no-header --map "#1=id"';
