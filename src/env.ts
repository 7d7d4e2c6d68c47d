/** Variables of the environment. */
export type Env = Readonly<Record<string, string | undefined>>;

/** Which account `svc each` has chosen for what it starts, by its id; empty where svc does not know it. */
export const accountVariable = 'SVC_EACH_ACCOUNT';
