import { describe, expect, test } from 'vitest';
import { type Config, type GlobalFlags, settle } from '../src/config/settings.ts';
import type { Env } from '../src/env.ts';
import { Failure } from '../src/errors.ts';

const settled = (flags: GlobalFlags = {}, env: Env = {}, config: Config = {}) => settle(flags, env, config);

const refused = (flags: GlobalFlags, env: Env = {}, config: Config = {}): string => {
  try {
    settle(flags, env, config);
  } catch (error) {
    if (error instanceof Failure && error.kind === 'usage') return [error.message, error.hint].join('\n');
    throw error;
  }
  throw new Error('It was accepted.');
};

describe('precedence is flag, environment, profile, default', () => {
  const config: Config = {
    default_profile: 'work',
    output: 'yaml',
    profiles: { work: { base_url: 'https://profile.example.com', client_id: 'from-profile' } },
  };
  const env = {
    SVC_BASE_URL: 'https://env.example.com/',
    SVC_OUTPUT: 'csv',
    SVC_TIMEOUT: '5',
    SVC_CLIENT_ID: 'from-env',
  };

  test.each<[string, GlobalFlags, Env, Config, object]>([
    [
      'nothing given',
      {},
      {},
      {},
      { profile: 'default', profileNamed: false, baseUrl: undefined, timeoutMs: 30_000, partnerSegment: 'partner' },
    ],
    [
      'the profile',
      {},
      {},
      config,
      { profile: 'work', baseUrl: 'https://profile.example.com', baseUrlNamed: false, output: 'yaml' },
    ],
    [
      'the environment over the profile',
      {},
      env,
      config,
      {
        baseUrl: 'https://env.example.com',
        baseUrlNamed: true,
        output: 'csv',
        timeoutMs: 5000,
        clientId: 'from-env',
      },
    ],
    [
      'a flag over the environment',
      { baseUrl: 'https://flag.example.com/v1/', json: true, timeout: '0.5' },
      env,
      config,
      { baseUrl: 'https://flag.example.com/v1', output: 'json', timeoutMs: 500 },
    ],
    ['a profile by variable', {}, { SVC_PROFILE: 'work' }, config, { profile: 'work', profileNamed: true }],
    [
      'a variable set to nothing',
      {},
      { SVC_PROFILE: '', SVC_OUTPUT: '' },
      {},
      { profile: 'default', output: undefined },
    ],
    ['zero seconds to wait', { maxWait: '0' }, {}, {}, { maxWaitMs: 0 }],
    ['CI', {}, { CI: 'true' }, {}, { noInput: true }],
    ['CI switched off', {}, { CI: 'false' }, {}, { noInput: false }],
    ['a dumb terminal', {}, { TERM: 'dumb' }, {}, { color: 'never' }],
    ['NO_COLOR beside FORCE_COLOR', {}, { NO_COLOR: '1', FORCE_COLOR: '1' }, {}, { color: 'never' }],
    ['FORCE_COLOR over the config', {}, { FORCE_COLOR: '1' }, { color: 'never' }, { color: 'always' }],
    ['fields', { fields: 'id, contact.email' }, {}, {}, { fields: ['id', 'contact.email'] }],
    ['a profile named like a member of every object', { profile: 'constructor' }, {}, {}, { baseUrl: undefined }],
  ])('%s', (_, flags, variables, file, expected) => {
    expect(settled(flags, variables, file)).toMatchObject(expected);
  });
});

describe('what cannot be meant is refused by the name of its flag or variable', () => {
  test.each<[GlobalFlags, Env, string]>([
    [{ json: true, output: 'csv' }, {}, '--json and --output csv'],
    [{ output: 'xml' }, {}, '--output must be one of'],
    [{}, { SVC_OUTPUT: 'xml' }, 'SVC_OUTPUT must be one of'],
    [{ timeout: '0' }, {}, '--timeout takes a number of seconds above 0'],
    [{ timeout: '1e9' }, {}, '--timeout'],
    [{ timeout: '99999999' }, {}, '--timeout must be at most 2000000 seconds (23 days), not "99999999"'],
    [{ settle: '2000000.1' }, {}, '--settle must be at most 2000000 seconds'],
    [{ maxWait: '99999999999999999999' }, {}, '--max-wait must be at most 2000000 seconds'],
    [{}, { SVC_TIMEOUT: '99999999' }, 'SVC_TIMEOUT must be at most 2000000 seconds'],
    [{}, { SVC_MAX_WAIT: '-1' }, 'SVC_MAX_WAIT'],
    [{}, { SVC_MAX_WAIT: 'soon' }, 'SVC_MAX_WAIT'],
    [{}, { SVC_DEBUG: 'maybe' }, 'SVC_DEBUG must be 1 or 0'],
    [{ profile: '../work' }, {}, '--profile: "../work"'],
    [{}, { SVC_PROFILE: '__proto__' }, 'SVC_PROFILE: "__proto__"'],
    [{ baseUrl: 'api.example.com' }, {}, '--base-url: "api.example.com" is not a URL'],
    [{ baseUrl: 'ftp://api.example.com' }, {}, '--base-url'],
    [{}, { SVC_BASE_URL: '"https://api.example.com"' }, 'quotation marks'],
    [{}, { SVC_AUTH_URL: "'https://api.example.com" }, 'quotation marks'],
    [{}, { SVC_BASE_URL: 'ada:geheim@api.example.com' }, 'SVC_BASE_URL: it must begin with https://'],
    [{}, { SVC_BASE_URL: '"https://ada:geheim@api.example.com"' }, 'SVC_BASE_URL: it is not a URL'],
    [{}, { SVC_BASE_URL: ' https://ada:geheim@api.example.com' }, 'may not carry a user name'],
    [{}, { SVC_BASE_URL: 'https//ada:geheim@api.example.com' }, 'SVC_BASE_URL: it is not a URL'],
    [{}, { SVC_BASE_URL: 'https://api.example.com/?a=ada:geheim@x' }, 'SVC_BASE_URL: it may not carry a query'],
    [{}, { SVC_BASE_URL: 'https://api.example.com/?a=1' }, 'SVC_BASE_URL'],
    [{ authUrl: 'nowhere' }, {}, '--auth-url'],
    [{}, { SVC_PARTNER_SEGMENT: 'a/b' }, 'SVC_PARTNER_SEGMENT'],
    [{}, { SVC_PARTNER_SEGMENT: '..' }, 'SVC_PARTNER_SEGMENT'],
    [{ fields: 'id,,name' }, {}, '--fields'],
  ])('%j %j', (flags, env, message) => {
    expect(refused(flags, env)).toContain(message);
    expect(refused(flags, env)).not.toContain('geheim');
  });

  test('a password in a base URL is refused and not repeated', () => {
    expect(refused({ baseUrl: 'https://me:hunter2@api.example.com' })).not.toContain('hunter2');
  });

  test('--json beside SVC_OUTPUT is no contradiction: the flag comes first', () => {
    expect(settled({ json: true }, { SVC_OUTPUT: 'csv' }).output).toBe('json');
  });
});
