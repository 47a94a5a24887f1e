// The engine's data as one file: saved to the browser's machine, and restored from there.
import { useSignal } from '@preact/signals';

import { engine } from '../../api/clients.ts';
import { download } from '../../app/download.ts';
import { formatBytes } from '../../charts/quantity.ts';
import { Button } from '../../design/button.tsx';
import { ConfirmDialog } from '../../design/dialog.tsx';
import { FileField } from '../../design/field.tsx';
import { Panel } from '../../design/panel.tsx';
import { texts } from '../../texts/texts.ts';
import { stamp } from './stamp.ts';
import { upload } from './upload.ts';
import { useWork } from './work.tsx';
import type { Outcome } from './work.tsx';

const t = texts.admin;

const PATH = '/engine/v1/storage/restore';
/** Interval for checking whether the engine has restarted. */
const LOOK_MS = 500;

type RestoreState = {
  readonly state: 'none' | 'restarting' | 'done' | 'failed';
  readonly error?: string;
};

export function EngineBackup() {
  const file = useSignal<File | undefined>(undefined);
  const isAsking = useSignal(false);
  const work = useWork();
  const make = async (signal: AbortSignal): Promise<Outcome> => {
    const answer = await engine.http.send('/engine/v1/storage/backup', { signal });
    const blob = await answer.blob();
    const name = `engine-${stamp()}.mdb`;
    download(blob, name);
    return { kind: 'good', text: t.backupMade(name, formatBytes(blob.size)) };
  };
  const restore = async (content: File, signal: AbortSignal): Promise<Outcome> => {
    await upload(engine.http, [content], { path: PATH, signal, tell: work.tell });
    const { state, error = '' } = await restarted(signal);
    return state === 'done'
      ? { kind: 'good', text: t.engineRestored }
      : { kind: 'bad', text: t.engineNotRestored(error) };
  };
  return (
    <Panel title={t.engineBackup}>
      <div class="stack">
        <p class="muted">{t.engineBackupHint}</p>
        <div class="row">
          <Button icon="download" isBusy={work.isRunning} onClick={() => void work.run(make)}>
            {t.backUpEngine}
          </Button>
        </div>
        <form
          class="form-grid"
          onSubmit={(event) => {
            event.preventDefault();
            isAsking.value = true;
          }}
        >
          <FileField
            label={t.engineBackupFile}
            hint={t.engineRestoreHint}
            onChange={([chosen]) => (file.value = chosen)}
          />
          <div class="row">
            <Button type="submit" isBusy={work.isRunning} disabled={file.value === undefined}>
              {t.engineRestore}
            </Button>
          </div>
        </form>
        {work.shown}
      </div>
      {isAsking.value ? (
        <ConfirmDialog
          title={t.engineRestoreTitle}
          action={t.engineRestore}
          onClose={() => (isAsking.value = false)}
          onConfirm={() => {
            isAsking.value = false;
            const chosen = file.peek();
            if (chosen !== undefined) void work.run((signal) => restore(chosen, signal));
          }}
        >
          <p>{t.engineRestoreWarning}</p>
        </ConfirmDialog>
      ) : null}
    </Panel>
  );
}

/** The result of the restore; during its restart the engine does not answer. */
async function restarted(signal: AbortSignal): Promise<RestoreState> {
  for (;;) {
    signal.throwIfAborted();
    const now = await engine.http
      .json<RestoreState>(PATH, { signal })
      // The engine is not listening at the moment.
      .catch((): RestoreState => ({ state: 'restarting' }));
    if (now.state !== 'restarting') return now;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
