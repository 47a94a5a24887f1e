// collectd's binary network protocol: parts of type, length and content; values use the names
// before them. Signed (HMAC-SHA256) and encrypted (AES-256-OFB) packets are verified with the
// user's password.
import { createDecipheriv, createHash, createHmac, timingSafeEqual } from 'node:crypto';

import { NANOS_PER_SECOND } from '@tidemark/core';
import type { Timestamp } from '@tidemark/core';
import type { ListenerPoint } from './listener-point.ts';

import type { TypesDb } from './types-db.ts';

const Part = {
  Host: 0x0000,
  Time: 0x0001,
  Plugin: 0x0002,
  PluginInstance: 0x0003,
  Type: 0x0004,
  TypeInstance: 0x0005,
  Values: 0x0006,
  Interval: 0x0007,
  TimeHigh: 0x0008,
  IntervalHigh: 0x0009,
  Signature: 0x0200,
  Encryption: 0x0210,
} as const;

const ValueKind = { Counter: 0, Gauge: 1, Derive: 2, Absolute: 3 } as const;

type SecurityLevel = 'none' | 'sign' | 'encrypt';

export type CollectdOptions = {
  readonly types: TypesDb;
  readonly securityLevel: SecurityLevel;
  readonly passwords: ReadonlyMap<string, string>;
  /** One point per value, or one with a field for each. */
  readonly multivalue: 'split' | 'join';
};

type Context = {
  host: string;
  plugin: string;
  pluginInstance: string;
  type: string;
  typeInstance: string;
  time: Timestamp;
};

/** How far a packet is trusted. */
type Trust = { isSigned: boolean; isEncrypted: boolean };

/** Points of a packet. Reading ends at an invalid part; `failed` reports that. */
export function parseCollectd(
  packet: Uint8Array,
  options: CollectdOptions,
  now: Timestamp,
): { readonly points: readonly ListenerPoint[]; readonly failed: boolean } {
  const reader = new PacketReader(options, now);
  const isWhole = reader.read(Buffer.from(packet), { isSigned: false, isEncrypted: false });
  return { points: reader.points, failed: !isWhole };
}

class PacketReader {
  readonly points: ListenerPoint[] = [];
  readonly #options: CollectdOptions;
  readonly #context: Context;

