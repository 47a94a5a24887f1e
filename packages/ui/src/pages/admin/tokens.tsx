// API tokens, with which programs authenticate. The text of a token is shown once.
import { useSignal } from '@preact/signals';

import { tsdb } from '../../api/clients.ts';
import { problemOf } from '../../api/problem.ts';
import { useResource } from '../../api/use-resource.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { TextField } from '../../design/field.tsx';
import { Panel } from '../../design/panel.tsx';
import { Empty, Notice } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { toast } from '../../design/toasts.tsx';
import { formatTime, shownZone } from '../../time/zone.ts';
import { texts } from '../../texts/texts.ts';
import { Loaded } from './statements.tsx';

const t = texts.admin;
const PATH = '/api/tokens';

type Token = {
  readonly name: string;
  readonly user: string;
  readonly created: string;
  readonly expires: string | null;
};

export function Tokens() {
  const tokens = useResource(
    (signal) => tsdb.http.json<{ readonly tokens: readonly Token[] }>(PATH, { signal }),
    [],
  );
  const name = useSignal('');
  const user = useSignal('');
  const made = useSignal('');
  const zone = shownZone.value;
  const change = async (what: Promise<unknown>): Promise<void> => {
    try {
      await what;
    } catch (error) {
      toast(problemOf(error).message, 'bad');
    }
    await tokens.reload();
  };
  const make = async (): Promise<void> => {
    const json = { name: name.value, user: user.value };
    const { token } = await tsdb.http.json<{ readonly token: string }>(PATH, {
      method: 'POST',
      json,
    });
    made.value = token;
    name.value = '';
  };
  const isUsable = name.value.trim() !== '' && user.value.trim() !== '';
  return (
    <Panel title={t.tokens} isFlush>
      <Loaded resource={tokens}>
        {(found) => (
          <Table
            label={t.tokens}
            rows={found.tokens}
            rowKey={(token) => token.name}
            empty={<Empty title={t.noTokens}>{t.noTokensHint}</Empty>}
            columns={[
              { label: t.name, cell: (token) => token.name },
              { label: t.user, cell: (token) => token.user },
              { label: t.made, cell: ({ created }) => formatTime(created, zone) },
              {
                label: t.expires,
                cell: ({ expires }) => (expires === null ? t.never : formatTime(expires, zone)),
              },
              {
                label: t.actions,
                isActions: true,
                cell: (token) => (
                  <IconButton
                    isSmall
                    icon="trash"
                    label={t.revokeToken(token.name)}
                    onClick={() =>
                      void change(
                        tsdb.http.send(PATH, { method: 'DELETE', search: { name: token.name } }),
                      )
                    }
                  />
                ),
              },
            ]}
          />
        )}
      </Loaded>
      {made.value === '' ? null : (
        <Notice kind="good" action={<CopyButton text={made.value} />}>
          {t.tokenOnce} <code>{made.value}</code>
        </Notice>
      )}
      <form
        class="row padded"
        onSubmit={(event) => {
          event.preventDefault();
          if (isUsable) void change(make());
        }}
      >
        <TextField
          label={t.name}
          isLabelHidden
          placeholder={t.tokenName}
          value={name.value}
          onInput={(text) => (name.value = text)}
        />
        <TextField
          label={t.user}
          isLabelHidden
          placeholder={t.ofUser}
          value={user.value}
          onInput={(text) => (user.value = text)}
        />
        <Button type="submit" icon="plus" disabled={!isUsable}>
          {t.makeToken}
        </Button>
      </form>
    </Panel>
  );
}
