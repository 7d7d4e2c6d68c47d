import { describe, expect, test } from 'vitest';
import { bodies, type Endpoint, endpoints } from './document.ts';
import { rules } from './limits.ts';
import { request, rightful, type Subject, startSubject } from './sandbox.ts';
import { anything, invalid, settled } from './scene.ts';

// 422 at every limit and field rule of the document, exactly at its edge.

describe('422', () => {
  test.for(rules)('$id: $field $says', async ({ id, part, field, accepted, refused }) => {
    const subject = startSubject({ seed: 'demo', rateLimit: 'off' });
    const endpoint = endpoints.find((one) => one.id === id) as Endpoint;
    const as = rightful(endpoint);
    const play = async (value: Readonly<Record<string, unknown>>) => {
      const there = request(endpoint, await own(subject, endpoint));
      if (part === 'body') return subject.send(as, there, value);
      return subject.send(as, `${there}?${new URLSearchParams(value as Record<string, string>)}`);
    };
    for (const value of accepted) {
      const answer = await play(value);
      expect(answer.status, `${JSON.stringify(value).slice(0, 80)} ${JSON.stringify(answer.body)}`).toBe(
        endpoint.status,
      );
    }
    for (const value of refused) {
      const answer = await play(value);
      expect([answer.status, answer.body], JSON.stringify(value).slice(0, 80)).toEqual([
        422,
        settled(invalid(field, ''), answer.body),
      ]);
    }
  });

  /** A record that the operation can be tried on: a ticket with a requester, for one. */
  async function own(subject: Subject, { path }: Endpoint): Promise<number> {
    const send = (to: string, body: unknown) => subject.send('key_acme', `POST ${to}`, body);
    const contact = bodies.createContacts;
    switch (path.includes('{') ? path.split('/')[1] : '') {
      case 'contacts':
        return (await send('/contacts/create', contact)).body.contacts.contact_id;
      case 'contactslists':
        return (await send('/contactslists/create', bodies.createContactList)).body.contact_list_id;
      case 'tickets': {
        const contact_id = (await send('/contacts/create', contact)).body.contacts.contact_id;
        return (await send('/tickets', { subject: 'x', contact_id })).body.ticket.id;
      }
      case 'conversations':
        return (await subject.send('key_acme', 'GET /conversations')).body.conversations[0].id;
      case 'changelog':
        return (await send('/changelog', bodies.createChangelogEntry)).body.entry.id;
      default:
        return 0;
    }
  }

  test.for(endpoints.filter(({ id }) => bodies[id]))('$id refuses a body that is no JSON object', async (endpoint) => {
    const subject = startSubject({ seed: 'demo', rateLimit: 'off' });
    const there = request(endpoint, await own(subject, endpoint));
    for (const body of ['{', 'hello', '[1]', '"x"', '5', 'null', '{"a":1}x', '\u0000']) {
      const answer = await subject.send(rightful(endpoint), there, body);
      expect([answer.status, answer.body], body).toEqual([
        422,
        settled({ message: invalid('', '').message, errors: anything({}) }, answer.body),
      ]);
    }
  });

  test.for(endpoints.filter(({ id }) => bodies[id]))('$id ignores a field that it does not know', async (endpoint) => {
    const subject = startSubject({ seed: 'demo' });
    const there = request(endpoint, await own(subject, endpoint));
    const body = { ...(bodies[endpoint.id] as object), unheard_of: { deep: [1] } };
    expect((await subject.send(rightful(endpoint), there, body)).status).toBe(endpoint.status);
  });
});
