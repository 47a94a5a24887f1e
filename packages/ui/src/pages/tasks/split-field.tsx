// The number of parts of a task: a field of its definition.
import type { Signal } from '@preact/signals';

import { engine } from '../../api/clients.ts';
import { useResource } from '../../api/use-resource.ts';
import { TextField } from '../../design/field.tsx';
import { texts } from '../../texts/texts.ts';

const t = texts.tasks;

/** The text of the field; empty if the task does not set it. */
export const printSplit = (split: number | undefined): string => split?.toString() ?? '';

/** The engine refuses invalid numbers of parts. */
export const readSplit = (text: string): number => Number(text);

export function SplitField({
  value,
  disabled,
}: {
  readonly value: Signal<string>;
  readonly disabled?: boolean | undefined;
}) {
  const members = useResource(() => engine.members(), []);
  const isAlone = members.value.value?.length === 0;
  return (
    <TextField
      label={t.split}
      type="number"
      min={0}
      step={1}
      value={value.value}
      disabled={disabled}
      hint={isAlone ? t.splitHintAlone : t.splitHint}
      onInput={(text) => (value.value = text)}
    />
  );
}
