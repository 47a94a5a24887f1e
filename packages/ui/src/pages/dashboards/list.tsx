// All stored dashboards, and the ready-made ones.
import type { DocumentSummary } from '@tidemark/core';
import { useSignal } from '@preact/signals';

import { services } from '../../api/connection.ts';
import { documents } from '../../api/documents.ts';
import { session } from '../../api/session.ts';
import { useResource } from '../../api/use-resource.ts';
import { useCommands } from '../../app/commands.ts';
import { Link } from '../../app/link.tsx';
import { PageHead } from '../../app/page-frame.tsx';
import { READY_DASHBOARDS } from '../../dashboards/ready/ready.ts';
import { Button } from '../../design/button.tsx';
import { TextField } from '../../design/field.tsx';
import { Panel } from '../../design/panel.tsx';
import { Empty, Failure, Loading } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { formatTime, shownZone } from '../../time/zone.ts';
import { texts } from '../../texts/texts.ts';
import { ImportDialog } from './import-dialog.tsx';
import { NewDialog } from './new-dialog.tsx';

const t = texts.dashboards;

export function DashboardList() {
  // The service that stores them is known once it is known which services run.
  const isKnown = services.tsdb.value.state !== 'unknown';
  const all = useResource(
    (signal) => (isKnown ? documents().list('dashboards', signal) : new Promise<never>(() => {})),
    [isKnown],
  );
  const isImporting = useSignal(false);
  const mayChange = session.value.isAdmin;
  const isAdding = useSignal(false);
  const add = (): void => {
    isAdding.value = true;
  };
  useCommands(
    mayChange
      ? [
          { id: 'dashboard-add', group: t.list, label: t.add, keys: 'n', run: add },
          {
            id: 'dashboard-import',
            group: t.list,
            label: t.import,
            keys: 'i',
            run: () => (isImporting.value = true),
          },
        ]
      : [],
  );
  const { value, error } = all;
  return (
    <>
      <PageHead title={t.list}>
        {mayChange ? (
          <>
            <Button icon="upload" onClick={() => (isImporting.value = true)}>
              {t.import}
            </Button>
            <Button kind="primary" icon="plus" onClick={add}>
              {t.add}
            </Button>
          </>
        ) : (
          <span class="muted small">{t.readOnly}</span>
        )}
      </PageHead>
      <Panel title={t.list} isFlush>
        {error.value !== undefined ? (
          <Failure error={error.value} onRetry={() => void all.reload()} />
        ) : value.value === undefined ? (
          <Loading />
        ) : (
          <Stored dashboards={value.value} />
        )}
      </Panel>
      {/* They ask the database. */}
      {services.tsdb.value.state === 'absent' ? null : <Ready />}
      {isAdding.value ? <NewDialog onClose={() => (isAdding.value = false)} /> : null}
      {isImporting.value ? <ImportDialog onClose={() => (isImporting.value = false)} /> : null}
    </>
  );
}

function Ready() {
  return (
    <Panel title={t.ready}>
      <div class="stack">
        <p class="muted small">{t.readyHint}</p>
        <ul class="ready-list">
          {READY_DASHBOARDS.map(({ id, dashboard }) => (
            <li key={id}>
              <Link page="dashboards" params={{ id }}>
                {dashboard.title}
              </Link>
              <span class="muted">{t.readyOnes[id]}</span>
            </li>
          ))}
        </ul>
      </div>
    </Panel>
  );
}

function Stored({ dashboards }: { readonly dashboards: readonly DocumentSummary[] }) {
  const search = useSignal('');
  const wanted = search.value.trim().toLowerCase();
  const found = dashboards.filter(({ title }) => title.toLowerCase().includes(wanted));
  return (
    <>
      {dashboards.length > SEARCHED_MIN ? (
        <div class="body">
          <TextField
            label={t.search}
            isLabelHidden
            placeholder={t.search}
            value={search.value}
            onInput={(text) => (search.value = text)}
          />
        </div>
      ) : null}
      <StoredTable dashboards={found} />
    </>
  );
}

/** As many are seen at once. */
const SEARCHED_MIN = 8;

function StoredTable({ dashboards }: { readonly dashboards: readonly DocumentSummary[] }) {
  return (
    <Table
      label={t.list}
      rows={dashboards}
      rowKey={({ id }) => id}
      empty={
        <Empty title={t.noDashboards} icon="dashboards">
          {t.noDashboardsHint}
        </Empty>
      }
      columns={[
        {
          label: t.title,
          sortBy: ({ title }) => title,
          cell: ({ id, title }) => (
            <Link page="dashboards" params={{ id }}>
              {title}
            </Link>
          ),
        },
        {
          label: t.modified,
          sortBy: ({ modified }) => modified,
          cell: ({ modified }) => formatTime(modified.replace(/\.\d+/, ''), shownZone.value),
        },
        { label: t.by, sortBy: ({ by }) => by, cell: ({ by }) => by },
        { label: t.version, isNumber: true, cell: ({ version }) => version },
      ]}
    />
  );
}
