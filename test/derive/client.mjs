// @ts-check
// A program of somebody who has nothing but the OpenAPI document: openapi-typescript made `api.d.ts` of it.
import createClient from 'openapi-fetch';

/** @type {ReturnType<typeof createClient<import('./api.d.ts').paths>>} */
const client = createClient({
  baseUrl: /** @type {string} */ (process.env.SVC_BASE_URL),
  headers: { authorization: `Bearer ${process.env.SVC_API_KEY}` },
});

const made = await client.POST('/contacts/create', {
  body: { name: 'Ada', last_name: 'Byron', email: 'ada@example.com', phone: '+12025550123' },
});
if (!made.data || Array.isArray(made.data.contacts)) throw new Error(JSON.stringify(made.error));
const id = made.data.contacts.contact_id;

const listed = await client.GET('/contacts', { params: { query: { page: 1, per_page: 1 } } });
const [newest] = listed.data?.contacts ?? [];

const found = await client.GET('/contacts/{id}', { params: { path: { id } } });

const refused = await client.POST('/contacts/create', {
  body: { name: 'Ada', last_name: 'Byron', email: 'ada@example.com', phone: '12' },
});

process.stdout.write(
  JSON.stringify({
    created: id,
    newest: newest?.contact_id,
    total: listed.data?.meta.total,
    email: found.data?.contact.email,
    refused: refused.error && 'errors' in refused.error ? Object.keys(refused.error.errors) : undefined,
    limit: listed.response.headers.get('x-ratelimit-limit'),
  }),
);
