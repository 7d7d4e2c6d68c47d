/** `job` between `begin` and COMMIT; undone where it throws. */
export async function transaction<T>(
  exec: (text: string) => Promise<unknown>,
  begin: string,
  job: () => Promise<T>,
): Promise<T> {
  await exec(begin);
  try {
    const value = await job();
    await exec('COMMIT');
    return value;
  } catch (error) {
    await exec('ROLLBACK').catch(() => {});
    throw error;
  }
}
