// A single engine that receives the points accepted by a cluster, in the cluster's order: its final
// state is the expected state of the cluster. The points come from the coordinator's log of points,
// which may contain writes without a response, even twice.
import { NatsCoordinator } from '@tidemark/cluster';
import type { LogRecord } from '@tidemark/cluster';
import { eventually, removeDirectory, send, startTidemark } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';

const RETRY_MS = 200;

type Label = { readonly db: string; readonly rp: string; readonly precision: string };

export class SingleEngine {
  readonly #engine: Tidemark;
  readonly #coordinator: NatsCoordinator;
  readonly #ended = new AbortController();
  readonly #decoder = new TextDecoder();
  readonly #reading: Promise<void>;
  #last = 0;
  #feeding: Promise<void> = Promise.resolve();
  /** How often each write is in the log, by its first line. */
  readonly taken = new Map<string, number>();
  readonly problems: string[] = [];

  private constructor(engine: Tidemark, coordinator: NatsCoordinator) {
    this.#engine = engine;
    this.#coordinator = coordinator;
    this.#reading = this.#read();
  }

  /** Before the first point is written to the cluster. */
  static async start(coordinatorUrl: string): Promise<SingleEngine> {
    const options = { urls: [coordinatorUrl], login: '', name: 'tidemark', replicas: 1 };
    const coordinator = await NatsCoordinator.open(options);
    const engine = await startTidemark({ command: 'engine', args: ['--log-level', 'warn'] });
    return new SingleEngine(engine, coordinator);
  }

  get url(): string {
    return this.#engine.engine;
  }

  /** Resolves when it was given everything that the cluster has taken. */
  async caughtUp(patienceMs: number): Promise<void> {
    const { last } = await this.#coordinator.points.ends();
    await eventually('the log', async () => (this.#last >= last ? true : undefined), patienceMs);
    await this.#feeding;
  }

  async close(): Promise<void> {
    this.#ended.abort();
    await this.#reading;
    await this.#feeding;
    await this.#coordinator.close();
    await this.#engine.stop();
    await removeDirectory(this.#engine.directory);
  }

  async #read(): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      try {
        const first = this.#last + 1;
        for await (const record of this.#coordinator.points.read({ first, signal }))
          if (record.sequence > this.#last) this.#take(record);
      } catch {
        // The coordinator is unreachable, which is the purpose of this.
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  #take({ sequence, bytes, label }: LogRecord): void {
    if (sequence !== this.#last + 1)
      this.problems.push(`the soak has missed records ${this.#last + 1} to ${sequence - 1}`);
    this.#last = sequence;
    const body = this.#decoder.decode(bytes);
    const [first = ''] = body.split('\n', 1);
    this.taken.set(first, (this.taken.get(first) ?? 0) + 1);
    this.#feeding = this.#feeding.then(() => this.#feed(body, JSON.parse(label) as Label));
  }

  async #feed(body: string, { db, rp, precision }: Label): Promise<void> {
    const search = new URLSearchParams({ db, rp, precision });
    const { status, text } = await send(`${this.url}/engine/v1/write?${search.toString()}`, {
      method: 'POST',
      body,
    });
    if (status !== 204) this.problems.push(`the single engine does not take points: ${text}`);
  }
}
