// What a cell shows, and how. What is typed is the cell's once it is done; until then it is kept
// like any other text that is being written.
import { useSignal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';

import { useResource } from '../../api/use-resource.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { CheckField, SelectField, TextArea, TextField } from '../../design/field.tsx';
import { CELL_KINDS, LEVELS, UNITS } from '../../dashboards/model.ts';
import type { Cell, CellKind, CellQuery, CellThreshold } from '../../dashboards/model.ts';
import { CodeEditor } from '../../editor/code-editor.tsx';
import { schemaSource } from '../../editor/schema-source.ts';
import { texts } from '../../texts/texts.ts';

const t = texts.dashboards;

const TIME_KINDS: readonly CellKind[] = ['line', 'area', 'bar', 'scatter'];
const NEW_QUERY: CellQuery = { text: '', database: '', label: '' };

export function CellEditor({
  cell,
  database,
  onDone,
  onClose,
}: {
  readonly cell: Cell;
  /** Of the dashboard. */
  readonly database: string;
  readonly onDone: (cell: Cell) => void;
  readonly onClose: () => void;
}) {
  const typed = useSignal<Cell>(
    cell.queries.length === 0 ? { ...cell, queries: [NEW_QUERY] } : cell,
  );
  const shown = typed.value;
  const change = (changed: Partial<Cell>): void => {
    typed.value = { ...typed.value, ...changed };
  };
  const hasQueries = shown.kind !== 'note' && shown.kind !== 'alerts';
  const isTable = shown.kind === 'table';
  const done = (): void =>
    onDone({
      ...typed.value,
      queries: hasQueries ? typed.value.queries.filter(({ text }) => text.trim() !== '') : [],
    });
  return (
    <Dialog
      title={t.editCell(cell.title)}
      isWide
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{texts.common.cancel}</Button>
          <Button kind="primary" onClick={done}>
            {t.done}
          </Button>
        </>
      }
    >
      <div class="stack">
        <div class="form-grid">
          <TextField label={t.title} value={shown.title} onInput={(title) => change({ title })} />
          <SelectField
            label={t.cellKind}
            value={shown.kind}
            options={CELL_KINDS.map((value) => ({ value, label: t.kinds[value] }))}
            onChange={(value) =>
              change({ kind: CELL_KINDS.find((each) => each === value) ?? shown.kind })
            }
          />
          {hasQueries && !isTable ? (
            <SelectField
              label={t.unit}
              value={shown.unit}
              options={UNITS.map((value) => ({ value, label: t.units[value] }))}
              onChange={(value) =>
                change({ unit: UNITS.find((each) => each === value) ?? shown.unit })
              }
            />
          ) : null}
          {shown.kind === 'gauge' ? (
            <>
              <NumberField
                label={t.field.min}
                value={shown.min}
                onChange={(min) => change({ min })}
              />
              <NumberField
                label={t.field.max}
                value={shown.max}
                onChange={(max) => change({ max })}
              />
            </>
          ) : null}
          {shown.kind === 'alerts' ? (
            <TextField label={t.topic} value={shown.topic} onInput={(topic) => change({ topic })} />
          ) : null}
        </div>
        {shown.kind === 'note' ? (
          <TextArea
            label={t.note}
            hint={t.noteHint}
            rows={8}
            value={shown.note}
            onInput={(note) => change({ note })}
          />
        ) : null}
        {hasQueries ? (
          <Queries
            queries={shown.queries}
            database={database}
            onChange={(make) => change({ queries: make(typed.value.queries) })}
          />
        ) : null}
        {TIME_KINDS.includes(shown.kind) ? (
          <div class="row">
            <CheckField
              label={t.legend}
              isChecked={shown.hasLegend}
              onChange={(hasLegend) => change({ hasLegend })}
            />
            <CheckField
              label={t.isStacked}
              isChecked={shown.isStacked}
              onChange={(isStacked) => change({ isStacked })}
            />
          </div>
        ) : null}
        {hasQueries && !isTable ? (
          <Thresholds
            thresholds={shown.thresholds}
            onChange={(thresholds) => change({ thresholds })}
          />
        ) : null}
      </div>
    </Dialog>
  );
}

type ChangeQueries = (make: (queries: readonly CellQuery[]) => readonly CellQuery[]) => void;

function Queries({
  queries,
  database,
  onChange,
}: {
  readonly queries: readonly CellQuery[];
  readonly database: string;
  readonly onChange: ChangeQueries;
}) {
  const databases = useResource(() => schemaSource.databases(), []);
  // A field that is removed must not leave its text to the next: each has a number of its own.
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
  onChange,
  onRemove,
}: {
  readonly number: number;
  readonly query: CellQuery;
  readonly database: string;
  readonly databases: readonly string[];
  readonly onChange: (changed: Partial<CellQuery>) => void;
  readonly onRemove: (() => void) | undefined;
}) {
  const text = useEdited(query.text, (next) => onChange({ text: next }));
  const known = [...new Set([query.database, ...databases])].filter((name) => name !== '');
  return (
    <fieldset class="chips-field stack dash-query">
      <legend>{t.query(number)}</legend>
      <CodeEditor
        label={`${t.queryOf} ${number}`}
        language="influxql"
        value={text}
        database={query.database === '' ? database : query.database}
        placeholder="SELECT mean(…) FROM … WHERE $timeFilter GROUP BY time($interval)"
      />
      <div class="form-grid">
        <SelectField
          label={t.database}
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

function Thresholds({
  thresholds,
  onChange,
}: {
  readonly thresholds: readonly CellThreshold[];
  readonly onChange: (thresholds: readonly CellThreshold[]) => void;
}) {
  return (
    <fieldset class="chips-field">
      <legend>{t.thresholds}</legend>
      <div class="row">
        {thresholds.map((each, at) => (
          <span key={at} class="chip">
            <NumberField
              label={t.threshold(at + 1)}
              isLabelHidden
              value={each.value}
              onChange={(value) => onChange(thresholds.with(at, { ...each, value }))}
            />
            <select
              class="input"
              aria-label={t.thresholdLevel(at + 1)}
              value={each.level}
              onChange={(event) => {
                const level = LEVELS.find((one) => one === event.currentTarget.value);
                if (level !== undefined) onChange(thresholds.with(at, { ...each, level }));
              }}
            >
              {LEVELS.map((level) => (
                <option key={level} value={level}>
                  {t.levels[level]}
                </option>
              ))}
            </select>
            <IconButton
              isSmall
              icon="close"
              label={t.removeIt(t.threshold(at + 1))}
              onClick={() => onChange(thresholds.toSpliced(at, 1))}
            />
          </span>
        ))}
        <Button
          isSmall
          icon="plus"
          onClick={() => onChange([...thresholds, { value: 0, level: 'warn' }])}
        >
          {t.addThreshold}
        </Button>
      </div>
    </fieldset>
  );
}

function NumberField({
  label,
  isLabelHidden,
  value,
  onChange,
}: {
  readonly label: string;
  readonly isLabelHidden?: boolean;
  readonly value: number;
  readonly onChange: (value: number) => void;
}) {
  return (
    <TextField
      label={label}
      isLabelHidden={isLabelHidden}
      type="number"
      step="any"
      value={String(value)}
      onInput={(text) => {
        if (text.trim() !== '' && Number.isFinite(Number(text))) onChange(Number(text));
      }}
    />
  );
}
