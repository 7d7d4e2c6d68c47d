/** Whether the host of a URL (`url.hostname`) is this machine: nobody else reads what goes there. */
export const isLoopbackHost = (hostname: string): boolean =>
  /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/iu.test(hostname);
