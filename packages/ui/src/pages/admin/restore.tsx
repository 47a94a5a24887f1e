// Restores a backup, or a chain of them, from files of the browser's machine.
import { useSignal } from '@preact/signals';

import { tsdb } from '../../api/clients.ts';
import { useResource } from '../../api/use-resource.ts';
import { draft } from '../../app/stored.ts';
import { formatBytes } from '../../charts/quantity.ts';
import { Button } from '../../design/button.tsx';
import { FileField, TextField } from '../../design/field.tsx';
import { Panel } from '../../design/panel.tsx';
import { Notice } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { forgetSchema } from '../../editor/schema-source.ts';
import { texts } from '../../texts/texts.ts';
import { faultOfChain, isFull, newestFirst, readBackupFile } from './backup-file.ts';
import type { BackupFile } from './backup-file.ts';
import { upload } from './upload.ts';
import { useWork } from './work.tsx';
import type { Outcome } from './work.tsx';

const t = texts.admin;

type Restored = {
  readonly databases: readonly string[];
  readonly shards: number;
  readonly bytes: number;
  readonly users: readonly string[];
  readonly tokens: readonly string[];
  readonly documents: number;
  readonly leftOut: readonly string[];
};

const chosenDatabase = draft('admin.restore.database', '');
const newName = draft('admin.restore.as', '');

export function Restore() {
  const files = useSignal<readonly File[]>([]);
  const read = useResource(() => readAll(files.value), [files.value]);
  const work = useWork();
  const restore = async (backups: readonly BackupFile[], signal: AbortSignal): Promise<Outcome> => {
    const database = chosenDatabase.peek().trim() || undefined;
    const as = database === undefined ? undefined : newName.peek().trim() || undefined;
    const done = await upload<Restored>(
      tsdb.http,
      backups.map(({ file }) => file),
      { path: '/api/restore', search: { database, as }, signal, tell: work.tell },
    );
    forgetSchema();
    const left = done.leftOut.length === 0 ? '' : ` ${t.leftOut(done.leftOut.join(', '))}`;
    const { databases, users, documents } = done;
    const text = t.restored(databases.join(', '), users.length, documents);
    return { kind: 'good', text: text + left };
  };
  const found = read.value.value;
  const chain = found?.backups ?? [];
  const fault = faultOfChain(chain);
  return (
    <Panel title={t.restore}>
      <div class="stack">
        <p class="muted">{t.restoreHint}</p>
        <form
          class="form-grid"
          onSubmit={(event) => {
            event.preventDefault();
            void work.run((signal) => restore(chain, signal));
          }}
        >
          <FileField
            label={t.backupFiles}
            isMultiple
            onChange={(chosen) => (files.value = chosen)}
          />
          <TextField
            label={t.onlyDatabase}
            placeholder={t.everything}
            value={chosenDatabase.value}
            onInput={(text) => (chosenDatabase.value = text)}
          />
          <TextField
            label={t.under}
            placeholder={t.sameName}
            value={newName.value}
            onInput={(text) => (newName.value = text)}
            disabled={chosenDatabase.value.trim() === ''}
          />
          <div class="row">
            <Button
              type="submit"
              kind="primary"
              isBusy={work.isRunning}
              disabled={read.isLoading.value || chain.length === 0 || fault !== undefined}
            >
              {t.restore}
            </Button>
          </div>
        </form>
        {found?.others.map((name) => (
          <Notice key={name} kind="bad">
            {t.noBackup(name)}
          </Notice>
        ))}
        {chain.length < 2 && fault === undefined ? null : <Chain backups={chain} />}
        {fault === undefined ? null : <Notice kind="bad">{t.chainFaults[fault]}</Notice>}
        {work.shown}
      </div>
    </Panel>
  );
}

/** Splits files into those of a chain and those that are no backups. */
async function readAll(files: readonly File[]): Promise<{
  readonly backups: readonly BackupFile[];
  readonly others: readonly string[];
}> {
  const read = await Promise.all(files.map(readBackupFile));
  return {
    backups: newestFirst(read.filter((each) => each !== undefined)),
    others: files.filter((_file, i) => read[i] === undefined).map(({ name }) => name),
  };
}

function Chain({ backups }: { readonly backups: readonly BackupFile[] }) {
  return (
    <Table
      label={t.chain}
      rows={backups}
      rowKey={({ file }) => file.name}
      columns={[
        { label: t.file, cell: ({ file }) => file.name },
        { label: t.kind, cell: (backup) => (isFull(backup) ? t.fullBackup : t.incrementalBackup) },
        { label: t.database, cell: ({ databases }) => databases.join(', ') },
        { label: t.size, isNumber: true, cell: ({ file }) => formatBytes(file.size) },
      ]}
    />
  );
}
