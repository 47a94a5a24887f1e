// Users and their rights.
import { useSignal } from '@preact/signals';
import { formatIdentifier, quoteString } from '@tidemark/influxql';

import { useResource } from '../../api/use-resource.ts';
import { draft } from '../../app/stored.ts';
import { Button } from '../../design/button.tsx';
import { CheckField, SelectField, TextField } from '../../design/field.tsx';
import { Panel } from '../../design/panel.tsx';
import { Badge, Empty } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { schemaSource } from '../../editor/schema-source.ts';
import { texts } from '../../texts/texts.ts';
import { NamedList } from './named-list.tsx';
import { ask, Loaded, perform } from './statements.tsx';

const t = texts.admin;

const made = draft('admin.user', '');

export function Users() {
  const users = useResource((signal) => ask('SHOW USERS', signal), []);
  const password = useSignal('');
  const isAdmin = useSignal(false);
  const name = made.value.trim();
  const rights = isAdmin.value ? ' WITH ALL PRIVILEGES' : '';
  const statement = `CREATE USER ${formatIdentifier(name)} WITH PASSWORD ${quoteString(password.value)}${rights}`;
  return (
    <NamedList
      title={t.tabs.users}
      found={users}
      column="user"
      columnLabel={t.user}
      columns={[
        {
          label: t.right,
          cell: ({ admin }) => (admin === true ? <Badge kind="accent">{t.isAdmin}</Badge> : ''),
        },
      ]}
      empty={<Empty title={t.noUsers}>{t.noUsersHint}</Empty>}
      opened={{ label: t.grants, panel: (user) => <Grants key={user} user={user} /> }}
      drop={(user) => ({
        title: t.dropTitle(user),
        hint: t.dropUserHint,
        statement: `DROP USER ${formatIdentifier(user)}`,
      })}
      onChange={() => void users.reload()}
      made={{
        name,
        statement: name === '' || password.value === '' ? '' : statement,
        onSend: () => {
          made.value = '';
          password.value = '';
        },
      }}
    >
      <TextField
        label={t.user}
        isLabelHidden
        placeholder={t.newUser}
        value={made.value}
        onInput={(text) => (made.value = text)}
      />
      <TextField
        label={t.password}
        isLabelHidden
        placeholder={t.password}
        type="password"
        autocomplete="new-password"
        value={password.value}
        onInput={(text) => (password.value = text)}
      />
      <CheckField
        label={t.isAdmin}
        isChecked={isAdmin.value}
        onChange={(is) => (isAdmin.value = is)}
      />
    </NamedList>
  );
}

const RIGHTS = ['READ', 'WRITE', 'ALL'];

function Grants({ user }: { readonly user: string }) {
  const named = formatIdentifier(user);
  const grants = useResource((signal) => ask(`SHOW GRANTS FOR ${named}`, signal), [user]);
  const databases = useResource(() => schemaSource.databases(), []);
  const database = useSignal('');
  const right = useSignal('READ');
  const password = useSignal('');
  const reload = (): void => void grants.reload();
  return (
    <Panel title={t.grantsOf(user)} isFlush>
      <Loaded resource={grants}>
        {(rows) => (
          <Table
            label={t.grantsOf(user)}
            rows={rows.filter(({ privilege }) => privilege !== 'NO PRIVILEGES')}
            rowKey={(row) => String(row['database'])}
            empty={<Empty title={t.noGrants}>{t.noGrantsHint}</Empty>}
            columns={[
              { label: t.database, cell: (row) => String(row['database']) },
              { label: t.right, cell: ({ privilege }) => String(privilege) },
              {
                label: t.actions,
                isActions: true,
                cell: (row) => {
                  const on = formatIdentifier(String(row['database']));
                  return (
                    <Button
                      isSmall
                      onClick={() =>
                        void perform(`REVOKE ALL ON ${on} FROM ${named}`, t.changed(user)).then(
                          reload,
                        )
                      }
                    >
                      {t.revoke(String(row['database']))}
                    </Button>
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
          if (database.value === '') return;
          const statement = `GRANT ${right.value} ON ${formatIdentifier(database.value)} TO ${named}`;
          void perform(statement, t.changed(user)).then(reload);
        }}
      >
        <SelectField
          label={t.right}
          isLabelHidden
          value={right.value}
          options={RIGHTS}
          onChange={(next) => (right.value = next)}
        />
        <SelectField
          label={t.database}
          problem={databases.error.value?.message}
          isLabelHidden
          value={database.value}
          options={[{ value: '', label: t.chooseDatabase }, ...(databases.value.value ?? [])]}
          onChange={(next) => (database.value = next)}
        />
        <Button type="submit" icon="plus" disabled={database.value === ''}>
          {t.grant}
        </Button>
      </form>
      <form
        class="row padded"
        onSubmit={(event) => {
          event.preventDefault();
          const statement = `SET PASSWORD FOR ${named} = ${quoteString(password.value)}`;
          password.value = '';
          void perform(statement, t.changed(user));
        }}
      >
        <TextField
          label={t.newPassword}
          isLabelHidden
          placeholder={t.newPassword}
          type="password"
          autocomplete="new-password"
          value={password.value}
          onInput={(text) => (password.value = text)}
        />
        <Button type="submit" disabled={password.value === ''}>
          {t.setPassword}
        </Button>
      </form>
    </Panel>
  );
}
