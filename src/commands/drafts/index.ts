import type { TopGroup } from '../../command/command.ts';
import { approveDrafts } from './approve.ts';
import { editDraft } from './edit.ts';
import { listDrafts } from './list.ts';
import { rejectDrafts } from './reject.ts';
import { showDraft } from './show.ts';

export const drafts: TopGroup = {
  commands: [listDrafts, showDraft, editDraft, approveDrafts, rejectDrafts],
};
