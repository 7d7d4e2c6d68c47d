import { check, type FieldErrors } from '../../api/check.ts';
import { cellReader } from '../../batch/places.ts';
import { parted } from '../../command/follow.ts';
import { recordOfField } from '../../command/named.ts';
import { type Body, bodyOf, fieldsOfRow, idNameOf, type RowOf } from '../../command/row.ts';
import { bracedNames, setFlags } from '../../command/template-file.ts';
import { Failure } from '../../errors.ts';
import type { FileRow } from '../../tabular/rows.ts';
import { isRecord } from '../../text/record.ts';
import { short } from '../../text/short.ts';
import { fillTemplate } from '../../text/template.ts';
import { exactly, type Reading, readCell } from './cells.ts';
import type { Columns } from './columns.ts';
import { type Commanded, givenReader } from './given.ts';
import type { Idle } from './idle.ts';
import { type Resolvers, withId } from './ids.ts';
import { isBlank, noChange } from './no-change.ts';
import { otherKindIn } from './own-kinds.ts';
import { remedy } from './remedy.ts';
import { type Requesters, withoutRequester } from './requesters.ts';
import type { RowInput } from './row-input.ts';
import { inTwoSteps } from './second-step.ts';
import type { Values } from './values.ts';

export type MakeInput = (row: FileRow) => Made;
type Made =
  | { readonly id: number | undefined; readonly input: RowInput; readonly given: string | undefined }
  | { readonly problem: string };

type Parts = {
  readonly row: RowOf;
  readonly columns: Columns;
  readonly given: Commanded;
  readonly reading: Reading;
  readonly resolve: Resolvers;
  readonly values: Values;
  /** With --create-contacts. */
  readonly requesters: Requesters | undefined;
  /** Told of what each row has itself. */
  readonly idle: Pick<Idle, 'see'>;
};

/** A row of the file as the input of the operation, checked as far as it can be without asking the service. */
export function inputMaker(parts: Parts): MakeInput {
  const { row, columns, given } = parts;
  const { template, set } = given;
  const idName = idNameOf(row);
  const schema = row.finish ? row.operation.body : bodyOf(row);
  const readers = new Map(
    template?.placeholders.map((name) => [name, cellReader({ ...columns, isJson: parts.reading.isJson }, name)]),
  );
  const cellFor = (fileRow: FileRow, name: string) => readers.get(name)?.(fileRow.cells);
  const givenOf = givenToRow(parts, cellFor);
  const otherKind = otherKindIn(row, columns);
  return (fileRow) => {
    if (fileRow.broken !== undefined) return { problem: fileRow.broken };
    const strange = otherKind?.(fileRow.cells);
    if (strange !== undefined) return { problem: strange };
    const cells = cellsOf(fileRow, parts);
    const { id, problems, unread } = cells;
    if (idName !== undefined && id === undefined && !unread.has(idName))
      problems.push(`has no ${columns.targets.some((target) => target?.kind === 'email') ? 'email' : 'id'}`);
    const params = idName === undefined || id === undefined ? {} : { params: { [idName]: id } };
    if (!row.operation.body)
      return problems.length > 0 ? { problem: problems.join('; ') } : { id, input: params, given: undefined };
    const body = merged(given.body, cells.body);
    if (template && row.text) {
      const filled = fillTemplate(template, (name) =>
        filledOr(cellFor(fileRow, name), Object.hasOwn(set, name) ? set[name] : undefined),
      );
      if ('missing' in filled) {
        problems.push(`has no value for ${bracedNames(filled.missing)} (to give one: ${setFlags(filled.missing)})`);
        unread.add(row.text);
      } else setAt(body, row.text, filled.text);
    }
    const whole = finished(row, { ...body, ...row.fixed });
    // What cannot be put together for want of a cell that cannot be read is no second problem.
    if ('problem' in whole) return { problem: problems.length > 0 ? problems.join('; ') : whole.problem };
    if (problems.length === 0 && row.needsChange && Object.keys(whole.body).length === 0)
      return { problem: noChange(fileRow, parts) };
    const checked = schema ? check(schema, whole.body) : undefined;
    if (checked && !checked.ok) problems.push(...inWords(checked.fields, columns, unread));
    if (problems.length > 0) return { problem: problems.join('; ') };
    const about = ofRequester(parts, whole.body);
    if ('problem' in about) return about;
    const { body: own, requester } = about;
    const { body: first, steps } = parted(row.follows, own, params.params);
    const follows = steps.length > 0 ? { follows: steps } : {};
    const input = { ...params, ...inTwoSteps(row, first), ...follows, ...(requester && { requester }) };
    return { id, input, given: givenOf(fileRow, cells.body) };
  };
}

/** What the command line gives to a row, by the fields that its own cells fill. */
function givenToRow(
  { row: { requester }, given, requesters, idle }: Parts,
  cellFor: (row: FileRow, name: string) => unknown,
) {
  const names = Object.keys(given.set);
  const tell = givenReader(given);
  return (fileRow: FileRow, body: Body): string | undefined => {
    const set = new Set(names.filter((name) => !isBlank(cellFor(fileRow, name))));
    // Whom a row names takes the place of the contact of the command line.
    const isNamed = requesters && requester !== undefined && body.contact !== undefined;
    const by = { own: isNamed ? { ...body, [requester]: null } : body, set };
    idle.see(by);
    return tell(by);
  };
}

