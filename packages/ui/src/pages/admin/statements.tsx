// Administrative statements: results as records, running with a message, and the confirmation.
import { useSignal } from '@preact/signals';
import type { Cell } from '@tidemark/client';
import type { ComponentChildren } from 'preact';

import { tsdb } from '../../api/clients.ts';
import { problemOf } from '../../api/problem.ts';
import type { Resource } from '../../api/use-resource.ts';
import { ConfirmDialog } from '../../design/dialog.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { toast } from '../../design/toasts.tsx';
import { texts } from '../../texts/texts.ts';

/** A row by column names; with several series, the series' name is `series`. */
export type Answered = Readonly<Record<string, Cell>>;

export async function ask(text: string, signal?: AbortSignal): Promise<readonly Answered[]> {
  const series = await tsdb.rows(text, { signal });
  return series.flatMap(({ name = '', columns, values = [] }) =>
    values.map((row) => ({
      series: name,
      ...Object.fromEntries(columns.map((column, i) => [column, row[i] ?? null])),
    })),
  );
}

/** Runs a statement and reports the result. */
export async function perform(text: string, done: string): Promise<boolean> {
  try {
    await tsdb.rows(text);
    toast(done);
    return true;
  } catch (error) {
    toast(problemOf(error).message, 'bad');
    return false;
  }
}

/** The loaded data, or a placeholder. */
export function Loaded<T>({
  resource,
  children,
}: {
  readonly resource: Resource<T>;
  readonly children: (value: T) => ComponentChildren;
}) {
  const value = resource.value.value;
  if (value !== undefined) return <>{children(value)}</>;
  const error = resource.error.value;
  if (error === undefined) return <Loading />;
  return <Failure error={error} onRetry={() => void resource.reload()} />;
}

export type Drop = {
  readonly title: string;
  readonly hint: string;
  readonly statement: string;
  readonly done: string;
};

/** Asks for confirmation of an irreversible statement, and runs it. */
export function useDropDialog(onDone: () => void) {
  const dropDialog = useSignal<Drop | undefined>(undefined);
  const close = (): void => {
    dropDialog.value = undefined;
  };
  const asked = dropDialog.value;
  const dialog =
    asked === undefined ? null : (
      <ConfirmDialog
        title={asked.title}
        action={texts.admin.drop}
        onClose={close}
        onConfirm={() => {
          close();
          void perform(asked.statement, asked.done).then(onDone);
        }}
      >
        <p>{asked.hint}</p>
        <p>
          <code>{asked.statement}</code>
        </p>
      </ConfirmDialog>
    );
  return { dialog, ask: (next: Drop) => (dropDialog.value = next) };
}
