// A list of named items, which can be opened and dropped, with a form for new ones below.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

import type { Resource } from '../../api/use-resource.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { Panel } from '../../design/panel.tsx';
import { Table } from '../../design/table.tsx';
import type { TableColumn } from '../../design/table.tsx';
import { texts } from '../../texts/texts.ts';
import { Loaded, perform, useDropDialog } from './statements.tsx';
import type { Answered } from './statements.tsx';

const t = texts.admin;

export type NewEntry = {
  readonly name: string;
  /** The statement that creates an item; empty while something is missing. */
  readonly statement: string;
  /** Called when it was sent, to clear secrets. */
  readonly onSend?: (() => void) | undefined;
};

export function NamedList({
  title,
  found,
  column,
  columnLabel,
  columns = [],
  empty,
  actions,
  opened,
  drop,
  onChange,
  made,
  children,
}: {
  readonly title: string;
  readonly found: Resource<readonly Answered[]>;
  /** The column of the answer with the name. */
  readonly column: string;
  readonly columnLabel: string;
  /** Columns after the name. */
  readonly columns?: readonly TableColumn<Answered>[];
  readonly empty?: ComponentChildren;
  /** Actions before the buttons that every row has. */
  readonly actions?: ((row: Answered) => ComponentChildren) | undefined;
  /** The details that a row opens, and the label of the button. */
  readonly opened?:
    | { readonly label: string; readonly panel: (name: string) => ComponentChildren }
    | undefined;
  readonly drop: (name: string) => {
    readonly title: string;
    readonly hint: string;
    readonly statement: string;
  };
  readonly onChange: () => void;
  readonly made: NewEntry;
  /** Fields of the form. */
  readonly children: ComponentChildren;
}) {
  const chosen = useSignal('');
  const dropDialog = useDropDialog(onChange);
  const nameOf = (row: Answered): string => String(row[column]);
  return (
    <>
      <Panel title={title} isFlush>
        <Loaded resource={found}>
          {(rows) => (
            <Table
              label={title}
              rows={rows}
              rowKey={nameOf}
              selectedKey={chosen.value}
              empty={empty}
              columns={[
                { label: columnLabel, cell: nameOf, sortBy: nameOf },
                ...columns,
                {
                  label: t.actions,
                  isActions: true,
                  cell: (row) => (
                    <>
                      {actions?.(row)}{' '}
                      {opened === undefined ? null : (
                        <Button isSmall onClick={() => (chosen.value = nameOf(row))}>
                          {opened.label}
                        </Button>
                      )}{' '}
                      <IconButton
                        isSmall
                        icon="trash"
                        label={t.dropOne(nameOf(row))}
                        onClick={() =>
                          dropDialog.ask({ ...drop(nameOf(row)), done: t.dropped(nameOf(row)) })
                        }
                      />
                    </>
                  ),
                },
              ]}
            />
          )}
        </Loaded>
        <form
          class="row padded"
          onSubmit={(event) => {
            event.preventDefault();
            if (made.statement === '') return;
            void perform(made.statement, t.created(made.name)).then(onChange);
            made.onSend?.();
          }}
        >
          {children}
          <Button type="submit" icon="plus" disabled={made.statement === ''}>
            {t.create}
          </Button>
        </form>
      </Panel>
      {chosen.value === '' ? null : opened?.panel(chosen.value)}
      {dropDialog.dialog}
    </>
  );
}
