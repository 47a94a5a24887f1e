// What only administrators may do is not shown to others: the services would refuse it.
import type { ComponentChildren } from 'preact';

import { session } from '../api/session.ts';

export function ForAdmins({ children }: { readonly children: ComponentChildren }) {
  return session.value.isAdmin ? <>{children}</> : null;
}
