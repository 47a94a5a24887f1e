// The editor of the statement: text or form.
import { useSignal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import { useRef } from 'preact/hooks';

import { session } from '../../api/session.ts';
import { preference } from '../../app/stored.ts';
import { Button, Choice, IconButton } from '../../design/button.tsx';
import { CodeEditor } from '../../editor/code-editor.tsx';
import { hasTimeFilter } from '../../query/macros.ts';
import { texts } from '../../texts/texts.ts';
import { HistoryButton } from './history.tsx';
import { StatementForm } from './statement-form.tsx';
import { ToDashboard } from './to-dashboard.tsx';

const t = texts.explore;

const mode = preference<'text' | 'form'>('explore.mode', 'text');

export function QueryPanel({
  text,
  database,
  onRun,
  onExplain,
  onDatabase,
}: {
  readonly text: Signal<string>;
  readonly database: string;
  readonly onRun: () => void;
  readonly onExplain: () => void;
  readonly onDatabase: (database: string) => void;
}) {
  const format = useRef<() => void>();
  const isEditing = mode.value === 'text';
  const isPlacing = useSignal(false);
  return (
    <section class="panel" aria-label={t.statement}>
      <header>
        <Choice
          label={t.mode}
          value={mode.value}
          options={[
            { value: 'text', label: t.asText },
            { value: 'form', label: t.asForm },
          ]}
          onChange={(next) => (mode.value = next)}
        />
        <span class="grow" />
        {isEditing ? (
          <Button isSmall kind="quiet" onClick={() => format.current?.()}>
            {t.format}
          </Button>
        ) : null}
        <Button isSmall kind="quiet" onClick={onExplain}>
          {t.explain}
        </Button>
        {session.value.isAdmin ? (
          <IconButton
            icon="dashboards"
            label={t.toDashboard}
            disabled={text.value.trim() === ''}
            onClick={() => (isPlacing.value = true)}
          />
        ) : null}
        <HistoryButton
          present={{ text: text.value, database }}
          onChoose={(chosen) => {
            text.value = chosen.text;
            onDatabase(chosen.database);
          }}
        />
      </header>
      <div class="body stack">
        {isEditing ? (
          <CodeEditor
            label={t.statement}
            language="influxql"
            value={text}
            database={database}
            placeholder={t.placeholder}
            onRun={onRun}
            onReady={(handle) => (format.current = () => handle.format())}
          />
        ) : (
          <StatementForm text={text} database={database} />
        )}
        {isPlacing.value ? (
          <ToDashboard
            query={{ text: text.value, database }}
            onClose={() => (isPlacing.value = false)}
          />
        ) : null}
        {text.value.trim() === '' ||
        hasTimeFilter(text.value) ||
        !/\bwhere\b|\bselect\b/i.test(text.value) ? null : (
          <p class="muted small">{t.ownRange}</p>
        )}
      </div>
    </section>
  );
}
