// Joins on a subset of the dimensions: points of more specific parents are paired with the points
// of parents whose dimensions are exactly the `on` tags, then joined within the specific group.
import type { Group } from '../data/group.ts';
import type { Batch, Point } from '../data/point.ts';
import { GROUP_DELETED } from './sets.ts';

export type JoinMessage = Point | Batch;

type Entry = {
  readonly parent: number;
  readonly message: JoinMessage;
  readonly time: bigint;
  /** It was passed to the join already. */
  isFed: boolean;
};

/** One combination of values of the `on` tags. */
type OnGroup = {
  readonly lastTimes: (bigint | undefined)[];
  specifics: Entry[];
  matches: Entry[];
  /** Groups of the join that belong to it. */
  readonly specificGroups: Set<Group>;
  /** Some parent has more dimensions than the `on` tags. If none has, this is an ordinary join. */
  hasSpecifics: boolean;
};

type EntryCode = { parent: number; message: unknown; time: bigint; isFed: boolean };

type MatcherCode = readonly {
  readonly key: string;
  readonly lastTimes: readonly (bigint | undefined)[];
  readonly specifics: readonly EntryCode[];
  readonly matches: readonly EntryCode[];
  /** Absent in snapshots of earlier versions. */
  readonly hasSpecifics?: boolean | undefined;
}[];

export type OnMatcherOptions = {
  readonly on: readonly string[];
  readonly parentCount: number;
  readonly round: (time: bigint) => bigint;
  /** The match message under the group of the specific one. */
  readonly regroup: (message: JoinMessage, to: JoinMessage) => JoinMessage;
  readonly feed: (parent: number, message: JoinMessage) => void;
  readonly hold: (message: JoinMessage) => boolean;
  readonly release: (message: JoinMessage) => void;
};

export class OnMatcher {
  readonly #options: OnMatcherOptions;
  readonly #on: readonly string[];
  readonly #groups = new Map<string, OnGroup>();

  constructor(options: OnMatcherOptions) {
    this.#options = options;
    this.#on = [...new Set(options.on)].sort();
  }

  take(parent: number, message: JoinMessage): void {
    const time = this.#options.round(message.time);
    const entry: Entry = { parent, message, time, isFed: false };
    const group = this.#group(message.group);
    group.lastTimes[parent] = time;
    // Messages that can no longer be matched go first, so that the join sees times in order.
    this.#release(group);
    if (this.#isSpecific(message.group)) {
      group.specificGroups.add(message.group);
      group.hasSpecifics = true;
      for (const match of group.matches) if (match.time === time) this.#pair(entry, match);
      if (this.#options.hold(message)) group.specifics.push(entry);
    } else {
      for (const specific of group.specifics) {
        if (specific.time === time) this.#pair(specific, entry);
      }
      if (this.#options.hold(message)) group.matches.push(entry);
    }
  }

  /** The task ends: specific messages that still wait for a partner are not joined, as recorded. */
  finish(): void {
    for (const [, group] of this.#groups) {
      for (const { message } of group.specifics) this.#options.release(message);
      for (const match of group.matches) this.#letMatchGo(group, match);
    }
    this.#groups.clear();
  }

  /**
   * A group below one parent was deleted: that parent's mark no longer delays others. Returns the
   * groups of the join in which the parent is gone too.
   */
  forget(parent: number, group: Group): readonly Group[] {
    const found = this.#groups.get(this.#key(group));
    if (found === undefined) return [group];
    const joined = this.#joinedBy(found, group);
    if (this.#isSpecific(group)) found.specificGroups.delete(group);
    // Other groups of the parent still exist with the same values.
    if (!this.#isSpecific(group) || found.specificGroups.size === 0)
      found.lastTimes[parent] = GROUP_DELETED;
    if (found.lastTimes.some((time) => time !== undefined && time !== GROUP_DELETED))
      this.#release(found);
    else this.#end(this.#key(group), found);
    return joined;
  }

  /** As `forget`, below all parents. */
  forgetAll(group: Group): readonly Group[] {
    const found = this.#groups.get(this.#key(group));
    if (found === undefined) return [group];
    const joined = this.#joinedBy(found, group);
    for (const each of joined) found.specificGroups.delete(each);
    if (found.specificGroups.size === 0) {
      this.#end(this.#key(group), found);
      return joined;
    }
    const isGone = ({ message }: Entry): boolean => message.group === group;
    const gone = found.specifics.filter(isGone);
    found.specifics = found.specifics.filter((entry) => !isGone(entry));
    for (const specific of gone) this.#letGo(specific);
    return joined;
  }

  #isSpecific({ dimensions }: Group): boolean {
    return dimensions.tagNames.length > this.#on.length;
  }

  /** The groups in which messages of a group are joined. */
  #joinedBy(found: OnGroup, group: Group): readonly Group[] {
    return this.#isSpecific(group) ? [group] : [...found.specificGroups];
  }

  /** No more messages will come: those without a partner are passed on alone. */
  #end(key: string, group: OnGroup): void {
    this.#groups.delete(key);
    for (const specific of group.specifics) this.#letGo(specific);
    for (const match of group.matches) this.#letMatchGo(group, match);
  }

  /** Matches are only useful with specific messages, unless no parent sends any. */
  #letMatchGo({ lastTimes, hasSpecifics }: OnGroup, match: Entry): void {
    this.#options.release(match.message);
    if (!hasSpecifics && !lastTimes.includes(undefined)) this.#feedAlone(match);
  }

