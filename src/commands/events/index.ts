import * as v from 'valibot';
import { type AttributionKey, attributionKeys, sendEvent } from '../../api/events.ts';
import type { Input } from '../../api/operation.ts';
import { fieldsOf } from '../../api/shape.ts';
import { defineCommand, type Param, type TopGroup } from '../../command/command.ts';
import { paramOf } from '../../command/flags.ts';
import { inCapitals, param } from '../../command/param.ts';
import { rowOf } from '../../command/row.ts';
import { Failure } from '../../errors.ts';
import { call, connect } from '../../http/call/call.ts';
import { withoutUndefined } from '../../text/record.ts';

type Body = Input<typeof sendEvent>['body'];

const fields = fieldsOf(sendEvent.body);
const contactFields = fields.contact?.fields ?? {};
const kpiFields = fields.kpi?.fields ?? {};

const optional = <T = string>(name: string, from: typeof fields): Param<T | undefined> => {
  const shape = from[name];
  if (!shape) throw new Error(`sendEvent has no field ${name}`);
  return { ...paramOf(name, shape, { optional: true }), required: false } as Param<T | undefined>;
};

const attributionFlags = Object.fromEntries(
  attributionKeys.map((key) => [key, optional(key, fields.attribution?.fields ?? {})]),
) as Record<AttributionKey, Param<string | undefined>>;

/** As in a file: the value in major units too. */
const EventRow = v.object({
  ...sendEvent.body.entries,
  kpi: v.optional(
    v.object({
      value: v.optional(v.string()),
      value_minor: v.optional(v.number()),
      currency: v.optional(v.string()),
    }),
  ),
});

const send = defineCommand({
  name: 'send',
  summary: sendEvent.summary,
  details:
    'The contact needs a name, and an email or a phone. --value 19.99 --currency EUR is turned into minor units exactly.\n' +
    'An event whose answer is lost is never sent again: exit 9 says so.',
  args: { trigger: param.requiredText('The event key that a sequence listens for', { placeholder: 'TRIGGER' }) },
  flags: {
    contactName: param.requiredText("The contact's first name"),
    contactLastName: param.text("The contact's last name"),
    email: {
      ...optional('email', contactFields),
      ...{ required: true, unless: ['phone'], asks: 'Email; where there is a phone alone, Ctrl-C and give --phone' },
    },
    phone: optional('phone', contactFields),
    external_ref: optional('external_ref', fields),
    metadata: optional<Readonly<Record<string, string>>>('metadata', fields),
    ...attributionFlags,
    value: param.text('Value in major units, for example 19.99', { placeholder: 'AMOUNT', conflicts: ['value_minor'] }),
    value_minor: optional<number>('value_minor', kpiFields),
    currency: inCapitals(optional('currency', kpiFields)),
  },
  row: rowOf(sendEvent, {
    body: EventRow,
    places: {
      trigger: 'trigger',
      contactName: 'contact.name',
      contactLastName: 'contact.last_name',
      email: 'contact.email',
      phone: 'contact.phone',
      ...Object.fromEntries(attributionKeys.map((key) => [key, `attribution.${key}`])),
      value: 'kpi.value',
      value_minor: 'kpi.value_minor',
      currency: 'kpi.currency',
    },
    finish: ({ kpi, ...body }) => ({ ...body, ...(kpi ? { kpi: kpiOf(kpi) } : {}) }),
    question: (count) =>
      `Send ${count} event${count === 1 ? '' : 's'}? A sequence that listens may write to the contact.`,
  }),
  examples: [
    'svc events send order_create --contact-name Ada --email ada@example.com --value 19.99 --currency EUR --utm-source news',
  ],
  async run(ctx, { args, flags, settings }) {
    const body = eventOf(args.trigger, flags);
    const service = await connect(ctx, settings);
    const record = await call(service, sendEvent, { body });
    const done = `Sent ${args.trigger}. ${enrolledNote(record?.enrolled)}`.trimEnd();
    return { data: { shape: 'record', record: record ?? {} }, done, notes: [done] };
  },
});

function enrolledNote(enrolled: unknown): string {
  if (typeof enrolled !== 'number') return '';
  return enrolled === 0 ? 'No sequence listens for it, so nobody was enrolled.' : `Enrolled: ${enrolled}.`;
}

function eventOf(trigger: string, flags: Parameters<typeof send.run>[1]['flags']): Body {
  const attribution = withoutUndefined(Object.fromEntries(attributionKeys.map((key) => [key, flags[key]])));
  return withoutUndefined({
    trigger,
    external_ref: flags.external_ref,
    contact: withoutUndefined({
      name: flags.contactName,
      last_name: flags.contactLastName,
      email: flags.email,
      phone: flags.phone,
    }),
    metadata: flags.metadata,
    attribution: Object.keys(attribution).length > 0 ? attribution : undefined,
    kpi: kpiOf(flags),
  }) as Body;
}

type Kpi = { readonly value?: string; readonly value_minor?: number; readonly currency?: string };

function kpiOf({ value, value_minor, currency: named }: Kpi) {
  const currency = named?.toUpperCase();
  if (value === undefined && value_minor === undefined) {
    if (currency === undefined) return undefined;
    throw new Failure('usage', '--currency needs --value or --value-minor.');
  }
  if (currency === undefined) throw new Failure('usage', 'A value needs --currency, for example EUR.');
  return { value_minor: value_minor ?? minorUnits(value ?? '', currency), currency };
}

export const events: TopGroup = { commands: [send] };

/**
 * A decimal amount in minor units, exactly: the digits are moved, never multiplied. How many there are comes from the
 * currency (EUR 2, JPY 0, KWD 3).
 */
function minorUnits(amount: string, currency: string): number {
  const digits =
    new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
  const match = /^(-?)(\d+)(?:\.(\d+))?$/u.exec(amount.trim());
  const fraction = match?.[3] ?? '';
  if (!match || fraction.length > digits) {
    const example = digits === 0 ? '1999' : `19.${'9'.repeat(digits)}`;
    throw new Failure('usage', `--value must be an amount of ${currency} like ${example}, not "${amount}".`);
  }
  const minor = Number(`${match[1]}${match[2]}${fraction.padEnd(digits, '0')}`);
  if (!Number.isSafeInteger(minor)) throw new Failure('usage', `--value ${amount} is too large.`);
  return minor;
}
