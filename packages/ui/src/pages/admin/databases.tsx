// Databases with their retention policies.
import { useSignal } from '@preact/signals';
import { formatIdentifier } from '@tidemark/influxql';

import { useResource } from '../../api/use-resource.ts';
import { Link } from '../../app/link.tsx';
import { draft } from '../../app/stored.ts';
import { Button } from '../../design/button.tsx';
import { CheckField, TextField } from '../../design/field.tsx';
import { Badge } from '../../design/states.tsx';
import { forgetSchema } from '../../editor/schema-source.ts';
import { texts } from '../../texts/texts.ts';
import { NamedList } from './named-list.tsx';
import { ask, perform } from './statements.tsx';

const t = texts.admin;

const made = draft('admin.database', '');

export function Databases() {
  const databases = useResource((signal) => ask('SHOW DATABASES', signal), []);
  const name = made.value.trim();
  return (
    <NamedList
      title={t.tabs.databases}
      found={databases}
      column="name"
      columnLabel={t.database}
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
