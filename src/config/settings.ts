import type { Env } from '../env.ts';
import { Failure } from '../errors.ts';
import { nearest } from '../text/near.ts';
import { oneOf } from '../text/one-of.ts';
import type { Carried } from './advice.ts';
import { holdsCredential } from './credential-variables.ts';
import { holdMs, isCi, type Named, partnerSegment, profileName, seconds, splitFields, toggle } from './given-texts.ts';
import { outputs } from './outputs.ts';
import { parseServiceUrl } from './service-url.ts';

/** How data is printed. `auto`: a table on a terminal, tab-separated rows in a pipe. */
export type Output = (typeof outputs)[number];

/** Forms that a command may have beside the outputs: whole pages, for people. */
export const pageForms = ['md', 'html'] as const;

type PageForm = (typeof pageForms)[number];

/** What the record of writes keeps: `full` also the bodies, `off` nothing. */
export const auditModes = ['on', 'off', 'full'] as const;

export type AuditMode = (typeof auditModes)[number];

export const colors = ['auto', 'always', 'never'] as const;

/** What becomes of what would reach a customer or the public, from the loosest to the strictest (docs/drafts.md). */
export const sendModes = ['allow', 'ask', 'draft'] as const;

export type SendMode = (typeof sendModes)[number];

/** The stricter one holds. */
export const stricter = (...modes: readonly (SendMode | undefined)[]): SendMode =>
  sendModes[Math.max(0, ...modes.map((mode) => (mode === undefined ? 0 : sendModes.indexOf(mode))))] ?? 'draft';

export const sendMode = (text: string, by: string): SendMode => oneOf(sendModes, { text, by });

/** What `config.json` holds: no secrets. Unknown keys are kept when svc writes it. */
export type Config = {
  readonly default_profile?: string;
  readonly output?: Output;
  readonly color?: (typeof colors)[number];
  readonly pager?: string;
  readonly audit?: AuditMode;
  /** Seconds between a yes and the send. */
  readonly hold?: string;
  /** Where drafts are kept: a postgres:// URL, or a folder. */
  readonly drafts?: string;
  /** Names of the user's own, each with the command line that it stands for. */
  readonly aliases?: Readonly<Record<string, string>>;
  readonly profiles?: Readonly<Record<string, ProfileConfig>>;
};

export type ProfileConfig = {
  readonly base_url?: string;
  readonly auth_url?: string;
  readonly client_id?: string;
  readonly redirect_uri?: string;
  readonly sends?: string;
  readonly account?: { readonly id: number; readonly name: string };
};

/** The flags and the environment that hold for every command, settled once: flag, environment, profile, default. */
export type Settings = {
  readonly profile: string;
  /** The profile was named by flag or environment, not merely the default. */
  readonly profileNamed: boolean;
  /** The profiles of the configuration. */
  readonly profiles: readonly string[];
  /** Undefined where nothing names one; then a command that needs it fails with advice. */
  readonly baseUrl?: string;
  /** The base URL came from a flag or the environment, not from the profile. */
  readonly baseUrlNamed: boolean;
  readonly authUrl?: string;
  /** The auth URL came from a flag or the environment, not from the profile. */
  readonly authUrlNamed: boolean;
  /** What a hint must name so that it can be typed as it stands. */
  readonly carried: Carried;
  readonly clientId?: string;
  readonly redirectUri: string;
  readonly partnerSegment: string;
  readonly output?: Output;
  /** Neither a flag nor SVC_OUTPUT names it, but the configuration. */
  readonly isOutputKept?: boolean;
  /** In place of an output: only a command that has such pages takes it. */
  readonly pageForm?: PageForm;
  readonly fields?: readonly string[];
  readonly jq?: string;
  readonly noInput: boolean;
  readonly yes: boolean;
  readonly quiet: boolean;
  readonly debug: boolean;
  readonly timeoutMs: number;
  /** Undefined: the command's own default. */
  readonly maxWaitMs?: number;
  /** How long to look for a write whose outcome is not known. */
  readonly settleMs: number;
  readonly color: (typeof colors)[number];
  readonly safeCells: boolean;
  /** A service that is not on this machine may be reached by http://. */
  readonly insecureHttp: boolean;
  readonly pager?: string;
  readonly audit: AuditMode;
  /** The policy may be stricter. */
  readonly sends?: SendMode;
  /** Between a yes and the send. */
  readonly holdMs?: number;
  /** Where drafts are kept, where that is not the state folder. */
  readonly drafts?: string;
  /** Contacts are looked for in the service, also where there is a copy of the account. */
  readonly live?: boolean;
};

