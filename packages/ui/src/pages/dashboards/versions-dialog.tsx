// Versions of a dashboard. Restoring an older one creates a new version, so nothing is lost.
import { useSignal } from '@preact/signals';

import { documents } from '../../api/documents.ts';
import { problemOf } from '../../api/problem.ts';
import { session } from '../../api/session.ts';
import { useResource } from '../../api/use-resource.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { toast } from '../../design/toasts.tsx';
import { readDashboard } from '../../dashboards/model.ts';
import { formatTime, shownZone } from '../../time/zone.ts';
import { texts } from '../../texts/texts.ts';

const t = texts.dashboards;

export function VersionsDialog({
  id,
  onBack,
  onClose,
}: {
  readonly id: string;
  /** Called when an older version has been restored. */
  readonly onBack: () => void;
  readonly onClose: () => void;
}) {
  const stored = useResource((signal) => documents().get('dashboards', id, { signal }), [id]);
  const isBusy = useSignal(false);
  const bringBack = async (version: number, present: number): Promise<void> => {
    isBusy.value = true;
    try {
      const { content, title } = await documents().get('dashboards', id, { version });
      const dashboard = { ...readDashboard(content), title };
      await documents().put('dashboards', id, { replaces: present, title, content: dashboard });
      toast(t.broughtBack(version));
      onBack();
    } catch (error) {
      toast(problemOf(error).message, 'bad');
    }
    isBusy.value = false;
  };
  const { value, error } = stored;
  return (
    <Dialog title={t.versions} isWide onClose={onClose}>
      {error.value !== undefined ? (
        <Failure error={error.value} onRetry={() => void stored.reload()} />
      ) : value.value === undefined ? (
        <Loading />
      ) : (
        <Table
          label={t.versions}
          rows={value.value.versions}
          rowKey={({ version }) => String(version)}
          columns={[
            { label: t.version, isNumber: true, cell: ({ version }) => version },
            {
              label: t.modified,
              cell: ({ modified }) => formatTime(modified.replace(/\.\d+/, ''), shownZone.value),
            },
            { label: t.by, cell: ({ by }) => by },
            { label: t.title, cell: ({ title }) => title },
            {
              label: t.bringBack,
              isActions: true,
              cell: ({ version }) =>
                version === value.value?.version || !session.value.isAdmin ? null : (
                  <Button
                    isSmall
                    isBusy={isBusy.value}
                    onClick={() => void bringBack(version, value.value?.version ?? 0)}
                  >
                    {t.bringBack}
                  </Button>
                ),
            },
          ]}
        />
      )}
    </Dialog>
  );
}
