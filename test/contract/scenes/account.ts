import { filled, invalid, like, type Scene } from '../scene.ts';

export const account: readonly Scene[] = [
  {
    title: 'an account tells its name and that its billing is active',
    seed: 'empty',
    steps: [
      {
        send: 'GET /platform/account',
        status: 200,
        answer: { account_id: 1, name: 'Acme', billing_active: true, setup_url: null },
      },
    ],
  },
  {
    title: 'an account without a plan tells where a person finishes its set-up',
    seed: 'empty',
    steps: [
      {
        as: 'key_globex',
        send: 'GET /platform/account',
        status: 200,
        answer: {
          account_id: 2,
          name: 'Globex',
          billing_active: false,
          setup_url: like(/^https?:\/\//u, 'https://app.example.com/setup'),
        },
      },
    ],
  },
  {
    title: 'a branding update names the fields that changed, and only sent fields change',
    seed: 'empty',
    steps: [
      {
        send: 'PUT /platform/branding',
        body: { primary_color: '#102030', from_name: 'Acme Support', socials: { x: 'https://x.example.com/acme' } },
        status: 200,
        answer: { ok: true, updated: ['primary_color', 'from_name', 'socials'] },
      },
      { send: 'PUT /platform/branding', body: {}, status: 200, answer: { ok: true, updated: [] } },
    ],
  },
  {
    title: 'a branding colour that is none is refused by its field',
    seed: 'empty',
    steps: [
      {
        send: 'PUT /platform/branding',
        body: { accent_color: 'reddish' },
        status: 422,
        answer: invalid('accent_color', 'The accent color must be a hex color.'),
      },
    ],
  },
  {
    title: 'an error of several fields lists them all',
    seed: 'empty',
    steps: [
      {
        send: 'PUT /platform/branding',
        body: { logo_url: 'http://cdn.example.com/a.png', button_color: '#zzz' },
        status: 422,
        answer: {
          message: filled('The button color must be a hex color. (and 1 more error)'),
          errors: {
            button_color: [filled('The button color must be a hex color.')],
            logo_url: [filled('The logo url must be an HTTPS URL.')],
          },
        },
      },
    ],
  },
];
