import { expect, test } from 'vitest';
import { agrees, filledIn, transcriptsOf } from './transcript.ts';

// The player must be able to fail, or the transcripts say nothing.
test('an answer agrees only where every literal does, and a name keeps the value that it was first met with', () => {
  const known = new Map<string, string>();
  expect(agrees('{"id":"<id>","n":1}', '{"id":"a.b","n":1}', known)).toBe(true);
  expect(known.get('id')).toBe('a.b');
  expect(agrees('{"id":"<id>","n":1}', '{"id":"axb","n":1}', known)).toBe(false);
  expect(agrees('{"id":"<id>"}', '{"id":"a.b","more":1}', known)).toBe(false);
  expect(agrees('{"other":"<other>"}', '{"other":"x","more":"y"}', known)).toBe(false);
  expect(filledIn('/x/<id>/<unknown>', known)).toBe('/x/a.b/<unknown>');
});

test('a transcript is read with its headers, its bodies and forms that go on in the next line', () => {
  const [one, two] = transcriptsOf(
    '\n# first\n> GET /\n< 200\n< a: b: c\n\n# second\n> POST /\n>\n> a=1\n> &b=2\n< 400\n<\n< {}\n',
  );
  expect(one).toEqual({
    title: 'first',
    exchanges: [
      {
        request: { start: 'GET /', headers: {}, body: '' },
        response: { start: '200', headers: { a: 'b: c' }, body: '' },
      },
    ],
  });
  expect(two?.exchanges[0]).toEqual({
    request: { start: 'POST /', headers: {}, body: 'a=1&b=2' },
    response: { start: '400', headers: {}, body: '{}' },
  });
  expect(() => transcriptsOf('# broken\nGET /')).toThrow('neither sent nor received: GET /');
});
