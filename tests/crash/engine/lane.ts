// One writer of points that change levels, and the events that must arrive.

/** One alert that must arrive: the id's level changed at that time. */
export type Expected = { readonly id: string; readonly level: string; readonly time: string };

const START_SECONDS = 1_704_067_200;
const REFUSED_PAUSE_MS = 20;

export class Lane {
  readonly expected: Expected[] = [];
  /** Writes that were refused for lack of room; each was repeated. */
  refusedCount = 0;
  readonly #name: string;
  readonly #idCount: number;
  readonly #pointsPerWrite: number;
  #count = 0;

  constructor(
    name: string,
    { idCount, pointsPerWrite }: { readonly idCount: number; readonly pointsPerWrite: number },
  ) {
    this.#name = name;
    this.#idCount = idCount;
    this.#pointsPerWrite = pointsPerWrite;
  }

  /**
   * Writes until the engine is gone. What was not acknowledged is repeated, also by the next call.
   */
  async write(url: string): Promise<void> {
    while (await this.writeOne(url));
  }

  /**
   * Makes the next write; false when the engine is gone. Then it is unknown whether it was taken.
   */
  async writeOne(url: string): Promise<boolean> {
    const points = Array.from({ length: this.#pointsPerWrite }, (_, i) =>
      this.#point(this.#count + i),
    );
    const body = points.map(({ line }) => line).join('\n');
    for (;;) {
      const status = await post(`${url}/write?db=d&rp=r&precision=s`, body);
      if (status === undefined) return false;
      if (status === 204) break;
      if (status !== 503) throw new Error(`write answered ${status}`);
      this.refusedCount++;
      await new Promise((resolve) => setTimeout(resolve, REFUSED_PAUSE_MS));
    }
    this.expected.push(...points.map(({ expected }) => expected));
    this.#count += points.length;
    return true;
  }

  #point(number: number): { readonly line: string; readonly expected: Expected } {
    const id = `${this.#name}-${number % this.#idCount}`;
    const isCritical = Math.floor(number / this.#idCount) % 2 === 0;
    const seconds = START_SECONDS + number;
    return {
      line: `m,h=${id} v=${isCritical ? 9 : 0} ${seconds}`,
      expected: {
        id,
        level: isCritical ? 'CRITICAL' : 'OK',
        time: new Date(seconds * 1000).toISOString().replace('.000', ''),
      },
    };
  }
}

/** The status; `undefined` when nobody answers. */
async function post(url: string, body: string): Promise<number | undefined> {
  try {
    const response = await fetch(url, { method: 'POST', body });
    await response.arrayBuffer();
    return response.status;
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
