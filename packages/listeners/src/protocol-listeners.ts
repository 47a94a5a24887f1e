// The listeners of a configuration: sources of points on sockets.
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

import { AppError, InvalidRequest, messageOf } from '@tidemark/core';
import type { Budget, Clock } from '@tidemark/core';
import { parseLines, parsePrecision, SeriesCache } from '@tidemark/line-protocol';
import { BorderGuard, isLoopback, parseBind } from '@tidemark/process';
import type { ListenerLog } from './batcher.ts';
import { parseCollectd } from './collectd.ts';
import type { CollectdOptions } from './collectd.ts';
import { GraphiteParser } from './graphite.ts';
import { checksSenders } from './listener-kinds.ts';
import type { ListenerKind } from './listener-kinds.ts';
import { answerPut } from './opentsdb-http.ts';
import { parsePut } from './opentsdb.ts';
import type { Intake, PointSources, SourceTarget } from './point-sources.ts';
import { onLines, openTcp, openUdp } from './sockets.ts';
import type { OpenSocket } from './sockets.ts';
import type { ListenerConfig } from './sections.ts';
import { readTypesDb } from './types-db.ts';

export type ListenerOptions = {
  readonly config: ListenerConfig;
  readonly clock: Clock;
  readonly log: ListenerLog;
  /** Memory of all bodies of the process together. */
  readonly bodies: Budget;
};

/** Opens all enabled listeners. When it rejects, those before stay open: close the sources. */
export async function openProtocolListeners(
  sources: PointSources,
  options: ListenerOptions,
): Promise<void> {
  const { config } = options;
  const listen = listening(sources, options.log);
  for (const udp of config.udp) if (udp.enabled) await listenUdp(udp, listen, options);
  for (const graphite of config.graphite)
    if (graphite.enabled) await listenGraphite(graphite, listen, options);
  for (const collectd of config.collectd)
    if (collectd.enabled) await listenCollectd(collectd, listen, options);
  for (const opentsdb of config.opentsdb)
    if (opentsdb.enabled) await listenOpentsdb(opentsdb, listen, options);
}

type Section = SourceTarget & {
  readonly bindAddress: string;
  readonly securityLevel?: string | undefined;
};

type Listen = (
  kind: ListenerKind['section'],
  section: Section,
  open: (intake: Intake) => Promise<OpenSocket>,
) => Promise<void>;

function listening(sources: PointSources, log: ListenerLog): Listen {
  return async (kind, section, open) => {
    const { bindAddress, database } = section;
    const { port } = await sources.open(kind, section, async (intake) => {
      const socket = await open(intake).catch((error: unknown) => {
        throw listenFailure(`${kind}.bind-address ${bindAddress}`, error);
      });
      // The actual port, so that listeners on port 0 can be told apart.
      return { ...socket, address: bindAddress.replace(/:\d+$/, `:${socket.port}`) };
    });
    log.info({ listener: kind, port }, 'listening');
    if (isLoopback(parseBind(bindAddress, `${kind}.bind-address`).host)) return;
    if (checksSenders(kind, section)) return;
    log.warn(
      { listener: kind, bindAddress, database },
      'this protocol has no credentials: anybody who reaches it can write',
    );
  };
}

function listenFailure(address: string, error: unknown): AppError {
  if (error instanceof AppError) return error;
  const reason = messageOf(error);
  return new InvalidRequest(`${address} cannot be listened on: ${reason}`, { cause: error });
}

async function listenUdp(
  section: ListenerConfig['udp'][number],
  listen: Listen,
  { clock }: ListenerOptions,
): Promise<void> {
  const precision = parsePrecision(section.precision) ?? 'ns';
  const cache = new SeriesCache();
  await listen('udp', section, ({ batcher, unreadable }) =>
    openUdp({ ...section, setting: 'udp.bind-address' }, (bytes, address) => {
      batcher.counters.bytesRx += bytes.length;
      const parsed = parseLines(bytes, { precision, now: clock.now(), cache });
      unreadable(address, parsed.errors);
      void batcher.add(parsed.points); // A datagram has no answer.
    }),
  );
}

async function listenGraphite(
  section: ListenerConfig['graphite'][number],
  listen: Listen,
  { clock }: ListenerOptions,
): Promise<void> {
  const parser = new GraphiteParser(section);
  const setting = 'graphite.bind-address';
  const { bindAddress } = section;
  await listen('graphite', section, ({ batcher, unreadable }) => {
    const onLine = (line: string, address: string): void => {
      batcher.counters.bytesRx += Buffer.byteLength(line) + 1;
      if (line.trim() === '') return;
      const point = parser.parse(line, clock.now());
      if (point === undefined)
        unreadable(address, [{ text: line, reason: 'expected: path value [seconds]' }]);
      else void batcher.add([point]); // The protocol has no answers.
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

async function listenCollectd(
  section: ListenerConfig['collectd'][number],
  listen: Listen,
  { clock }: ListenerOptions,
): Promise<void> {
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
  await listen('collectd', section, ({ batcher, unreadable }) =>
    openUdp({ ...section, setting: 'collectd.bind-address' }, (bytes, address) => {
      batcher.counters.bytesRx += bytes.length;
      const { points, failed } = parseCollectd(bytes, options, clock.now());
      const reason = 'a packet that is damaged, of an unknown type, or not as safe as asked for';
      if (failed) unreadable(address, [{ text: '', reason }]);
      void batcher.add(points); // A datagram has no answer.
    }),
  );
}

async function listenOpentsdb(
  section: ListenerConfig['opentsdb'][number],
  listen: Listen,
  { bodies, log }: ListenerOptions,
): Promise<void> {
  const pem = section.tlsEnabled
    ? readFileOf('opentsdb.certificate', section.certificate, (file) => readFileSync(file, 'utf8'))
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
  await listen('opentsdb', section, (intake) => {
    const { batcher, unreadable } = intake;
    const onLine = (socket: Socket, line: string): void => {
      batcher.counters.bytesRx += Buffer.byteLength(line) + 1;
      const text = line.trim();
      if (text === '') return;
      if (text === 'version') return void socket.write('tidemark\n');
      if (text === 'exit') return void socket.end();
      const point = parsePut(text);
      if (point !== undefined) return void batcher.add([point]); // A put has no answer.
      unreadable(addressOf(socket), [
        { text, reason: 'expected: put name seconds value key=value …' },
      ]);
      if (section.logPointErrors) log.info({ listener: 'opentsdb' }, 'a put could not be read');
    };
    return openTcp({ bindAddress, setting: 'opentsdb.bind-address', tls }, (socket) => {
      // The first bytes distinguish HTTP from telnet; both share a port.
      socket.once('data', (chunk: Buffer) => {
        if (/^(POST|GET|PUT|HEAD) /.test(chunk.toString('latin1', 0, 8)))
          answerPut(socket, chunk, { border, intake, bodies, sender: addressOf(socket) });
        else onLines(socket, (line) => onLine(socket, line), chunk.toString('utf8'));
      });
    });
  });
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
