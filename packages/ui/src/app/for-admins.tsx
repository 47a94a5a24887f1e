// Hides actions for administrators from other users, because the services would refuse them.
import type { ComponentChildren } from 'preact';

import { session } from '../api/session.ts';

export function ForAdmins({ children }: { readonly children: ComponentChildren }) {
  return session.value.isAdmin ? <>{children}</> : null;
}
