import { defineCommand } from '../../command/command.ts';
import { param } from '../../command/param.ts';

/** Where nothing names the service: addresses that are nobody's. */
const placeholder = { baseUrl: 'https://api.service.example', authUrl: 'https://auth.service.example' };

export const openapi = defineCommand({
  name: 'openapi',
  summary: 'Print the OpenAPI 3.1 description of the service',
  details:
    'Derived from the same table as the commands. The server in it is that of --base-url and --auth-url or of the\n' +
    'profile, else https://api.service.example.',
  flags: { format: param.choice('Default json', ['json', 'yaml']) },
  examples: ['svc openapi > openapi.json', 'svc openapi --format yaml', "svc openapi --jq '.paths | keys[]'"],
  async run(_ctx, { flags, settings }) {
    const { openApiOf } = await import('../../derive/openapi.ts');
    const { baseUrl = placeholder.baseUrl, authUrl = placeholder.authUrl, partnerSegment } = settings;
    const record = openApiOf({ baseUrl, authUrl, partnerSegment });
    if (flags.format === undefined) return { data: { shape: 'record', record }, read: true, output: 'json' };
    // The flag says more than SVC_OUTPUT.
    const text =
      flags.format === 'json'
        ? JSON.stringify(record, undefined, 2)
        : (await import('../../output/yaml.ts')).toYaml(record);
    return { data: { shape: 'text', text } };
  },
});
