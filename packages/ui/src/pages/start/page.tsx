// First minutes: how to write points, a sample to look at, and where to continue.
import { useSignal } from '@preact/signals';

import { services } from '../../api/connection.ts';
import { problemOf } from '../../api/problem.ts';
import { session } from '../../api/session.ts';
import { ForAdmins } from '../../app/for-admins.tsx';
import { useResource } from '../../api/use-resource.ts';
import { Link } from '../../app/link.tsx';
import { PageHead } from '../../app/page-frame.tsx';
import { Button } from '../../design/button.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { ConfirmDialog } from '../../design/dialog.tsx';
import { TextField } from '../../design/field.tsx';
import { Panel } from '../../design/panel.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { Tabs } from '../../design/tabs.tsx';
import { toast } from '../../design/toasts.tsx';
import { forgetSchema, schemaSource } from '../../editor/schema-source.ts';
import { texts } from '../../texts/texts.ts';
import {
  loadSample,
  removeSample,
  SAMPLE_DASHBOARD,
  SAMPLE_DATABASE,
  SAMPLE_TASK,
} from './sample.ts';
import { SNIPPET_KINDS, snippetOf } from './snippets.ts';
import type { SnippetKind } from './snippets.ts';
import { databaseAddress, makeWriter } from './writer.ts';
import './start.css';

const t = texts.start;

export function Page() {
  return (
    <>
      <PageHead title={t.title} />
      <p class="muted">{t.intro}</p>
      <div class="start">
        <Snippets />
        <div class="stack">
          <ForAdmins>
            <Sample />
          </ForAdmins>
          <Next />
        </div>
      </div>
    </>
  );
}

function Snippets() {
  const kind = useSignal<SnippetKind>('telegraf');
  const found = useResource((signal) => databaseAddress(signal), []);
  const url = useSignal<string | undefined>(undefined);
  const database = useSignal('telegraf');
  const token = useSignal('');
  const address = url.value ?? found.value.value ?? '';
  const values = { url: address, database: database.value, token: token.value };
  const snippet = snippetOf(kind.value, values);
  return (
    <Panel title={t.write}>
      <div class="stack">
        <div class="form-grid">
          <TextField label={t.address} value={address} onInput={(text) => (url.value = text)} />
          <TextField
            label={t.database}
            value={database.value}
            onInput={(text) => (database.value = text)}
          />
          <TextField
            label={t.token}
            hint={
              <Link page="admin" params={{ tab: 'users' }}>
                {t.tokenHint}
              </Link>
            }
            value={token.value}
            onInput={(text) => (token.value = text)}
          />
          <MakeToken database={database.value} onMade={(made) => (token.value = made)} />
        </div>
        <Tabs
          label={t.programs}
          value={kind.value}
          tabs={SNIPPET_KINDS.map((value) => ({ value, label: t.kinds[value] }))}
          onChange={(next) => (kind.value = next)}
        >
          <div class="row">
            <span class="grow muted small">{t.hints[kind.value]}</span>
            <CopyButton text={snippet} label={t.copy} />
          </div>
          <pre class="built">{snippet}</pre>
        </Tabs>
      </div>
    </Panel>
  );
}

/** Creates what a write-only program needs: a database, a user and a token. */
function MakeToken({
  database,
  onMade,
}: {
  readonly database: string;
  readonly onMade: (token: string) => void;
}) {
  const isBusy = useSignal(false);
  if (session.value.user === '' || !session.value.isAdmin) return null;
  const make = async (): Promise<void> => {
    isBusy.value = true;
    try {
      const { user, token } = await makeWriter(database);
      onMade(token);
      toast(t.tokenMade(user));
    } catch (error) {
      toast(problemOf(error).message, 'bad');
    }
    isBusy.value = false;
  };
  return (
    <Button
      icon="plus"
      isBusy={isBusy.value}
      disabled={database === ''}
      onClick={() => void make()}
    >
      {t.makeToken}
    </Button>
  );
}

function Sample() {
  const databases = useResource(() => schemaSource.databases(), []);
  const isBusy = useSignal(false);
  const isAsking = useSignal(false);
  const hasEngine = services.engine.value.state === 'up';
  const names = databases.value.value;

  const change = async (deed: Promise<void>, done: string): Promise<void> => {
    isBusy.value = true;
    try {
      await deed;
      toast(done);
    } catch (error) {
      toast(problemOf(error).message, 'bad');
    }
    forgetSchema();
    await databases.reload();
    isBusy.value = false;
  };

  return (
    <Panel title={t.sample}>
      {names === undefined ? (
        databases.error.value === undefined ? (
          <Loading />
        ) : (
          <Failure error={databases.error.value} onRetry={() => void databases.reload()} />
        )
      ) : names.includes(SAMPLE_DATABASE) ? (
        <div class="stack">
          <p>{t.sampleThere(SAMPLE_DATABASE, SAMPLE_TASK)}</p>
          <div class="row">
            <Link page="dashboards" class="button primary" params={{ id: SAMPLE_DASHBOARD }}>
              {t.lookAtDashboard}
            </Link>
            <Link
              page="explore"
              class="button"
              params={{
                db: SAMPLE_DATABASE,
                from: 'now-1d',
                q: 'SELECT mean(celsius) FROM room WHERE $timeFilter GROUP BY time($interval), "name"',
              }}
            >
              {t.look}
            </Link>
            {hasEngine ? (
              <Link page="tasks" class="button" params={{ id: SAMPLE_TASK }}>
                {t.lookAtTask}
              </Link>
            ) : null}
            <Button
              kind="danger"
              icon="trash"
              isBusy={isBusy.value}
              onClick={() => (isAsking.value = true)}
            >
              {t.remove}
            </Button>
          </div>
        </div>
      ) : (
        <div class="stack">
          <p>{t.sampleHint}</p>
          <div class="row">
            <Button
              kind="primary"
              icon="download"
              isBusy={isBusy.value}
              onClick={() => void change(loadSample(hasEngine, Date.now()), t.loaded)}
            >
              {t.load}
            </Button>
          </div>
        </div>
      )}
      {isAsking.value ? (
        <ConfirmDialog
          title={t.removeTitle}
          action={t.remove}
          onClose={() => (isAsking.value = false)}
          onConfirm={() => {
            isAsking.value = false;
            void change(removeSample(hasEngine), t.removed);
          }}
        >
          {t.removeHint(SAMPLE_DATABASE, SAMPLE_TASK)}
        </ConfirmDialog>
      ) : null}
    </Panel>
  );
}

function Next() {
  return (
    <Panel title={t.next}>
      <ul class="next-steps">
        <li>
          <Link page="write">{t.nextWrite}</Link>
        </li>
        <li>
          <Link page="explore">{t.nextExplore}</Link>
        </li>
        <li>
          <Link page="tasks" params={{ new: '1' }}>
            {t.nextTask}
          </Link>
        </li>
        <ForAdmins>
          <li>
            <Link page="admin">{t.nextAdmin}</Link>
          </li>
        </ForAdmins>
        <li>
          <Link page="shortcuts">{t.nextKeys}</Link>
        </li>
      </ul>
    </Panel>
  );
}