/** The flags that hold for every command, as typed. */
export type GlobalFlags = Readonly<Partial<Record<ValuedFlag, string> & Record<SwitchFlag, boolean>>>;

type ValuedFlag = 'profile' | 'baseUrl' | 'authUrl' | 'output' | 'fields' | 'jq' | 'timeout' | 'maxWait' | 'settle';
type SwitchFlag = 'json' | 'noInput' | 'yes' | 'quiet' | 'debug' | 'noColor' | 'safeCells' | 'insecureHttp' | 'live';

export const defaultRedirectUri = 'http://127.0.0.1:8976/callback';
export const usualSettleMs = 30_000;

/** Flags before environment before profile, and what contradicts itself. Pure; what a profile holds is judged by `openSession`. */
export function settle(flags: GlobalFlags, env: Env, config: Config): Settings {
  const fromEnv = (name: string): Named | undefined => (env[name] ? { text: env[name], by: name } : undefined);
  const given = (flag: string, text: string | undefined, variable: string): Named | undefined =>
    text === undefined ? fromEnv(variable) : { text, by: flag };

  const profileBy = given('--profile', flags.profile, 'SVC_PROFILE');
  const profile = profileName(profileBy ?? { text: config.default_profile ?? 'default', by: 'default_profile' });
  const own = profileConfig(config, profile);

  const baseUrlBy = given('--base-url', flags.baseUrl, 'SVC_BASE_URL');
  const authUrlBy = given('--auth-url', flags.authUrl, 'SVC_AUTH_URL');
  const url = (named: Named | undefined, kept: string | undefined, key: string): string | undefined => {
    const chosen = named ?? (kept ? { text: kept, by: `${key} of profile ${profile}` } : undefined);
    return chosen && parseServiceUrl(chosen.text, chosen.by);
  };

  const timeout = given('--timeout', flags.timeout, 'SVC_TIMEOUT');
  const maxWait = given('--max-wait', flags.maxWait, 'SVC_MAX_WAIT');
  const settleFor = given('--settle', flags.settle, 'SVC_SETTLE');

  return {
    profile,
    profileNamed: profileBy !== undefined,
    profiles: Object.keys(config.profiles ?? {}),
    baseUrl: url(baseUrlBy, own.base_url, 'base_url'),
    baseUrlNamed: baseUrlBy !== undefined,
    authUrl: url(authUrlBy, own.auth_url, 'auth_url'),
    authUrlNamed: authUrlBy !== undefined,
    carried: {
      profile: profileBy && profile,
      baseUrl: flags.baseUrl && url(baseUrlBy, undefined, 'base_url'),
      authUrl: flags.authUrl && url(authUrlBy, undefined, 'auth_url'),
      insecureHttp: flags.insecureHttp,
    },
    clientId: env.SVC_CLIENT_ID || own.client_id || undefined,
    redirectUri: own.redirect_uri || defaultRedirectUri,
    partnerSegment: partnerSegment(env.SVC_PARTNER_SEGMENT || 'partner'),
    output: chooseOutput(flags, fromEnv('SVC_OUTPUT'), config.output),
    isOutputKept: flags.output === undefined && !flags.json && flags.jq === undefined && !env.SVC_OUTPUT,
    pageForm: pageFormOf(flags),
    fields: flags.fields === undefined ? undefined : splitFields(flags.fields),
    jq: flags.jq,
    noInput: flags.noInput === true || toggle(fromEnv('SVC_NO_INPUT')) || isCi(env.CI),
    yes: flags.yes === true,
    quiet: flags.quiet === true,
    debug: flags.debug === true || toggle(fromEnv('SVC_DEBUG')),
    timeoutMs: timeout ? seconds(timeout, 0.001) : 30_000,
    maxWaitMs: maxWait ? seconds(maxWait, 0) : undefined,
    settleMs: settleFor ? seconds(settleFor, 0) : usualSettleMs,
    color: chooseColor(flags, env, config.color),
    safeCells: flags.safeCells === true,
    insecureHttp: flags.insecureHttp === true || toggle(fromEnv('SVC_INSECURE_HTTP')),
    pager: env.PAGER ?? config.pager,
    audit: oneOf(auditModes, { text: config.audit ?? 'on', by: 'audit in config.json' }),
    sends: sendsOf(config, profile, env),
    holdMs: config.hold === undefined ? undefined : holdMs(config.hold, 'hold in config.json'),
    drafts: env.SVC_DRAFTS_DB || config.drafts,
    live: flags.live === true,
  };
}

