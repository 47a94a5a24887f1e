import { once } from 'node:events';
import { createServer, connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { Corruption } from '@tidemark/core';
import { expect, onTestFinished, test } from 'vitest';
import { HOST_FRAME_BYTES } from '../limits.ts';
import { FrameSocket } from './host-frames.ts';

type Frame = { readonly name: string; readonly bytes: Uint8Array };

/** Both ends of a connection. */
async function connected(): Promise<readonly [Socket, Socket]> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [far] = (await once(server, 'connection')) as [Socket];
  onTestFinished(() => {
    near.destroy();
    far.destroy();
    server.close();
  });
  return [near, far];
}

async function taken(frames: AsyncIterable<Frame>): Promise<readonly Frame[]> {
  const all: Frame[] = [];
  for await (const frame of frames) all.push(frame);
  return all;
}

const NOTHING = new Uint8Array();

test('frames of any size arrive as they were sent, each in a buffer of its own', async () => {
  const [near, far] = await connected();
  const sender = new FrameSocket<Frame, Frame>(near, NOTHING);
  const sizes = [0, 1, 100, 100_000, 3, 1_000_000, 20_000, 20_000];
  const sent = sizes.map((size, i) => ({ name: `n${i}`, bytes: new Uint8Array(size).fill(i) }));

  for (const frame of sent) sender.send(frame);
  near.end();
  const received = await taken(new FrameSocket<Frame, Frame>(far, NOTHING).frames());

  expect(received.map(({ name }) => name)).toEqual(sent.map(({ name }) => name));
  for (const [i, { bytes }] of received.entries()) {
    expect(Buffer.compare(bytes, sent[i]?.bytes ?? NOTHING)).toBe(0);
    expect(bytes.buffer.byteLength - bytes.byteLength).toBeLessThan(100);
  }
});

test('what came with the request is the begin of the first frame', async () => {
  const [near, far] = await connected();
  new FrameSocket<Frame, Frame>(near, NOTHING).send({ name: 'a', bytes: Uint8Array.of(1, 2) });
  near.end();
  const [first] = (await once(far, 'data')) as [Buffer];
  far.pause();
  far.unshift(first.subarray(3));

  const received = await taken(new FrameSocket<Frame, Frame>(far, first.subarray(0, 3)).frames());

  expect(received).toEqual([{ name: 'a', bytes: Uint8Array.of(1, 2) }]);
});

test('a frame that is too long ends the connection before it is read', async () => {
  const [near, far] = await connected();
  const length = Buffer.alloc(4);
  length.writeUInt32LE(HOST_FRAME_BYTES.value + 1);
  near.write(length);

  const reading = taken(new FrameSocket<Frame, Frame>(far, NOTHING).frames());

  await expect(reading).rejects.toThrow(Corruption);
});
