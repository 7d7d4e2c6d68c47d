import { dirname } from 'node:path';

type About = {
  readonly command: readonly string[];
  readonly config: string;
  readonly user: string;
  /** The variables that hold secrets, by name. */
  readonly secrets: readonly string[];
  /** Where file sinks write. */
  readonly files: readonly string[];
};

/** A systemd unit. It begins again whatever happens, and waits for the drain. */
export const systemdUnit = ({ command, config, user, secrets, files }: About): string => `[Unit]
Description=Webhooks of the account (svc webhooks serve)
Wants=network-online.target
After=network-online.target postgresql.service

[Service]
ExecStart=${[...command, 'webhooks', 'serve', '--config', config].map(word).join(' ')}
ExecReload=/bin/kill -HUP $MAINPID
WorkingDirectory=${dirname(config).replaceAll('%', '%%')}
# If there is no such user: useradd --system ${user}. It must be able to read ${config.replaceAll(/[^ -~]/gu, '?')};
# systemd gives it /var/lib/svc (StateDirectory).
User=${user}
StateDirectory=svc
Environment=SVC_STATE_DIR=%S/svc SVC_CONFIG_DIR=%S/svc SVC_TOKEN_STORE=file
# ${[...secrets, 'PGPASSWORD'].join(', ').replace(/, (?=[^,]*$)/u, ' and ')} belong here, in a file that only root can read.
EnvironmentFile=-/etc/svc/webhooks.env
Restart=always
RestartSec=1
KillSignal=SIGTERM
KillMode=mixed
TimeoutStopSec=30
NoNewPrivileges=yes
${files.some((file) => /^\/(?:var\/)?tmp\//u.test(file)) ? '# A file sink writes below /tmp, where only this service sees it with PrivateTmp: give it another folder.\n' : ''}PrivateTmp=yes

[Install]
WantedBy=multi-user.target
`;

/** systemd expands %, $ and backslashes, and splits at spaces. */
function word(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /[\s"'\\;]/u.test(text) ? `"${escaped}"` : escaped;
}
