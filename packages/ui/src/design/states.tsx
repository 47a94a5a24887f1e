// Placeholders for data that is missing, loading, partial or broken, with the next step.
import type { ComponentChildren } from 'preact';

import { texts } from '../texts/texts.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import type { IconName } from './icon.tsx';

/** No data yet: says what would be here, and offers the way to it. */
export function Empty({
  title,
  icon = 'info',
  children,
  actions,
}: {
  readonly title: string;
  readonly icon?: IconName;
  readonly children?: ComponentChildren;
  readonly actions?: ComponentChildren;
}) {
  return (
    <div class="state">
      <Icon name={icon} />
      <strong>{title}</strong>
      {children === undefined ? null : <p>{children}</p>}
      {actions === undefined ? null : <div class="row">{actions}</div>}
    </div>
  );
}

/** Loading. Bars stand where content will be, so that nothing jumps. */
export function Loading({ rows = 4, label = texts.common.loading }) {
  return (
    <div class="skeleton" role="status" aria-label={label}>
      {Array.from({ length: rows }, (_, i) => (
        <span key={i} style={{ width: `${92 - ((i * 23) % 55)}%` }} />
      ))}
    </div>
  );
}

/** A failure: why, what to write instead, and a way to retry. */
export function Failure({
  title = texts.common.failed,
  error,
  onRetry,
}: {
  readonly title?: string;
  readonly error: { readonly message: string; readonly hint?: string | undefined };
  readonly onRetry?: (() => void) | undefined;
}) {
  return (
    <div class="state bad" role="alert">
      <Icon name="error" />
      <strong>{title}</strong>
      <p>{error.message}</p>
      {error.hint === undefined ? null : <p>{error.hint}</p>}
      {onRetry === undefined ? null : (
        <div class="row">
          <Button icon="refresh" onClick={onRetry}>
            {texts.common.retry}
          </Button>
        </div>
      )}
    </div>
  );
}

/** A remark about the data shown: partial answers, warnings, successful actions. */
export function Notice({
  kind = 'info',
  children,
  action,
}: {
  readonly kind?: 'info' | 'good' | 'warn' | 'bad';
  readonly children: ComponentChildren;
  readonly action?: ComponentChildren;
}) {
  const icon = ({ info: 'info', good: 'check', warn: 'warning', bad: 'error' } as const)[kind];
  return (
    <div class={`notice ${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
      <Icon name={icon} />
      <div>{children}</div>
      {action}
    </div>
  );
}

/** A short state in a table or a heading. */
export function Badge({
  kind = 'plain',
  children,
}: {
  readonly kind?: 'plain' | 'good' | 'warn' | 'bad' | 'accent';
  readonly children: ComponentChildren;
}) {
  return <span class={`badge ${kind}`}>{children}</span>;
}
