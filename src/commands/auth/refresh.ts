import { scopes } from '../../api/operation.ts';
import { loginCommand, readStored } from '../../auth/credentials.ts';
import { refuseOtherOrigin } from '../../auth/session.ts';
import { defineCommand } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import { Failure } from '../../errors.ts';
import { traced } from '../../http/call/call.ts';
import { judgeAt } from '../../login/judge-credential.ts';
import { localTime } from '../../output/cells.ts';
import type { View } from '../../output/view.ts';

export const authRefresh = defineCommand({
  name: 'refresh',
  summary: 'Refresh the OAuth login now, or ask for more scopes',
  details:
    'svc refreshes by itself whenever it is needed. A refresh cannot add scopes: with --scope the browser opens once ' +
    'more and asks for those that you have and the new ones.',
  flags: {
    scope: { ...param.texts('A scope to add; repeatable', { placeholder: 'SCOPE' }), choices: scopes },
    noBrowser: param.toggle('With --scope: print the address; paste the redirected one back'),
  },
  needs: 'an OAuth login: svc login',
  examples: ['svc auth refresh', 'svc auth refresh --scope tickets:write'],
  async run(outer, { flags, settings }) {
    const ctx = await traced(outer, settings);
    const { profile } = settings;
    const held = await readStored(ctx.tokens, profile, 'oauth');
    if (!held) {
      throw new Failure('auth', `Profile ${profile} holds no OAuth login to refresh.`, {
        hint: `Run: ${loginCommand('oauth', profile)}`,
      });
    }
    const baseUrl = settings.baseUrl ?? held.base_url;
    refuseOtherOrigin(held.base_url, baseUrl, 'oauth', profile);
    const { parseScopes } = await import('../../login/oauth-login.ts');
    const added = flags.scope.length > 0 ? parseScopes(flags.scope) : [];
    if (added.every((scope) => held.scopes.includes(scope))) {
      const { liveLogin } = await import('../../auth/refresh.ts');
      const login = await liveLogin(ctx, settings, { force: true });
      const view = refreshed(profile, login ?? held);
      // The service gives a new one each time, and ends the old one (service.md#oauth-5).
      const isSpent = login !== undefined && login.refresh_token === held.refresh_token;
      return isSpent ? { ...view, notes: [noNewToken(profile)] } : view;
    }
    const [{ loginWithBrowser }, { stdinLines }, { placeOf }] = await Promise.all([
      import('../../login/login.ts'),
      import('../../login/stdin-lines.ts'),
      import('../../login/report.ts'),
    ]);
    const lines = stdinLines(outer.stdin);
    try {
      const { status } = await loginWithBrowser({
        ctx,
        settings: { ...settings, authUrl: held.auth_url },
        baseUrl,
        lines,
        // Where the person has put it.
        place: (await placeOf(ctx.tokens, profile, 'oauth')) === 'file' ? 'file' : 'best',
        judge: judgeAt(outer, settings, baseUrl),
        scopes: scopes.filter((scope) => added.includes(scope) || held.scopes.includes(scope)),
        clientId: held.client_id,
        isRenewal: true,
        browser: !flags.noBrowser,
      });
      const [credential] = status.credentials;
      const missing = added.filter((scope) => !credential?.scopes?.includes(scope));
      const view = refreshed(profile, { expires_at: credential?.expires_at ?? '', scopes: credential?.scopes ?? [] });
      return missing.length > 0 ? { ...view, notes: [`Not granted: ${missing.join(', ')}.`] } : view;
    } finally {
      lines.stop();
    }
  },
});

const noNewToken = (profile: string): string =>
  `Warning: the service gave no new refresh token, and the old one may have ended. If the next refresh fails: ${loginCommand('oauth', profile)}`;

type Fresh = { readonly expires_at: string; readonly scopes: readonly string[] };

function refreshed(profile: string, { expires_at, scopes }: Fresh): View {
  const text = `Refreshed the login of profile ${profile}; it is good until ${localTime(expires_at)}.\n`;
  const record = { profile, scopes, expires_at };
  return { data: { shape: 'record', record }, said: text };
}