/** With a credential from the environment that of the default profile holds too: no variable loosens it. */
export function sendsOf(config: Config, profile: string, env: Env): SendMode {
  const ofProfile = (name: string) => {
    const { sends } = profileConfig(config, name);
    return sends === undefined ? undefined : sendMode(sends, `sends of profile ${name}`);
  };
  const general = holdsCredential(env) ? ofProfile(config.default_profile ?? 'default') : undefined;
  return stricter(ofProfile(profile), general, env.SVC_SENDS ? sendMode(env.SVC_SENDS, 'SVC_SENDS') : undefined);
}

/** The profile's part of the config; an absent profile has an empty one. */
export function profileConfig(config: Config, profile: string): ProfileConfig {
  const profiles = config.profiles ?? {};
  return (Object.hasOwn(profiles, profile) && profiles[profile]) || {};
}

/** @throws Failure `usage` where something is asked of it that only data has */
function pageFormOf({ output, json, jq, fields }: GlobalFlags): PageForm | undefined {
  const form = pageForms.find((name) => name === output);
  if (form && (json || jq !== undefined || fields !== undefined)) {
    throw new Failure('usage', `--output ${form} is a page: leave out --json, --jq and --fields.`);
  }
  return form;
}

function chooseOutput(flags: GlobalFlags, env: Named | undefined, kept: string | undefined): Output | undefined {
  if (pageFormOf(flags)) return undefined;
  const named = flags.output === undefined ? undefined : outputName({ text: flags.output, by: '--output' });
  if (flags.json && named !== undefined && named !== 'json') {
    throw new Failure('usage', `--json and --output ${named} cannot be used together.`, { hint: 'Give one of them.' });
  }
  if (flags.jq !== undefined && named !== undefined && named !== 'json' && named !== 'jsonl') {
    throw new Failure('usage', `--jq filters JSON, so it cannot be used with --output ${named}.`, {
      hint: 'Give one of them.',
    });
  }
  if (flags.json) return 'json';
  if (named) return named;
  if (flags.jq !== undefined) return 'json';
  const other = env ?? (kept === undefined ? undefined : { text: kept, by: 'output in config.json' });
  return other && outputName(other);
}

function outputName(named: Named): Output {
  const meant = nearest(named.text, outputs);
  const near = meant === undefined ? '' : `Did you mean ${meant}? `;
  const also = named.by === '--output' ? `svc report also takes ${pageForms.join(' and ')}.` : '';
  return oneOf(outputs, named, `${near}${also}`.trim() || undefined);
}

/** https://no-color.org: any value that is not empty. An explicit no beats a forced yes. */
function chooseColor(flags: GlobalFlags, env: Env, kept: string | undefined): Settings['color'] {
  if (flags.noColor || env.NO_COLOR) return 'never';
  if (env.FORCE_COLOR) return ['0', 'false'].includes(env.FORCE_COLOR) ? 'never' : 'always';
  if (env.TERM === 'dumb') return 'never';
  return oneOf(colors, { text: kept ?? 'auto', by: 'color in config.json' });
}
