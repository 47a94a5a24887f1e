// Fields of forms: a label, the control, a hint, and the error of the value.
import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';

type FieldProps = {
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** The error of the value; empty or missing if there is none. */
  readonly problem?: string | undefined;
  /** The label is only read aloud, for controls in toolbars with an obvious meaning. */
  readonly isLabelHidden?: boolean | undefined;
};

type Described = { readonly id: string; readonly describedBy: string | undefined };

function Field({
  label,
  hint,
  problem = '',
  isLabelHidden,
  children,
}: FieldProps & { readonly children: (ids: Described) => ComponentChildren }) {
  const id = useId();
  const about = problem !== '' ? `${id}-problem` : hint === undefined ? undefined : `${id}-hint`;
  return (
    <div class="field">
      <label for={id} class={isLabelHidden === true ? 'hidden-visually' : ''}>
        {label}
      </label>
      {children({ id, describedBy: about })}
      {problem !== '' ? (
        <span class="problem" id={`${id}-problem`} role="alert">
          {problem}
        </span>
      ) : hint === undefined ? null : (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  );
}

type InputAttributes = Omit<
  JSX.InputHTMLAttributes,
  'value' | 'onInput' | 'class' | 'label' | 'size'
>;

/** One line of text. */
export function TextField({
  label,
  hint,
  problem,
  isLabelHidden,
  value,
  onInput,
  ...rest
}: FieldProps &
  InputAttributes & { readonly value: string; readonly onInput: (value: string) => void }) {
  return (
    <Field label={label} hint={hint} problem={problem} isLabelHidden={isLabelHidden}>
      {({ id, describedBy }) => (
        <input
          type="text"
          spellcheck={false}
          autocomplete="off"
          {...rest}
          id={id}
          class="input"
          value={value}
          aria-describedby={describedBy}
          aria-invalid={problem !== undefined && problem !== '' ? 'true' : undefined}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** Several lines of text. Statements and scripts use the editor. */
export function TextArea({
  label,
  hint,
  problem,
  isLabelHidden,
  value,
  rows = 4,
  placeholder,
  onInput,
}: FieldProps & {
  readonly value: string;
  readonly rows?: number;
  readonly placeholder?: string;
  readonly onInput: (value: string) => void;
}) {
  return (
    <Field label={label} hint={hint} problem={problem} isLabelHidden={isLabelHidden}>
      {({ id, describedBy }) => (
        <textarea
          id={id}
          class="input"
          rows={rows}
          spellcheck={false}
          placeholder={placeholder}
          value={value}
          aria-describedby={describedBy}
          aria-invalid={problem !== undefined && problem !== '' ? 'true' : undefined}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

export type SelectOption = { readonly value: string; readonly label: string };

/** A free text, with suggestions while typing. */
export function SuggestField({
  label,
  hint,
  problem,
  value,
  options,
  onChange,
}: FieldProps & {
  readonly value: string;
  readonly options: readonly SelectOption[];
  readonly onChange: (value: string) => void;
}) {
  const list = useId();
  return (
    <Field label={label} hint={hint} problem={problem}>
      {({ id, describedBy }) => (
        <>
          <input
            id={id}
            class="input"
            list={list}
            value={value}
            aria-describedby={describedBy}
            onChange={(event) => onChange(event.currentTarget.value)}
          />
          <datalist id={list}>
            {options.map((option) => (
              <option key={option.value} value={option.value}>
                {option.label}
              </option>
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}

/** One of many. Texts stand for options whose value is their label. */
export function SelectField({
  label,
  hint,
  problem,
  isLabelHidden,
  value,
  options,
  disabled,
  onChange,
}: FieldProps & {
  readonly value: string;
  readonly options: readonly (SelectOption | string)[];
  readonly disabled?: boolean | undefined;
  readonly onChange: (value: string) => void;
}) {
  return (
    <Field label={label} hint={hint} problem={problem} isLabelHidden={isLabelHidden}>
      {({ id, describedBy }) => (
        <select
          id={id}
          class="input"
          value={value}
          disabled={disabled}
          aria-describedby={describedBy}
          onChange={(event) => onChange(event.currentTarget.value)}
        >
          {options.map((option) => {
            const given = typeof option === 'string' ? { value: option, label: option } : option;
            return (
              <option key={given.value} value={given.value}>
                {given.label}
              </option>
            );
          })}
        </select>
      )}
    </Field>
  );
}

/** Files of the browser's machine. */
export function FileField({
  label,
  hint,
  isMultiple,
  accept,
  onChange,
}: FieldProps & {
  readonly isMultiple?: boolean | undefined;
  readonly accept?: string | undefined;
  readonly onChange: (files: readonly File[]) => void;
}) {
  return (
    <Field label={label} hint={hint}>
      {({ id, describedBy }) => (
        <input
          id={id}
          class="input"
          type="file"
          multiple={isMultiple === true}
          accept={accept}
          aria-describedby={describedBy}
          onChange={(event) => onChange([...(event.currentTarget.files ?? [])])}
        />
      )}
    </Field>
  );
}

/** A check box. */
export function CheckField({
  label,
  isChecked,
  disabled,
  onChange,
}: {
  readonly label: ComponentChildren;
  readonly isChecked: boolean;
  readonly disabled?: boolean | undefined;
  readonly onChange: (isChecked: boolean) => void;
}) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={isChecked}
        disabled={disabled}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  );
}
