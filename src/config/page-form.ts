import { Failure } from '../errors.ts';

/** Forms that a command may have beside the outputs: whole pages, for people. */
export const pageForms = ['md', 'html'] as const;

export type PageForm = (typeof pageForms)[number];

type FormRequest = {
  readonly output?: string | undefined;
  readonly json?: boolean | undefined;
  readonly jq?: string | undefined;
  readonly fields?: string | undefined;
};

/** @throws Failure `usage` where something is asked of it that only data has */
export function pageFormOf({ output, json, jq, fields }: FormRequest): PageForm | undefined {
  const form = pageForms.find((name) => name === output);
  if (form && (json || jq !== undefined || fields !== undefined)) {
    throw new Failure('usage', `--output ${form} is a page: leave out --json, --jq and --fields.`);
  }
  return form;
}
