type Variable = 'SVC_STATE_DIR' | 'SVC_CONFIG_DIR' | 'SVC_DRAFTS_DB';

/** What helps where svc cannot write in a folder of its own. `variable`: what names that folder. */
export const orElsewhere = (variable: Variable = 'SVC_STATE_DIR'): string =>
  `Fix that, or set ${variable} to another folder.`;
