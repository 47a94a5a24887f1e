// Databases with their retention policies.
import { useSignal } from '@preact/signals';
import { formatIdentifier } from '@tidemark/influxql';

import { useResource } from '../../api/use-resource.ts';
import { Link } from '../../app/link.tsx';
import { Button, IconButton } from '../../design/button.tsx';
import { CheckField, TextField } from '../../design/field.tsx';
import { Panel } from '../../design/panel.tsx';
import { Badge } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { forgetSchema } from '../../editor/schema-source.ts';
import { texts } from '../../texts/texts.ts';
import { ask, Loaded, perform, useDoom } from './statements.tsx';

const t = texts.admin;

export function Databases() {
  const databases = useResource((signal) => ask('SHOW DATABASES', signal), []);
  const chosen = useSignal('');
  const made = useSignal('');
  const reload = (): void => {
    forgetSchema();
    void databases.reload();
  };
  const doom = useDoom(reload);
  return (
    <>
      <Panel title={t.tabs.databases} isFlush>
        <Loaded resource={databases}>
          {(rows) => (
            <Table
              label={t.tabs.databases}
              rows={rows}
              rowKey={({ name }) => String(name)}
              selectedKey={chosen.value}
              columns={[
                {
                  label: t.database,
                  cell: ({ name }) => String(name),
                  sortBy: ({ name }) => String(name),
                },
                {
                  label: t.actions,
                  isActions: true,
                  cell: ({ name }) => (
                    <>
                      <Link page="explore" params={{ db: String(name) }}>
                        {t.explore}
                      </Link>{' '}
                      <Button isSmall onClick={() => (chosen.value = String(name))}>
                        {t.policies}
                      </Button>{' '}
                      <IconButton
                        isSmall
                        icon="trash"
                        label={t.dropOne(String(name))}
                        onClick={() =>
                          doom.ask({
                            title: t.dropDatabase(String(name)),
                            hint: t.dropDatabaseHint,
                            statement: `DROP DATABASE ${formatIdentifier(String(name))}`,
                            done: t.dropped(String(name)),
                          })
                        }
                      />
                    </>
                  ),
                },
              ]}
            />
          )}
        </Loaded>
        <form
          class="row padded"
          onSubmit={(event) => {
            event.preventDefault();
            const name = made.value.trim();
            if (name === '') return;
            made.value = '';
            void perform(`CREATE DATABASE ${formatIdentifier(name)}`, t.created(name)).then(reload);
          }}
        >
          <TextField
            label={t.newDatabase}
            isLabelHidden
            placeholder={t.newDatabase}
            value={made.value}
            onInput={(text) => (made.value = text)}
          />
          <Button type="submit" icon="plus">
            {t.create}
          </Button>
        </form>
      </Panel>
      {chosen.value === '' ? null : <Policies key={chosen.value} database={chosen.value} />}
      {doom.dialog}
    </>
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
  const doom = useDoom(reload);
  const isUsable =
    name.value.trim() !== '' && /^(?:inf|(?:\d+(?:w|d|h|m))+)$/i.test(duration.value);
  return (
    <Panel title={t.policiesOf(database)} isFlush>
      <Loaded resource={policies}>
        {(rows) => (
          <Table
            label={t.policiesOf(database)}
            rows={rows}
            rowKey={(row) => String(row['name'])}
            columns={[
              {
                label: t.policy,
                cell: (row) => (
                  <>
                    {String(row['name'])}{' '}
                    {row['default'] === true ? <Badge kind="accent">{t.isDefault}</Badge> : null}
                  </>
                ),
              },
              { label: t.kept, cell: (row) => durationText(String(row['duration'])) },
              {
                label: t.shardSpan,
                cell: (row) => durationText(String(row['shardGroupDuration'])),
              },
              {
                label: t.actions,
                isActions: true,
                cell: (row) => {
                  const policy = String(row['name']);
                  const alter = `ALTER RETENTION POLICY ${formatIdentifier(policy)} ${on} DEFAULT`;
                  return (
                    <>
                      {row['default'] === true ? null : (
                        <Button
                          isSmall
                          onClick={() => void perform(alter, t.changed(policy)).then(reload)}
                        >
                          {t.makeDefault}
                        </Button>
                      )}{' '}
                      <IconButton
                        isSmall
                        icon="trash"
                        label={t.dropOne(policy)}
                        onClick={() =>
                          doom.ask({
                            title: t.dropPolicy(policy),
                            hint: t.dropPolicyHint,
                            statement: `DROP RETENTION POLICY ${formatIdentifier(policy)} ${on}`,
                            done: t.dropped(policy),
                          })
                        }
                      />
                    </>
                  );
                },
              },
            ]}
          />
        )}
      </Loaded>
      <form
        class="row padded"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isUsable) return;
          const statement = `CREATE RETENTION POLICY ${formatIdentifier(name.value)} ${on} DURATION ${duration.value} REPLICATION 1${isDefault.value ? ' DEFAULT' : ''}`;
          void perform(statement, t.created(name.value)).then(reload);
        }}
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
        <Button type="submit" icon="plus" disabled={!isUsable}>
          {t.create}
        </Button>
      </form>
      {doom.dialog}
    </Panel>
  );
}

/** `168h0m0s` as `7d`; nothing is thrown away after `0s`. */
function durationText(text: string): string {
  if (text === '0s') return t.forEver;
  const hours = Number(/^(\d+)h0m0s$/.exec(text)?.[1] ?? NaN);
  return hours % 24 === 0 ? `${hours / 24}d` : text.replace(/h0m0s$/, 'h');
}
