// The web application for one service alone (`--ui-bind` of `tidemark tsdb` and `tidemark engine`).
import type { Clock } from '@tidemark/core';
import { parseBind } from '@tidemark/process';

import { startUiServer } from '../ui-server.ts';
import type { UiServer } from '../ui-server.ts';
import { requireSafeBind } from './serve.ts';

export type PageOfService = {
  /** The value of `--ui-bind`. */
  readonly bindAddress: string;
  /** Settings that have to be true before others may reach the page; empty if all are. */
  readonly unauthenticated: readonly string[];
  readonly isInsecureAllowed: boolean;
  readonly clock: Clock;
  readonly pageKey: string;
  readonly tsdbUrl?: string | undefined;
  readonly engineUrl?: string | undefined;
};

export async function startPage(page: PageOfService): Promise<UiServer> {
  const { bindAddress, unauthenticated, isInsecureAllowed, clock, ...services } = page;
  requireSafeBind(bindAddress, '--ui-bind', { unauthenticated, isInsecureAllowed });
  const { UI_DIRECTORY } = await import('@tidemark/ui');
  return startUiServer({
    ...services,
    allowedHosts: [],
    allowedOrigins: [],
    trustedProxies: [],
    isOpen: unauthenticated.length > 0,
    bind: { ...parseBind(bindAddress, '--ui-bind'), setting: '--ui-bind' },
    nowMs: () => clock.monotonicMs(),
    directory: UI_DIRECTORY,
  });
}
