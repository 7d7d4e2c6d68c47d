/** One thing that was looked at. `fix`: the command or the step that fixes it, null where nothing is wrong. */
export type Check = {
  readonly name: string;
  readonly ok: boolean;
  readonly message: string;
  readonly fix: string | null;
  /** Neither good nor bad: people see no mark of success. */
  readonly isNeutral?: boolean;
};

export const fine = (name: string, message: string): Check => ({ name, ok: true, message, fix: null });

export const wrong = (name: string, message: string, fix: string): Check => ({ name, ok: false, message, fix });
