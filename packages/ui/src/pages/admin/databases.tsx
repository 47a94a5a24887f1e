// Databases with their size, series, retention and last write, and their retention policies.
import { useSignal } from '@preact/signals';
import { formatIdentifier } from '@tidemark/influxql';

import { tsdb } from '../../api/clients.ts';
import { useResource } from '../../api/use-resource.ts';
import { Link } from '../../app/link.tsx';
import { draft } from '../../app/stored.ts';
import { formatBytes, formatMs } from '../../charts/quantity.ts';
import { Button } from '../../design/button.tsx';
import { CheckField, TextField } from '../../design/field.tsx';
import { Badge } from '../../design/states.tsx';
import { forgetSchema } from '../../editor/schema-source.ts';
import { texts } from '../../texts/texts.ts';
import { NamedList } from './named-list.tsx';
import { ask, perform } from './statements.tsx';
import type { Answered } from './statements.tsx';

const t = texts.admin;

const REFRESH_MS = 5000;

const made = draft('admin.database', '');

/** Databases with `sizeBytes`, `series`, `lastWriteMs` and the `duration` of the default policy. */
async function load(signal: AbortSignal): Promise<readonly Answered[]> {
  const [databases, stats] = await Promise.all([
    ask('SHOW DATABASES', signal),
    tsdb.rows('SHOW STATS', { signal }),
  ]);
  const names = databases.map(({ name }) => String(name));
  const policies =
    names.length === 0
      ? []
      : ((
          await tsdb.query(
            names.map((name) => `SHOW RETENTION POLICIES ON ${formatIdentifier(name)}`).join(';'),
            { signal },
          )
        ).results ?? []);
  return names.map((name, i) => {
    const of = (module: string, counter: string): readonly number[] =>
      stats.flatMap((each) => {
        const isOf = each.name === module && each.tags?.['database'] === name;
        const at = isOf ? each.columns.indexOf(counter) : -1;
        return at < 0 ? [] : [Number(each.values?.[0]?.[at] ?? 0)];
      });
    const { columns = [], values = [] } = policies[i]?.series?.[0] ?? {};
    const standard = values.find((row) => row[columns.indexOf('default')] === true);
    return {
      name,
      sizeBytes: of('shard', 'diskBytes').reduce((sum, size) => sum + size, 0),
      series: of('database', 'numSeries')[0] ?? 0,
      duration: standard?.[columns.indexOf('duration')] ?? null,
      lastWriteMs: of('database', 'lastWriteMs')[0] ?? null,
    };
  });
}

export function Databases() {
  const databases = useResource(load, [], { refreshMs: REFRESH_MS });
  const name = made.value.trim();
  return (
    <NamedList
      title={t.tabs.databases}
      found={databases}
      column="name"
      columnLabel={t.database}
      columns={[
        {
          label: t.sizeOnDisk,
          isNumber: true,
          cell: ({ sizeBytes }) => formatBytes(Number(sizeBytes)),
          sortBy: ({ sizeBytes }) => Number(sizeBytes),
        },
        {
          label: t.series,
          isNumber: true,
          cell: ({ series }) => Number(series).toLocaleString('en'),
          sortBy: ({ series }) => Number(series),
        },
        {
          label: t.kept,
          cell: ({ duration }) => (duration === null ? '' : durationText(String(duration))),
        },
        {
          label: t.lastWrite,
          cell: ({ lastWriteMs }) =>
            lastWriteMs === null
              ? t.notSinceStart
              : t.ago(formatMs(Math.max(0, Date.now() - Number(lastWriteMs)))),
          sortBy: ({ lastWriteMs }) => Number(lastWriteMs),
        },
      ]}
      actions={(row) => (
        <Link page="explore" params={{ db: String(row['name']) }}>
          {t.explore}
        </Link>
      )}
      opened={{
        label: t.policies,
        panel: (database) => <Policies key={database} database={database} />,
      }}
      drop={(database) => ({
        title: t.dropDatabase(database),
        hint: t.dropDatabaseHint,
        statement: `DROP DATABASE ${formatIdentifier(database)}`,
      })}
      onChange={() => {
        forgetSchema();
        void databases.reload();
      }}
      made={{
        name,
        statement: name === '' ? '' : `CREATE DATABASE ${formatIdentifier(name)}`,
        onSend: () => (made.value = ''),
      }}
    >
      <TextField
        label={t.newDatabase}
        isLabelHidden
        placeholder={t.newDatabase}
        value={made.value}
        onInput={(text) => (made.value = text)}
      />
    </NamedList>
  );
}

function Policies({ database }: { readonly database: string }) {
  const on = `ON ${formatIdentifier(database)}`;
  const policies = useResource(
    (signal) => ask(`SHOW RETENTION POLICIES ${on}`, signal),
    [database],
  );
  const name = useSignal('');
  const duration = useSignal('');
  const isDefault = useSignal(false);
  const reload = (): void => void policies.reload();
  const isUsable =
    name.value.trim() !== '' && /^(?:inf|(?:\d+(?:w|d|h|m))+)$/i.test(duration.value);
  const statement = `CREATE RETENTION POLICY ${formatIdentifier(name.value)} ${on} DURATION ${duration.value} REPLICATION 1${isDefault.value ? ' DEFAULT' : ''}`;
  return (
    <NamedList
      title={t.policiesOf(database)}
      found={policies}
      column="name"
      columnLabel={t.policy}
      columns={[
        {
          label: t.isDefault,
          cell: (row) =>
            row['default'] === true ? <Badge kind="accent">{t.isDefault}</Badge> : '',
        },
        { label: t.kept, cell: (row) => durationText(String(row['duration'])) },
        { label: t.shardSpan, cell: (row) => durationText(String(row['shardGroupDuration'])) },
      ]}
      actions={(row) => {
        if (row['default'] === true) return null;
        const policy = String(row['name']);
        const alter = `ALTER RETENTION POLICY ${formatIdentifier(policy)} ${on} DEFAULT`;
        return (
          <Button isSmall onClick={() => void perform(alter, t.changed(policy)).then(reload)}>
            {t.makeDefault}
          </Button>
        );
      }}
      drop={(policy) => ({
        title: t.dropPolicy(policy),
        hint: t.dropPolicyHint,
        statement: `DROP RETENTION POLICY ${formatIdentifier(policy)} ${on}`,
      })}
      onChange={reload}
      made={{ name: name.value, statement: isUsable ? statement : '' }}
    >
      <TextField
        label={t.policy}
        isLabelHidden
        placeholder={t.newPolicy}
        value={name.value}
        onInput={(text) => (name.value = text)}
      />
      <TextField
        label={t.kept}
        isLabelHidden
        placeholder={t.durationExample}
        value={duration.value}
        onInput={(text) => (duration.value = text)}
      />
      <CheckField
        label={t.isDefault}
        isChecked={isDefault.value}
        onChange={(isChecked) => (isDefault.value = isChecked)}
      />
    </NamedList>
  );
}

/** `168h0m0s` as `7d`; `0s` means that nothing is deleted. */
function durationText(text: string): string {
  if (text === '0s') return t.forEver;
  const hours = Number(/^(\d+)h0m0s$/.exec(text)?.[1] ?? NaN);
  return hours % 24 === 0 ? `${hours / 24}d` : text.replace(/h0m0s$/, 'h');
}
