// The field of an option, by its type.
import type { ComponentChildren } from 'preact';

import { CheckField, SelectField, TextArea, TextField } from '../design/field.tsx';
import { texts } from '../texts/texts.ts';
import { isLong } from './option-text.ts';
import type { OptionRow } from './option-text.ts';

export function OptionField({
  name,
  row,
  hint = row.doc === '' ? undefined : row.doc,
  value,
  secret,
  onInput,
}: {
  readonly name: string;
  readonly row: OptionRow;
  readonly hint?: ComponentChildren;
  readonly value: string;
  /** Placeholder for a secret. */
  readonly secret?: string | undefined;
  readonly onInput: (text: string) => void;
}) {
  const field = { label: name, hint, value, onInput };
  if (row.type === 'boolean') {
    return (
      <CheckField
        label={hint}
        isChecked={value === 'true'}
        onChange={(isChecked) => onInput(String(isChecked))}
      />
    );
  }
  if (row.allowed !== undefined) {
    const options = row.allowed.map((each) => ({
      value: each,
      label: each === '' ? texts.common.optionEmpty : each,
    }));
    return <SelectField {...field} options={options} onChange={onInput} />;
  }
  if (isLong(row)) return <TextArea {...field} rows={2} />;
  if (secret === undefined) return <TextField {...field} />;
  return <TextField {...field} type="password" autocomplete="new-password" placeholder={secret} />;
}
