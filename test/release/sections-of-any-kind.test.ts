import { expect, test } from 'vitest';
import { pickSection } from '../../src/release/pick.ts';
import { sectionsOf } from '../../src/release/section.ts';
import { fc } from '../chance.ts';
import { draws } from '../thorough.ts';

const block = fc.constantFrom(
  '### Added',
  '## Features',
  '#### Deep',
  '#### @acme/grid@1.2.0',
  '### Upgrading from 1.1.0',
  '## Support for Node 18.0.0',
  '- one\n- two\n  - nested',
  '1. first\n\n   more',
  'A paragraph with 1.2.3 in it\nand a line.',
  '**1.2.3** is a version in a sentence.',
  '```\n## 1.2.3\n```',
  '~~~md\n# 8.8.8\n\n~~~',
  '<!--\n## 7.7.7\n-->',
  '> ## 6.6.6',
  '| a | b |\n|---|---|\n| 1 | 2 |',
  '    ## 5.5.5 indented',
  '***',
  '<details>\n\ninside\n\n</details>',
);

/** Every project writes its headings in one way, or in another after some years. */
const headings = [
  (version: string) => `## ${version}`,
  (version: string) => `## [v${version}] - 2026-01-02`,
  (version: string) => `## [${version}](https://example.com) (2026-01-02)`,
  (version: string) => `## [2026-01-02] Version ${version}`,
  (version: string) => `## 2026-01-02, Version ${version} (Current), @person`,
  (version: string) => `## Gin v${version}`,
  (version: string) => `## **${version}**`,
  (version: string) => `### [${version}](https://example.com) (2026-01-02)`,
  (version: string) => `Version ${version} / 2026-01-02\n---`,
  (version: string) => `Acme Lines ${version} Release Notes\n---`,
  (version: string) => `What's New in IDLE ${version}?\n===`,
  (version: string) => `dbus ${version} (2026-01-02)\n===`,
];

const unreleased = fc.constantFrom('', '## [Unreleased]\n\n- Not yet\n\n', '## 99.0.0 - TBD\n\n- Not yet\n\n');

test.each([
  ['of its own kind', headings.map((heading) => fc.constant(heading))],
  ['of any kind', [fc.constantFrom(...headings.slice(0, 9))]],
])(
  'whatever stands below headings %s, each version gets its own text and the newest is the default',
  { tags: ['long'] },
  (_, kinds) => {
    for (const kind of kinds) {
      const section = fc.tuple(kind, fc.array(block, { minLength: 1, maxLength: 6 }), fc.boolean());
      const definitions = fc.constantFrom('', '\n\n[a link]: https://example.com/a\n[1.2.3]: https://example.com/b');
      fc.assert(
        fc.property(
          fc.array(section, { minLength: 1, maxLength: 8 }),
          unreleased,
          definitions,
          (parts, above, below) => {
            const versions = parts.map((_, i) => `${9 - i}.0.${i}`);
            const texts = parts.map(([, blocks, usesLink]) =>
              [...blocks, ...(usesLink ? ['See [a link].'] : [])].join('\n\n'),
            );
            const file = parts.map(([title], i) => `${title(versions[i] ?? '')}\n\n${texts[i]}${below}\n`).join('\n');
            const sections = sectionsOf(`# Changelog of Gin\n\n${above}${file}`);
            const isLinked = (text: string | undefined) => below !== '' && text?.includes('[a link]');
            const expected = texts.map((text) =>
              isLinked(text) ? `${text}\n\n[a link]: https://example.com/a` : text,
            );
            const read = (version?: string) => {
              const picked = pickSection(sections, version);
              return picked.ok ? [picked.version, picked.section.markdown()] : picked.problem;
            };
            expect(versions.map((version) => read(version))).toEqual(
              versions.map((version, i) => [version, expected[i]]),
            );
            expect(read()).toEqual([versions[0], expected[0]]);
          },
        ),
        { numRuns: kinds.length > 1 ? draws(6, 15) : draws(50, 150) },
      );
    }
  },
);
