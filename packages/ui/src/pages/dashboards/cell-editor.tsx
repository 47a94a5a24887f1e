// The editor of a cell. Changes apply when it is closed; until then they are stored like other
// drafts.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { SelectField, TextField } from '../../design/field.tsx';
import { kindOf, KINDS } from '../../cells/registry.ts';
import { optionsOf } from '../../dashboards/model.ts';
import type { Cell } from '../../dashboards/model.ts';
import { withVariables } from '../../dashboards/variables.ts';
import { isReadOnly } from '../../query/read-only.ts';
import { texts } from '../../texts/texts.ts';
import { CellBody } from './cell-body.tsx';
import type { CellView } from '../../cells/kind.ts';
import { NEW_QUERY, QueryList } from './query-list.tsx';
import { OptionFields } from './option-fields.tsx';

const t = texts.dashboards;

const PREVIEW_PIXELS = 260;
/** Typing has paused: the queries run. */
const PAUSE_MS = 500;

export function CellEditor({
  cell,
  view,
  onDone,
  onClose,
}: {
  readonly cell: Cell;
  /** The context of the dashboard: the cell is tried in the same. */
  readonly view: CellView;
  readonly onDone: (cell: Cell) => void;
  readonly onClose: () => void;
}) {
  const typed = useSignal<Cell>(
    cell.queries.length === 0 ? { ...cell, queries: [NEW_QUERY] } : cell,
  );
  const shown = typed.value;
  /** The queries that have been run: those typed, once typing pauses. */
  const run = useSignal(cell.queries);
  const round = useSignal(0);
  const runNow = (): void => {
    run.value = typed.value.queries;
    round.value++;
  };
  useEffect(() => {
    const isComplete = typed.value.queries.every(
      ({ text }) => text.trim() === '' || isReadOnly(withVariables(text, view.context.chosen)),
    );
    if (!isComplete) return undefined;
    const timer = window.setTimeout(() => (run.value = typed.peek().queries), PAUSE_MS);
    return () => window.clearTimeout(timer);
  }, [typed.value.queries]);
  const { database } = view.context;
  const change = (changed: Partial<Cell>): void => {
    typed.value = { ...typed.value, ...changed };
  };
  const kind = kindOf(shown.kind);
  const hasQueries = kind.draws !== undefined;
  const done = (): void =>
    onDone({
      ...typed.value,
      queries: hasQueries ? typed.value.queries.filter(({ text }) => text.trim() !== '') : [],
    });
  return (
    <Dialog
      title={t.editCell(cell.title)}
      isFull
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
      <div class="cell-editor">
        <div class="stack">
          <section class="dash-preview" aria-label={t.preview}>
            <div class={`dash-cell of-${shown.kind}`}>
              <div class="dash-body" tabIndex={0}>
                <CellBody
                  cell={{ ...shown, queries: run.value }}
                  view={{
                    ...view,
                    round: round.value,
                    refreshMs: undefined,
                    onZoom: () => undefined,
                  }}
                  height={PREVIEW_PIXELS}
                />
              </div>
            </div>
          </section>
          <div class="form-grid">
            <TextField label={t.title} value={shown.title} onInput={(title) => change({ title })} />
            <SelectField
              label={t.cellKind}
              value={shown.kind}
              options={KINDS.map(({ id, title }) => ({ value: id, label: title }))}
              onChange={(id) => change({ kind: id })}
            />
          </div>
          {hasQueries ? (
            <QueryList
              queries={shown.queries}
              database={database}
              onRun={runNow}
              onChange={(make) => change({ queries: make(typed.value.queries) })}
            />
          ) : null}
        </div>
        <OptionFields
          rows={optionsOf(kind)}
          options={shown.options}
          onChange={(options) => change({ options })}
        />
      </div>
    </Dialog>
  );
}
