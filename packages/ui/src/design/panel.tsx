// A framed part of a page with its heading and controls.
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

export function Panel({
  title,
  controls,
  isFlush,
  children,
}: {
  readonly title: ComponentChildren;
  readonly controls?: ComponentChildren;
  /** The content touches the frame, as in tables. */
  readonly isFlush?: boolean | undefined;
  readonly children?: ComponentChildren;
}) {
  const id = useId();
  return (
    <section class="panel" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {controls}
      </header>
      {isFlush === true ? children : <div class="body">{children}</div>}
    </section>
  );
}
