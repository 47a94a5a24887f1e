// Imports from an InfluxDB 1.x or a Kapacitor 1.x. The page's server copies, so the page may be
// closed.
import { useComputed, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

import { pageFetch } from '../../api/clients.ts';
import { services } from '../../api/connection.ts';
import { problemOf } from '../../api/problem.ts';
import { useResource } from '../../api/use-resource.ts';
import { draft } from '../../app/stored.ts';
import { Button } from '../../design/button.tsx';
import { CheckField, TextField } from '../../design/field.tsx';
import { Panel } from '../../design/panel.tsx';
import { Badge, Notice } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { toast } from '../../design/toasts.tsx';
import { forgetSchema } from '../../editor/schema-source.ts';
import { texts } from '../../texts/texts.ts';
import { Loaded } from './statements.tsx';

const t = texts.admin;
const REFRESH_MS = 1000;
const PATH = 'api/import';

type Step = {
  readonly kind: string;
  readonly id: string;
  readonly outcome: string;
  readonly note: string;
};

type Job = {
  readonly id: string;
  readonly kind: 'influxdb' | 'kapacitor';
  readonly url: string;
  readonly state: 'running' | 'finished' | 'failed' | 'cancelled';
  readonly done: number;
  readonly total: number;
  readonly label: string;
  readonly points: number;
  readonly error: string;
  readonly report?: {
    readonly databases: number;
    readonly measurements: number;
    readonly points: number;
    readonly continuousQueries: number;
    readonly users: readonly { readonly name: string; readonly password: string }[];
    readonly subscriptionsLeftOut: readonly { readonly name: string }[];
    readonly mismatches: readonly { readonly measurement: string; readonly text: string }[];
  };
  readonly steps: readonly Step[];
};

type Answer = { readonly job: Job | null; readonly error?: string };

async function call(init: RequestInit): Promise<Job | undefined> {
  const response = await pageFetch(PATH, init);
  const { job, error } = (await response.json()) as Answer;
  if (!response.ok) throw new Error(error ?? response.statusText);
  return job ?? undefined;
}

export function Import() {
  const found = useResource((signal) => call({ signal }), [], { refreshMs: REFRESH_MS });
  const job = found.value.value;
  const change = async (init: RequestInit): Promise<void> => {
    try {
      await call(init);
    } catch (error) {
      toast(problemOf(error).message, 'bad');
    }
    forgetSchema();
    await found.reload();
  };
  const start = (request: object): void =>
    void change({
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(request),
    });
  const isBusy = job?.state === 'running';
  return (
    <>
      {job === undefined ? (
        found.error.value === undefined ? null : (
          <Loaded resource={found}>{() => null}</Loaded>
        )
      ) : (
        <JobPanel job={job} onEnd={() => void change({ method: 'DELETE' })} />
      )}
      {services.tsdb.value.state === 'absent' ? null : (
        <InfluxForm isBusy={isBusy} onStart={start} />
      )}
      {services.engine.value.state === 'absent' ? null : (
        <KapacitorForm isBusy={isBusy} onStart={start} />
      )}
    </>
  );
}

const KINDS = { running: 'accent', finished: 'good', failed: 'bad', cancelled: 'warn' } as const;

function JobPanel({ job, onEnd }: { readonly job: Job; readonly onEnd: () => void }) {
  const { state, kind, report, error, steps, done, total, label, points } = job;
  const mismatches = report?.mismatches ?? [];
  const users = report?.users ?? [];
  return (
    <Panel
      title={t.lastImport}
      controls={
        <>
          <Badge kind={KINDS[state]}>{t.jobStates[state]}</Badge>
          <Button isSmall onClick={onEnd}>
            {state === 'running' ? t.end : t.forget}
          </Button>
        </>
      }
    >
      <div class="stack">
        <p>
          {t.importOf[kind]} <code>{job.url}</code>
        </p>
        {state === 'running' ? (
          <>
            <progress
              class="progress"
              aria-label={t.progress}
              {...(total === 0 ? {} : { value: done / total })}
            />
            <p class="small muted">
              {kind === 'influxdb' ? t.importing(done, total, points, label) : label}
            </p>
          </>
        ) : null}
        {error === '' ? null : <Notice kind="bad">{error}</Notice>}
        {report === undefined ? null : (
          <Notice kind={mismatches.length === 0 ? 'good' : 'warn'}>
            {t.imported(report)}{' '}
            {mismatches.length === 0 ? t.importSame : t.importDifferent(mismatches.length)}
          </Notice>
        )}
        {mismatches.map(({ measurement, text }) => (
          <p key={measurement + text} class="warn small">
            {measurement}: {text}
          </p>
        ))}
        {users.length === 0 ? null : (
          <Table
            label={t.newPasswords}
            rows={users}
            rowKey={({ name }) => name}
            columns={[
              { label: t.user, cell: ({ name }) => name },
              { label: t.newPassword, cell: ({ password }) => <code>{password}</code> },
            ]}
          />
        )}
        {(report?.subscriptionsLeftOut ?? []).length === 0 ? null : (
          <p class="small">
            {t.subscriptionsLeft(
              (report?.subscriptionsLeftOut ?? []).map(({ name }) => name).join(', '),
            )}
          </p>
        )}
        {steps.length === 0 ? null : <Steps steps={steps} />}
      </div>
    </Panel>
  );
}

function Steps({ steps }: { readonly steps: readonly Step[] }) {
  return (
    <div class="job-steps">
      <Table
        label={t.steps}
        rows={steps}
        rowKey={({ kind, id }) => `${kind} ${id}`}
        columns={[
          { label: t.kind, cell: ({ kind }) => kind },
          { label: t.name, cell: ({ id }) => id },
          {
            label: t.outcome,
            cell: ({ outcome }) => (
              <Badge kind={outcome === 'failed' ? 'bad' : outcome === 'kept' ? 'warn' : 'plain'}>
                {outcome}
              </Badge>
            ),
          },
          { label: t.note, cell: ({ note }) => note },
        ]}
      />
    </div>
  );
}

type FormProps = { readonly isBusy: boolean; readonly onStart: (request: object) => void };

/** Address, user and password of the other server; a reload loses the password. */
function useSource(key: string) {
  const url = draft(`admin.import.${key}.url`, '');
  const username = draft(`admin.import.${key}.user`, '');
  const password = useSignal('');
  const isUsable = useComputed(
    () => /^https?:\/\/./.test(url.value.trim()) && URL.canParse(url.value.trim()),
  );
  const fields = (example: string): ComponentChildren => (
    <>
      <TextField
        label={t.address}
        placeholder={example}
        value={url.value}
        onInput={(text) => (url.value = text)}
      />
      <TextField
        label={t.user}
        value={username.value}
        onInput={(text) => (username.value = text)}
      />
      <TextField
        label={t.password}
        type="password"
        autocomplete="off"
        value={password.value}
        onInput={(text) => (password.value = text)}
      />
    </>
  );
  const values = () => ({
    url: url.value.trim(),
    username: username.value,
    password: password.value,
  });
  return { fields, values, isUsable: isUsable.value };
}

const databases = draft('admin.import.databases', '');

function InfluxForm({ isBusy, onStart }: FormProps) {
  const source = useSource('influxdb');
  const hasUsers = useSignal(true);
  const notify = useSignal(false);
  return (
    <Panel title={t.importInflux}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (!source.isUsable) return;
          const names = databases.value.split(',').map((name) => name.trim());
          onStart({
            kind: 'influxdb',
            ...source.values(),
            databases: names.filter((name) => name !== ''),
            hasUsers: hasUsers.value,
            notify: notify.value,
          });
        }}
      >
        <p class="muted">{t.importInfluxHint}</p>
        <div class="form-grid">
          {source.fields('http://host:8086')}
          <TextField
            label={t.onlyDatabases}
            placeholder={t.everything}
            value={databases.value}
            onInput={(text) => (databases.value = text)}
          />
        </div>
        <CheckField
          label={t.withUsers}
          isChecked={hasUsers.value}
          onChange={(is) => (hasUsers.value = is)}
        />
        <CheckField
          label={t.withNotify}
          isChecked={notify.value}
          onChange={(is) => (notify.value = is)}
        />
        <div class="row">
          <Button type="submit" kind="primary" disabled={isBusy || !source.isUsable}>
            {t.importInflux}
          </Button>
        </div>
      </form>
    </Panel>
  );
}

function KapacitorForm({ isBusy, onStart }: FormProps) {
  const source = useSource('kapacitor');
  const isDisabled = useSignal(true);
  const isOverwriting = useSignal(false);
  return (
    <Panel title={t.importKapacitor}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (!source.isUsable) return;
          onStart({
            kind: 'kapacitor',
            ...source.values(),
            isDisabled: isDisabled.value,
            isOverwriting: isOverwriting.value,
          });
        }}
      >
        <p class="muted">{t.importKapacitorHint}</p>
        <div class="form-grid">{source.fields('http://host:9092')}</div>
        <CheckField
          label={t.leaveDisabled}
          isChecked={isDisabled.value}
          onChange={(is) => (isDisabled.value = is)}
        />
        <CheckField
          label={t.overwrite}
          isChecked={isOverwriting.value}
          onChange={(is) => (isOverwriting.value = is)}
        />
        <div class="row">
          <Button type="submit" kind="primary" disabled={isBusy || !source.isUsable}>
            {t.importKapacitor}
          </Button>
        </div>
      </form>
    </Panel>
  );
}
