// Backups: made into a file of the browser's machine and brought back from one, with how far that
// is.
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';

import { engine, tsdb } from '../../api/clients.ts';
import { services } from '../../api/connection.ts';
import { isAbort, problemOf } from '../../api/problem.ts';
import { useResource } from '../../api/use-resource.ts';
import { download } from '../../app/download.ts';
import { draft } from '../../app/stored.ts';
import { formatBytes } from '../../charts/format.ts';
import { Button } from '../../design/button.tsx';
import { SelectField, TextField } from '../../design/field.tsx';
import { Panel } from '../../design/panel.tsx';
import { Notice } from '../../design/states.tsx';
import { forgetSchema, schemaSource } from '../../editor/schema-source.ts';
import { texts } from '../../texts/texts.ts';
import { faultOf, TAIL_BYTES } from './backup-end.ts';

const t = texts.admin;

/** Far below what a request may hold, far above a round trip. */
const PIECE_BYTES = 4 << 20;

type Running = {
  readonly doneBytes: number;
  /** 0 where it is not known. */
  readonly totalBytes: number;
};

type Outcome = { readonly kind: 'good' | 'warn' | 'bad'; readonly text: string };

/** Work that can be ended, and what became of it. */
function useWork() {
  const running = useSignal<Running | undefined>(undefined);
  const outcome = useSignal<Outcome | undefined>(undefined);
  const abort = useRef<AbortController>();
  const run = async (work: (signal: AbortSignal) => Promise<Outcome>): Promise<void> => {
    const controller = new AbortController();
    abort.current = controller;
    outcome.value = undefined;
    running.value = { doneBytes: 0, totalBytes: 0 };
    try {
      outcome.value = await work(controller.signal);
    } catch (error) {
      outcome.value =
        controller.signal.aborted || isAbort(error)
          ? { kind: 'warn', text: t.wasEnded }
          : { kind: 'bad', text: problemOf(error).message };
    }
    running.value = undefined;
  };
  return {
    isRunning: running.value !== undefined,
    run,
    tell: (now: Running) => (running.value = now),
    shown: (
      <>
        {running.value === undefined ? null : (
          <Progress running={running.value} onEnd={() => abort.current?.abort()} />
        )}
        {outcome.value === undefined ? null : (
          <Notice kind={outcome.value.kind}>{outcome.value.text}</Notice>
        )}
      </>
    ),
  };
}

function Progress({ running, onEnd }: { readonly running: Running; readonly onEnd: () => void }) {
  const { doneBytes, totalBytes } = running;
  return (
    <div class="row">
      <progress
        class="progress grow"
        aria-label={t.progress}
        {...(totalBytes === 0 ? {} : { value: Math.min(1, doneBytes / totalBytes) })}
      />
      <span class="small number">{formatBytes(doneBytes)}</span>
      <Button isSmall onClick={onEnd}>
        {t.end}
      </Button>
    </div>
  );
}

export function Backup() {
  return (
    <>
      <Make />
      <Restore />
      {services.engine.value.state === 'absent' ? null : <EngineBackup />}
    </>
  );
}

const stamp = (): string => new Date().toISOString().slice(0, 19).replaceAll(':', '');

function Make() {
  const database = useSignal('');
  const databases = useResource(() => schemaSource.databases(), []);
  const work = useWork();
  const make = async (signal: AbortSignal): Promise<Outcome> => {
    const chosen = database.peek();
    const totalBytes = await sizeOf(chosen, signal);
    const { body } = await tsdb.http.send('/api/backup', {
      method: 'POST',
      json: chosen === '' ? {} : { databases: [chosen] },
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
    // Browsers keep what is large of a blob on their disk.
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
          class="row"
          onSubmit={(event) => {
            event.preventDefault();
            void work.run(make);
          }}
        >
          <SelectField
            label={t.whatToBackUp}
            isLabelHidden
            value={database.value}
            options={[{ value: '', label: t.everything }, ...(databases.value.value ?? [])]}
            onChange={(next) => (database.value = next)}
          />
          <Button type="submit" kind="primary" icon="download" isBusy={work.isRunning}>
            {t.backUp}
          </Button>
        </form>
        {work.shown}
      </div>
    </Panel>
  );
}

/** Bytes of the shards, about what a backup will have. */
async function sizeOf(database: string, signal: AbortSignal): Promise<number> {
  const series = await tsdb.rows(`SHOW STATS FOR 'shard'`, { signal });
  return series
    .filter(({ tags }) => database === '' || tags?.['database'] === database)
    .reduce((sum, { columns, values }) => {
      return sum + Number(values?.[0]?.[columns.indexOf('diskBytes')] ?? 0);
    }, 0);
}

type Restored = {
  readonly databases: readonly string[];
  readonly shards: number;
  readonly bytes: number;
  readonly users: readonly string[];
  readonly tokens: readonly string[];
  readonly leftOut: readonly string[];
};

const chosenDatabase = draft('admin.restore.database', '');
const newName = draft('admin.restore.as', '');

function Restore() {
  const file = useSignal<File | undefined>(undefined);
  const work = useWork();
  const restore = async (content: File, signal: AbortSignal): Promise<Outcome> => {
    const path = '/api/restore';
    const database = chosenDatabase.peek().trim() || undefined;
    const as = database === undefined ? undefined : newName.peek().trim() || undefined;
    const { id } = await tsdb.http.json<{ readonly id: string }>(path, {
      method: 'POST',
      search: { database, as },
      signal,
    });
    try {
      for (let at = 0; at < content.size; at += PIECE_BYTES) {
        const piece = await content.slice(at, at + PIECE_BYTES).arrayBuffer();
        const body = new Uint8Array(piece);
        await tsdb.http.send(path, { method: 'PUT', search: { id }, body, signal });
        work.tell({ doneBytes: at + body.length, totalBytes: content.size });
      }
      const done = await tsdb.http.json<Restored>(path, { method: 'POST', search: { id }, signal });
      forgetSchema();
      const left = done.leftOut.length === 0 ? '' : ` ${t.leftOut(done.leftOut.join(', '))}`;
      const { databases, users } = done;
      return { kind: 'good', text: t.restored(databases.join(', '), users.length) + left };
    } catch (error) {
      // What failed is what the user wants to know; the server ends by itself what is left.
      await tsdb.http.sendRaw(path, { method: 'DELETE', search: { id } }).catch(() => undefined);
      throw error;
    }
  };
  return (
    <Panel title={t.restore}>
      <div class="stack">
        <p class="muted">{t.restoreHint}</p>
        <form
          class="form-grid"
          onSubmit={(event) => {
            event.preventDefault();
            const content = file.peek();
            if (content !== undefined) void work.run((signal) => restore(content, signal));
          }}
        >
          <label class="field">
            <span>{t.backupFile}</span>
            <input
              class="input"
              type="file"
              onChange={(event) => (file.value = event.currentTarget.files?.[0])}
            />
          </label>
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
              disabled={file.value === undefined}
            >
              {t.restore}
            </Button>
          </div>
        </form>
        {work.shown}
      </div>
    </Panel>
  );
}

/** What the engine keeps is one file; it comes back by being put in place. */
function EngineBackup() {
  const work = useWork();
  const make = async (signal: AbortSignal): Promise<Outcome> => {
    const answer = await engine.http.send('/engine/v1/storage/backup', { signal });
    const blob = await answer.blob();
    const name = `engine-${stamp()}.mdb`;
    download(blob, name);
    return { kind: 'good', text: t.backupMade(name, formatBytes(blob.size)) };
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
        {work.shown}
      </div>
    </Panel>
  );
}
