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
import { route, setParams } from '../../app/router.ts';
import { READY_DASHBOARDS } from '../../dashboards/ready/ready.ts';
import { Button } from '../../design/button.tsx';
import { SelectField, TextField } from '../../design/field.tsx';
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
  const { params } = route.value;
  const [folder, tag] = [params.get('folder') ?? '', params.get('tag') ?? ''];
  const wanted = search.value.trim().toLowerCase();
  const found = dashboards.filter(
    (each) =>
      (folder === '' || each.folder === folder) &&
      (tag === '' || (each.tags ?? []).includes(tag)) &&
      [each.title, each.folder ?? '', ...(each.tags ?? [])]
        .join(' ')
        .toLowerCase()
        .includes(wanted),
  );
  const folders = namesIn(dashboards.map((each) => each.folder ?? ''));
  const tags = namesIn(dashboards.flatMap((each) => each.tags ?? []));
  const isFiled = folders.length + tags.length > 0;
  return (
    <>
      {dashboards.length > SEARCHED_MIN || isFiled ? (
        <div class="body form-grid">
          <TextField
            label={t.search}
            value={search.value}
            onInput={(text) => (search.value = text)}
          />
          {folders.length === 0 ? null : (
            <SelectField
              label={t.folder}
              value={folder}
              options={[{ value: '', label: t.folderAll }, ...folders]}
              onChange={(next) => setParams({ folder: next })}
            />
          )}
          {tags.length === 0 ? null : (
            <SelectField
              label={t.tag}
              value={tag}
              options={[{ value: '', label: t.tagAll }, ...tags]}
              onChange={(next) => setParams({ tag: next })}
            />
          )}
        </div>
      ) : null}
      <StoredTable dashboards={found} isFiled={isFiled} />
    </>
  );
}

/** Different names that are not empty, in order. */
const namesIn = (names: readonly string[]): readonly string[] =>
  [...new Set(names)].filter((name) => name !== '').toSorted((a, b) => a.localeCompare(b));

/** As many are seen at once. */
const SEARCHED_MIN = 8;

function StoredTable({
  dashboards,
  isFiled,
}: {
  readonly dashboards: readonly DocumentSummary[];
  /** Whether any has a folder or tags. */
  readonly isFiled: boolean;
}) {
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
        ...(isFiled
          ? [
              {
                label: t.folder,
                sortBy: ({ folder = '' }: DocumentSummary) => folder,
                cell: ({ folder = '' }: DocumentSummary) => folder,
              },
              {
                label: t.tags,
                cell: ({ tags = [] }: DocumentSummary) =>
                  tags.map((tag) => (
                    <span key={tag}>
                      <Link page="dashboards" params={{ tag }}>
                        {tag}
                      </Link>{' '}
                    </span>
                  )),
              },
            ]
          : []),
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
