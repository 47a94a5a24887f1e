// Important numbers with their names, side by side.
import type { ComponentChildren } from 'preact';

export type Figure = {
  readonly label: string;
  readonly value: string;
  readonly hint?: ComponentChildren;
  readonly kind?: 'plain' | 'warn' | 'bad' | undefined;
};

export function Figures({ figures }: { readonly figures: readonly Figure[] }) {
  return (
    <dl class="figures">
      {figures.map(({ label, value, hint, kind = 'plain' }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd class={kind}>{value}</dd>
          {hint === undefined ? null : <dd class="small muted">{hint}</dd>}
        </div>
      ))}
    </dl>
  );
}
