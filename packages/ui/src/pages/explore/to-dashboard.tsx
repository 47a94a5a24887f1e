// Kinds that show results of statements.
import { useSignal } from '@preact/signals';

import { documents } from '../../api/documents.ts';
import { problemOf } from '../../api/problem.ts';
import { useResource } from '../../api/use-resource.ts';
import { navigate } from '../../app/router.ts';
import { addCellTo, addDashboard } from '../../dashboards/add.ts';
import { withCell } from '../../dashboards/layout.ts';
import { KINDS } from '../../cells/registry.ts';
import { EMPTY_CELL, EMPTY_DASHBOARD } from '../../dashboards/model.ts';
import type { Cell } from '../../dashboards/model.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { SelectField, TextField } from '../../design/field.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { toast } from '../../design/toasts.tsx';
import { texts } from '../../texts/texts.ts';
import type { Remembered } from './saved.ts';

const t = texts.explore;

/** Kinds that show what a statement answers. */
const SHOWN_KINDS = KINDS.filter(({ draws }) => draws !== undefined);

export function ToDashboard({
  query,
  onClose,
}: {
  readonly query: Remembered;
  readonly onClose: () => void;
}) {
  const all = useResource((signal) => documents().list('dashboards', signal), []);
  const chosen = useSignal('');
  const title = useSignal('');
  const kind = useSignal<Cell['kind']>('line');
  const isBusy = useSignal(false);
  const { value, error } = all;

  const add = async (): Promise<void> => {
    const cell: Cell = {
      ...EMPTY_CELL,
      title: title.value,
      kind: kind.value,
      queries: [{ text: query.text, database: query.database, label: '' }],
    };
    isBusy.value = true;
    try {
      if (chosen.value === '') {
        const name = title.value === '' ? texts.dashboards.untitled : title.value;
        const { database } = query;
        await addDashboard({
          ...EMPTY_DASHBOARD,
          title: name,
          database,
          cells: withCell([], cell),
        });
      } else {
        await addCellTo(chosen.value, cell, { database: query.database, variables: [] });
        navigate('dashboards', { id: chosen.value });
      }
    } catch (failure) {
      toast(problemOf(failure).message, 'bad');
    }
    isBusy.value = false;
  };

  return (
    <Dialog
      title={t.toDashboard}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{texts.common.cancel}</Button>
          <Button
            kind="primary"
            isBusy={isBusy.value}
            disabled={value.value === undefined}
            onClick={() => void add()}
          >
            {t.addThere}
          </Button>
        </>
      }
    >
      {error.value !== undefined ? (
        <Failure error={error.value} onRetry={() => void all.reload()} />
      ) : value.value === undefined ? (
        <Loading rows={3} />
      ) : (
        <div class="form">
          <SelectField
            label={texts.dashboards.list}
            value={chosen.value}
            options={[
              { value: '', label: texts.dashboards.add },
              ...value.value.map(({ id, title: label }) => ({ value: id, label })),
            ]}
            onChange={(id) => (chosen.value = id)}
          />
          <TextField
            label={texts.dashboards.title}
            value={title.value}
            onInput={(text) => (title.value = text)}
          />
          <SelectField
            label={texts.dashboards.cellKind}
            value={kind.value}
            options={SHOWN_KINDS.map(({ id, title: label }) => ({ value: id, label }))}
            onChange={(id) => (kind.value = id)}
          />
          <pre class="built">{query.text}</pre>
        </div>
      )}
    </Dialog>
  );
}
