/** Whether the work was done: false where it rejects. */
export const isDone = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  );
