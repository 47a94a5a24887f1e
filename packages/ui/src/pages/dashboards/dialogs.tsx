// Dialogs about a dashboard as a whole.
import { documents } from '../../api/documents.ts';
import { problemOf } from '../../api/problem.ts';
import { navigate, setParams } from '../../app/router.ts';
import { Button } from '../../design/button.tsx';
import { ConfirmDialog, Dialog } from '../../design/dialog.tsx';
import { toast } from '../../design/toasts.tsx';
import { texts } from '../../texts/texts.ts';
import type { Editing } from './editing.ts';
import { SettingsDialog } from './settings-dialog.tsx';
import { VersionsDialog } from './versions-dialog.tsx';

const t = texts.dashboards;

export type ShownDialog = 'settings' | 'versions' | 'remove' | 'discard';

export function Dialogs({
  id,
  version,
  editing,
  shown,
  conflict,
  onClose,
  onOverwrite,
  onChanged,
}: {
  readonly id: string;
  /** The stored version. */
  readonly version: number;
  readonly editing: Editing;
  readonly shown: ShownDialog | undefined;
  /** Why it could not overwrite the version of another user. */
  readonly conflict: string | undefined;
  readonly onClose: () => void;
  readonly onOverwrite: () => void;
  /** Called when another version is to be shown. */
  readonly onChanged: () => void;
}) {
  const takeOther = (): void => {
    editing.discard();
    onClose();
    onChanged();
  };
  if (conflict !== undefined) {
    return (
      <Dialog
        title={t.overwriteTitle}
        onClose={onClose}
        footer={
          <>
            <Button onClick={takeOther}>{t.takeTheirs}</Button>
            <Button kind="danger" onClick={onOverwrite}>
              {t.overwrite}
            </Button>
          </>
        }
      >
        {t.overwriteHint(conflict)}
      </Dialog>
    );
  }
  const { title } = editing.dashboard;
  const remove = async (): Promise<void> => {
    onClose();
    try {
      await documents().remove('dashboards', id, version);
      editing.discard();
      toast(t.deleted(title));
      navigate('dashboards');
    } catch (error) {
      toast(problemOf(error).message, 'bad');
    }
  };
  switch (shown) {
    case undefined:
      return null;
    case 'settings':
      return (
        <SettingsDialog
          dashboard={editing.dashboard}
          onDone={(changed) => {
            editing.change(changed);
            onClose();
          }}
          onClose={onClose}
        />
      );
    case 'versions':
      return <VersionsDialog id={id} onBack={takeOther} onClose={onClose} />;
    case 'discard':
      return (
        <ConfirmDialog
          title={`${t.discard}?`}
          action={t.discard}
          onClose={onClose}
          onConfirm={() => {
            editing.discard();
            onClose();
            setParams({ edit: undefined });
          }}
        >
          {t.discardHint}
        </ConfirmDialog>
      );
    case 'remove':
      return (
        <ConfirmDialog
          title={t.removeTitle}
          action={t.remove}
          onClose={onClose}
          onConfirm={() => void remove()}
        >
          {t.removeHint(title)}
        </ConfirmDialog>
      );
  }
}
