import { type CredentialKind, moduleNames, type Operation, scopes } from '../../api/operation.ts';
import { loginCommand } from '../../auth/credentials.ts';
import type { HttpResponse } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { isGatewayTimeout, isOwnRefusal, jsonOf, readBody } from '../../retry/own-word.ts';
import { readError, type Said } from './answer.ts';

type OperationFacts = Pick<Operation, 'id' | 'scope' | 'module' | 'credentials' | 'effect'>;

/** Whose credential was refused: what helps depends on it. */
type Holder = {
  readonly kind: CredentialKind;
  readonly profile: string;
  /** The variable that holds it; undefined where the profile does. svc can neither refresh nor replace such a one. */
  readonly variable?: string;
};

/** An error of the service's own, as the Failure that the user sees (service.md#errors-1). */
export function failureOf(response: HttpResponse, asked: OperationFacts, holder: Holder): Failure {
  const failure = told(response, asked, holder);
  const isForeign = response.status < 500 && !isOwnRefusal(response, readBody(response.body));
  const hint = isForeign ? [between, failure.hint].filter(Boolean).join('\n') : failure.hint;
  return new Failure(failure.kind, failure.message, { ...failure, hint, answer: response });
}

/** The form of the answer is not one of the service's, and its limit is not beside it. */
const between = 'Something between svc and the service may have answered: the service says it in another form.';

function told(response: HttpResponse, asked: OperationFacts, holder: Holder): Failure {
  const { status } = response;
  const said = readError(jsonOf(readBody(response.body)));
  if (status === 401) {
    return new Failure('auth', sentence(said.text, 'The service does not accept this credential'), {
      status,
      hint: holder.variable
        ? `The token in ${holder.variable} may be expired or revoked: set a new one.`
        : `It may be expired or revoked. Run: svc auth status, then ${loginCommand(holder.kind, holder.profile)}`,
    });
  }
  if (status === 403) return forbidden(said, asked, holder);
  if (status === 404) {
    return new Failure('not-found', sentence(said.text, 'The service has no such record'), {
      status,
      hint: 'Records of other accounts answer the same. Check the id, and the account with: svc whoami',
    });
  }
  if (status === 429) return new Failure('rate-limited', sentence(said.text, 'The rate limit is reached'), { status });
  if (status >= 500 || isGatewayTimeout(status)) {
    const fact =
      status >= 500 ? `The service failed with status ${status}` : `A gateway gave up on it (HTTP ${status})`;
    return new Failure('failed', sentence(said.text && `${fact}: ${said.text}`, fact), { status });
  }
  return new Failure('rejected', sentence(said.text, `The service refused this with status ${status}`), {
    status,
    fields: said.fields,
    hint: status === 422 && !said.fields ? asked.effect?.refusedHint : undefined,
  });
}

/** A success status whose body cannot be read. */
export const unreadable = (response: HttpResponse): Failure =>
  new Failure('failed', `The service answered ${response.status}, but not in JSON.`, {
    status: response.status,
    hint: 'It may have been cut off on its way.',
    answer: response,
  });

function forbidden(said: Said, asked: OperationFacts, { kind, profile, variable }: Holder): Failure {
  const refused = (message: string, hint: string) => new Failure('forbidden', message, { status: 403, hint });
  if (said.code === 'insufficient_scope') {
    const named = scopes.filter((scope) => said.description?.includes(scope));
    const missing = named.length > 0 ? named : [asked.scope].filter((scope) => typeof scope === 'string');
    const wanted = missing.join(' and ') || 'that scope';
    const refresh = `Run: svc auth refresh${missing.map((scope) => ` --scope ${scope}`).join('')}`;
    // Only an OAuth login is granted more.
    const renewed = `It cannot be given more. With one that has ${wanted}: ${loginCommand(kind, profile)}`;
    const fact = `This login lacks the scope ${missing.join(' ') || 'that this needs'}.`;
    if (variable)
      return refused(fact, `The token in ${variable} cannot be given more: set one there that has ${wanted}.`);
    return refused(fact, kind === 'oauth' ? refresh : renewed);
  }
  if (asked.credentials.length === 1 && asked.credentials[0] === 'oauth') {
    const run = variable ? `Unset ${variable}, then run` : 'Run';
    return refused(
      sentence(said.text, 'The service refuses this credential here'),
      `Webhook subscriptions need an OAuth login. ${run}: ${loginCommand('oauth', profile)}`,
    );
  }
  if (asked.module) {
    const name = moduleNames[asked.module];
    return refused(
      sentence(said.text, `The ${name} module is off`),
      `Switch on the ${name} module in the account, then run: svc doctor`,
    );
  }
  return refused(sentence(said.text, 'The service does not allow this'), 'Run: svc auth status');
}

const sentence = (said: string | undefined, otherwise: string): string => {
  const text = said?.trim() || otherwise;
  return /[.!?]$/u.test(text) ? text : `${text}.`;
};
