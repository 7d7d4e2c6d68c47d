import { scopes } from '../../api/operation.ts';
import { calls, contacts, lists, meetings } from '../demo/people.ts';
import { board, changelog, sequences } from '../demo/portal.ts';
import { support } from '../demo/support.ts';
import { known } from '../known.ts';
import type { Row, Rows } from './records.ts';

const allModules = { support: true, changelog: true, feedback_board: true, roadmap: true };

const account = (fields: Pick<Row<'accounts'>, 'account_id' | 'name' | 'billing_active' | 'setup_url'>) => ({
  modules: allModules,
  branding: {},
  exports_real_contacts: false,
  sends_fail: false,
  ...fields,
});

/** The two accounts that every sandbox has. */
const accounts: readonly Row<'accounts'>[] = [
  account({ account_id: 1, name: 'Acme', billing_active: true, setup_url: null }),
  account({
    account_id: 2,
    name: 'Globex',
    billing_active: false,
    setup_url: 'https://app.example.com/setup/globex',
  }),
];

export const clients: readonly Row<'clients'>[] = [
  {
    client_id: known.clientId,
    client_secret: known.clientSecret,
    name: 'svc',
    redirect_uris: [known.redirectUri],
    scopes: [...scopes],
  },
];

export function seedRows(seed: 'demo' | 'empty' | Partial<Rows>, now: Date): Partial<Rows> {
  if (seed === 'empty') return { accounts, clients };
  if (seed !== 'demo') return { accounts, clients, ...seed };
  const moment = { now: now.getTime() };
  return {
    accounts,
    clients,
    contacts: contacts(moment),
    ...lists(moment),
    calls: calls(moment),
    ...support(moment),
    ...changelog(moment),
    ...board(moment),
    meetings: meetings(),
    sequences: sequences(),
  };
}
