import fc from 'fast-check';

/** The same draws in every run, so that a failure is the change's own; SVC_TEST_SEED=N tries others. */
fc.configureGlobal({ seed: Number(process.env.SVC_TEST_SEED ?? 20_261_120) });

export { fc };
