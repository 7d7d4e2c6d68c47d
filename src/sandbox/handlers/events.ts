import { conversionTriggers } from '../../api/events.ts';
import { invalid } from '../answer.ts';
import { loadPhones } from '../phone.ts';
import { contactByEmail, contactByPhone, nextId, owned, put } from '../store/state.ts';
import { addContact } from './contacts.ts';
import type { Handlers } from './handler.ts';

/** The attribution keys that come from an advertisement's click; utm_* may come from any link. */
const adParameters = ['fbclid', 'gclid', 'svc_ad'] as const;

export const events = {
  async sendEvent({ state, account, body, now, emit }) {
    const toE164 = await loadPhones();
    const { account_id } = account;
    const { trigger, attribution = {}, kpi = null, metadata = {} } = body;
    const { phone: typed = '', ...person } = body.contact;
    const phone = typed === '' ? '' : toE164(typed);
    if (phone === undefined) return invalid({ 'contact.phone': ['is not a phone number'] });

    const known =
      (person.email && contactByEmail(state, account_id, person.email)) ||
      (phone && contactByPhone(state, account_id, phone)) ||
      undefined;
    const contact = known
      ? put(state, 'contacts', { ...known, metadata: { ...known.metadata, ...metadata }, updated_at: now })
      : addContact(
          { state, emit, account, now },
          {
            ...person,
            phone,
            metadata,
            // Quarantined, unless the account opted in to exporting real contacts.
            shadow: !account.exports_real_contacts,
          },
        );
    const { contact_id } = contact;

    const event_id = nextId(state, 'events');
    const received = { account_id, contact_id, trigger, attribution, kpi, created_at: now };
    put(state, 'events', { id: event_id, ...received, external_ref: body.external_ref ?? null, metadata });

    const matching = owned(state, 'sequences', account_id).filter((each) => each.is_active && each.trigger === trigger);
    for (const { id: sequence_id } of matching) {
      const id = nextId(state, 'enrolments');
      put(state, 'enrolments', { id, account_id, sequence_id, contact_id, event_id, created_at: now });
    }

    const isConversion = conversionTriggers.some((each) => each === trigger);
    if (isConversion && adParameters.some((key) => attribution[key])) {
      put(state, 'conversions', { id: nextId(state, 'conversions'), event_id, ...received });
    }
    return { status: 'ok', enrolled: matching.length };
  },
} satisfies Partial<Handlers>;
