import { createSandbox, type SandboxOptions } from '../../src/sandbox/app.ts';

/** A sandbox and a short way to call it; answers come parsed. */
export function sandboxFor(options: SandboxOptions = {}) {
  const sandbox = createSandbox({ rateLimit: 'off', ...options });
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
  type Answer = { status: number; headers: Readonly<Record<string, string>>; body: any; text: string };
  const call = async (
    method: string,
    url: string,
    body?: unknown,
    token: string | null = 'key_acme',
  ): Promise<Answer> => {
    const response = await sandbox.handle({
      method,
      url,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
    });
    const isJson = response.headers['content-type']?.startsWith('application/json');
    return { ...response, body: isJson ? JSON.parse(response.body) : undefined, text: response.body };
  };
  return {
    sandbox,
    call,
    get: (url: string, token?: string | null) => call('GET', url, undefined, token),
    post: (url: string, body?: unknown, token?: string | null) => call('POST', url, body, token),
    patch: (url: string, body?: unknown, token?: string | null) => call('PATCH', url, body, token),
    control: (method: string, name: string, body?: unknown) => call(method, `/_sandbox/${name}`, body, null),
  };
}

export const ada = { name: 'Ada', last_name: 'Sample', email: 'ada@example.com', phone: '+14155550101' };
