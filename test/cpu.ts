/** How long this process has computed since, in ms: on a busy machine a clock on the wall tells more than that. */
export function cpuTimer(): () => number {
  const began = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1000;
  };
}