  #letGo(specific: Entry): void {
    this.#options.release(specific.message);
    this.#feedAlone(specific);
  }

  encode(code: (message: JoinMessage) => unknown): MatcherCode {
    const encodeEntry = ({ parent, message, time, isFed }: Entry): EntryCode => ({
      parent,
      message: code(message),
      time,
      isFed,
    });
    return Array.from(this.#groups, ([key, group]) => ({
      key,
      lastTimes: [...group.lastTimes],
      specifics: group.specifics.map(encodeEntry),
      matches: group.matches.map(encodeEntry),
      hasSpecifics: group.hasSpecifics,
    }));
  }

  decode(groups: MatcherCode, decode: (code: unknown) => JoinMessage | undefined): void {
    const decodeEntry = (code: EntryCode): Entry[] => {
      const message = decode(code.message);
      return message === undefined ? [] : [{ ...code, message }];
    };
    for (const { key, lastTimes, specifics, matches, hasSpecifics } of groups) {
      const entries = specifics.flatMap(decodeEntry);
      this.#groups.set(key, {
        lastTimes: [...lastTimes],
        specifics: entries,
        matches: matches.flatMap(decodeEntry),
        specificGroups: new Set(entries.map(({ message }) => message.group)),
        hasSpecifics: hasSpecifics ?? true,
      });
    }
  }

  #pair(specific: Entry, match: Entry): void {
    this.#options.feed(match.parent, this.#options.regroup(match.message, specific.message));
    this.#feedAlone(specific);
  }

  #feedAlone(specific: Entry): void {
    if (specific.isFed) return;
    specific.isFed = true;
    this.#options.feed(specific.parent, specific.message);
  }

  /** Messages before every parent's latest time find no partner any more. */
  #release(group: OnGroup): void {
    let mark: bigint | undefined;
    for (const time of group.lastTimes) {
      if (time === undefined) return;
      if (mark === undefined || time < mark) mark = time;
    }
    const limit = mark ?? 0n;
    const isPast = (entry: Entry): boolean => entry.time < limit;
    const past = group.specifics.filter(isPast);
    if (past.length > 0) group.specifics = group.specifics.filter((entry) => !isPast(entry));
    for (const specific of past) this.#letGo(specific);
    const first = group.matches[0];
    if (first === undefined || !isPast(first)) return;
    const unmatched = group.matches.filter(isPast);
    group.matches = group.matches.filter((entry) => !isPast(entry));
    for (const match of unmatched) this.#letMatchGo(group, match);
  }

  #group(group: Group): OnGroup {
    const key = this.#key(group);
    let found = this.#groups.get(key);
    if (found === undefined) {
      const lastTimes = Array.from({ length: this.#options.parentCount }, () => undefined);
      found = {
        lastTimes,
        specifics: [],
        matches: [],
        specificGroups: new Set(),
        hasSpecifics: false,
      };
      this.#groups.set(key, found);
    }
    return found;
  }

  #key(group: Group): string {
    const { tagNames } = group.dimensions;
    return this.#on
      .map((name) => `${name}=${group.values[tagNames.indexOf(name)] ?? ''}`)
      .join(',');
  }
}
