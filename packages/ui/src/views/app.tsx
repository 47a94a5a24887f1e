// The start page: are both services up, what is in them, and a place to ask.
import { useEffect } from 'preact/hooks';

import { Sparkline } from '../components/sparkline.tsx';
import type { ServiceStatus } from '../state/api.ts';
import { overview, refreshFailure, startRefreshing } from '../state/overview.ts';
import type { Overview } from '../state/overview.ts';
import { QueryConsole } from './query-console.tsx';

function Service({
  name,
  status,
  children,
}: {
  name: string;
  status: ServiceStatus;
  children?: preact.ComponentChildren;
}) {
  return (
    <article class="card">
      <h2>
        <span class={status.isUp ? 'dot up' : 'dot down'} aria-hidden="true" /> {name}{' '}
        <small>{status.isUp ? `up, ${status.version}` : 'not answering'}</small>
      </h2>
      {children}
    </article>
  );
}

function Database({ state }: { state: Overview }) {
  const latest = state.writeRates.at(-1) ?? 0;
  return (
    <Service name="Database" status={state.tsdb}>
      <p>
        <b>{latest.toFixed(1)}</b> points/s written
      </p>
      <Sparkline values={state.writeRates} label="points written per second, last 15 minutes" />
      <ul class="chips">
        {state.databases.map((name) => (
          <li key={name}>{name}</li>
        ))}
      </ul>
    </Service>
  );
}

function Engine({ state }: { state: Overview }) {
  return (
    <Service name="Task engine" status={state.engine}>
      {state.tasks.length === 0 ? (
        <p class="muted">No tasks yet. The guide shows how to define the first one.</p>
      ) : (
        <ul class="rows">
          {state.tasks.map((task) => (
            <li key={task.id}>
              <span
                class={task.executing ? 'dot up' : task.error === '' ? 'dot' : 'dot down'}
                aria-hidden="true"
              />
              {task.id}{' '}
              <small>{task.error === '' ? `${task.type}, ${task.status}` : task.error}</small>
              {(task.warnings ?? []).map(({ message, hint }) => (
                <small key={message} class="warning" title={hint}>
                  {' '}
                  ⚠ {message}
                </small>
              ))}
            </li>
          ))}
        </ul>
      )}
      {state.deadLetterCount > 0 && (
        <p class="warning">
          {state.deadLetterCount} events could not be delivered:{' '}
          <code>tidemark dead-letter list</code>
        </p>
      )}
      {state.topics.length > 0 && (
        <ul class="chips">
          {state.topics.map((topic) => (
            <li key={topic.id} class={`level-${topic.level.toLowerCase()}`}>
              {topic.id}: {topic.level}
            </li>
          ))}
        </ul>
      )}
    </Service>
  );
}

/** The whole page. */
export function App() {
  useEffect(startRefreshing, []);
  const state = overview.value;
  return (
    <main>
      <header>
        <h1>Tidemark</h1>
        {refreshFailure.value !== '' && <p class="error">Not up to date: {refreshFailure.value}</p>}
      </header>
      {state === undefined ? (
        <p class="muted">Asking both services…</p>
      ) : (
        <>
          <div class="cards">
            <Database state={state} />
            <Engine state={state} />
          </div>
          {state.tsdb.isUp && <QueryConsole databases={state.databases} />}
        </>
      )}
    </main>
  );
}
