// Sends plans to the storage thread. A plan that is used again, with another range, stays in the
// thread and is referred to by number. Both sides count in the same way, so the sender knows
// without asking which plans the thread still has.
import { assert } from '@tidemark/core';
import type { AnswerRequest } from '@tidemark/query';

import { LIMITS } from '../limits.ts';

const COUNT = LIMITS.keptPlans.value;

type Plan = Pick<AnswerRequest, 'plan' | 'limits'>;

/** A plan as it is sent: its number in the thread, and the plan itself the first time. */
export type CarriedPlan = number | (Plan & { readonly place: number });

/** The sender's side. */
export class SentPlans {
  readonly #numbers = new WeakMap<object, number>();
  #count = 0;

  carry({ plan, limits }: Plan): CarriedPlan {
    const known = this.#numbers.get(plan);
    if (known !== undefined && known >= this.#count - COUNT) return known % COUNT;
    const number = this.#count++;
    this.#numbers.set(plan, number);
    return { plan, limits, place: number % COUNT };
  }
}

/** The thread's side. A new plan replaces the oldest one. */
export class HeldPlans {
  readonly #plans: Plan[] = [];

  of(carried: CarriedPlan): Plan {
    if (typeof carried !== 'number') {
      this.#plans[carried.place] = carried;
      return carried;
    }
    const held = this.#plans[carried];
    assert(held !== undefined, 'a plan is sent before its number');
    return held;
  }
}
