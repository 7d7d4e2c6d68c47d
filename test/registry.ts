import { execa } from 'execa';

/** For whatever asks the registry: the certificate authorities that the user has. */
export const authorities = { NODE_EXTRA_CA_CERTS: process.env.SVC_TEST_CA_CERTS || undefined };

/** Runs npm as a user would, without its notes about itself. */
export const npm = (argv: readonly string[], cwd: string) =>
  execa('npm', argv, { cwd, reject: false, env: { ...authorities, npm_config_update_notifier: 'false' } });

/** Whether packages can be had; in CI they must. */
export async function reachesRegistry(folder: string): Promise<boolean> {
  const { exitCode } = await npm(['ping', '--fetch-retries=0', '--fetch-timeout=10000'], folder);
  if (exitCode !== 0 && process.env.CI) throw new Error('npm reaches no registry.');
  return exitCode === 0;
}
