import { posix, win32 } from 'node:path';

/** Assistants that read skills, by the folder in HOME that shows that they are there. */
export const programs = {
  claude: { title: 'Claude Code', folder: '.claude' },
  codex: { title: 'Codex', folder: '.codex' },
  cursor: { title: 'Cursor', folder: '.cursor' },
  gemini: { title: 'Gemini CLI', folder: '.gemini' },
  copilot: { title: 'Copilot CLI', folder: '.copilot' },
} as const;

export type Program = keyof typeof programs;

// Object.keys does not know that these are all.
export const programNames = Object.keys(programs) as Program[];

export type SkillFile = { readonly home: string; readonly file: string };

/** Where a program looks for a skill of that name. */
export function placeOf(program: Program, home: string, platform: NodeJS.Platform): SkillFile {
  const { join } = platform === 'win32' ? win32 : posix;
  const folder = join(home, programs[program].folder);
  return { home: folder, file: join(folder, 'skills', 'svc', 'SKILL.md') };
}
