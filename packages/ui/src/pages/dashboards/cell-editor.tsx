// What a cell shows, and how. What is typed is the cell's once it is done; until then it is kept
// like any other text that is being written.
import { useSignal } from '@preact/signals';

import { Button, IconButton } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { CheckField, SelectField, TextArea, TextField } from '../../design/field.tsx';
import { CELL_KINDS, LEVELS } from '../../dashboards/model.ts';
import type { Cell, CellKind, CellThreshold } from '../../dashboards/model.ts';
import { texts } from '../../texts/texts.ts';
import { CellBody } from './cell-body.tsx';
import type { CellView } from './cell-body.tsx';
import { NEW_QUERY, QueryList } from './query-list.tsx';
import { UnitField } from './unit-field.tsx';

const t = texts.dashboards;

const TIME_KINDS: readonly CellKind[] = ['line', 'area', 'bar', 'scatter'];
const KINDS_WITHOUT_QUERIES: readonly CellKind[] = ['note', 'alerts', 'placeholder'];
const PREVIEW_PIXELS = 220;

export function CellEditor({
  cell,
  view,
  onDone,
  onClose,
}: {
  readonly cell: Cell;
  /** What the dashboard is asked with: the cell is tried with the same. */
  readonly view: CellView;
  readonly onDone: (cell: Cell) => void;
  readonly onClose: () => void;
}) {
  const typed = useSignal<Cell>(
    cell.queries.length === 0 ? { ...cell, queries: [NEW_QUERY] } : cell,
  );
  const shown = typed.value;
  const tried = useSignal<Cell | undefined>(cell.queries.length === 0 ? undefined : cell);
  const round = useSignal(0);
  const tryIt = (): void => {
    tried.value = typed.value;
    round.value++;
  };
  const { database } = view.context;
  const change = (changed: Partial<Cell>): void => {
    typed.value = { ...typed.value, ...changed };
  };
  const hasQueries = !KINDS_WITHOUT_QUERIES.includes(shown.kind);
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
            <UnitField unit={shown.unit} onChange={(unit) => change({ unit })} />
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
        {shown.kind === 'note' ? (
          <CheckField
            label={t.noteIsHtml}
            isChecked={shown.isHtml}
            onChange={(isHtml) => change({ isHtml })}
          />
        ) : null}
        {hasQueries ? (
          <QueryList
            queries={shown.queries}
            database={database}
            onRun={tryIt}
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
        <section class="stack" aria-label={t.preview}>
          <div class="row">
            <Button isSmall icon="play" onClick={tryIt}>
              {t.tryIt}
            </Button>
            <span class="muted small">{t.tryItHint}</span>
          </div>
          {tried.value === undefined ? null : (
            <div class={`dash-preview dash-cell of-${tried.value.kind}`}>
              <div class="dash-body" tabIndex={0}>
                <CellBody
                  cell={tried.value}
                  view={{
                    ...view,
                    round: round.value,
                    refreshMs: undefined,
                    onZoom: () => undefined,
                  }}
                  height={PREVIEW_PIXELS}
                  isSeen
                />
              </div>
            </div>
          )}
        </section>
      </div>
    </Dialog>
  );
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
