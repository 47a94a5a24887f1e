// Write: points as line protocol or as a table, typed, pasted, dropped or from a file; checked
// before they are sent.
import { PRECISION_NANOS } from '@tidemark/core';
import type { Precision } from '@tidemark/core';
import { useSignal } from '@preact/signals';
import type { PartialWrite } from '@tidemark/client';
import { useMemo } from 'preact/hooks';

import { tsdb } from '../../api/clients.ts';
import { problemOf } from '../../api/problem.ts';
import { session } from '../../api/session.ts';
import { useResource } from '../../api/use-resource.ts';
import { PageHead } from '../../app/page-frame.tsx';
import { route, setParams } from '../../app/router.ts';
import { draft } from '../../app/stored.ts';
import { Button, Choice } from '../../design/button.tsx';
import { SelectField, TextArea } from '../../design/field.tsx';
import { Panel } from '../../design/panel.tsx';
import { Empty, Notice } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { forgetSchema, schemaSource } from '../../editor/schema-source.ts';
import { texts } from '../../texts/texts.ts';
import { bodiesOf, checkLines } from './check.ts';
import { linesOf, parseCsv } from './csv.ts';
import { CsvForm, mappingOf } from './csv-form.tsx';
import './write.css';

const t = texts.write;

const text = draft('write.text', '');
const SHOWN_ERRORS_MAX = 100;
const PREVIEW_LINES = 5;

type RejectedLine = PartialWrite['rejected'][number];

type Report = {
  /** The text that was sent; the result does not apply to another text. */
  readonly lines: string;
  readonly writtenCount: number;
  readonly rejected: readonly RejectedLine[];
  readonly unlisted: number;
  readonly problem?: string | undefined;
};

