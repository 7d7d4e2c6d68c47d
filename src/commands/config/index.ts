import { resolve } from 'node:path';
import { defineCommand, type Offer, type Param, type TopGroup } from '../../command/command.ts';
import { agreeToDefault, agreeToMode } from '../../command/loosen.ts';
import { param } from '../../command/param.ts';
import { readConfig, updateConfig, updateProfile } from '../../config/config-file.ts';
import { holdMs, profileName } from '../../config/given-texts.ts';
import { outputs } from '../../config/outputs.ts';
import { parseServiceUrl } from '../../config/service-url.ts';
import { auditModes, type Config, colors, profileConfig, type Settings, sendModes } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { bare } from '../../output/bare.ts';
import { onlyNotes } from '../../output/only-notes.ts';
import type { View } from '../../output/view.ts';
import { nearHint } from '../../text/near.ts';
import { oneOf } from '../../text/one-of.ts';
import { sanitize } from '../../text/sanitize.ts';

type Key = {
  readonly of: 'everything' | 'profile';
  readonly what: string;
  readonly check: (value: string) => string | Promise<string>;
};

const among = (by: string, choices: readonly string[]) => (text: string) =>
  oneOf(choices, { text, by }, nearHint(text, choices));

/** The file of the configuration is no place for a password, and a folder is the same from wherever svc is run. */
async function placeOfDrafts(value: string): Promise<string> {
  const { isPostgresUrl, refuseUnfitPlace } = await import('../../sends/place.ts');
  await refuseUnfitPlace(value, 'drafts');
  return isPostgresUrl(value) ? value : resolve(value);
}

const keys = {
  default_profile: {
    of: 'everything',
    what: 'The profile that is used when none is named',
    check: (value) => profileName({ text: value, by: 'default_profile' }),
  },
  base_url: { of: 'profile', what: 'The service', check: (value) => parseServiceUrl(value, 'base_url') },
  auth_url: { of: 'profile', what: 'Its OAuth endpoints', check: (value) => parseServiceUrl(value, 'auth_url') },
  client_id: { of: 'profile', what: 'The OAuth client', check: (value) => value },
  redirect_uri: {
    of: 'profile',
    what: 'Where the browser returns after the login',
    check: async (value) => (await import('../../login/oauth-login.ts')).checkRedirectUri(value, 'redirect_uri'),
  },
  sends: {
    of: 'profile',
    what: `What reaches customers: ${sendModes.join(', ')}`,
    check: among('sends', sendModes),
  },
  hold: {
    of: 'everything',
    what: 'Seconds between a yes and the send',
    check: (value) => String(holdMs(value, 'hold') / 1000),
  },
  drafts: { of: 'everything', what: 'Where drafts are kept: a folder, or a postgres:// URL', check: placeOfDrafts },
  output: { of: 'everything', what: `How data is printed: ${outputs.join(', ')}`, check: among('output', outputs) },
  color: { of: 'everything', what: `When to use colour: ${colors.join(', ')}`, check: among('color', colors) },
  pager: {
    of: 'everything',
    what: 'The program for long output, as less -R; cat: none',
    check: (value) => value,
  },
  audit: {
    of: 'everything',
    what: `Record of writes: ${auditModes.join(', ')} (bodies too)`,
    check: among('audit', auditModes),
  },
} as const satisfies Record<string, Key>;

type KeyName = keyof typeof keys;

/** What holds where it is not set, of those for which one word says it. */
const defaults: Partial<Record<KeyName, string>> = {
  sends: 'allow',
  hold: '0',
  output: 'table',
  color: 'auto',
  audit: 'on',
};

const keyNames = Object.keys(keys) as KeyName[];

const key: Param<KeyName> = {
  description: 'Which setting',
  placeholder: 'KEY',
  required: true,
  choices: keyNames,
  parse: ([text = '']: readonly string[]): KeyName => {
    const found = keyNames.find((name) => name === text);
    if (found) return found;
    throw new Failure('usage', `There is no setting "${text}".`, {
      hint: [nearHint(text, keyNames), `There are: ${keyNames.join(', ')}`].filter(Boolean).join(' '),
    });
  },
};

const list = defineCommand({
  name: 'list',
  summary: 'List the settings and their values',
  examples: ['svc config list', 'svc config list --json'],
  async run(ctx, { settings: { profile } }) {
    const config = await readConfig(ctx.files);
    const records = keyNames.map((name) => told(profile, name, configured(config, profile, name)));
    return { read: true, data: { shape: 'list', records, columns: ['key', 'value', 'of'] } };
  },
});

const told = (profile: string, key: KeyName, value: string | undefined) => ({
  key,
  value: value ?? null,
  of: keys[key].of === 'profile' ? `profile ${profile}` : 'everything',
});

