// An imported cell that cannot be drawn: shows the reason, and the original.
import { Notice } from '../../design/states.tsx';
import { texts } from '../../texts/texts.ts';
import type { DrawingProps } from '../kind.ts';
import { valueOf } from '../option.ts';
import { ORIGINAL, REASON } from './kind.ts';

export function Drawing({ cell }: DrawingProps) {
  return (
    <div class="stack">
      <Notice>{valueOf(cell, REASON)}</Notice>
      <details>
        <summary>{texts.cells.original}</summary>
        <pre class="small" tabIndex={0}>
          {valueOf(cell, ORIGINAL)}
        </pre>
      </details>
    </div>
  );
}
