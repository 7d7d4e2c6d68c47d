/** How data is printed (product.md, section 4). `auto`: a table on a terminal, tab-separated rows in a pipe. */
export const outputs = ['table', 'json', 'jsonl', 'csv', 'yaml'] as const;

export type Output = (typeof outputs)[number];

/** What `config.json` holds: no secrets. Unknown keys are kept when svc writes it. */
export type Config = {
  readonly default_profile?: string;
  readonly output?: Output;
  readonly color?: 'auto' | 'always' | 'never';
  readonly pager?: string;
  readonly profiles?: Readonly<Record<string, ProfileConfig>>;
};

export type ProfileConfig = {
  readonly base_url?: string;
  readonly auth_url?: string;
  readonly client_id?: string;
  readonly redirect_uri?: string;
  readonly account?: { readonly id: number; readonly name: string };
};

/** The flags and the environment that hold for every command, settled once: flag, environment, profile, default. */
export type Settings = {
  readonly profile: string;
  /** The profile was named by flag or environment, not merely the default. */
  readonly profileNamed: boolean;
  /** Undefined where nothing names one; then a command that needs it fails with advice. */
  readonly baseUrl?: string;
  /** The base URL came from a flag or the environment, not from the profile. */
  readonly baseUrlNamed: boolean;
  readonly authUrl?: string;
  readonly clientId?: string;
  readonly redirectUri: string;
  readonly partnerSegment: string;
  readonly output?: Output;
  readonly fields?: readonly string[];
  readonly jq?: string;
  readonly noInput: boolean;
  readonly yes: boolean;
  readonly quiet: boolean;
  readonly debug: boolean;
  readonly timeoutMs: number;
  /** Undefined: the command's own default. */
  readonly maxWaitMs?: number;
  readonly color: 'auto' | 'always' | 'never';
  readonly safeCells: boolean;
  readonly pager?: string;
};
