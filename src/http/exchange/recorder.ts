import type { Audit, Row } from '../../audit/audit.ts';
import type { Session } from '../../auth/session.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { once } from '../../promise/once.ts';

/** The record of writes, opened with the first of them. */
export type Recorder = 'off' | (() => Promise<Audit>);

/** Opened with the first write: a read does not load it. */
export function recorderOf(ctx: Context, session: Session, { audit: mode }: Pick<Settings, 'audit'>): Recorder {
  if (mode === 'off') return 'off';
  return once(async () => {
    const [{ openAudit }, { recordName }] = [
      await import('../../audit/audit.ts'),
      await import('../../audit/place.ts'),
    ];
    return openAudit(ctx, recordName(session), mode);
  });
}

type Recorded = { readonly audit: Recorder };

/** What was written down is on disk when it resolves; throws the Failure that says why it is not. */
export async function syncRecord({ audit }: Recorded): Promise<void> {
  if (audit !== 'off') await (await audit()).sync();
}

/** A row that an earlier run had on its way is done, as has been seen now. What the disk does not take stays unknown. */
export async function settleRecord({ audit }: Recorded, row: Row): Promise<void> {
  if (audit !== 'off') await (await audit()).settle(row).catch(() => {});
}