export function Page() {
  const kind = useSignal<'lines' | 'csv'>('lines');
  const precision = useSignal<Precision>('ns');
  const mapping = useSignal<ReturnType<typeof mappingOf> | undefined>(undefined);
  const progress = useSignal<number | undefined>(undefined);
  const report = useSignal<Report | undefined>(undefined);
  const databases = useResource(() => schemaSource.databases(), []);
  const { writes } = session.value;
  const names = (databases.value.value ?? []).filter(
    (name) => name !== '_internal' && (writes?.includes(name) ?? true),
  );
  const database = route.value.params.get('db') ?? names[0] ?? '';
  const policies = useResource(
    () => (database === '' ? Promise.resolve([]) : schemaSource.policies(database)),
    [database],
  );
  const policy = useSignal('');

  const rows = useMemo(
    () => (kind.value === 'csv' ? parseCsv(text.value) : []),
    [text.value, kind.value],
  );
  const held = mapping.value;
  const chosen = held !== undefined && held.head === rows[0]?.join() ? held : mappingOf(rows);
  const unitMs = Number(PRECISION_NANOS[precision.value]) / 1e6;
  const lines =
    kind.value === 'lines' ? text.value : linesOf(rows.slice(1), chosen.mapping, unitMs).join('\n');
  const checked = useMemo(() => checkLines(lines, precision.value), [lines, precision.value]);

  const read = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    text.value = await file.text();
    if (/\.(?:csv|tsv)$/i.test(file.name)) kind.value = 'csv';
  };

  const send = async (): Promise<void> => {
    const rejected: RejectedLine[] = [];
    let unlisted = 0;
    let writtenCount = 0;
    let problem: string | undefined;
    const bodies = [...bodiesOf(lines)];
    for (const [at, { before, body }] of bodies.entries()) {
      progress.value = at / bodies.length;
      try {
        const options = { precision: precision.value, retentionPolicy: policy.value || undefined };
        const partial = await tsdb.writeReported(database, body, options);
        for (const each of partial?.rejected ?? []) {
          rejected.push({ ...each, line: each.line + before });
        }
        unlisted += partial?.unlisted ?? 0;
        writtenCount += partial?.written ?? checkLines(body, precision.value).pointCount;
      } catch (error) {
        problem = t.stopped(before, problemOf(error).message);
        break;
      }
    }
    progress.value = undefined;
    report.value = { lines, writtenCount, rejected, unlisted, problem };
    forgetSchema();
  };

  return (
    <>
      <PageHead title={t.title} />
      <div class="form-grid">
        <SelectField
          label={t.database}
          value={database}
          options={names}
          onChange={(db) => setParams({ db })}
        />
        <SelectField
          label={t.policy}
          problem={policies.error.value?.message}
          value={policy.value}
          options={[{ value: '', label: t.defaultPolicy }, ...(policies.value.value ?? [])]}
          onChange={(next) => (policy.value = next)}
        />
        <SelectField
          label={t.precision}
          value={precision.value}
          options={Object.entries(t.precisions).map(([value, label]) => ({ value, label }))}
          onChange={(next) => (precision.value = next as Precision)}
        />
      </div>
      <Panel
        title={t.points}
        controls={
          <>
            <Choice
              label={t.kind}
              value={kind.value}
              options={[
                { value: 'lines', label: t.lines },
                { value: 'csv', label: 'CSV' },
              ]}
              onChange={(next) => (kind.value = next)}
            />
            <label class="button file-button">
              {t.choose}
              <input
                type="file"
                class="hidden-visually"
                onChange={(event) => void read(event.currentTarget.files?.[0])}
              />
            </label>
          </>
        }
      >
        <div
          class="stack"
          onDragOver={(event) => event.preventDefault()}
          onDrop={(event) => {
            event.preventDefault();
            void read(event.dataTransfer?.files[0]);
          }}
        >
          <TextArea
            label={kind.value === 'lines' ? t.lines : 'CSV'}
            rows={10}
            placeholder={t.placeholders[kind.value]}
            hint={t.dropHint}
            value={text.value}
            onInput={(next) => (text.value = next)}
          />
          {kind.value === 'csv' && rows.length > 1 ? (
            <CsvForm
              head={rows[0] ?? []}
              mapping={chosen.mapping}
              onChange={(next) => (mapping.value = { head: rows[0]?.join(), mapping: next })}
            />
          ) : null}
        </div>
      </Panel>
      <Panel title={t.check}>
        {lines.trim() === '' ? (
          <Empty title={t.nothing} icon="write">
            {t.nothingHint}
          </Empty>
        ) : (
          <div class="stack">
            <Notice kind={checked.errors.length === 0 ? 'good' : 'warn'}>
              {t.checked(checked.pointCount, checked.measurements.join(', '))}{' '}
              {checked.errors.length === 0 ? '' : t.faulty(checked.errors.length)}
            </Notice>
            {kind.value === 'csv' ? (
              <pre class="built">{lines.split('\n').slice(0, PREVIEW_LINES).join('\n')}</pre>
            ) : null}
            {checked.errors.length === 0 ? null : (
              <Faults
                label={t.faults}
                faults={checked.errors.map(({ lineNumber, text: line, reason }) => ({
                  line: lineNumber,
                  text: line,
                  reason,
                }))}
              />
            )}
            {progress.value === undefined ? null : (
              <progress class="progress" aria-label={t.progress} value={progress.value} />
            )}
            <div class="row">
              <Button
                kind="primary"
                icon="write"
                disabled={checked.pointCount === 0 || database === ''}
                isBusy={progress.value !== undefined}
                onClick={() => void send()}
              >
                {t.send(checked.pointCount, database)}
              </Button>
            </div>
            {report.value?.lines === lines ? <Outcome report={report.value} /> : null}
          </div>
        )}
      </Panel>
    </>
  );
}

function Outcome({ report }: { readonly report: Report }) {
  const { writtenCount, rejected, unlisted, problem } = report;
  const count = rejected.length + unlisted;
  return (
    <>
      {problem === undefined ? (
        <Notice kind={count === 0 ? 'good' : 'warn'}>{t.written(writtenCount, count)}</Notice>
      ) : (
        <Notice kind="bad">{problem}</Notice>
      )}
      {rejected.length === 0 ? null : <Faults label={t.rejected} faults={rejected} />}
    </>
  );
}

function Faults({
  label,
  faults,
}: {
  readonly label: string;
  readonly faults: readonly RejectedLine[];
}) {
  return (
    <>
      <Table
        label={label}
        rows={faults.slice(0, SHOWN_ERRORS_MAX)}
        rowKey={({ line, reason }) => `${line} ${reason}`}
        columns={[
          { label: t.line, isNumber: true, cell: ({ line }) => line },
          { label: t.reason, cell: ({ reason }) => reason },
          { label: t.text, cell: (fault) => <code>{fault.text.slice(0, 300)}</code> },
        ]}
      />
      {faults.length > SHOWN_ERRORS_MAX ? (
        <p class="muted small">{t.someFaults(SHOWN_ERRORS_MAX, faults.length)}</p>
      ) : null}
    </>
  );
}
