// The engine's RPC server for the services of hosted tasks: executes requests of nodes in other
// threads with the services of each task.
import { assert, messageOf } from '@tidemark/core';
import type {
  HostedSideloadTree,
  HostedTaskServices,
  SideloadDocuments,
} from './hosted-services.ts';
import type { HostItem, ServiceCall } from './protocol.ts';

/** Sends the outcome of a call back to the host. */
export type Reply = {
  readonly resolve: (value: unknown) => void;
  readonly reject: (message: string) => void;
};

/** The calls and sources of one host that are in use. */
export class RpcServer {
  readonly #servicesOf: (task: number) => HostedTaskServices | undefined;
  readonly #sendDocuments: (source: string, documents: SideloadDocuments) => void;
  readonly #running = new Map<number, AbortController>();
  readonly #trees = new Map<string, HostedSideloadTree[]>();

  constructor(options: {
    readonly servicesOf: (task: number) => HostedTaskServices | undefined;
    /** Called again whenever a source was reloaded. */
    readonly sendDocuments: (source: string, documents: SideloadDocuments) => void;
  }) {
    this.#servicesOf = options.servicesOf;
    this.#sendDocuments = options.sendDocuments;
  }

  call({ id, task, call }: HostItem & { kind: 'call' }, reply: Reply): void {
    const services = this.#servicesOf(task);
    if (services === undefined) {
      reply.reject('task is not running');
      return;
    }
    const abort = new AbortController();
    this.#running.set(id, abort);
    this.#serve(services, call, abort.signal)
      .then(reply.resolve, (cause: unknown) => reply.reject(messageOf(cause)))
      .finally(() => this.#running.delete(id));
  }

  cancel(id: number): void {
    this.#running.get(id)?.abort();
  }

  closeSideload(source: string): void {
    this.#trees.get(source)?.pop()?.close();
  }

  /** The host is gone: its calls need no answers, and its sources are not in use. */
  close(): void {
    for (const abort of this.#running.values()) abort.abort();
    for (const trees of this.#trees.values()) for (const tree of trees) tree.close();
    this.#trees.clear();
  }

  async #serve(
    services: HostedTaskServices,
    call: ServiceCall,
    signal: AbortSignal,
  ): Promise<unknown> {
    const { database, http } = services;
    switch (call.name) {
      case 'write': {
        const { name: _, body, ...target } = call;
        return database.writeLines(target, body);
      }
      case 'execute':
        return database.execute(call.cluster, call.statement);
      case 'query':
        return database.query(call.cluster, call.statement, signal);
      case 'http': {
        const { signer, request } = call;
        const sign = signer && services.scalerCluster(signer.kind, signer.name)?.sign;
        return http.send((await sign?.(request)) ?? request, signal);
      }
      case 'open-sideload':
        return this.#openSideload(services, call.source);
    }
  }

  async #openSideload(services: HostedTaskServices, source: string): Promise<unknown> {
    const tree = await services.sideload?.open(source);
    assert(tree !== undefined, 'a task asks for a source only if it has sources');
    const trees = this.#trees.get(source) ?? [];
    trees.push(tree);
    this.#trees.set(source, trees);
    let first: unknown;
    tree.follow((documents) => {
      if (first === undefined) first = documents;
      else this.#sendDocuments(source, documents);
    });
    return first;
  }
}
