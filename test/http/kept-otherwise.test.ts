// What a service may make of a value that an update sent counts as the same; another value does not.
import { expect, test } from 'vitest';
import { operations } from '../../src/api/index.ts';
import { answeredOtherwise } from '../../src/http/look/answered-otherwise.ts';
import { shownOtherwise } from '../../src/http/look/shown-otherwise.ts';

const contact = (sent: object, shown: object) =>
  shownOtherwise(operations.updateContact, sent, { contact: { contact_id: 7, ...shown } });
const entry = (sent: object, shown: object) =>
  shownOtherwise(operations.updateChangelogEntry, sent, { entry: { id: 7, ...shown } });

test.each([
  [{ website: 'acme.test' }, { website: 'https://acme.test/' }],
  [{ website: 'https://acme.test' }, { website: 'https://acme.test/' }],
  [{ country: 'us' }, { country: 'US' }],
  [{ country: 'US' }, { country: 'United States' }],
  [{ country: 'Germany' }, { country: 'DE' }],
])('a contact may be kept in another form: %j as %j', (sent, shown) => {
  expect(contact(sent, shown)).toBeUndefined();
});

test.each([
  [{ website: 'acme.test' }, { website: 'https://other.test' }],
  [{ country: 'US' }, { country: 'DE' }],
  [{ country: 'US' }, { country: '' }],
  [{ country: 'US' }, { country: null }],
  [{ country: 'France' }, { country: 'NL' }],
  [{ country: 'DE' }, { country: 'France' }],
  [{ country: 'France' }, { country: 'NL' }],
])('and another value is another: %j as %j', (sent, shown) => {
  expect(contact(sent, shown)).toMatch(/^(?:website|country) /u);
});

test.each([
  [{ labels: ['a', 'a'] }, { labels: ['a', 'a'] }],
  [{ labels: ['a', 'a'] }, { labels: ['a'] }],
  [{ labels: ['Fix', 'api'] }, { labels: ['api', 'fix'] }],
  [{ published_at: null }, { published_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z' }],
  [{ published_at: null }, { published_at: null, updated_at: '2026-01-01T00:00:00Z' }],
  [{ category_id: 2 }, { category: { id: 2, name: 'Improved' } }],
  [{ category_id: null }, { category: null }],
  [{ category_id: 2 }, {}],
])('an entry may be kept in another form: %j as %j', (sent, shown) => {
  expect(entry(sent, shown)).toBeUndefined();
});

test.each([
  [{ category_id: 1 }, { category: null }],
  [{ category_id: 1 }, { category: { id: 2, name: 'Improved' } }],
  [{ category_id: null }, { category: { id: 2, name: 'Improved' } }],
  [{ published_at: null }, { published_at: '2030-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z' }],
])('an entry that shows another one is not changed so: %j as %j', (sent, shown) => {
  expect(entry(sent, shown)).toMatch(/^(?:category_id|published_at) /u);
});

test('other labels, and another time, are others', () => {
  expect(entry({ labels: ['a', 'b'] }, { labels: ['a'] })).toMatch(/^labels/u);
  expect(entry({ published_at: '2026-01-01T00:00:00Z' }, { published_at: '2026-01-02T00:00:00Z' })).toMatch(
    /^published_at/u,
  );
});

test.each([
  ['Q&A', 'Q&amp;A'],
  ['Reset', 'Reset <password>'],
  ['Bold', '<b>Bold</b>'],
])('a subject or a name that shows markup is not the one without: %j, not %j', (sent, shown) => {
  expect(contact({ name: sent }, { name: shown })).toMatch(/^name/u);
  const ticket = { ticket: { id: 7, subject: shown } };
  expect(shownOtherwise(operations.updateTicket, { subject: sent }, ticket)).toMatch(/^subject/u);
});

test('a description with other tags is another one, and one in paragraphs is not', () => {
  const shows = (description: string) => ({ ticket: { id: 7, description } });
  const sent = { description: '<b>Paid</b>: no' };
  expect(shownOtherwise(operations.updateTicket, sent, shows('<i>Paid</i>: no'))).toMatch(/^description/u);
  expect(shownOtherwise(operations.updateTicket, sent, shows('<p><b>Paid</b>: no</p>'))).toBeUndefined();
});

test('a creation whose labels come back in another case was answered with its own entry, other labels are another one', () => {
  const sent = { title: 'T', content: 'C', labels: ['API', 'Fix'] };
  const shows = (labels: readonly string[]) => ({ entry: { id: 7, title: 'T', status: 'draft', labels } });
  expect(answeredOtherwise(operations.createChangelogEntry, sent, shows(['api', 'fix']))).toBe(false);
  expect(answeredOtherwise(operations.createChangelogEntry, sent, shows(['api']))).toBe(true);
});
