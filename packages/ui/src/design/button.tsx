// Buttons for actions on a page. Links (app/link.tsx) lead to other pages.
import type { ComponentChildren, JSX } from 'preact';

import { Icon } from './icon.tsx';
import type { IconName } from './icon.tsx';

type Native = Omit<JSX.ButtonHTMLAttributes, 'class' | 'className' | 'icon' | 'size'>;

export type ButtonProps = Native & {
  /** `primary` once on a page or dialog; `danger` for irreversible actions. */
  readonly kind?: 'plain' | 'primary' | 'danger' | 'quiet' | undefined;
  readonly isSmall?: boolean | undefined;
  readonly icon?: IconName | undefined;
  /** Shows a spinner and cannot be pressed again. */
  readonly isBusy?: boolean | undefined;
  readonly children?: ComponentChildren;
};

/** A button with words, with or without an icon. */
export function Button(props: ButtonProps) {
  const { kind = 'plain', isSmall, icon, isBusy, children, disabled, ...rest } = props;
  return (
    <button
      type="button"
      {...rest}
      class={`button ${kind} ${isSmall === true ? 'small' : ''}`}
      disabled={disabled === true || isBusy === true}
      aria-busy={isBusy === true ? 'true' : undefined}
    >
      {isBusy === true ? <span class="spinner" aria-hidden="true" /> : null}
      {icon !== undefined && isBusy !== true ? <Icon name={icon} /> : null}
      {children}
    </button>
  );
}

/** A button of one icon. `label` is read aloud and shown on hover. */
export function IconButton(
  props: Native & {
    readonly label: string;
    readonly icon: IconName;
    readonly kind?: 'plain' | 'quiet' | 'danger' | undefined;
    readonly isSmall?: boolean | undefined;
  },
) {
  const { kind = 'quiet', isSmall, icon, label, ...rest } = props;
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      {...rest}
      class={`button icon-only ${kind} ${isSmall === true ? 'small' : ''}`}
    >
      <Icon name={icon} />
    </button>
  );
}

/** Any of a few options, side by side. */
export function Toggles<T extends string>({
  label,
  chosen,
  options,
  onToggle,
}: {
  readonly label: string;
  readonly chosen: readonly T[];
  readonly options: readonly { readonly value: T; readonly label: string }[];
  readonly onToggle: (value: T) => void;
}) {
  return (
    <div class="button-group" role="group" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          class="button"
          aria-pressed={chosen.includes(option.value) ? 'true' : 'false'}
          onClick={() => onToggle(option.value)}
        >
          {option.label}
        </button>
      ))}
    </div>
  );
}

/** One of a few options, side by side. */
export function Choice<T extends string>({
  label,
  value,
  options,
  onChange,
}: {
  readonly label: string;
  readonly value: T;
  readonly options: readonly { readonly value: T; readonly label: string }[];
  readonly onChange: (value: T) => void;
}) {
  return <Toggles label={label} chosen={[value]} options={options} onToggle={onChange} />;
}
