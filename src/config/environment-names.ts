import type { Env } from '../env.ts';
import { nearest } from '../text/near.ts';
import { credentialNames } from './credential-variables.ts';

/** Every variable of the environment that svc reads, or gives to what it starts. `svc help environment` names them. */
export const environmentNames: readonly string[] = [
  ...credentialNames,
  ...['SVC_PROFILE', 'SVC_BASE_URL', 'SVC_AUTH_URL', 'SVC_CLIENT_ID', 'SVC_CLIENT_SECRET'],
  ...['SVC_CONFIG_DIR', 'SVC_STATE_DIR', 'SVC_TOKEN_STORE', 'SVC_WEBHOOK_SECRET', 'SVC_MIRROR_DB', 'SVC_SENDS'],
  ...['SVC_DRAFTS_DB', 'SVC_POLICY', 'SVC_PARTNER_SEGMENT', 'SVC_OUTPUT', 'SVC_NO_INPUT', 'SVC_DEBUG', 'SVC_TIMEOUT'],
  ...['SVC_MAX_WAIT', 'SVC_SETTLE', 'SVC_INSECURE_HTTP'],
];

/** Given to what svc starts, or named in a configuration of `serve`. */
const others = /^SVC_(?:ACCOUNT|EACH_ACCOUNT|WEBHOOK_SECRET_\w+)$/u;

/** A sentence for each variable that is named like one of svc and is none. Its value is nobody's. */
export const strangeVariables = (env: Env): readonly string[] =>
  Object.keys(env)
    .filter((name) => /^SVC_/iu.test(name) && !environmentNames.includes(name) && !others.test(name))
    .sort()
    .map((name) => {
      const meant = nearest(name, environmentNames);
      return `${name} is no variable of svc${meant === undefined ? '' : `; did you mean ${meant}?`}`;
    });
