import { execa } from 'execa';

/** For whatever asks the registry: the certificate authorities that the user has. */
export const authorities = { NODE_EXTRA_CA_CERTS: process.env.SVC_TEST_CA_CERTS || undefined };

/** Runs npm as a user would, without its notes about itself. */
export const npm = (argv: readonly string[], cwd: string) =>
  execa('npm', argv, { cwd, reject: false, env: { ...authorities, npm_config_update_notifier: 'false' } });

/** Whether packages can be had; in CI they must, and one answer that does not come says nothing there. */
export async function reachesRegistry(folder: string): Promise<boolean> {
  const patience = process.env.CI
    ? ['--fetch-retries=5', '--fetch-timeout=60000']
    : ['--fetch-retries=0', '--fetch-timeout=10000'];
  const { exitCode, stderr } = await npm(['ping', ...patience], folder);
  if (exitCode !== 0 && process.env.CI) throw new Error(`npm reaches no registry.\n${stderr}`);
  return exitCode === 0;
}
