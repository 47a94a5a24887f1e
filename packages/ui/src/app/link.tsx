// Links between pages: real ones, which can open in a new tab.
import type { ComponentChildren } from 'preact';

import { hrefOf, navigate } from './router.ts';
import type { Params } from './router.ts';

export function Link({
  page,
  params,
  class: className,
  isCurrent,
  children,
  onFollow,
}: {
  readonly page: string;
  readonly params?: Params;
  readonly class?: string;
  readonly isCurrent?: boolean;
  readonly children: ComponentChildren;
  readonly onFollow?: () => void;
}) {
  return (
    <a
      href={hrefOf(page, params)}
      class={className}
      aria-current={isCurrent === true ? 'page' : undefined}
      onClick={(event) => {
        const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0;
        if (!isPlain) return;
        event.preventDefault();
        onFollow?.();
        navigate(page, params);
      }}
    >
      {children}
    </a>
  );
}
