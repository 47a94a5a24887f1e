// The listeners of a configuration: opened together, counted, closed together.
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

import { AppError, formatRfc3339, InvalidRequest, messageOf } from '@tidemark/core';
import type { Budget, Clock } from '@tidemark/core';
import { parseLines, parsePrecision, SeriesCache } from '@tidemark/line-protocol';
import { Batcher } from './batcher.ts';
import type { ListenerCounters, ListenerLog, ListenerSink } from './batcher.ts';
import { parseCollectd } from './collectd.ts';
import type { CollectdOptions } from './collectd.ts';
import { GraphiteParser } from './graphite.ts';
import { checksSenders } from './listener-kinds.ts';
import type { ListenerKind } from './listener-kinds.ts';
import { answerPut } from './opentsdb-http.ts';
import { parsePut } from './opentsdb.ts';
import { onLines, openTcp, openUdp } from './sockets.ts';
import type { OpenSocket } from './sockets.ts';
import type { ListenerConfig } from './sections.ts';
import { readTypesDb } from './types-db.ts';
import { BorderGuard, isLoopback, parseBind } from '@tidemark/process';

export type ListenerOptions = {
  readonly config: ListenerConfig;
  readonly writer: ListenerSink;
  readonly clock: Clock;
  readonly log: ListenerLog;
  /** Memory of all bodies of the process together. */
  readonly bodies: Budget;
  /** Called before a listener opens: makes sure that its database can be written to. */
  readonly prepare: (database: string) => Promise<void>;
  /** Called for input that could not be read or stored. `time` is RFC 3339. */
  readonly onRejected: (
    place: { readonly time: string; readonly source: string; readonly database: string },
    rejected: readonly RejectedInput[],
  ) => void;
};

/** Invalid input, or points that could not be stored. */
export type RejectedInput = {
  readonly lineNumber?: number | undefined;
  readonly text: string;
  readonly reason: string;
  /** Default 1. */
  readonly count?: number | undefined;
};

/** Counters of one listener. */
export type ListenerStatistics = {
  readonly kind: string;
  /** Address with the actual port. */
  readonly bind: string;
  readonly counters: Readonly<ListenerCounters>;
};

type Target = {
  readonly database: string;
  readonly retentionPolicy: string;
  readonly batchSize: number;
  readonly batchPending: number;
  readonly batchTimeoutMs: number;
};

type OpenListener = {
  readonly kind: string;
  readonly bindAddress: string;
  readonly batcher: Batcher;
  readonly socket: OpenSocket;
};

export class ProtocolListeners {
  readonly #options: ListenerOptions;
  readonly #open: OpenListener[] = [];

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** Ports by kind, in the order of the configuration; port 0 means a free one. */
  get ports(): readonly (readonly [kind: string, port: number])[] {
    return this.#open.map(({ kind, socket }) => [kind, socket.port]);
  }

