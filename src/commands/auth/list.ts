import { heldByProfile, loginCommand } from '../../auth/credentials.ts';
import { profileNotThere } from '../../auth/known-profile.ts';
import { defineCommand } from '../../command/command.ts';
import { agreeToDefault } from '../../command/loosen.ts';
import { param } from '../../command/param.ts';
import { readConfig, updateConfig } from '../../config/config-file.ts';
import { profileName } from '../../config/given-texts.ts';
import { profileConfig } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { onlyNotes } from '../../output/only-notes.ts';
import { sanitize } from '../../text/sanitize.ts';

export const authList = defineCommand({
  name: 'list',
  summary: 'List the saved logins',
  details: 'Reads only what is saved. To check whether a login still works: svc auth status',
  examples: ['svc auth list', 'svc auth list --json'],
  async run(ctx) {
    return {
      read: true,
      data: {
        shape: 'list',
        records: await savedProfiles(ctx),
        columns: [
          'profile',
          'default',
          { path: 'account.name', header: 'Account' },
          { path: 'base_url', as: 'whole', rank: 9 },
          'credentials',
        ],
        known: ['profile', 'default', 'base_url', 'account', 'credentials'],
        empty: `No login is saved. Run: ${loginCommand('oauth', 'default')}`,
      },
    };
  },
});

export const authSwitch = defineCommand({
  name: 'switch',
  summary: 'Choose the default login',
  args: { name: param.requiredText('The profile to use from now on', { placeholder: 'NAME', completes: 'logins' }) },
  needs: 'a second profile: svc -p work login',
  examples: ['svc auth switch work'],
  async run(ctx, { args, settings }) {
    const name = profileName({ text: args.name, by: 'NAME' });
    const saved = (await savedProfiles(ctx)).map(({ profile }) => profile);
    if (!saved.includes(name)) throw profileNotThere(name, saved);
    await agreeToDefault(ctx, settings, name);
    await updateConfig(ctx, (config) => ({ ...config, default_profile: name }));
    const notes = [`Profile ${name} is now the default.`];
    if (ctx.env.SVC_PROFILE) notes.push(`SVC_PROFILE is set to ${sanitize(ctx.env.SVC_PROFILE)}, which overrides it.`);
    return onlyNotes({ default_profile: name }, notes);
  },
});

/** Every profile that holds a credential; the default first. */
async function savedProfiles(ctx: Context) {
  const config = await readConfig(ctx.files);
  const held = await heldByProfile(ctx.tokens);
  const chosen = config.default_profile ?? 'default';
  return [...held.keys()]
    .sort((a, b) => Number(b === chosen) - Number(a === chosen) || (a < b ? -1 : 1))
    .map((profile) => {
      const { base_url = null, account = null } = profileConfig(config, profile);
      return { profile, default: profile === chosen, base_url, account, credentials: held.get(profile) ?? [] };
    });
}
