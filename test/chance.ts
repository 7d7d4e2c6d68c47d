import fc from 'fast-check';

/** The same draws in every run, so that a failure is the change's own; SVC_TEST_SEED=N tries others. */
fc.configureGlobal({ seed: Number(process.env.SVC_TEST_SEED ?? 20_261_120) });

const character = fc
  .oneof(fc.integer({ min: 0, max: 0xd7_ff }), fc.integer({ min: 0xe0_00, max: 0x10_ff_ff }))
  .map((code) => String.fromCodePoint(code));

/** Of any characters. fast-check's own (`unit: 'binary'`) makes a map of all million of them in each process that draws one. */
export const anyText = (limits: { readonly maxLength?: number } = {}) => fc.string({ ...limits, unit: character });

export { fc };
