/** What everyone who starts a sandbox may know. */
export const known = {
  /** Of accounts 1 and 2. */
  apiKeys: ['key_acme', 'key_globex'],
  m2mToken: 'm2m_sandbox',
  clientId: 'sandbox_cli',
  clientSecret: 'sandbox_secret',
  redirectUri: 'http://127.0.0.1:8976/callback',
} as const;
