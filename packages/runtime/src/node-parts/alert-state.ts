// State of one group of an alert node: a ring of recent levels, flapping, and when it triggered.

export type AlertStateCode = {
  readonly history: readonly number[];
  readonly index: number;
  readonly isFlapping: boolean;
  readonly firstTriggered: bigint;
  readonly lastTriggered: bigint;
};

/** At least two levels, else nothing could change. */
const HISTORY_MIN = 2;

export class AlertState {
  #history: number[];
  #index = 0;
  #isChanged = false;
  #isFlapping = false;
  #firstTriggered = 0n;
  #lastTriggered = 0n;

  constructor(historySize: number) {
    this.#history = Array.from({ length: Math.max(HISTORY_MIN, historySize) }, () => 0);
  }

  /** Of a history of another size only the present level is kept. */
  static decode(code: AlertStateCode, historySize: number): AlertState {
    const state = new AlertState(historySize);
    if (code.history.length === state.#history.length) {
      state.#history = [...code.history];
      state.#index = code.index;
    } else state.#history[0] = code.history[code.index] as number;
    state.#isFlapping = code.isFlapping;
    state.#firstTriggered = code.firstTriggered;
    state.#lastTriggered = code.lastTriggered;
    return state;
  }

  encode(): AlertStateCode {
    return {
      history: [...this.#history],
      index: this.#index,
      isFlapping: this.#isFlapping,
      firstTriggered: this.#firstTriggered,
      lastTriggered: this.#lastTriggered,
    };
  }

  get level(): number {
    return this.#history[this.#index] as number;
  }

  get isChanged(): boolean {
    return this.#isChanged;
  }

  get isFlapping(): boolean {
    return this.#isFlapping;
  }

  /** When the level left OK, once it has. */
  get firstTriggered(): bigint {
    return this.#firstTriggered;
  }

  /** 0 before the first event. */
  get lastTriggered(): bigint {
    return this.#lastTriggered;
  }

  get durationNanos(): bigint {
    return this.#lastTriggered - this.#firstTriggered;
  }

  /** Restores the state that a topic has of the group from before a restart. */
  restore(level: number, time: bigint, durationNanos: bigint): void {
    this.#history[this.#index] = level;
    this.#lastTriggered = time;
    this.#firstTriggered = time - durationNanos;
  }

  /**
   * Records the level of a message. An alert begins when the level leaves OK, whether published or
   * not: it may be flapping.
   */
  record(
    level: number,
    time: bigint,
    flapping: { readonly low: number; readonly high: number } | undefined,
  ): void {
    const history = this.#history;
    this.#isChanged = history[this.#index] !== level;
    if (this.#isChanged && history[this.#index] === 0) this.#firstTriggered = time;
    this.#index = this.#index + 1 === history.length ? 0 : this.#index + 1;
    history[this.#index] = level;
    if (flapping === undefined) return;
    const share = this.#changeShare();
    if (this.#isFlapping && share < flapping.low) this.#isFlapping = false;
    else if (!this.#isFlapping && share > flapping.high) this.#isFlapping = true;
  }

  isExpired(time: bigint, interval: bigint): boolean {
    return interval !== 0n && time - this.#lastTriggered >= interval;
  }

  trigger(time: bigint): void {
    this.#lastTriggered = time;
  }

  /**
   * Weighted share of changes in the history, exactly as recorded: the walk begins at the newest
   * slot with the smallest weight and compares the oldest with the newest, so the last pair is
   * never compared.
   */
  #changeShare(): number {
    const history = this.#history;
    const n = history.length;
    const step = (1.2 - 0.8) / (n - 1);
    // 1.2 / 1.5 in exact arithmetic, which is a little more than its quotient of floats.
    let weight = 0.8;
    let sum = 0;
    for (let i = 0; i < n - 1; i++) {
      const current = (i + this.#index) % n;
      const before = current === 0 ? n - 1 : current - 1;
      if (history[current] !== history[before]) sum += weight;
      weight += step;
    }
    return sum / (n - 1);
  }
}
