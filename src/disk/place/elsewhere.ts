type Variable = 'SVC_STATE_DIR' | 'SVC_CONFIG_DIR' | 'SVC_DRAFTS_DB';

/**
 * What helps where svc cannot write in a folder of its own. `variable`: what names that folder. What was sent is known in
 * the folder of state alone, so whoever names another one is told.
 */
export const orElsewhere = (variable: Variable = 'SVC_STATE_DIR'): string =>
  variable === 'SVC_STATE_DIR'
    ? 'Fix that. SVC_STATE_DIR names another folder, but that one knows nothing of what was sent before.'
    : `Fix that, or set ${variable} to another folder.`;
