/** One thing that was looked at. `fix`: the command or the step that fixes it, null where nothing is wrong. */
export type Check = {
  readonly name: string;
  readonly ok: boolean;
  readonly message: string;
  readonly fix: string | null;
  /** Neither good nor bad: people see no mark of success. */
  readonly isNeutral?: boolean;
};
