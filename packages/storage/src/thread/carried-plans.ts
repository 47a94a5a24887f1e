// Plans on their way to the storage thread. One that comes again, with another range, was sent
// before: it stays in the thread and is a number from then on. Both ends count in the same way, so
// that the sender knows without asking which plans the thread still has.
import { assert } from '@tidemark/core';
import type { AnswerRequest } from '@tidemark/query';

import { LIMITS } from '../limits.ts';
import type { CarriedPlan } from './protocol.ts';

const COUNT = LIMITS.keptPlans.value;

/** The sender's end. */
export class SentPlans {
  readonly #numbers = new WeakMap<object, number>();
  #count = 0;

  carry({ plan, limits }: AnswerRequest): CarriedPlan {
    const known = this.#numbers.get(plan);
    if (known !== undefined && known >= this.#count - COUNT) return known % COUNT;
    const number = this.#count++;
    this.#numbers.set(plan, number);
    return { plan, limits, place: number % COUNT };
  }
}

type Plan = Pick<AnswerRequest, 'plan' | 'limits'>;

/** The thread's end. A new plan takes the place of the oldest one. */
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