type About = ReturnType<typeof withoutRequester> | { readonly problem: string };

/** A contact that is there is named by its id, as everywhere: a row stays the same row once its contact was made. */
function ofRequester({ row, requesters }: Parts, whole: Body): About {
  if (!requesters || row.requester === undefined) return { body: whole };
  const { body, requester } = withoutRequester(whole);
  if (!requester) return { body };
  const id = requesters.idOf(requester.email);
  if (id === 'new') return { body, requester };
  return typeof id === 'number' ? { body: { ...body, [row.requester]: id } } : id;
}

/** A row's own cell wins. */
const filledOr = (cell: unknown, other: string | undefined): unknown =>
  other !== undefined && isBlank(cell) ? other : cell;

function cellsOf({ cells }: FileRow, { row, columns, reading, resolve, values }: Parts) {
  let id: number | undefined;
  const body: Record<string, unknown> = {};
  const problems: string[] = [];
  const unread = new Set<string>();
  const add = (field: string, problem: string) => {
    unread.add(field);
    problems.push(problem);
  };
  for (const [at, target] of columns.targets.entries()) {
    const cell = values.of(at, cells[at]);
    if (!target || cell === undefined) continue;
    const name = columns.names[at] ?? '';
    if (target.kind !== 'field') {
      const text = cell === null ? '' : String(cell).trim();
      if (text === '') continue;
      const found = resolve.ofRecord(text);
      if (typeof found === 'number') id = found;
      else add(idNameOf(row) ?? '', `${name} ${found.problem}`);
      continue;
    }
    const { field, key } = target;
    const known = recordOfField(field.path) ? withId(cell, resolve.ofContact) : { cell };
    if ('problem' in known) {
      add(field.path, `${name} ${known.problem}`);
      continue;
    }
    const read = key === undefined ? readCell(known.cell, field.shape, reading) : ownCell(cell, reading);
    if (read === 'absent') continue;
    if ('problem' in read) add(field.path, problemOf(name, field.path, read));
    else setAt(body, field.path, key === undefined ? read.value : { ...objectAt(body, field.path), [key]: read.value });
  }
  return {
    id,
    body,
    /** Of all cells, each in words. */
    problems,
    /** The fields of those: that nothing fills them is no fault besides. */
    unread,
  };
}

function ownCell(cell: unknown, { clearEmpty }: Reading): ReturnType<typeof readCell> {
  if (typeof cell !== 'string' || cell !== '') return exactly(cell);
  return clearEmpty ? { value: null } : 'absent';
}

function finished(row: RowOf, body: Body): { readonly body: Body } | { readonly problem: string } {
  if (!row.finish) return { body };
  try {
    return { body: row.finish(body) };
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    return { problem: failure.message.replace(/\.$/u, '') };
  }
}

type Unread = Extract<ReturnType<typeof readCell>, { problem: string }>;

function problemOf(name: string, path: string, { problem, word }: Unread): string {
  // A number by its name is understood, and any other word can be given one.
  const named = path === 'priority' ? /^must be a number, not "(.+)"$/u.exec(problem)?.[1] : undefined;
  if (named !== undefined)
    return `${name} must be 0 to 4, or none, low, normal, high or urgent, not "${named}"${remedy(name, path, named)}`;
  return `${name} ${problem}${word === undefined ? '' : remedy(name, path, word)}`;
}

/** The columns that are wrong, under the names that they have in the file; those of `told` were named before. */
function inWords(fields: FieldErrors, columns: Columns, told: ReadonlySet<string>): string[] {
  const nameOf = (path: string): string => {
    const at = columns.targets.findIndex((target) => target?.field?.path === path);
    return at < 0 ? path : (columns.names[at] ?? path);
  };
  return Object.entries(fields)
    .filter(([path]) => ![...told].some((one) => path === one || one.startsWith(`${path}.`)))
    .map(([path, messages]) => `${path === '' ? 'The row' : short(nameOf(path))} ${messages.join(' and ')}`);
}

/** What the command line says for every row, by the body's fields. */
export function givenBody(row: RowOf, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  const fields = fieldsOfRow(row);
  for (const [key, value] of Object.entries(values)) {
    const path = row.places?.[key] ?? key;
    if (value !== undefined && fields[path]) setAt(body, path, value);
  }
  return body;
}

/** A row's own cell wins; the caller's own data is united. */
function merged(given: Body, own: Body): Record<string, unknown> {
  const body: Record<string, unknown> = { ...given };
  for (const key of Object.keys(own)) {
    const [before, value] = [given[key], own[key]];
    put(body, key, isRecord(before) && isRecord(value) ? merged(before, value) : value);
  }
  return body;
}

const objectAt = (body: Record<string, unknown>, path: string): object => {
  const held = path.split('.').reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), body);
  return isRecord(held) ? held : {};
};

/** `__proto__` is a key like any other. */
function put(body: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') body[key] = value;
  else Object.defineProperty(body, key, { value, enumerable: true, configurable: true, writable: true });
}

function setAt(body: Record<string, unknown>, path: string, value: unknown): void {
  const [first = '', ...rest] = path.split('.');
  if (rest.length === 0) {
    put(body, first, value);
    return;
  }
  const inner = { ...objectAt(body, first) };
  setAt(inner, rest.join('.'), value);
  body[first] = inner;
}