  statistics(): readonly ListenerStatistics[] {
    return this.#open.map(({ kind, bindAddress, batcher, socket }) => ({
      kind,
      // The actual port, so that listeners on port 0 can be told apart.
      bind: bindAddress.replace(/:\d+$/, `:${socket.port}`),
      counters: batcher.counters,
    }));
  }

  /** Opens all enabled listeners. When it throws, the opened ones stay open: call `close`. */
  async open(): Promise<void> {
    const { config } = this.#options;
    for (const udp of config.udp) if (udp.enabled) await this.#openUdp(udp);
    for (const graphite of config.graphite)
      if (graphite.enabled) await this.#openGraphite(graphite);
    for (const collectd of config.collectd)
      if (collectd.enabled) await this.#openCollectd(collectd);
    for (const opentsdb of config.opentsdb)
      if (opentsdb.enabled) await this.#openOpentsdb(opentsdb);
  }

  async close(): Promise<void> {
    for (const { socket, batcher } of this.#open.splice(0)) {
      await socket.close();
      await batcher.close();
    }
  }

  async #add(
    kind: ListenerKind['section'],
    section: Target & { readonly bindAddress: string; readonly securityLevel?: string | undefined },
    open: (batcher: Batcher) => Promise<OpenSocket>,
  ): Promise<void> {
    const { clock, log, writer } = this.#options;
    await this.#options.prepare(section.database);
    const batcher = new Batcher({
      writer,
      clock,
      log,
      target: { database: section.database, retentionPolicy: section.retentionPolicy },
      batchSize: section.batchSize,
      maxPending: section.batchPending,
      timeoutMs: section.batchTimeoutMs,
      onDropped: (count, reason) =>
        this.#reject({ source: kind, database: section.database }, [{ text: '', reason, count }]),
    });
    try {
      const socket = await open(batcher);
      this.#open.push({ kind, bindAddress: section.bindAddress, batcher, socket });
      log.info({ listener: kind, port: socket.port }, 'listening');
      if (isLoopback(parseBind(section.bindAddress, `${kind}.bind-address`).host)) return;
      if (checksSenders(kind, section)) return;
      log.warn(
        { listener: kind, bindAddress: section.bindAddress, database: section.database },
        'this protocol has no credentials: anybody who reaches it can write',
      );
    } catch (error) {
      if (error instanceof AppError) throw error;
      const reason = messageOf(error);
      throw new InvalidRequest(
        `${kind}.bind-address ${section.bindAddress} cannot be listened on: ${reason}`,
        { cause: error },
      );
    }
  }

  #reject(
    place: { readonly source: string; readonly database: string },
    rejected: readonly RejectedInput[],
  ): void {
    if (rejected.length === 0) return;
    const time = formatRfc3339(this.#options.clock.now());
    this.#options.onRejected({ ...place, time }, rejected);
  }

  async #openUdp(section: ListenerConfig['udp'][number]): Promise<void> {
    const { clock } = this.#options;
    const precision = parsePrecision(section.precision) ?? 'ns';
    const cache = new SeriesCache();
    await this.#add('udp', section, (batcher) =>
      openUdp({ ...section, setting: 'udp.bind-address' }, (bytes, address) => {
        batcher.counters.bytesRx += bytes.length;
        const parsed = parseLines(bytes, { precision, now: clock.now(), cache });
        batcher.counters.pointsParseFail += parsed.errors.length;
        const { database } = section;
        this.#reject({ source: `udp:${address}`, database }, parsed.errors);
        for (const point of parsed.points) batcher.add(point);
      }),
    );
  }

  async #openGraphite(section: ListenerConfig['graphite'][number]): Promise<void> {
    const { clock } = this.#options;
    const parser = new GraphiteParser(section);
    const setting = 'graphite.bind-address';
    const { bindAddress } = section;
    await this.#add('graphite', section, (batcher) => {
      const onLine = (line: string, address: string): void => {
        batcher.counters.bytesRx += Buffer.byteLength(line) + 1;
        if (line.trim() === '') return;
        const point = parser.parse(line, clock.now());
        if (point !== undefined) return batcher.add(point);
        batcher.counters.pointsParseFail++;
        const place = { source: `graphite:${address}`, database: section.database };
        this.#reject(place, [{ text: line, reason: 'expected: path value [seconds]' }]);
      };
      return section.protocol === 'udp'
        ? openUdp({ bindAddress, setting, readBuffer: section.udpReadBuffer }, (bytes, address) => {
            for (const line of Buffer.from(bytes).toString('utf8').split('\n')) {
              onLine(line, address);
            }
          })
        : openTcp({ bindAddress, setting }, (socket) => {
            const address = addressOf(socket);
            onLines(socket, (line) => onLine(line, address));
          });
    });
  }

  async #openCollectd(section: ListenerConfig['collectd'][number]): Promise<void> {
    const { clock } = this.#options;
    const options: CollectdOptions = {
      types: readFileOf('collectd.typesdb', section.typesdb, readTypesDb),
      securityLevel:
        section.securityLevel === 'sign' || section.securityLevel === 'encrypt'
          ? section.securityLevel
          : 'none',
      passwords:
        section.securityLevel === 'none'
          ? new Map()
          : readFileOf('collectd.auth-file', section.authFile, readPasswords),
      multivalue: section.parseMultivaluePlugin === 'join' ? 'join' : 'split',
    };
    await this.#add('collectd', section, (batcher) =>
      openUdp({ ...section, setting: 'collectd.bind-address' }, (bytes, address) => {
        batcher.counters.bytesRx += bytes.length;
        const { points, failed } = parseCollectd(bytes, options, clock.now());
        if (failed) {
          batcher.counters.pointsParseFail++;
          const place = { source: `collectd:${address}`, database: section.database };
          const reason =
            'a packet that is damaged, of an unknown type, or not as safe as asked for';
          this.#reject(place, [{ text: '', reason }]);
        }
        for (const point of points) batcher.add(point);
      }),
    );
  }

  async #openOpentsdb(section: ListenerConfig['opentsdb'][number]): Promise<void> {
    const { bodies, log } = this.#options;
    const pem = section.tlsEnabled
      ? readFileOf('opentsdb.certificate', section.certificate, (file) =>
          readFileSync(file, 'utf8'),
        )
      : undefined;
    const tls = pem === undefined ? undefined : { cert: pem, key: pem };
    const { bindAddress, allowedHosts, allowedOrigins } = section;
    const border = new BorderGuard({
      section: 'opentsdb',
      // It only accepts points, and senders use all sorts of names.
      isOpen: false,
      boundHost: parseBind(bindAddress, 'opentsdb.bind-address').host,
      allowedHosts,
      allowedOrigins,
      trustedProxies: [],
    });
    await this.#add('opentsdb', section, (batcher) => {
      const onLine = (socket: Socket, line: string): void => {
        batcher.counters.bytesRx += Buffer.byteLength(line) + 1;
        const text = line.trim();
        if (text === '') return;
        if (text === 'version') return void socket.write('tidemark\n');
        if (text === 'exit') return void socket.end();
        const point = parsePut(text);
        if (point !== undefined) return batcher.add(point);
        batcher.counters.pointsParseFail++;
        const place = { source: `opentsdb:${addressOf(socket)}`, database: section.database };
        this.#reject(place, [{ text, reason: 'expected: put name seconds value key=value …' }]);
        if (section.logPointErrors) log.info({ listener: 'opentsdb' }, 'a put could not be read');
      };
      return openTcp({ bindAddress, setting: 'opentsdb.bind-address', tls }, (socket) => {
        // The first bytes distinguish HTTP from telnet; both share a port.
        socket.once('data', (chunk: Buffer) => {
          if (/^(POST|GET|PUT|HEAD) /.test(chunk.toString('latin1', 0, 8))) {
            const place = { source: `opentsdb:${addressOf(socket)}`, database: section.database };
            answerPut(socket, chunk, {
              border,
              batcher,
              bodies,
              onRejected: (count) =>
                this.#reject(place, [{ text: '', reason: 'a point of a put is wrong', count }]),
            });
          } else onLines(socket, (line) => onLine(socket, line), chunk.toString('utf8'));
        });
      });
    });
  }
}

function addressOf(socket: Socket): string {
  return (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
}

function readFileOf<T>(setting: string, file: string, read: (file: string) => T): T {
  try {
    return read(file);
  } catch (error) {
    const reason = messageOf(error);
    throw new InvalidRequest(`${setting} cannot be read: ${reason}`, { cause: error });
  }
}

/** `user: password`, one a line. */
function readPasswords(file: string): ReadonlyMap<string, string> {
  const passwords = new Map<string, string>();
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const match = /^\s*([^#:\s][^:]*?)\s*:\s*(.*?)\s*$/.exec(line);
    if (match?.[1] !== undefined) passwords.set(match[1], match[2] ?? '');
  }
  return passwords;
}
