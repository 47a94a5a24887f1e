// A field for an optional number; invalid numbers are not accepted.
import { TextField } from '../../design/field.tsx';

export function NumberField({
  label,
  hint,
  isLabelHidden,
  value,
  onChange,
}: {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly isLabelHidden?: boolean | undefined;
  readonly value: number | undefined;
  readonly onChange: (value: number | undefined) => void;
}) {
  return (
    <TextField
      label={label}
      hint={hint}
      isLabelHidden={isLabelHidden}
      type="number"
      step="any"
      value={value === undefined ? '' : String(value)}
      onInput={(text) => {
        if (text.trim() === '') onChange(undefined);
        else if (Number.isFinite(Number(text))) onChange(Number(text));
      }}
    />
  );
}
