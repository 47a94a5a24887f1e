// Statements of a cell, by hand or by form, each with its database and its name in the legend.
import { useSignal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';

import { useResource } from '../../api/use-resource.ts';
import type { CellQuery } from '../../dashboards/model.ts';
import { Button, Choice, IconButton } from '../../design/button.tsx';
import { SelectField, TextField } from '../../design/field.tsx';
import { CodeEditor } from '../../editor/code-editor.tsx';
import { schemaSource } from '../../editor/schema-source.ts';
import { texts } from '../../texts/texts.ts';
import { StatementForm } from '../explore/statement-form.tsx';

const t = texts.dashboards;

export const NEW_QUERY: CellQuery = { text: '', database: '', label: '' };

type ChangeQueries = (make: (queries: readonly CellQuery[]) => readonly CellQuery[]) => void;

/** All queries of a cell. */
export function QueryList({
  queries,
  database,
  onRun,
  onChange,
}: {
  readonly queries: readonly CellQuery[];
  readonly database: string;
  readonly onRun: () => void;
  readonly onChange: ChangeQueries;
}) {
  const databases = useResource(() => schemaSource.databases(), []);
  // Stable numbers as keys, so that a removed field does not leave its text to the next.
  const numbers = useSignal(queries.map((_, i) => i));
  return (
    <>
      {queries.map((query, at) => (
        <QueryFields
          key={numbers.value[at]}
          number={at + 1}
          query={query}
          database={database}
          databases={databases.value.value ?? []}
          problem={databases.error.value?.message}
          onRun={onRun}
          onChange={(changed) =>
            onChange((all) => all.map((each, i) => (i === at ? { ...each, ...changed } : each)))
          }
          onRemove={
            queries.length === 1
              ? undefined
              : () => {
                  numbers.value = numbers.value.toSpliced(at, 1);
                  onChange((all) => all.toSpliced(at, 1));
                }
          }
        />
      ))}
      <div class="row">
        <Button
          isSmall
          icon="plus"
          onClick={() => {
            numbers.value = [...numbers.value, Math.max(0, ...numbers.value) + 1];
            onChange((all) => [...all, NEW_QUERY]);
          }}
        >
          {t.addQuery}
        </Button>
      </div>
    </>
  );
}

function QueryFields({
  number,
  query,
  database,
  databases,
  problem,
  onRun,
  onChange,
  onRemove,
}: {
  readonly number: number;
  readonly query: CellQuery;
  readonly database: string;
  readonly databases: readonly string[];
  /** Why the names of databases could not be loaded. */
  readonly problem: string | undefined;
  readonly onRun: () => void;
  readonly onChange: (changed: Partial<CellQuery>) => void;
  readonly onRemove: (() => void) | undefined;
}) {
  const text = useEdited(query.text, (next) => onChange({ text: next }));
  const isForm = useSignal(false);
  const asked = query.database === '' ? database : query.database;
  const known = [...new Set([query.database, ...databases])].filter((name) => name !== '');
  return (
    <fieldset class="chips-field stack dash-query">
      <legend>{t.query(number)}</legend>
      <div class="row">
        <Choice
          label={`${texts.explore.mode} ${number}`}
          value={isForm.value ? 'form' : 'text'}
          options={[
            { value: 'text', label: texts.explore.asText },
            { value: 'form', label: texts.explore.asForm },
          ]}
          onChange={(mode) => (isForm.value = mode === 'form')}
        />
      </div>
      {isForm.value ? (
        <StatementForm text={text} database={asked} />
      ) : (
        <CodeEditor
          label={`${t.queryOf} ${number}`}
          language="influxql"
          value={text}
          database={asked}
          placeholder="SELECT mean(…) FROM … WHERE $timeFilter GROUP BY time($interval)"
          onRun={onRun}
        />
      )}
      <div class="form-grid">
        <SelectField
          label={t.database}
          problem={problem}
          value={query.database}
          options={[
            { value: '', label: database === '' ? t.databaseOfDashboard : database },
            ...known,
          ]}
          onChange={(name) => onChange({ database: name })}
        />
        <TextField label={t.label} value={query.label} onInput={(label) => onChange({ label })} />
        {onRemove === undefined ? null : (
          <IconButton icon="trash" label={t.removeIt(t.query(number))} onClick={onRemove} />
        )}
      </div>
    </fieldset>
  );
}

/** A signal for an editor whose changes go elsewhere. */
function useEdited(initial: string, onChange: (text: string) => void): Signal<string> {
  const held = useMemo(() => ({ onChange }), []);
  held.onChange = onChange;
  const text = useSignal(initial);
  useMemo(() => {
    let isFirst = true;
    text.subscribe((next) => {
      if (!isFirst) held.onChange(next);
      isFirst = false;
    });
  }, []);
  return text;
}
