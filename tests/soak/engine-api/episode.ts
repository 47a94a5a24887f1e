// An episode: a new engine, a new model, and steps for both. The first difference ends it.
import { eventually } from '@tidemark/testkit';
import { differences } from './call.ts';
import type { Call } from './call.ts';
import { Model } from './model.ts';
import { startPeer } from './peer.ts';
import type { Step } from './steps.ts';
import type { StartSubject, Subject } from './subject.ts';

const SETTLE_MS = 30_000;

export type Failure = {
  /** Position of the step that disagrees. */
  readonly at: number;
  readonly call: Call | undefined;
  readonly problems: readonly string[];
};

export type EpisodeResult = {
  readonly steps: number;
  readonly requests: number;
  readonly restarts: number;
  /** Requests by method, first part of the path and status. */
  readonly seen: ReadonlyMap<string, number>;
  readonly failure: Failure | undefined;
};

export type EpisodeOptions = {
  readonly start: StartSubject;
  /** How long something that goes on may take until it agrees with the model. */
  readonly settleMs?: number | undefined;
  /** Called after each step; resolves when the next one may begin. */
  readonly pause?: ((subject: Subject) => Promise<void>) | undefined;
};

type Answer = { readonly status: number; readonly json: unknown; readonly base: string };

/** Takes steps until they end or the engine disagrees with the model. */
export async function runEpisode(
  steps: Iterable<Step>,
  options: EpisodeOptions,
): Promise<EpisodeResult> {
  const peer = await startPeer();
  const subject = await options.start(peer.url);
  const client = new Client(subject, options.settleMs ?? SETTLE_MS);
  const model = new Model(peer.url);
  let at = 0;
  let restarts = 0;
  let failure: Failure | undefined;
  try {
    for (const given of steps) {
      const isStop = given.kind === 'restart' && !subject.isKillable;
      const step: Step = isStop ? { kind: 'restart', how: 'stop' } : given;
      if (step.kind === 'restart') {
        await subject.restart(step.how);
        restarts++;
      }
      failure = await takeStep(client, model.apply(step), at);
      if (failure !== undefined) break;
      at++;
      await options.pause?.(subject);
    }
    failure ??= await takeStep(client, model.checks(), at);
  } catch (error) {
    // Whatever ends a step is a finding: an engine that is gone, an answer that is no JSON.
    failure = { at, call: client.last, problems: [String(error)] };
  } finally {
    await subject.close();
    await peer.close();
  }
  return { steps: at, requests: client.count, restarts, seen: client.seen, failure };
}

async function takeStep(
  client: Client,
  calls: readonly Call[],
  at: number,
): Promise<Failure | undefined> {
  for (const call of calls) {
    const problems = await checkCall(client, call);
    if (problems.length > 0) return { at, call, problems };
  }
  return undefined;
}

async function checkCall(client: Client, call: Call): Promise<readonly string[]> {
  let problems: readonly string[] = [];
  const attempt = async (): Promise<Answer | undefined> => {
    const answer = await client.send(call);
    problems = problemsOf(call, answer);
    return problems.length === 0 || call.isSettling !== true ? answer : undefined;
  };
  const answer = await eventually('agreement', attempt, client.settleMs).catch(() => undefined);
  if (answer !== undefined && problems.length === 0) problems = await client.follow(answer);
  if (answer !== undefined && problems.length === 0) call.onAnswer?.(answer.json);
  return problems;
}

/** Clients of the older path take nothing but 204 for a change of the configuration. */
function statusOf({ method, path, status }: Call, base: string): number {
  const isChange = method === 'POST' && typeof path === 'string' && path.startsWith('config/');
  return isChange && status === 200 && base === '/kapacitor/v1' ? 204 : status;
}

function problemsOf(call: Call, { status, json, base }: Answer): readonly string[] {
  const expected = statusOf(call, base);
  if (status !== expected) {
    return [`expected status ${expected}, got ${status}: ${JSON.stringify(json)}`];
  }
  return call.json === undefined ? [] : differences(call.json, json, { base });
}

/** Sends requests by all base paths in turn. */
class Client {
  readonly #subject: Subject;
  readonly settleMs: number;
  count = 0;
  readonly seen = new Map<string, number>();
  last: Call | undefined;

  constructor(subject: Subject, settleMs: number) {
    this.settleMs = settleMs;
    this.#subject = subject;
  }

  async send(call: Call): Promise<Answer> {
    this.last = call;
    const target = typeof call.path === 'string' ? call.path : call.path();
    const base = this.#baseOf(target);
    const path = target.startsWith('/') ? target : `${base.path}/${target}`;
    const { body } = call;
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(this.#subject.url + path, {
      method: call.method,
      ...(body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }),
      headers: body instanceof Uint8Array ? { 'Content-Encoding': 'gzip' } : {},
    });
    const text = await response.text();
    const kind = `${call.method} ${target.split(/[?]/, 1)[0]?.split('/').slice(0, 2).join('/')}`;
    const row = `${kind.replace(/^(\S+ (?:tasks|templates|recordings|replays|config|alerts))\/.*$/, '$1/…')} ${response.status}`;
    this.seen.set(row, (this.seen.get(row) ?? 0) + 1);
    if (!response.headers.has('x-engine-version')) throw new Error(`no version header: ${path}`);
    return { status: response.status, json: jsonOf(text), base: base.links };
  }

  /** Takes one link of an answer, as it is; what is wrong with where it leads. */
  async follow({ status, json }: Answer): Promise<readonly string[]> {
    const links = status === 200 || status === 201 ? linksOf(json) : [];
    const link = links[this.count % Math.max(1, links.length)];
    if (link === undefined) return [];
    const response = await fetch(this.#subject.url + link);
    const target: unknown = await response.json();
    // Running jobs answer 202.
    if (![200, 202].includes(response.status)) return [`${link} answers ${response.status}`];
    return linksOf(target)[0] === link ? [] : [`${link} leads to ${JSON.stringify(target)}`];
  }

  // Alerts are preview endpoints; everything else is served under both paths, and under the older
  // name.
  #baseOf(path: string): { readonly path: string; readonly links: string } {
    const turn = this.count++ % 3;
    if (path.startsWith('alerts/')) {
      const name = turn === 0 ? '/kapacitor/v1preview' : '/engine/v1preview';
      return { path: name, links: name };
    }
    if (turn === 0) return { path: '/kapacitor/v1', links: '/kapacitor/v1' };
    return { path: turn === 1 ? '/engine/v1' : '/engine/v1preview', links: '/engine/v1' };
  }
}

/** Links to itself of an answer and of what it lists. */
function linksOf(json: unknown): readonly string[] {
  if (json === null || typeof json !== 'object') return [];
  const own = 'link' in json ? [(json.link as { readonly href: string }).href] : [];
  const lists = Object.values(json).filter((value) => Array.isArray(value));
  return [...own, ...lists.flat().flatMap(linksOf)];
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The write endpoint answers in plain text.
    return text;
  }
}
