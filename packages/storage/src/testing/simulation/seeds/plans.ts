// Plans that run together with the other seeds.
import type { Plan } from '../workload/operations.ts';
import { FOUND } from './found.ts';
import { WITHOUT_A_GUARD } from './without-a-guard.ts';

/** A plan, and what was wrong, or would be. */
export type Found = { readonly what: string; readonly plan: Plan };

export const PLANS: readonly Found[] = [...FOUND, ...WITHOUT_A_GUARD];
