// A cell that was imported and cannot be drawn: why, and all that is known of it.
import type { Cell } from '../../dashboards/model.ts';
import { Notice } from '../../design/states.tsx';
import { texts } from '../../texts/texts.ts';

const t = texts.dashboards;

export function Placeholder({ cell }: { readonly cell: Cell }) {
  return (
    <div class="stack">
      <Notice>{cell.reason}</Notice>
      <details>
        <summary>{t.original}</summary>
        <pre class="small" tabIndex={0}>
          {cell.original}
        </pre>
      </details>
    </div>
  );
}