const get = defineCommand({
  name: 'get',
  summary: 'Print the value of a setting',
  args: { key },
  examples: ['svc config get base_url'],
  async run(ctx, { args, settings: { profile } }) {
    const value = configured(await readConfig(ctx.files), profile, args.key);
    const text = value === undefined ? '' : `${sanitize(value)}\n`;
    return {
      ...bare({ key: args.key, value: value ?? null }, text),
      notes: value === undefined ? [notSet(args.key)] : [],
    };
  },
});

const notSet = (key: KeyName): string =>
  `${key} is not set${defaults[key] === undefined ? '' : `; the default is ${defaults[key]}`}.`;

const offersBy = {
  ...{ output: outputs, color: colors, sends: sendModes, audit: auditModes },
  default_profile: 'profiles',
} as const satisfies Partial<Record<KeyName, Offer>>;

const set = defineCommand({
  name: 'set',
  summary: 'Change a setting',
  details: [
    'base_url, auth_url, client_id, redirect_uri and sends belong to the profile in use; the others hold everywhere. ' +
      'An empty value unsets.',
    Object.entries(keys)
      .map(([name, { what }]) => `  ${name.padEnd(15)}  ${what}`)
      .join('\n'),
  ].join('\n\n'),
  args: {
    key,
    value: { ...param.requiredText('Its new value', { placeholder: 'VALUE', takesEmpty: true }), offersBy },
  },
  examples: ['svc config set output json', 'svc config set pager cat'],
  async run(ctx, { args: { key: name, value: text }, settings }) {
    const value = text === '' ? undefined : await keys[name].check(text);
    if (name === 'default_profile' && value !== undefined) await refuseUnknownProfile(ctx, value);
    return change(ctx, settings, name, value);
  },
});

const unset = defineCommand({
  name: 'unset',
  summary: 'Forget a setting, so that its default holds',
  args: { key },
  examples: ['svc config unset output'],
  run: (ctx, { args, settings }) => change(ctx, settings, args.key, undefined),
});

async function change(ctx: Context, settings: Settings, name: KeyName, value: string | undefined): Promise<View> {
  const { profile } = settings;
  const { of } = keys[name];
  const doubt =
    of === 'profile' && value !== undefined
      ? await (await import('../../auth/known-profile.ts')).profileDoubt(
          ctx,
          profile,
          name === 'sends' && value !== 'allow',
        )
      : undefined;
  if (name === 'sends') await agreeToMode(ctx, settings, value);
  if (name === 'default_profile') await agreeToDefault(ctx, settings, value);
  const write = async () => {
    if (of === 'profile') await updateProfile(ctx, profile, { [name]: value });
    else await updateConfig(ctx, (config) => ({ ...config, [name]: value }));
  };
  const isSwitched = name === 'audit' && (value === 'off') !== (settings.audit === 'off');
  const problems = isSwitched ? await switched(ctx, settings, { value, write }) : await write();
  const whose = of === 'profile' ? ` of profile ${profile}` : '';
  return onlyNotes(told(profile, name, value), [
    value === undefined ? `${name}${whose} is unset.` : `${name}${whose} is ${value} now.`,
    ...(problems ?? []),
    ...(doubt === undefined ? [] : [doubt]),
  ]);
}

type Switching = { readonly value: string | undefined; readonly write: () => Promise<void> };

/** The records say so themselves: a gap that nothing shows would look as if nothing was written. */
async function switched(ctx: Context, settings: Settings, { value, write }: Switching): Promise<readonly string[]> {
  const [{ switchRecords }, { nameInUse }] = [
    await import('../../audit/switch.ts'),
    await import('../../audit/place.ts'),
  ];
  const command = value === undefined ? 'config unset audit' : `config set audit ${value}`;
  // A store that cannot be read keeps nobody from the setting.
  const own = await nameInUse(ctx, settings).catch(() => undefined);
  return switchRecords(ctx, { to: value === 'off' ? 'off' : 'on', command, own }, write);
}

/** A default that nobody has logged in to would make every command after it fail. */
async function refuseUnknownProfile(ctx: Context, name: string): Promise<void> {
  const { knownProfiles, profileNotThere } = await import('../../auth/known-profile.ts');
  const known = await knownProfiles(ctx);
  if (!known.includes(name) && name !== 'default') throw profileNotThere(name, known, [...known, 'default']);
}

function configured(config: Config, profile: string, name: KeyName): string | undefined {
  const held: Partial<Record<KeyName, string>> = keys[name].of === 'profile' ? profileConfig(config, profile) : config;
  return held[name];
}

export const config: TopGroup = {
  commands: [list, get, set, unset],
};
