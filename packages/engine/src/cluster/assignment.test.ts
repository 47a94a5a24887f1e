import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { assignTasks, InstanceChooser } from './assignment.ts';
import type { InstanceRoom, TaskNeed } from './assignment.ts';

const INSTANCES = ['a', 'b', 'c', 'd'] as const;

const rooms = fc
  .uniqueArray(fc.record({ id: fc.constantFrom(...INSTANCES), capacity: fc.nat(3) }), {
    selector: ({ id }) => id,
  })
  .filter((all) => all.some(({ capacity }) => capacity > 0));

const needs = fc
  .array(
    fc.record({
      instance: fc.constantFrom(undefined, 'gone', ...INSTANCES),
      pointsPerSecond: fc.nat(10_000),
      memoryBytes: fc.nat(1_000_000),
    }),
    { maxLength: 60 },
  )
  .map((all) => all.map((need, i): TaskNeed => ({ ...need, id: `task-${i}` })));

const task = (id: string, instance?: string, pointsPerSecond = 10): TaskNeed => ({
  id,
  instance,
  pointsPerSecond,
  memoryBytes: 0,
});

const tasksOn = (instance: string | undefined, count: number, prefix = 't'): readonly TaskNeed[] =>
  Array.from({ length: count }, (_, i) => task(`${prefix}${i}`, instance));

const three: readonly InstanceRoom[] = ['a', 'b', 'c'].map((id) => ({ id, capacity: 1 }));

function counts(placed: ReadonlyMap<string, string>): Readonly<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const id of placed.values()) found[id] = (found[id] ?? 0) + 1;
  return found;
}

function movesOf(tasks: readonly TaskNeed[], placed: ReadonlyMap<string, string>): number {
  return tasks.filter(({ id, instance }) => instance !== undefined && placed.get(id) !== instance)
    .length;
}

describe('the assignment of tasks', () => {
  test('gives every task an instance that takes some', () => {
    fc.assert(
      fc.property(needs, rooms, (tasks, instances) => {
        const placed = assignTasks(tasks, instances);
        const taking = instances.filter(({ capacity }) => capacity > 0).map(({ id }) => id);
        expect([...placed.keys()].sort()).toEqual(tasks.map(({ id }) => id).sort());
        for (const id of placed.values()) expect(taking).toContain(id);
      }),
    );
  });

  test('does not depend on the order of what it is given, and changes nothing a second time', () => {
    fc.assert(
      fc.property(needs, rooms, (tasks, instances) => {
        const placed = assignTasks(tasks, instances);
        expect(assignTasks([...tasks].reverse(), [...instances].reverse())).toEqual(placed);
        const after = tasks.map((need) => ({ ...need, instance: placed.get(need.id) }));
        expect(movesOf(after, assignTasks(after, instances))).toBe(0);
      }),
    );
  });

  test('leaves no instance with much more than another where tasks are alike', () => {
    fc.assert(
      fc.property(fc.integer({ min: 12, max: 200 }), fc.nat(200), (count, onFirst) => {
        const tasks = Array.from({ length: count }, (_, i) =>
          task(`t${i}`, i < onFirst ? 'a' : undefined),
        );
        const found = counts(assignTasks(tasks, three));
        const each = three.map(({ id }) => found[id] ?? 0);
        expect(Math.max(...each) - Math.min(...each)).toBeLessThanOrEqual(0.3 * (count / 3) + 1);
      }),
    );
  });

  test('moves only those whose instance is gone, and no more for a new instance than it is to have', () => {
    const tasks = [...tasksOn('a', 10, 'x'), ...tasksOn('b', 10, 'y'), ...tasksOn('c', 10, 'z')];
    const [a, b] = [three[0] as InstanceRoom, three[1] as InstanceRoom];
    const without = assignTasks(tasks, [a, b]);
    expect(movesOf(tasks, without)).toBe(10);
    expect(counts(without)).toEqual({ a: 15, b: 15 });

    const after = tasks.map((need) => ({ ...need, instance: without.get(need.id) }));
    const withNew = assignTasks(after, three);
    expect(movesOf(after, withNew)).toBeLessThanOrEqual(10);
    expect(withNew.size).toBe(30);
    expect(counts(withNew)['c']).toBeGreaterThanOrEqual(7);
  });

  test('counts what tasks need, not only how many there are, and what instances have', () => {
    const busy = [task('busy', 'a', 10_000), ...tasksOn('a', 6)];
    const placed = assignTasks(busy, three);
    expect(counts(placed)[placed.get('busy') ?? '']).toBe(1);

    const large: readonly InstanceRoom[] = [
      { id: 'a', capacity: 3 },
      { id: 'b', capacity: 1 },
    ];
    const found = counts(assignTasks(tasksOn(undefined, 40), large));
    expect(found['a']).toBeGreaterThanOrEqual(27);
    expect(found['b']).toBeGreaterThanOrEqual(8);
  });

  test('has nothing to say where no instance takes a task', () => {
    const full = [{ id: 'a', capacity: 0 }];
    expect(assignTasks([task('t', 'a')], full).size).toBe(0);
    expect(new InstanceChooser([], full).next()).toBeUndefined();
  });

  test('starts a task where there is least to do', () => {
    const next = (tasks: readonly TaskNeed[]): string | undefined =>
      new InstanceChooser(tasks, three).next();
    expect(next([task('t', 'a')])).toBe('b');
    expect(next([task('t', 'a'), task('u', 'b')])).toBe('c');
    expect(next([])).toBe('a');
  });

  test('starts many one after the other as it would each of them by itself', () => {
    const places = new InstanceChooser([...tasksOn('a', 10)], [...three, { id: 'd', capacity: 2 }]);
    const placed = Array.from({ length: 40 }, () => places.next());
    const found = Object.fromEntries(
      ['a', 'b', 'c', 'd'].map((id) => [id, placed.filter((each) => each === id).length]),
    );

    expect(found).toEqual({ a: 0, b: 10, c: 10, d: 20 });
  });
});
