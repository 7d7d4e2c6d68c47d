import * as v from 'valibot';
import { described, hexColor, httpsUrl, id, text } from './fields.ts';
import { defineOperation } from './operation.ts';

// Answers are loose objects throughout the table: the service only ever adds fields (Versioning, 2),
// and we pass on the ones that we do not know.
export const Account = v.looseObject({
  account_id: id,
  name: v.string(),
  billing_active: described('false when no active plan yet', v.boolean()),
  setup_url: described('Where a person finishes setup when billing is inactive', v.nullable(v.string())),
});

export const getAccount = defineOperation({
  id: 'getAccount',
  method: 'GET',
  path: '/platform/account',
  summary: 'Show the account that the credential belongs to',
  command: ['account', 'get'],
  resource: 'accounts',
  scope: 'identity',
  response: Account,
});

export const Branding = v.object({
  primary_color: v.optional(described('Main colour', hexColor)),
  secondary_color: v.optional(described('Second colour', hexColor)),
  accent_color: v.optional(described('Accent colour', hexColor)),
  button_color: v.optional(described('Button colour', hexColor)),
  button_text_color: v.optional(described('Colour of the text on buttons', hexColor)),
  logo_url: v.optional(described('Logo', httpsUrl)),
  email_logo_url: v.optional(described('Logo in emails', httpsUrl)),
  square_logo_url: v.optional(described('Square logo', httpsUrl)),
  favicon_url: v.optional(described('Favicon', httpsUrl)),
  website_url: v.optional(described('Website', httpsUrl)),
  from_name: v.optional(described('Sender name in emails', text(0, 120))),
  brand_voice: v.optional(described('How the AI should sound', text(0, 2000))),
  font_family: v.optional(described('One of the offered typefaces', v.string())),
  socials: v.optional(described('Profile URLs by network', v.record(v.string(), httpsUrl))),
});

export const updateBranding = defineOperation({
  id: 'updateBranding',
  method: 'PUT',
  path: '/platform/branding',
  summary: 'Change the branding; only the fields given change',
  command: ['branding', 'update'],
  resource: 'accounts',
  scope: 'branding:write',
  body: Branding,
  response: v.looseObject({ ok: v.boolean(), updated: v.array(v.string()) }),
  safety: 'repeatable',
  namesChanged: 'updated',
  effect: { of: 'The branding', done: 'changed', lookHint: 'Look at it in the product.' },
  grant: 'write',
});
