// Exchanges files of recordings between instances. A recording is a file of the instance that made
// it; any other instance that needs it fetches a copy and keeps it.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { messageOf, NotFound, Unavailable } from '@tidemark/core';
import { PRIVATE_FILE } from '@tidemark/process';
import type { Member } from '@tidemark/cluster';
import { askInstance, isOfCluster } from './instance-request.ts';

/** The path under which an instance serves files to others, independent of the `http` settings. */
const PATH = '/cluster/recording-files/';

const NAME = /^[0-9a-f]{64}\.recording$/;

/** File of a recording: ids may be longer than file names and differ only in case. */
export function recordingFile(directory: string, id: string): string {
  return join(directory, `${createHash('sha256').update(id).digest('hex')}.recording`);
}

export type RecordingExchangeOptions = {
  /** Id of this instance. */
  readonly self: string;
  readonly secret: string;
  readonly members: () => readonly Member[];
};

/** Requests files from other instances. */
export class RecordingExchange {
  readonly #options: RecordingExchangeOptions;

  constructor(options: RecordingExchangeOptions) {
    this.#options = options;
  }

  get self(): string {
    return this.#options.self;
  }

  /**
   * Copies the file of another instance's recording to a path. Throws `Unavailable`, which names
   * the instance, when it is gone, and `NotFound` when it has no such file.
   */
  async fetch(
    recording: { readonly id: string; readonly instance: string },
    path: string,
    signal?: AbortSignal,
  ): Promise<void> {
    const { id, instance } = recording;
    const member = this.#member(instance);
    if (member?.isAlive !== true)
      throw new Unavailable(
        `recording ${id} lies on instance ${member?.url ?? instance}, which is gone: start that one, and it can be replayed`,
      );
    const response = await this.#ask(member, 'GET', path, signal);
    if (response.status !== 200 || response.body === null)
      throw new NotFound(`recording ${id} has no data: instance ${member.url} has no file of it`);
    const part = `${path}.copy`;
    try {
      await pipeline(
        Readable.fromWeb(response.body),
        createWriteStream(part, { mode: PRIVATE_FILE }),
      );
      await rename(part, path);
    } catch (error) {
      await rm(part, { force: true });
      throw new Unavailable(
        `recording ${id} could not be fetched from instance ${member.url}: ${messageOf(error)}`,
        { cause: error },
      );
    }
  }

  /** Removes the file at all live instances: each may have a copy. */
  async remove(path: string): Promise<void> {
    const others = this.#options.members().filter(({ id, isAlive }) => isAlive && id !== this.self);
    // An instance that leaves meanwhile keeps a file without a recording.
    await Promise.allSettled(others.map((member) => this.#ask(member, 'DELETE', path)));
  }

  #member(instance: string): Member | undefined {
    return this.#options.members().find(({ id }) => id === instance);
  }

  #ask(member: Member, method: string, path: string, signal?: AbortSignal): Promise<Response> {
    const name = path.slice(-'.recording'.length - 64);
    const { secret } = this.#options;
    return askInstance(member, { secret, method, path: `${PATH}${name}`, signal });
  }
}

/** Answers such a request of another instance; `false` for any other request. */
export async function answerRecordingFile(
  request: IncomingMessage,
  response: ServerResponse,
  { directory, secret }: { readonly directory: string; readonly secret: string },
): Promise<boolean> {
  const { url = '', method } = request;
  if (!url.startsWith(PATH) || !isOfCluster(request, secret)) return false;
  const name = url.slice(PATH.length);
  const path = join(directory, name);
  const size = NAME.test(name) ? await sizeOf(path) : undefined;
  if (size === undefined) {
    response.writeHead(404).end();
  } else if (method === 'DELETE') {
    await rm(path, { force: true });
    response.writeHead(204).end();
  } else {
    response.writeHead(200, { 'Content-Length': size });
    await pipeline(createReadStream(path), response);
  }
  return true;
}

/** Size of a file; `undefined` when there is none. */
export async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw cause;
  }
}
