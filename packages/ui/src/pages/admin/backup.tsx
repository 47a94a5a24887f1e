// Backups: saved to a file on the browser's machine, with progress.
import { useSignal } from '@preact/signals';

import { tsdb } from '../../api/clients.ts';
import { services } from '../../api/connection.ts';
import { useResource } from '../../api/use-resource.ts';
import { download } from '../../app/download.ts';
import { formatBytes } from '../../charts/quantity.ts';
import { Button } from '../../design/button.tsx';
import { FileField, SelectField } from '../../design/field.tsx';
import { Panel } from '../../design/panel.tsx';
import { schemaSource } from '../../editor/schema-source.ts';
import { texts } from '../../texts/texts.ts';
import { faultOf, TAIL_BYTES } from './backup-end.ts';
import { readBackupFile } from './backup-file.ts';
import { EngineBackup } from './engine-backup.tsx';
import { Restore } from './restore.tsx';
import { stamp } from './stamp.ts';
import { useWork } from './work.tsx';
import type { Outcome } from './work.tsx';

const t = texts.admin;

export function Backup() {
  return (
    <>
      {services.tsdb.value.state === 'absent' ? null : (
        <>
          <Make />
          <Restore />
        </>
      )}
      {services.engine.value.state === 'absent' ? null : <EngineBackup />}
    </>
  );
}

function Make() {
  const database = useSignal('');
  const databases = useResource(() => schemaSource.databases(), []);
  const work = useWork();
  const since = useSignal<File | undefined>(undefined);
  const make = async (signal: AbortSignal): Promise<Outcome> => {
    const chosen = database.peek();
    const earlier = since.peek();
    const base = earlier === undefined ? undefined : await readBackupFile(earlier);
    if (earlier !== undefined && base === undefined) {
      return { kind: 'bad', text: t.noBackup(earlier.name) };
    }
    // The size of the new part is unknown until it is read.
    const totalBytes = base === undefined ? await sizeOf(chosen, signal) : 0;
    const { body } = await tsdb.http.send('/api/backup', {
      method: 'POST',
      json: {
        ...(chosen === '' ? {} : { databases: [chosen] }),
        ...(base === undefined
          ? {}
          : { since: { storageId: base.storageId, segments: base.segments } }),
      },
      signal,
    });
    let doneBytes = 0;
    const counter = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform: (piece, out) => {
        doneBytes += piece.length;
        work.tell({ doneBytes, totalBytes });
        out.enqueue(piece);
      },
    });
    // Browsers store large blobs on disk.
    const blob = await new Response(body?.pipeThrough(counter) ?? null).blob();
    const tail = await blob.slice(Math.max(0, blob.size - TAIL_BYTES)).arrayBuffer();
    const fault = faultOf(new Uint8Array(tail));
    if (fault !== undefined) return { kind: 'bad', text: t.backupCut(fault) };
    const name = `${chosen === '' ? 'tidemark' : chosen}-${stamp()}.tdmbak`;
    download(blob, name);
    return { kind: 'good', text: t.backupMade(name, formatBytes(blob.size)) };
  };
  return (
    <Panel title={t.backUp}>
      <div class="stack">
        <p class="muted">{t.backUpHint}</p>
        <form
          class="form-grid"
          onSubmit={(event) => {
            event.preventDefault();
            void work.run(make);
          }}
        >
          <SelectField
            label={t.whatToBackUp}
            problem={databases.error.value?.message}
            value={database.value}
            options={[{ value: '', label: t.everything }, ...(databases.value.value ?? [])]}
            onChange={(next) => (database.value = next)}
          />
          <FileField
            label={t.since}
            hint={t.sinceHint}
            onChange={([chosen]) => (since.value = chosen)}
          />
          <div class="row">
            <Button type="submit" kind="primary" icon="download" isBusy={work.isRunning}>
              {t.backUp}
            </Button>
          </div>
        </form>
        {work.shown}
      </div>
    </Panel>
  );
}

/** Bytes of the shards, the approximate size of a backup. */
async function sizeOf(database: string, signal: AbortSignal): Promise<number> {
  const series = await tsdb.rows(`SHOW STATS FOR 'shard'`, { signal });
  return series
    .filter(({ tags }) => database === '' || tags?.['database'] === database)
    .reduce((sum, { columns, values }) => {
      return sum + Number(values?.[0]?.[columns.indexOf('diskBytes')] ?? 0);
    }, 0);
}
