import fc from 'fast-check';

/** The same draws in every run, so that a failure is the change's own; SVC_TEST_SEED=N tries others. */
fc.configureGlobal({ seed: Number(process.env.SVC_TEST_SEED ?? 20_261_120) });

const character = fc
  .oneof(fc.integer({ min: 0, max: 0xd7_ff }), fc.integer({ min: 0xe0_00, max: 0x10_ff_ff }))
  .map((code) => String.fromCodePoint(code));

/** Of any characters. fast-check's own (`unit: 'binary'`) makes a map of all million of them in each process that draws one. */
export const anyText = (limits: { readonly maxLength?: number } = {}) => fc.string({ ...limits, unit: character });

/**
 * What may stand in the path, the query or the fragment of an address: characters as they are, and any others escaped.
 * fast-check's own (`webUrl`) makes that map too.
 */
export const addressPart = () =>
  fc
    .array(fc.oneof(fc.constantFrom(..."abzAZ09-._~!$&'()*+,;=:@/?"), character.map(encodeURIComponent)), {
      maxLength: 20,
    })
    .map((all) => all.join(''));

export { fc };
