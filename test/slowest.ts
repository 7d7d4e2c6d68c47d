import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

const many = 10;

/** The slowest tests of a run, in the file that SVC_TEST_SLOWEST names: where its minutes went. */
export default class Slowest implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const path = process.env.SVC_TEST_SLOWEST;
    if (!path) return;
    const slowest = modules
      .flatMap((module) => [...module.children.allTests()])
      .map((test) => ({ test, ms: test.diagnostic()?.duration ?? 0 }))
      .sort((a, b) => b.ms - a.ms)
      .slice(0, many);
    writeFileSync(path, slowest.map(({ test, ms }) => `${(ms / 1000).toFixed(1)} s  ${nameOf(test)}\n`).join(''));
  }
}

const nameOf = ({ module, fullName }: TestCase): string =>
  `${relative(process.cwd(), module.moduleId)}: ${fullName.replaceAll(/\s+/gu, ' ')}`;
