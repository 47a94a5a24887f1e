// The audit records of the database and of the engine, newest first.
import { useSignal } from '@preact/signals';

import { engine, tsdb } from '../../api/clients.ts';
import { services } from '../../api/connection.ts';
import { useResource } from '../../api/use-resource.ts';
import { draft } from '../../app/stored.ts';
import { Button } from '../../design/button.tsx';
import { SelectField, TextField } from '../../design/field.tsx';
import { Panel } from '../../design/panel.tsx';
import { Badge, Empty, Notice } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { formatTime, shownZone } from '../../time/zone.ts';
import { texts } from '../../texts/texts.ts';
import { Loaded } from './statements.tsx';

const t = texts.admin;
const PAGE_ENTRIES = 100;
/** Maximum of entries that the services return. */
const ENTRIES_MAX = 1000;

type Entry = {
  readonly time: string;
  readonly event: string;
  readonly user: string;
  readonly address: string;
  readonly requestId?: string;
  readonly [detail: string]: unknown;
};

type Answer = { readonly isKept: boolean; readonly entries: readonly Entry[] };

const wanted = draft('admin.audit', '');

export function Audit() {
  const service = useSignal<'tsdb' | 'engine'>(
    services.tsdb.value.state === 'absent' ? 'engine' : 'tsdb',
  );
  const text = useSignal(wanted.peek());
  const limit = useSignal(PAGE_ENTRIES);
  const found = useResource(
    (signal) => {
      const search = { text: text.value || undefined, limit: limit.value };
      return service.value === 'tsdb'
        ? tsdb.http.json<Answer>('/api/audit', { search, signal })
        : engine.http.json<Answer>('/engine/v1/audit', { search, signal });
    },
    [service.value, text.value, limit.value],
  );
  const zone = shownZone.value;
  return (
    <Panel
      title={t.tabs.audit}
      isFlush
      controls={
        <form
          class="row"
          onSubmit={(event) => {
            event.preventDefault();
            text.value = wanted.value.trim();
            limit.value = PAGE_ENTRIES;
          }}
        >
          <SelectField
            label={t.service}
            isLabelHidden
            value={service.value}
            options={[
              ...(services.tsdb.value.state === 'absent'
                ? []
                : [{ value: 'tsdb', label: texts.shell.tsdb }]),
              ...(services.engine.value.state === 'absent'
                ? []
                : [{ value: 'engine', label: texts.shell.engine }]),
            ]}
            onChange={(next) => (service.value = next as 'tsdb' | 'engine')}
          />
          <TextField
            label={t.auditSearch}
            isLabelHidden
            placeholder={t.auditSearch}
            value={wanted.value}
            onInput={(next) => (wanted.value = next)}
          />
          <Button type="submit" icon="search">
            {t.search}
          </Button>
        </form>
      }
    >
      <Loaded resource={found}>
        {({ isKept, entries }) =>
          isKept ? (
            <>
              <Table
                label={t.tabs.audit}
                rows={entries}
                rowKey={({ time, requestId }) => `${time} ${requestId}`}
                empty={<Empty title={t.noAudit}>{t.noAuditHint}</Empty>}
                columns={[
                  {
                    label: t.when,
                    cell: ({ time }) => formatTime(time, zone).replace(/\.\d+$/, ''),
                    sortBy: ({ time }) => time,
                  },
                  {
                    label: t.event,
                    cell: ({ event }) =>
                      event.endsWith('refused') ? <Badge kind="warn">{event}</Badge> : event,
                  },
                  { label: t.what, cell: (entry) => <code>{detailsOf(entry)}</code> },
                  { label: t.user, cell: ({ user }) => user },
                  { label: t.fromWhere, cell: ({ address }) => address },
                ]}
              />
              {entries.length < limit.value ? null : (
                <Notice
                  action={
                    limit.value >= ENTRIES_MAX ? null : (
                      <Button
                        isSmall
                        onClick={() => (limit.value = Math.min(limit.value * 2, ENTRIES_MAX))}
                      >
                        {t.older}
                      </Button>
                    )
                  }
                >
                  {t.onlyNewest(entries.length)}
                </Notice>
              )}
            </>
          ) : (
            <Empty title={t.auditOff}>
              <code>http.audit-keep-size</code> {t.auditOffHint}
            </Empty>
          )
        }
      </Loaded>
    </Panel>
  );
}

const KNOWN = new Set(['time', 'event', 'user', 'address', 'requestId']);

/** The statement if there is one; otherwise all details. */
function detailsOf(entry: Entry): string {
  const { statement, error } = entry;
  if (typeof statement === 'string')
    return typeof error === 'string' ? `${statement} → ${error}` : statement;
  return Object.entries(entry)
    .filter(([name]) => !KNOWN.has(name))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}
