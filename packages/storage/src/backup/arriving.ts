// A backup on its way: what a service adds to one that it sends, and takes out of one that arrives.
import { bytesOf, joinFrames, noContents } from './chain.ts';
import { encodeFrame } from './format.ts';
import type { BackupContents, BackupFrame } from './format.ts';
import { readBackups } from './read-frames.ts';

/** A backup that arrives. It has to be read in this order, to its end or until it is closed. */
export type ArrivingBackup = {
  readonly contents: BackupContents;
  /** What its maker keeps besides. */
  readonly attachments: () => AsyncIterable<Uint8Array>;
  /** From the begin on, without attachments. */
  readonly bytes: () => AsyncIterable<Uint8Array>;
  /** Ends their source. */
  readonly close: () => Promise<void>;
};

/**
 * A full backup that arrives, or an incremental one with those before it behind it, the newest
 * first; they are joined. Throws as `joinBackups`.
 */
export async function openArriving(
  portions: AsyncIterable<Uint8Array>,
  place: string,
): Promise<ArrivingBackup> {
  const frames = joinFrames(readBackups(portions, place), {});
  const next = async (): Promise<BackupFrame | undefined> => {
    const step = await frames.next();
    return step.done === true ? undefined : step.value;
  };
  try {
    const contents = await next();
    if (contents?.kind !== 'contents') throw noContents(place);
    let ahead = await next();
    const attachments = async function* (): AsyncGenerator<Uint8Array> {
      for (; ahead?.kind === 'attachment'; ahead = await next()) yield ahead.bytes;
    };
    const others = async function* (): AsyncGenerator<BackupFrame> {
      yield contents;
      for (; ahead !== undefined; ahead = await next()) yield ahead;
    };
    return {
      contents,
      attachments,
      bytes: () => bytesOf(others()),
      close: async () => void (await frames.return(undefined)),
    };
  } catch (error) {
    await frames.return(undefined);
    throw error;
  }
}

/** A backup that is made, with what its maker keeps besides behind the contents. */
export async function* withAttachments(
  portions: AsyncIterable<Uint8Array>,
  attachments: Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let count = 0;
  for await (const portion of portions) {
    yield portion;
    // An engine gives the header and the contents as a portion each (`createBackup`).
    if (++count !== 2) continue;
    for (const bytes of attachments) yield encodeFrame({ kind: 'attachment', bytes });
  }
}
