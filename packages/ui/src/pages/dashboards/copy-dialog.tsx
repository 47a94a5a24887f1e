// Copies a cell to another dashboard.
import { useSignal } from '@preact/signals';

import { documents } from '../../api/documents.ts';
import { problemOf } from '../../api/problem.ts';
import { useResource } from '../../api/use-resource.ts';
import { addCellTo } from '../../dashboards/add.ts';
import type { Cell, Dashboard } from '../../dashboards/model.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { SelectField } from '../../design/field.tsx';
import { Empty, Failure, Loading } from '../../design/states.tsx';
import { toast } from '../../design/toasts.tsx';
import { texts } from '../../texts/texts.ts';

const t = texts.dashboards;

export function CopyDialog({
  cell,
  of,
  except,
  onClose,
}: {
  readonly cell: Cell;
  /** The dashboard that it is copied from. */
  readonly of: Dashboard;
  /** The id of that dashboard. */
  readonly except: string;
  readonly onClose: () => void;
}) {
  const all = useResource((signal) => documents().list('dashboards', signal), []);
  const chosen = useSignal('');
  const isBusy = useSignal(false);
  const others = all.value.value?.filter(({ id }) => id !== except);
  const target = others?.find(({ id }) => id === chosen.value) ?? others?.[0];
  const copy = async (): Promise<void> => {
    if (target === undefined) return;
    isBusy.value = true;
    try {
      await addCellTo(target.id, cell, of);
      toast(t.copied(target.title));
      onClose();
    } catch (error) {
      toast(problemOf(error).message, 'bad');
    }
    isBusy.value = false;
  };
  return (
    <Dialog
      title={t.copyCell}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{texts.common.cancel}</Button>
          <Button
            kind="primary"
            isBusy={isBusy.value}
            disabled={target === undefined}
            onClick={() => void copy()}
          >
            {t.copy}
          </Button>
        </>
      }
    >
      {all.error.value !== undefined ? (
        <Failure error={all.error.value} onRetry={() => void all.reload()} />
      ) : others === undefined ? (
        <Loading rows={2} />
      ) : target === undefined ? (
        <Empty title={t.noOther} icon="dashboards" />
      ) : (
        <SelectField
          label={t.copyTo}
          value={target.id}
          options={others.map(({ id, title, folder = '' }) => ({
            value: id,
            label: folder === '' ? title : `${folder} / ${title}`,
          }))}
          onChange={(id) => (chosen.value = id)}
        />
      )}
    </Dialog>
  );
}
