// Start and end of a span, below a drawing without an axis.
import type { Span } from '../time/range.ts';
import { formatInstant, shownZone } from '../time/zone.ts';

export function Times({ span }: { readonly span: Span }) {
  const zone = shownZone.value;
  return (
    <figcaption class="muted small">
      <span>{formatInstant(span.fromMs, zone)}</span>
      <span>{formatInstant(span.toMs, zone)}</span>
    </figcaption>
  );
}