  constructor(options: CollectdOptions, now: Timestamp) {
    this.#options = options;
    this.#context = {
      host: '',
      plugin: '',
      pluginInstance: '',
      type: '',
      typeInstance: '',
      time: now,
    };
  }

  /** `false` for an invalid part. */
  read(packet: Buffer, trust: Trust): boolean {
    let at = 0;
    while (at + 4 <= packet.length) {
      const part = packet.readUInt16BE(at);
      const length = packet.readUInt16BE(at + 2);
      if (length < 4 || at + length > packet.length) return false;
      const content = packet.subarray(at + 4, at + length);
      at += length;
      if (part === Part.Encryption) {
        const inner = this.#decrypt(content);
        if (inner === undefined || !this.read(inner, { isSigned: true, isEncrypted: true }))
          return false;
      } else if (part === Part.Signature) {
        if (!this.#isSignatureRight(content, packet.subarray(at))) return false;
        trust.isSigned = true;
      } else if (part === Part.Values) {
        if (!this.#isTrusted(trust) || !this.#values(content)) return false;
      } else if (!this.#name(part, content)) return false;
    }
    return at === packet.length;
  }

  #isTrusted(trust: Trust): boolean {
    switch (this.#options.securityLevel) {
      case 'none':
        return true;
      case 'sign':
        return trust.isSigned;
      case 'encrypt':
        return trust.isEncrypted;
    }
  }

  /** Names and times. Unknown parts are skipped. */
  #name(part: number, content: Buffer): boolean {
    const context = this.#context;
    switch (part) {
      case Part.Host:
        context.host = textOf(content);
        return true;
      case Part.Plugin:
        context.plugin = textOf(content);
        return true;
      case Part.PluginInstance:
        context.pluginInstance = textOf(content);
        return true;
      case Part.Type:
        context.type = textOf(content);
        return true;
      case Part.TypeInstance:
        context.typeInstance = textOf(content);
        return true;
      case Part.Time:
        if (content.length !== 8) return false;
        context.time = content.readBigUInt64BE(0) * NANOS_PER_SECOND;
        return true;
      case Part.TimeHigh:
        if (content.length !== 8) return false;
        // Units of 2^-30 seconds.
        context.time = (content.readBigUInt64BE(0) * NANOS_PER_SECOND) >> 30n;
        return true;
      default:
        return true;
    }
  }

  #values(content: Buffer): boolean {
    if (content.length < 2) return false;
    const count = content.readUInt16BE(0);
    if (content.length !== 2 + 9 * count) return false;
    const names = this.#options.types.get(this.#context.type);
    if (names !== undefined && names.length !== count) return false;
    const fields: [string, number][] = [];
    for (let i = 0; i < count; i++) {
      const kind = content.readUInt8(2 + i);
      const value = readValue(content, 2 + count + 8 * i, kind);
      if (value === undefined) return false;
      if (Number.isFinite(value))
        fields.push([names?.[i] ?? (count === 1 ? 'value' : String(i)), value]);
    }
    this.#addPoints(fields);
    return true;
  }

  #addPoints(fields: readonly [string, number][]): void {
    const { plugin, time } = this.#context;
    if (fields.length === 0) return;
    if (this.#options.multivalue === 'join') {
      this.points.push({ measurement: plugin, tags: this.#tags(), fields, time });
      return;
    }
    for (const [name, value] of fields) {
      this.points.push({
        measurement: `${plugin}_${name}`,
        tags: this.#tags(),
        fields: [['value', value]],
        time,
      });
    }
  }

  #tags(): readonly [string, string][] {
    const { host, pluginInstance, type, typeInstance } = this.#context;
    const tags: [string, string][] = [
      ['host', host],
      ['instance', pluginInstance],
      ['type', type],
      ['type_instance', typeInstance],
    ];
    return tags.filter(([, value]) => value !== '');
  }

  #isSignatureRight(content: Buffer, signed: Buffer): boolean {
    if (content.length < 32) return false;
    const user = content.subarray(32);
    const password = this.#options.passwords.get(user.toString('utf8'));
    if (password === undefined) return false;
    const mac = createHmac('sha256', password).update(user).update(signed).digest();
    return timingSafeEqual(mac, content.subarray(0, 32));
  }

  #decrypt(content: Buffer): Buffer | undefined {
    if (content.length < 2) return undefined;
    const userLength = content.readUInt16BE(0);
    if (content.length < 2 + userLength + 16 + 20) return undefined;
    const user = content.toString('utf8', 2, 2 + userLength);
    const password = this.#options.passwords.get(user);
    if (password === undefined) return undefined;
    const iv = content.subarray(2 + userLength, 18 + userLength);
    const key = createHash('sha256').update(password).digest();
    const decipher = createDecipheriv('aes-256-ofb', key, iv);
    const plain = Buffer.concat([
      decipher.update(content.subarray(18 + userLength)),
      decipher.final(),
    ]);
    const inner = plain.subarray(20);
    const sum = createHash('sha1').update(inner).digest();
    return timingSafeEqual(sum, plain.subarray(0, 20)) ? inner : undefined;
  }
}

function textOf(content: Buffer): string {
  const end = content.indexOf(0);
  return content.toString('utf8', 0, end < 0 ? content.length : end);
}

/**
 * Counters are unsigned, derived values signed, both big endian; gauges are doubles, little endian.
 */
function readValue(content: Buffer, at: number, kind: number): number | undefined {
  switch (kind) {
    case ValueKind.Gauge:
      return content.readDoubleLE(at);
    case ValueKind.Derive:
      return Number(content.readBigInt64BE(at));
    case ValueKind.Counter:
    case ValueKind.Absolute:
      return Number(content.readBigUInt64BE(at));
    default:
      return undefined;
  }
}
