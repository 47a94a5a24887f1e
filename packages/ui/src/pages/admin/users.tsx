// Users and what they may do.
import { useSignal } from '@preact/signals';
import { formatIdentifier, quoteString } from '@tidemark/influxql';

import { useResource } from '../../api/use-resource.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { CheckField, SelectField, TextField } from '../../design/field.tsx';
import { Panel } from '../../design/panel.tsx';
import { Badge, Empty } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { schemaSource } from '../../editor/schema-source.ts';
import { texts } from '../../texts/texts.ts';
import { ask, Loaded, perform, useDoom } from './statements.tsx';

const t = texts.admin;

export function Users() {
  const users = useResource((signal) => ask('SHOW USERS', signal), []);
  const chosen = useSignal('');
  const name = useSignal('');
  const password = useSignal('');
  const isAdmin = useSignal(false);
  const reload = (): void => void users.reload();
  const doom = useDoom(reload);
  const isUsable = name.value.trim() !== '' && password.value !== '';
  return (
    <>
      <Panel title={t.tabs.users} isFlush>
        <Loaded resource={users}>
          {(rows) => (
            <Table
              label={t.tabs.users}
              rows={rows}
              rowKey={({ user }) => String(user)}
              selectedKey={chosen.value}
              empty={<Empty title={t.noUsers}>{t.noUsersHint}</Empty>}
              columns={[
                {
                  label: t.user,
                  cell: ({ user }) => String(user),
                  sortBy: ({ user }) => String(user),
                },
                {
                  label: t.right,
                  cell: ({ admin }) =>
                    admin === true ? <Badge kind="accent">{t.isAdmin}</Badge> : '',
                },
                {
                  label: t.actions,
                  isActions: true,
                  cell: ({ user }) => (
                    <>
                      <Button isSmall onClick={() => (chosen.value = String(user))}>
                        {t.grants}
                      </Button>{' '}
                      <IconButton
                        isSmall
                        icon="trash"
                        label={t.dropOne(String(user))}
                        onClick={() =>
                          doom.ask({
                            title: t.dropTitle(String(user)),
                            hint: t.dropUserHint,
                            statement: `DROP USER ${formatIdentifier(String(user))}`,
                            done: t.dropped(String(user)),
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
            if (!isUsable) return;
            const rights = isAdmin.value ? ' WITH ALL PRIVILEGES' : '';
            const statement = `CREATE USER ${formatIdentifier(name.value)} WITH PASSWORD ${quoteString(password.value)}${rights}`;
            password.value = '';
            void perform(statement, t.created(name.value)).then(reload);
          }}
        >
          <TextField
            label={t.user}
            isLabelHidden
            placeholder={t.newUser}
            value={name.value}
            onInput={(text) => (name.value = text)}
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
          <Button type="submit" icon="plus" disabled={!isUsable}>
            {t.create}
          </Button>
        </form>
      </Panel>
      {chosen.value === '' ? null : <Grants key={chosen.value} user={chosen.value} />}
      {doom.dialog}
    </>
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
