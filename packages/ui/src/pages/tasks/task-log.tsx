// The log of one task: what was said before, and then as it is written.
import { useSignal } from '@preact/signals';

import { engine } from '../../api/clients.ts';
import { SelectField } from '../../design/field.tsx';
import { Failure } from '../../design/states.tsx';
import { texts } from '../../texts/texts.ts';
import { useFollowed } from './follow.ts';

const t = texts.tasks;

const LEVELS = ['debug', 'info', 'warn', 'error'];

type Line = Readonly<Record<string, unknown>>;

export function TaskLog({ task }: { readonly task: string }) {
  const level = useSignal('debug');
  const { lines, count, problem } = useFollowed(
    (signal) =>
      engine.logs({ task, lvl: `${level.value}+`, past: 'true' }, { isJson: true, signal }),
    [task, level.value],
    false,
  );
  return (
    <div class="stack">
      <div class="row">
        <SelectField
          label={t.level}
          value={level.value}
          options={LEVELS}
          onChange={(next) => (level.value = next)}
        />
      </div>
      {problem.value === undefined ? null : <Failure error={problem.value} />}
      {lines.value.length === 0 ? <p class="muted">{t.logWaiting}</p> : null}
      <ol class="messages" tabIndex={0} aria-label={t.log}>
        {lines.value.map((line, i) => (
          <LogLine key={count.value - i} line={line as Line} />
        ))}
      </ol>
    </div>
  );
}

function LogLine({ line }: { readonly line: Line }) {
  const { ts, lvl, msg, ...rest } = line;
  const others = Object.entries(rest).map(([key, value]) => `${key}=${String(value)}`);
  return (
    <li class={lvl === 'error' ? 'bad' : lvl === 'warn' ? 'warn' : ''}>
      <span class="muted">{String(ts ?? '')}</span> <b>{String(lvl ?? '')}</b> {String(msg ?? '')}{' '}
      <code>{others.join(' ')}</code>
    </li>
  );
}
